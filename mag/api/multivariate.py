"""`mag.multivariate`: read, plan, standardize, group, bound, wrap."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Unpack

import numpy as np

from mag._backends.cpu.facts import HostRecordFacts
from mag._backends.cpu.labels import at_least
from mag._backends.protocol import Backend, DeviceBackend, ToCaller
from mag._compiled.groups import distance
from mag._lib.arrays import read_table
from mag._lib.checks import describe, finite, flag, integer, one_of, real_table, seconds, thread_count
from mag._lib.errors import InputTypeError, InputValueError, group_below
from mag._lib.interrupt import interruptible
from mag._lib.notice import working_on
from mag._lib.progress import Progress, bar_of, is_quiet
from mag.api.backends import backend_of, on_device
from mag.api.method import check_keywords, check_options, number_groups, run_method
from mag.api.options import generator_of, progress_of
from mag.api.types import BackendName, BoundName, CostName, MethodName, MethodOptions, ProgressReport, RandomState
from mag.api.univariate import univariate
from mag.api.warm_up import progress_for
from mag.bounds import BOUNDS, DENSE, warm_up_bound
from mag.bounds import automatic as automatic_bound
from mag.methods import METHODS, Resources, automatic
from mag.methods.distances.standard import HostArithmetic, Standard, center_columns
from mag.methods.orders.consecutive import IntegerColumns
from mag.results import RecordGrouping


def multivariate(
    X: Any,
    k: int,
    *,
    method: MethodName = "auto",
    standardize: bool = True,
    backend: BackendName = "auto",
    threads: int | None = None,
    random_state: RandomState = 0,
    progress: ProgressReport = None,
    time_limit: float | None = None,
    bound: bool | BoundName = False,
    bound_time: float | None = None,
    **options: Unpack[MethodOptions],
) -> RecordGrouping:
    """Group records of several columns into groups of at least k, with a small information loss.

    Finding the smallest loss is NP-hard for two columns or more; the methods differ in loss and time.  With one column,
    all of them give the optimum of `mag.univariate`.

    Parameters
    ----------
    X : array-like of real numbers, shape (n, d)
        The records; integers, booleans and floats up to float64.  NaN and infinity are refused.
        Arrays of NumPy, PyTorch, JAX, CuPy or any other library of the array API standard, or input that NumPy can
        read.
    k : int
        The smallest group size, from 1 to n.
    method : {"anneal", "auto", "cbfs_order", "dba", "kmeans_cleanup", "lmas", "matching", "md", "mdav", \
"mdav_order", "mdav_plus", "mdav_star", "mdav_star_gamma", "mona", "mona_2d", "mondrian", "mondrian_v", \
"mondrian_v2d", "mst", "mu_approx", "nearest_neighbor", "npn", "ona", "ona_local", "ona_star", "ona_star_gamma", \
"pcl", "projection", "sbm", "tfrp", "tsp", "v_mdav", "zscore"}
        How to group; "auto" is "anneal" with a `time_limit`.  Without one it is "ona_local" up to 32 columns; of more
        columns, "ona_star" while n·n·d is at most 2**29·k.  "matching" is for k = 2 and needs ``mag-sdc[matching]``.
        The guide to methods describes each: its groups, options, time and source.  Ties go to the lowest number.
    standardize : bool
        Measure each column in its standard deviation (of the n records, ddof = 0), so that units do not matter.
        Representatives and masked values are in the units of the data in either case.
    backend : {"auto", "cpu", "cuda"}
        Where to compute; "auto" is where X is, for methods that can use an NVIDIA GPU.  The labels are the same.
    threads : int, optional
        Number of threads; all processors by default.  The result does not depend on it.
    random_state : int or numpy.random.Generator
        Seeds the methods that draw random numbers: the same seed gives the same groups.  Other methods ignore it.
    progress : bool or callable, optional
        True draws a bar on the standard error stream; a function is called with fractions from 0 to 1, on the thread
        that works.
    time_limit : float, optional
        Seconds after which the best grouping so far is returned; its `complete` is then False.  The clock starts when
        the code of the method is compiled and loaded.
    bound : {False, True, "branch", "lp", "neighbor"}
        Whether to compute a lower bound on the loss of any grouping with at least k records per group, the `bound` of
        the result, and its `gap`.  "lp" is close and slow, "neighbor" fast; True is "lp" up to 8192 records.  "branch"
        is closer and slower, and may prove the least loss; a better grouping that it finds is the result, its `method`
        is then "branch".  It needs SciPy, extra ``matching``.
    bound_time : float, optional
        Seconds after which "branch" and "lp" give the best bound so far; it is valid, but lower, and depends on the
        machine.
    **options
        Options of the method: closest, directions, exchanges, factor, gamma, init, integer, iterations, n_projections,
        ordered, refine, restarts, return_scores, rho, split.  The guide to records describes them.  An option that the
        method does not use is an error.

    Returns
    -------
    RecordGrouping
        Labels, sizes, cost, representatives and masked records, in the library and on the device of `X`.

    Examples
    --------
    >>> import mag
    >>> people = [[31.5, 170], [52.0, 181], [30.9, 168], [33.2, 173], [29.8, 165], [55.1, 185], [50.1, 179]]
    >>> grouping = mag.multivariate(people, k=3, method="zscore")
    >>> grouping.labels
    array([0, 1, 0, 0, 0, 1, 1], dtype=int32)
    >>> grouping.masked[0]
    array([ 31.35, 169.  ])
    """
    data = _read(X, k, method, backend, bound, options)
    task = _plan(data, k, backend, options, threads, random_state, progress, time_limit, bound, bound_time)
    with data.arithmetic.active():
        standard = center_columns(data.values, flag("standardize", standardize), data.arithmetic)
    found = _group(data, task, standard)
    facts = _facts(data, task, standard, found)
    least, better = _least_loss(task, standard, found, facts)
    if better is not None and (improved := _facts(data, task, standard, better)).squares < facts.squares:
        found, facts = better, improved
    return RecordGrouping(
        facts,
        task.k,
        method=found.method,
        complete=found.complete,
        details=found.details,
        bound=None if least is None else facts.share(least),
    )


@dataclass
class _Data:
    """Records that were read: `values` are float64 or integers at `arithmetic`, `dtype` is that of X.

    `name` is the method's, or "auto"; `engine` is the one that was named, `resident` that of the device with X on it.
    """

    name: str
    engine: Backend
    resident: DeviceBackend | None
    values: Any
    dtype: np.dtype
    origin: ToCaller | None
    arithmetic: Any
    facts_of: Callable[..., Any]


@dataclass
class _GroupingTask:
    """How to group, checked: `chooses` is False where n, k or d leave a method no choice."""

    k: int
    method: str
    chooses: bool
    options: dict[str, Any]
    integer: bool
    engine: Backend
    threads: int
    generator: np.random.Generator
    report: Callable[[float], Any] | None
    time_limit: float | None
    bound: str | None
    bound_time: float | None


@dataclass
class _Found:
    """Groups, numbered and counted, and the method that found them."""

    labels: np.ndarray
    n_groups: int
    method: str
    complete: bool
    details: dict[str, Any]


def _read(X: Any, k: Any, method: str, backend: str, bound: Any, options: MethodOptions) -> _Data:
    """The records where they are grouped: on their device, or on the host."""
    engine, resident = backend_of(backend), on_device(X, backend)
    name = one_of("method", method, ["auto", *METHODS])
    origin: ToCaller | None
    if resident and bound is False and _stays(*resident[:2], k, name, options):
        where, values, origin = resident
        values = real_table("X", values)
        arithmetic, facts_of = where.record_context(values)
    else:
        values, origin = read_table("X", X, quiet=backend == "cpu")
        values, arithmetic, facts_of = real_table("X", values), HostArithmetic, HostRecordFacts
    dtype = values.dtype
    with arithmetic.active():
        finite("X", values)
        if dtype.kind == "f":
            values = values.astype(np.float64, copy=False)
        elif dtype.kind == "b":
            values = values.view(np.uint8)
    return _Data(name, engine, resident[0] if resident else None, values, dtype, origin, arithmetic, facts_of)


def _plan(
    data: _Data,
    k: Any,
    backend: str,
    options: MethodOptions,
    threads: Any,
    random_state: Any,
    progress: Any,
    time_limit: Any,
    bound: Any,
    bound_time: Any,
) -> _GroupingTask:
    """How to group the records: all options, checked."""
    n, d = data.values.shape
    k = integer("k", k, 1, n, "n")
    name = automatic(n, d, k, time_limit is not None) if data.name == "auto" else data.name
    # where the data are on a device, so is the work
    engine = data.resident if data.resident is not None and METHODS[name].accepts("engine") else data.engine
    lower = _bound(bound, bound_time, n)
    own: dict[str, Any] = {**options}
    check_keywords("multivariate", own, _list_parameters())
    check_options(name, k, own, time_limit, engine, backend)
    return _GroupingTask(
        k=k,
        method=name,
        chooses=n >= 2 * k and k > 1 and d > 1,
        integer=_integer(own.pop("integer", False), data.values, data.dtype),
        options=own,
        engine=engine,
        threads=thread_count("threads", threads),
        generator=generator_of(random_state),
        report=bar_of(progress_of(progress)),
        time_limit=seconds("time_limit", time_limit),
        bound=lower,
        bound_time=bound_time,
    )


@cache
def _list_parameters() -> tuple[str, ...]:
    """The names of the parameters of `multivariate`."""
    return tuple(inspect.signature(multivariate).parameters)


def _group(data: _Data, task: _GroupingTask, standard: Standard) -> _Found:
    """The groups of the method, or those without a choice; their sizes are counted again from the labels."""
    (n, d), k, name = data.values.shape, task.k, task.method
    details: dict[str, Any] = {}
    with working_on(name, is_quiet(task.report)), data.arithmetic.active():
        names = [name] if task.chooses else []
        tracker = progress_for(names, k, task.options, task.integer, task.report, task.time_limit)
        if n < 2 * k or k == 1:
            labels = np.zeros(n, np.int32) if n < 2 * k else np.arange(n)
        elif d == 1:
            cost: CostName = "sse_int" if task.integer else "sse"
            labels, name = univariate(data.values[:, 0], k, cost=cost, threads=task.threads).labels, "univariate"
        else:
            integers = _integer_columns(data.values, standard) if task.integer else None
            resources = Resources(task.generator, tracker, task.threads, task.engine, integers)
            labels, details = run_method(name, standard.z, k, resources, task.options)
        tracker.finish()
        labels, n_groups = number_groups(labels, n)
        if not at_least(k, labels, n_groups, False):
            raise group_below(k)
    if data.origin is not None:
        details = {
            what: data.origin(data.arithmetic.array(detail)) if isinstance(detail, np.ndarray) else detail
            for what, detail in details.items()
        }
    return _Found(labels, n_groups, name, not tracker.stopped, details)


def _facts(data: _Data, task: _GroupingTask, standard: Standard, found: _Found) -> Any:
    """What follows from the groups."""
    return data.facts_of(
        found.labels,
        found.n_groups,
        x=data.values,
        dtype=data.dtype,
        standard=standard,
        integer=task.integer,
        origin=data.origin,
    )


def _least_loss(
    task: _GroupingTask, standard: Standard, found: _Found, facts: Any
) -> tuple[float | None, _Found | None]:
    """The requested lower bound on the cost of any grouping, and a better grouping if it found one.

    It is the cost of this grouping if the method had no choice.
    """
    if task.bound is None or not task.chooses:
        return None if task.bound is None else facts.squares, None
    with working_on("bound", is_quiet(task.report)):
        if task.bound_time is not None:
            interruptible(warm_up_bound, task.bound)
        clock, labels = Progress(None, task.bound_time), np.asarray(found.labels, np.int64)
        least, better = interruptible(
            BOUNDS[task.bound], standard.z, task.k, labels, facts.squares, task.threads, clock
        )
    if better is None:
        return least, None
    labels, n_groups = number_groups(better, len(better))
    if not at_least(task.k, labels, n_groups, False):
        raise group_below(task.k)
    return least, replace(found, labels=labels, n_groups=n_groups, method=task.bound, details={})


def _stays(engine: DeviceBackend, X: Any, k: Any, name: str, options: MethodOptions) -> bool:
    """Whether records that are on a device are grouped without a copy of them for the host."""
    fits = METHODS[name].resident if name in METHODS else None
    if fits is None or X.ndim != 2 or X.dtype.kind not in "biuf" or options.get("integer") or not isinstance(k, int):
        return False
    n, d = X.shape
    return n >= 2 * k > 2 and d > 1 and fits(engine, n, d, k)


def _bound(bound: Any, bound_time: Any, n: int) -> str | None:
    """The name of the requested bound, or None."""
    name = None
    if isinstance(bound, str):
        name = one_of("bound", bound, BOUNDS)
    elif flag("bound", bound):
        name = automatic_bound(n)
    if name in ("branch", "lp") and n > DENSE:
        raise InputValueError(f"bound={name!r} is for at most {DENSE} records; got n={n}, use 'neighbor'.")
    if name not in ("branch", "lp") and bound_time is not None:
        raise InputTypeError(
            f"bound_time is only used by bounds 'branch' and 'lp'; got bound={describe(bound)} of n={n} records."
        )
    seconds("bound_time", bound_time)
    return name


def _integer(option: Any, values: np.ndarray, dtype: np.dtype) -> bool:
    """Whether integers are to be published."""
    if not flag("integer", option):
        return False
    if dtype.kind == "f":
        raise InputTypeError(f"integer=True needs integers; got {dtype.name}, round X to integers first.")
    widest = max(int(column.max()) - int(column.min()) for column in values.T)
    if widest * len(values) >= 2**52:
        raise InputValueError(
            "integer=True needs columns whose range times n is below 2**52; use integer=False instead."
        )
    return True


def _integer_columns(values: np.ndarray, standard: Standard) -> IntegerColumns:
    """The integers around 0."""
    y = distance(values, values.min(axis=0)).astype(np.float64)
    return IntegerColumns(y - np.rint(y.mean(axis=0)), standard.unit)
