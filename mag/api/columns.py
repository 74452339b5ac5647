"""`mag.columns`: check, plan, run, wrap."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mag._lib.arrays import read
from mag._lib.checks import finite, integer, per_column, real_table, thread_count
from mag._lib.errors import group_below
from mag.api.backend import backend_of, resident_input, runner_for
from mag.api.options import cost_of, numbers_of, solvers_of
from mag.backends import cuda
from mag.backends.problem import Problem
from mag.costs import Cost
from mag.results import ColumnGroupings


def columns(
    X: Any,
    k: int | Sequence[int],
    *,
    cost: str | Cost | Sequence[str | Cost] = "sse",
    solver: str = "auto",
    backend: str = "auto",
    threads: int | None = None,
) -> ColumnGroupings:
    """Group every column of a table by itself, each at the least cost that is possible.

    The same groups as `univariate` gives for each column, in one call and on all processors.

    Parameters
    ----------
    X : array-like of real numbers, shape (n, m)
        The table, one record a row; what `univariate` takes, in any memory order.  NaN and infinity are refused.
    k : int or sequence of int
        The smallest group size, from 1 to n: one for all columns, or one for each.
    cost : str, mag.Cost, or a sequence of them
        What grouping loses, see `univariate`: one for all columns, or one for each.
    solver : {"auto", "block", "galil_park", "quadratic", "simple", "simple_plus", "staggered", "wilber"}
        The algorithm, for all columns.
    backend : {"auto", "cpu", "cuda"}
        Where to compute; "auto" is where the data are, see `mag.backends`.
    threads : int, optional
        How many threads work on columns side by side; all processors by default.  The result does not depend on it.

    Returns
    -------
    ColumnGroupings
        Labels, sizes, costs, representatives and masked values of all columns; ``[j]`` is the Grouping of column j.

    Notes
    -----
    Each column is k-anonymous by itself, which does not make records alike: a combination of values may be unique.

    Beside the labels, 4 bytes a value, a call takes no more memory than 110 bytes for each value of one column and
    thread; columns of two million values or more take what `univariate` takes.

    Examples
    --------
    >>> import mag
    >>> groupings = mag.columns([[1.0, 70], [10.0, 20], [2.0, 30], [11.0, 80]], k=2)
    >>> groupings.labels
    array([[0, 1],
           [1, 0],
           [0, 0],
           [1, 1]], dtype=int32)
    >>> groupings.masked
    array([[ 1.5, 75. ],
           [10.5, 25. ],
           [ 1.5, 25. ],
           [10.5, 75. ]])
    >>> groupings[0]
    <Grouping: 4 records in 2 groups of 2 to 2, k=2, sse 1>
    """
    engine = backend_of(backend)
    given, staying = X, resident_input(X, backend, solver, *(cost if isinstance(cost, (list, tuple)) else [cost]))
    X, home = read("X", X) if staying is None else staying
    values = real_table("X", X)
    (n, m), dtype = values.shape, values.dtype
    costs = [cost_of(name, one) for name, one in _named("cost", per_column("cost", cost, m), cost)]
    sizes = k if isinstance(k, (list, tuple, int)) or np.ndim(k) == 0 else read("k", k)[0].tolist()
    ks = [integer(name, one, 1, n, "n") for name, one in _named("k", per_column("k", sizes, m), sizes)]
    asked = tuple(ks) if isinstance(sizes, (list, tuple)) else ks[0]
    pairs: dict[tuple[Cost, int], list[int]] = {}
    for j, pair in enumerate(zip(costs, ks, strict=True)):
        pairs.setdefault(pair, []).append(j)
    for chosen in dict.fromkeys(costs):
        values = numbers_of("X", values, chosen)
    jobs = [
        (Problem(chosen, solvers_of(solver, chosen, size, chosen.splitting, False), size, size), np.array(group))
        for (chosen, size), group in pairs.items()
    ]
    threads = thread_count("threads", threads)
    described: dict[str, Any] = {"costs": costs, "home": home}
    if staying is not None:
        if not all(cuda.takes(n, problem) for problem, _ in jobs):
            return columns(given, k, cost=cost, solver=solver, backend="cpu", threads=threads)
        return cuda.stay_columns(values, jobs, asked, dtype=dtype, **described)
    run = runner_for(engine, values.size, [problem for problem, _ in jobs])
    solved = run(engine.group_columns, values, jobs, threads)
    if solved is None:
        finite("X", values)
    labels, n_groups, least = solved
    if (least < ks).any():
        raise group_below(ks[int(np.argmin(least - ks))])
    return ColumnGroupings(labels, asked, n_groups, x=values, dtype=dtype, **described)


def _named(option: str, entries: list[Any], given: Any) -> list[tuple[str, Any]]:
    """Every entry with how messages call it; a single one is looked at once."""
    if isinstance(given, (list, tuple)):
        return [(f"{option}[{j}]", entry) for j, entry in enumerate(entries)]
    return [(option, entry) for entry in entries]
