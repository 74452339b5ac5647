"""`mag.columns`: check, plan, run, wrap."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mag._backends.problem import Problem
from mag._backends.protocol import Jobs
from mag._lib.arrays import read, read_table
from mag._lib.checks import finite, integer, per_column, real_table, thread_count
from mag._lib.errors import group_below
from mag.api.backends import backend_of, on_device, runner_for
from mag.api.options import cost_of, numbers_of, solvers_of
from mag.api.types import AnyCost, BackendName, SolverName
from mag.costs import Cost
from mag.results import ColumnGroupings


def columns(
    X: Any,
    k: int | Sequence[int],
    *,
    cost: AnyCost | Sequence[AnyCost] = "sse",
    solver: SolverName = "auto",
    backend: BackendName = "auto",
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
    solver : {"auto", "block", "galil_park", "growing", "quadratic", "simple", "simple_plus", "staggered", "wilber"}
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
    engine, arguments = backend_of(backend), (k, cost, solver, threads)
    device = on_device(X, backend)
    if device is not None:  # values are looked at when the result is
        where, resident, home = device
        plan = _checked(resident, *arguments)
        if all(where.supports(len(plan.values), problem) for problem, _ in plan.jobs):
            return where.group_resident_columns(
                plan.values, plan.jobs, plan.k, dtype=plan.dtype, costs=plan.costs, home=home
            )
    read_values, way_home = read_table("X", X)
    plan = _checked(read_values, *arguments)
    run = runner_for(engine, plan.values, [problem for problem, _ in plan.jobs])
    solved = run(engine.group_columns, plan.values, plan.jobs, plan.threads)
    if solved is None:
        finite("X", plan.values)
    labels, n_groups, least = solved
    if (least < plan.ks).any():
        raise group_below(plan.ks[int(np.argmin(least - plan.ks))])
    return ColumnGroupings(labels, plan.k, n_groups, x=plan.values, dtype=plan.dtype, costs=plan.costs, home=way_home)


@dataclass
class _Plan:
    """The arguments, checked; `values` are what backends take, `dtype` is that of the data, `k` as it was written."""

    values: Any
    dtype: np.dtype
    k: int | tuple[int, ...]
    ks: list[int]
    costs: list[Cost]
    jobs: Jobs
    threads: int


def _checked(X: Any, k: Any, cost: Any, solver: str, threads: int | None) -> _Plan:
    """What is to be solved: columns of the same cost and k together."""
    values = real_table("X", X)
    (n, m), dtype = values.shape, values.dtype
    costs = [cost_of(name, one) for name, one in _named("cost", per_column("cost", cost, m), cost)]
    sizes = k if isinstance(k, (list, tuple, int)) or np.ndim(k) == 0 else read("k", k)[0].tolist()
    ks = [integer(name, one, 1, n, "n") for name, one in _named("k", per_column("k", sizes, m), sizes)]
    pairs: dict[tuple[Cost, int], list[int]] = {}
    for j, pair in enumerate(zip(costs, ks, strict=True)):
        pairs.setdefault(pair, []).append(j)
    for chosen in dict.fromkeys(costs):
        values = numbers_of("X", values, chosen)
    jobs = [
        (Problem(chosen, solvers_of(solver, chosen, size, chosen.splitting, False), size, size), np.array(group))
        for (chosen, size), group in pairs.items()
    ]
    one_each = tuple(ks) if isinstance(sizes, (list, tuple)) else ks[0]
    return _Plan(values, dtype, one_each, ks, costs, jobs, thread_count("threads", threads))


def _named(option: str, entries: list[Any], argument: Any) -> list[tuple[str, Any]]:
    """Every entry with how messages call it; a single one is looked at once."""
    if isinstance(argument, (list, tuple)):
        return [(f"{option}[{j}]", entry) for j, entry in enumerate(entries)]
    return [(option, entry) for entry in entries]
