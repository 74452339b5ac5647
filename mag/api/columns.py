"""`mag.columns`: check, plan, run, wrap."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from mag._backends.cpu.facts import HostTableFacts
from mag._backends.protocol import Jobs
from mag._lib.arrays import read, read_table
from mag._lib.checks import device_numbers, finite, integer, per_column, real_table, thread_count, unused
from mag._lib.errors import group_below
from mag.api.backends import backend_of, on_device, runner_for
from mag.api.options import cost_of, numbers_of, problem_of, weights_of
from mag.api.types import AnyCost, BackendName, SolverName
from mag.costs import Cost
from mag.results import ColumnGroupings


def columns(
    X: Any,
    k: int | Sequence[int],
    *,
    cost: AnyCost | Sequence[AnyCost] = "sse",
    solver: SolverName = "auto",
    weights: Any = None,
    group_penalty: float | None = None,
    max_groups: int | None = None,
    soft: float | None = None,
    backend: BackendName = "auto",
    devices: Sequence[int] | None = None,
    threads: int | None = None,
) -> ColumnGroupings:
    """Group every column of a table by itself, each with the smallest possible cost.

    The same groups as `univariate` gives for each column, in one call and on all processors.

    Parameters
    ----------
    X : array-like of real numbers, shape (n, m)
        The table, one record a row; as in `univariate`, in any memory order.  NaN and infinity are refused.
    k : int or sequence of int
        The smallest group size, from 1 to n: one for all columns, or one for each.
    cost : str, mag.Cost, or a sequence of them
        The cost of a group, see `univariate`: one for all columns, or one for each.
    solver : {"auto", "block", "galil_park", "growing", "quadratic", "simple", "simple_plus", "staggered", "wilber"}
        The algorithm, for all columns.
    weights : array-like, shape (n,), optional
        How much each record counts in every column, see `univariate`.
    group_penalty, max_groups, soft : optional
        As in `univariate`, for each column by itself.
    backend : {"auto", "cpu", "cuda"}
        Where to compute; "auto" is where the data are, see `mag.backends`.
    devices : sequence of int, optional
        Numbers of the GPUs that share the columns, with backend "cuda"; by default the one that holds the data, or the
        current one.  The result does not depend on it.
    threads : int, optional
        Number of threads, each for some columns; all processors by default.  The result does not depend on it.

    Returns
    -------
    ColumnGroupings
        Labels, sizes, costs, representatives and masked values of all columns; ``[j]`` is the Grouping of column j.

    Notes
    -----
    Each column is k-anonymous by itself; records are not, since a combination of values may be unique.

    Besides the labels, 4 bytes per value, a call takes no more memory than 110 bytes for each value of one column and
    thread; columns of two million values or more take the memory of `univariate`.

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
    several: dict[str, Any] = {} if devices is None else {"devices": device_numbers("devices", devices)}
    if several:
        unused("devices", devices if backend == "cpu" else None, "backend 'cpu'")
        backend = "cuda"
    engine = backend_of(backend, several.get("devices"))
    arguments = (k, cost, solver, weights, group_penalty, max_groups, soft, threads)
    device = on_device(X, backend)
    if device is not None:  # values are validated when a result is first read
        where, resident, to_caller = device
        plan = _plan_columns(resident, None, *arguments)
        if all(where.supports(len(plan.values), problem, plan.weights) for problem, _ in plan.jobs):
            return where.group_resident_columns(
                plan.values,
                plan.jobs,
                plan.k,
                plan.weights,
                dtype=plan.dtype,
                costs=plan.costs,
                origin=to_caller,
                **several,
            )
        for problem, _ in plan.jobs if backend != "auto" else []:
            where.refuse(problem, plan.weights)  # before anything is copied
    read_values, origin = read_table("X", X, quiet=backend == "cpu")
    plan = _plan_columns(read_values, origin, *arguments)
    run = runner_for(engine, plan.values, [problem for problem, _ in plan.jobs])
    solved = run(partial(engine.group_columns, **several), plan.values, plan.jobs, plan.threads, plan.weights)
    if solved is None:
        finite("X", plan.values)
    labels, n_groups, least = solved
    if soft is None and (least < plan.ks).any():
        raise group_below(plan.ks[int(np.argmin(least - plan.ks))])
    facts = HostTableFacts(labels, n_groups, plan.values, plan.dtype, plan.weights, plan.costs, origin)
    return ColumnGroupings(facts, plan.k, soft is None, [kind.name for kind in plan.costs])


@dataclass
class _ColumnsPlan:
    """The checked arguments; `values` in the form for backends, `dtype` that of the data, `k` as it was passed."""

    values: Any
    dtype: np.dtype
    k: int | tuple[int, ...]
    ks: list[int]
    costs: list[Cost]
    weights: np.ndarray | None
    jobs: Jobs
    threads: int


def _plan_columns(
    X: Any,
    origin: Any,
    k: Any,
    cost: Any,
    solver: str,
    weights: Any,
    group_penalty: float | None,
    max_groups: int | None,
    soft: float | None,
    threads: int | None,
) -> _ColumnsPlan:
    """The problems to solve: columns of the same cost and k together."""
    values = real_table("X", X)
    (n, m), dtype = values.shape, values.dtype
    named = [cost_of(name, one) for name, one in _with_names("cost", per_column("cost", cost, m), cost)]
    bound = {one: one.in_library(origin) for one in dict.fromkeys(named)}
    costs = [bound[one] for one in named]
    sizes = k if isinstance(k, (list, tuple, int)) or np.ndim(k) == 0 else read("k", k)[0].tolist()
    ks = [integer(name, one, 1, n, "n") for name, one in _with_names("k", per_column("k", sizes, m), sizes)]
    pairs: dict[tuple[Cost, int], list[int]] = {}
    for j, pair in enumerate(zip(costs, ks, strict=True)):
        pairs.setdefault(pair, []).append(j)
    for kind in dict.fromkeys(costs):
        values = numbers_of("X", values, kind)
    weights = weights_of(weights, dict.fromkeys(costs), n)
    options = solver, weights is not None, group_penalty, max_groups, soft
    jobs = [(problem_of(kind, size, n, *options), np.array(group)) for (kind, size), group in pairs.items()]
    one_each = tuple(ks) if isinstance(sizes, (list, tuple)) else ks[0]
    return _ColumnsPlan(values, dtype, one_each, ks, costs, weights, jobs, thread_count("threads", threads))


def _with_names(option: str, entries: list[Any], argument: Any) -> list[tuple[str, Any]]:
    """Every entry with how messages call it; a single one is looked at once."""
    if isinstance(argument, (list, tuple)):
        return [(f"{option}[{j}]", entry) for j, entry in enumerate(entries)]
    return [(option, entry) for entry in entries]
