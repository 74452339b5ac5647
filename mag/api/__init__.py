"""The public functions: check, plan, run, wrap."""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from mag._lib.arrays import read, resident
from mag._lib.checks import (
    finite,
    flag,
    integer,
    one_of,
    penalty,
    per_column,
    real_table,
    real_vector,
    shown,
    thread_count,
    weights_for,
)
from mag._lib.interrupt import interruptible
from mag.backends import BACKENDS, automatic, cpu, cuda
from mag.backends.cpu.labels import at_least
from mag.backends.problem import Problem
from mag.costs import COSTS, Cost
from mag.results import ColumnGroupings, Grouping
from mag.solvers import SOLVERS, Solver
from mag.solvers import automatic as automatic_solvers


def univariate(
    x: Any,
    k: int,
    *,
    cost: str | Cost = "sse",
    solver: str = "auto",
    weights: Any = None,
    assume_sorted: bool = False,
    group_penalty: float | None = None,
    max_groups: int | None = None,
    soft: float | None = None,
    backend: str = "auto",
    threads: int | None = None,
) -> Grouping:
    """Group numbers into groups of at least k, at the least cost that is possible.

    Parameters
    ----------
    x : array-like of real numbers, shape (n,)
        The values, in any order; integers, booleans and floats up to float64.  NaN and infinity are refused.
        Arrays of NumPy, PyTorch, JAX, CuPy or any other library of the array API standard, or what NumPy can read.
    k : int
        The smallest group size, from 1 to n.
    cost : {"maxdist", "rounddown", "roundup", "sae", "sse", "sse_int"} or mag.Cost
        What grouping loses, summed over groups.  It decides the representative:

        ============= ================================================== ==============
        cost          of a group                                         representative
        ============= ================================================== ==============
        ``sse``       sum of squared distances to the mean               mean
        ``sae``       sum of absolute distances to the median            median
        ``maxdist``   largest distance to the mid-range (half the range) mid-range
        ``roundup``   sum of distances to the maximum                    max
        ``rounddown`` sum of distances to the minimum                    min
        ``sse_int``   sum of squared distances to the rounded mean, in   rounded mean
                      exact integers; for integers only
        ============= ================================================== ==============
    solver : {"auto", "block", "galil_park", "quadratic", "simple", "simple_plus", "staggered", "wilber"}
        The algorithm.  All that are valid for the cost find an optimum; they differ in speed.
    weights : array-like, shape (n,), optional
        How much each record counts in the cost and in the representative, for "sse" and "sae".  Not negative.
        Group sizes still count records, and groups are of consecutive values.  Any ratio and zeros are solved as
        accurately as no weights; where float64 is not enough, that takes longer.
    assume_sorted : bool
        Skip sorting.  Values that turn out not to be sorted are an error.
    group_penalty : float, optional
        A constant added to the cost of every group, which makes for fewer and larger groups.  The sum is optimal,
        whatever the scales of penalty and data.
    max_groups : int, optional
        The largest number of groups; with a cost of your own, one that is concave.
    soft : float, optional
        Allow groups below k, at this cost for each missing record.  The result then says that k is not guaranteed.
    backend : {"auto", "cpu", "cuda"}
        Where to compute; "auto" is where the data are, see `mag.backends`.
    threads : int, optional
        How many threads may work on a column of two million values or more; all processors by default, of which two are
        used.  The result does not depend on it.

    Returns
    -------
    Grouping
        Labels, sizes, cost, representatives and masked values, in the library and on the device of `x`.

    Notes
    -----
    Groups have k to 2k-1 records unless `group_penalty`, `max_groups` or `soft` ask otherwise.  Equal values may be
    published in two groups where that is optimal; which of them goes where follows their order in `x`.

    Floats and integers keep their dtype in `masked`, except that means, medians and mid-ranges of integers are float64.

    Examples
    --------
    >>> import mag
    >>> grouping = mag.univariate([1.0, 10.0, 2.0, 11.0, 3.0], k=2)
    >>> grouping.labels
    array([0, 1, 0, 1, 0], dtype=int32)
    >>> grouping.masked
    array([ 2. , 10.5,  2. , 10.5,  2. ])
    >>> grouping
    <Grouping: 5 records in 2 groups of 2 to 3, k=2, sse 2.5>
    """
    chosen, engine = _cost("cost", cost), _backend(backend)
    if weights is None and group_penalty is None and max_groups is None and soft is None:
        staying = _staying(x, backend, solver, chosen)
        if staying is not None:
            found = _on_device(*staying, k, chosen, solver, flag("assume_sorted", assume_sorted), threads)
            if found is not None:
                return found
    x, home = read("x", x)
    values = real_vector("x", x)
    n, dtype = values.size, values.dtype
    k = integer("k", k, 1, n, "n")
    weights = _weights(weights, chosen, n)
    fixed = 0.0 if group_penalty is None else penalty("group_penalty", group_penalty, chosen.integer)
    short = 0.0 if soft is None else penalty("soft", soft, chosen.integer)
    if max_groups is not None:
        max_groups = integer("max_groups", max_groups, 1, n, "n")
        if not chosen.concave:
            raise ValueError(f"max_groups needs a concave cost; got cost {chosen.name!r}, which is not concave.")
    bounded = chosen.splitting and group_penalty is None and max_groups is None and soft is None
    solvers = _solvers(solver, chosen, k, bounded, weights is not None)
    problem = Problem(chosen, solvers, k, 1 if soft is not None else k, fixed, short, max_groups)
    values = _numbers("x", values, chosen)
    threads = thread_count("threads", threads)
    if flag("assume_sorted", assume_sorted) and not (values[:-1] <= values[1:]).all():
        raise ValueError("assume_sorted must be False; got True, but x is not in ascending order.")
    run = _run(engine, n, [problem])
    order, starts, labels = run(engine.group, values, weights, problem, assume_sorted, threads)
    if soft is None and not at_least(k, labels, starts.size, order is None):
        raise RuntimeError(WITHHELD.format(k=k))
    return Grouping(
        labels,
        k,
        soft is None,
        x=values,
        dtype=dtype,
        order=order,
        starts=starts,
        weights=weights,
        cost=chosen,
        home=home,
    )


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
    engine = _backend(backend)
    given, staying = X, _staying(X, backend, solver, *(cost if isinstance(cost, (list, tuple)) else [cost]))
    X, home = read("X", X) if staying is None else staying
    values = real_table("X", X)
    (n, m), dtype = values.shape, values.dtype
    costs = [_cost(name, one) for name, one in _named("cost", per_column("cost", cost, m), cost)]
    sizes = k if isinstance(k, (list, tuple, int)) or np.ndim(k) == 0 else read("k", k)[0].tolist()
    ks = [integer(name, one, 1, n, "n") for name, one in _named("k", per_column("k", sizes, m), sizes)]
    asked = tuple(ks) if isinstance(sizes, (list, tuple)) else ks[0]
    pairs: dict[tuple[Cost, int], list[int]] = {}
    for j, pair in enumerate(zip(costs, ks, strict=True)):
        pairs.setdefault(pair, []).append(j)
    for chosen in dict.fromkeys(costs):
        values = _numbers("X", values, chosen)
    jobs = [
        (Problem(chosen, _solvers(solver, chosen, size, chosen.splitting, False), size, size), np.array(group))
        for (chosen, size), group in pairs.items()
    ]
    threads = thread_count("threads", threads)
    described: dict[str, Any] = {"costs": costs, "home": home}
    if staying is not None:
        if not all(cuda.takes(n, problem) for problem, _ in jobs):
            return columns(given, k, cost=cost, solver=solver, backend="cpu", threads=threads)
        return cuda.stay_columns(values, jobs, asked, dtype=dtype, **described)
    run = _run(engine, values.size, [problem for problem, _ in jobs])
    solved = run(engine.group_columns, values, jobs, threads)
    if solved is None:
        finite("X", values)
    labels, n_groups, least = solved
    if (least < ks).any():
        raise RuntimeError(WITHHELD.format(k=ks[int(np.argmin(least - ks))]))
    return ColumnGroupings(labels, asked, n_groups, x=values, dtype=dtype, **described)


LONG, SLOW = 2**18, 2**12  # values that take solvers with lanes, and others, some ten milliseconds


def _run(engine: ModuleType, n: int, problems: list[Problem]) -> Callable[..., Any]:
    """How to call what groups n values: so that Ctrl-C can end it, unless it is over before anybody could wait."""
    lanes = all(solver.lanes for problem in problems for solver in problem.solvers.values())
    long = engine is cpu and n >= (LONG if lanes else SLOW)  # a device belongs to the thread that chose it
    return interruptible if long else lambda function, *args: function(*args)


WITHHELD = "A group of fewer than k={k} records was found and withheld; please report this."


def _named(option: str, entries: list[Any], given: Any) -> list[tuple[str, Any]]:
    """Every entry with how messages call it; a single one is looked at once."""
    if isinstance(given, (list, tuple)):
        return [(f"{option}[{j}]", entry) for j, entry in enumerate(entries)]
    return [(option, entry) for entry in entries]


def _backend(backend: str) -> ModuleType:
    auto = isinstance(backend, str) and backend == "auto"
    engine = BACKENDS[automatic() if auto else one_of("backend", backend, ["auto", *BACKENDS])]
    if (reason := engine.status()) is not None:
        raise ValueError(f"backend must be one that mag.backends() finds usable; got {backend!r}. {reason}")
    return engine


def _staying(x: Any, backend: str, solver: str, *costs: Any) -> tuple[Any, Any] | None:
    """Data on a device and their way home, where the whole work can be done there; None where the host is needed."""
    fast = solver in ("auto", "block") and not any(isinstance(cost, Cost) and not cost.built_in for cost in costs)
    arrived = resident(x) if fast and backend != "cpu" else None
    return arrived if arrived is not None and automatic(on_device=True) == "cuda" else None


def _on_device(
    x: Any, home: Any, k: int, cost: Cost, solver: str, assume_sorted: bool, threads: int | None
) -> Grouping | None:
    """As `univariate`, for data on a device; they are looked at when the result is.  None where k is too large."""
    values = real_vector("x", x, look=False)
    k = integer("k", k, 1, values.size, "n")
    dtype, values = values.dtype, _numbers("x", values, cost)
    thread_count("threads", threads)
    if assume_sorted and not (values[:-1] <= values[1:]).all():
        raise ValueError("assume_sorted must be False; got True, but x is not in ascending order.")
    problem = Problem(cost, _solvers(solver, cost, k, cost.splitting, False), k, k)
    if not cuda.takes(values.size, problem):
        return None
    return cuda.stay(values, problem, dtype=dtype, home=home)


def _cost(option: str, cost: str | Cost) -> Cost:
    return cost if isinstance(cost, Cost) else COSTS[one_of(option, cost, COSTS)]


def _numbers(option: str, values: np.ndarray, cost: Cost) -> np.ndarray:
    """Numbers as backends take them, for this cost: reals up to float64, or integers."""
    if cost.integer and values.dtype.kind == "f":
        raise TypeError(
            f"cost {cost.name!r} needs integers; got {values.dtype.name}, round {option} to integers first."
        )
    if values.dtype.kind == "b":
        return values.view(np.uint8)
    return values.astype(np.float64, copy=False) if values.ndim == 1 and values.dtype.kind == "f" else values


def _weights(weights: Any, cost: Cost, n: int) -> np.ndarray | None:
    if weights is None:
        return None
    if cost.weighted is None:
        raise ValueError(f"weights are used by the costs 'sae' and 'sse' only; got cost {cost.name!r}.")
    return weights_for(read("weights", weights)[0], n).astype(np.float64)


def _solvers(solver: str, cost: Cost, k: int, bounded: bool, weighted: bool) -> dict[str, Solver]:
    if isinstance(solver, str) and solver == "auto":
        names = automatic_solvers(cost, k, bounded=bounded, weighted=weighted)
        return {name: SOLVERS[name] for name in names}
    if not SOLVERS[one_of("solver", solver, ["auto", *SOLVERS])].valid(cost, bounded=bounded, weighted=weighted):
        valid = [name for name, entry in SOLVERS.items() if entry.valid(cost, bounded=bounded, weighted=weighted)]
        if not (cost.concave and cost.splitting):
            why = f"cost {cost.name!r}"
        elif not bounded:
            why = "group_penalty, max_groups or soft"
        else:
            why = f"cost {cost.name!r} and weights" if weighted else f"cost {cost.name!r}"
        listed = ", ".join(repr(name) for name in ["auto", *valid])
        raise ValueError(f"solver must be one of {listed} with {why}; got {shown(solver)}.")
    return {solver: SOLVERS[solver]}
