"""`mag.univariate`: check, plan, run, wrap."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from mag._backends.cpu.labels import at_least
from mag._backends.problem import Problem
from mag._lib.arrays import read
from mag._lib.checks import flag, integer, real_vector, thread_count
from mag._lib.errors import InputValueError, group_below
from mag._lib.threads import PASS_VALUES_PER_THREAD, in_parts
from mag.api.backends import backend_of, on_device, runner_for
from mag.api.options import cost_of, numbers_of, problem_of, weights_of
from mag.api.types import AnyCost, BackendName, SolverName
from mag.costs import Cost
from mag.results import Grouping


def univariate(
    x: Any,
    k: int,
    *,
    cost: AnyCost = "sse",
    solver: SolverName = "auto",
    weights: Any = None,
    assume_sorted: bool = False,
    group_penalty: float | None = None,
    max_groups: int | None = None,
    soft: float | None = None,
    backend: BackendName = "auto",
    threads: int | None = None,
) -> Grouping:
    """Group numbers into groups of at least k, with the smallest possible cost.

    Parameters
    ----------
    x : array-like of real numbers, shape (n,)
        The values, in any order; integers, booleans and floats up to float64.  NaN and infinity are refused.
        Arrays of NumPy, PyTorch, JAX, CuPy or any other library of the array API standard, or what NumPy can read.
    k : int
        The smallest group size, from 1 to n.
    cost : {"maxdist", "rounddown", "roundup", "sae", "sse", "sse_int"} or mag.Cost
        What a group loses, summed over groups.  It determines the representative:

        ============== ======================================================== ==============
        cost           of a group                                               representative
        ============== ======================================================== ==============
        ``maxdist``    largest distance to the mid-range, half the range        mid-range
        ``rounddown``  sum of distances to the minimum                          min
        ``roundup``    sum of distances to the maximum                          max
        ``sae``        sum of absolute distances to the median                  median
        ``sse``        sum of squared distances to the mean                     mean
        ``sse_int``    sum of squared distances to the rounded mean, in exact   rounded mean
                       integers; for integers only
        ============== ======================================================== ==============
    solver : {"auto", "block", "galil_park", "growing", "quadratic", "simple", "simple_plus", "staggered", "wilber"}
        The algorithm.  All that are valid for the cost find an optimum; they differ in speed.
    weights : array-like, shape (n,), optional
        How much each record counts in the cost and in the representative, for "sse" and "sae".  Not negative.
        Group sizes still count records, and groups are of consecutive values.  Any ratio and zeros are solved as
        accurately as no weights; where float64 is not enough, that takes longer.
    assume_sorted : bool
        Skip sorting.  Unsorted values are an error.
    group_penalty : float, optional
        A constant added to the cost of every group, for fewer and larger groups.  The sum is optimal,
        whatever the scales of penalty and data.
    max_groups : int, optional
        The largest number of groups; with a cost of your own, one that is concave.
    soft : float, optional
        Allow groups below k, at this cost for each missing record.  The result then says that k is not guaranteed.
    backend : {"auto", "cpu", "cuda"}
        Where to compute; "auto" is where the data are, see `mag.backends`.
    threads : int, optional
        Number of threads for a column of two million values or more; all processors by default.  The result does not
        depend on it.

    Returns
    -------
    Grouping
        Labels, sizes, cost, representatives and masked values, in the library and on the device of `x`.

    Notes
    -----
    Groups have k to 2k-1 records unless `group_penalty`, `max_groups` or `soft` is set.  Equal values may fall into two
    groups where that is optimal; they are assigned in the order of `x`.

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
    kind, engine = cost_of("cost", cost), backend_of(backend)
    check = partial(_check, k, solver, weights, assume_sorted, (group_penalty, max_groups, soft), threads)
    device = on_device(x, backend)
    if device is not None:  # values are looked at when the result is
        where, resident, to_caller = device
        plan = check(resident, kind, False)
        if where.supports(plan.values.size, plan.problem, plan.weights):
            return where.group_resident(plan.values, plan.problem, plan.weights, dtype=plan.dtype, origin=to_caller)
        if backend != "auto":
            where.refuse(plan.problem, plan.weights)  # before anything is copied
    read_values, origin = read("x", x, quiet=backend == "cpu")
    kind = kind.in_library(origin)
    plan = check(read_values, kind, True)
    run = runner_for(engine, plan.values, [plan.problem])
    order, starts, labels = run(engine.group, plan.values, plan.weights, plan.problem, plan.assume_sorted, plan.threads)
    if soft is None and not at_least(plan.problem.k, labels, starts.size, order is None, plan.threads):
        raise group_below(plan.problem.k)
    return Grouping(
        labels,
        plan.problem.k,
        soft is None,
        x=plan.values,
        dtype=plan.dtype,
        order=order,
        starts=starts,
        weights=plan.weights,
        cost=kind,
        origin=origin,
    )


@dataclass
class _ColumnPlan:
    """The arguments, checked; `values` are what backends take, `dtype` is that of the data."""

    values: Any
    dtype: np.dtype
    weights: np.ndarray | None
    problem: Problem
    assume_sorted: bool
    threads: int


def _check(
    k: int,
    solver: str,
    weights: Any,
    assume_sorted: bool,
    added: tuple[float | None, int | None, float | None],
    threads: int | None,
    x: Any,
    cost: Cost,
    check_finite: bool,
) -> _ColumnPlan:
    """What is to be solved; `check_finite` says whether to check that the values are finite."""
    workers = thread_count("threads", threads) if x.size > PASS_VALUES_PER_THREAD else 1
    values = real_vector("x", x, check_finite, workers)
    n, dtype = values.size, values.dtype
    k = integer("k", k, 1, n, "n")
    weights = weights_of(weights, [cost], n)
    problem = problem_of(cost, k, n, solver, weights is not None, *added)
    values = numbers_of("x", values, cost)
    threads = thread_count("threads", threads)
    assume_sorted = flag("assume_sorted", assume_sorted)
    if assume_sorted and not all(in_parts(lambda *part: _ascend(values, *part), n, threads)):
        raise InputValueError("assume_sorted must be False; got True, but x is not in ascending order.")
    return _ColumnPlan(values, dtype, weights, problem, assume_sorted, threads)


def _ascend(values: np.ndarray, first: int, last: int) -> bool:
    """Whether none of the values first .. last-1 is below the one before it."""
    first = max(first, 1)
    return bool((values[first - 1 : last - 1] <= values[first:last]).all())
