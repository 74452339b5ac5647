"""`mag.multivariate`: check, standardize, run the method, count, wrap."""

import inspect
from functools import partial
from typing import Any, Unpack

import numpy as np

from mag._backends.cpu.labels import at_least
from mag._backends.protocol import DeviceBackend
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
from mag.api.types import BackendName, BoundName, MethodName, MethodOptions, ProgressReport, RandomState
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
        Arrays of NumPy, PyTorch, JAX, CuPy or any other library of the array API standard, or what NumPy can read.
    k : int
        The smallest group size, from 1 to n.
    method : {"anneal", "auto", "cbfs_order", "dba", "kmeans_cleanup", "lmas", "matching", "md", "mdav", \
"mdav_order", "mdav_plus", "mdav_star", "mdav_star_gamma", "mona", "mona_2d", "mondrian", "mondrian_v", \
"mondrian_v2d", "mst", "mu_approx", "nearest_neighbor", "npn", "ona", "ona_local", "ona_star", "ona_star_gamma", \
"pcl", "projection", "sbm", "tfrp", "tsp", "v_mdav", "zscore"}
        How to group; "auto" is "anneal" with a `time_limit`.  Without one it is "ona_star" while n·n·d is at most
        2**35, some seconds, and "ona_local" beyond.

        ===================== ==================================================== ====================================
        method                groups                                               options
        ===================== ==================================================== ====================================
        ``anneal``            any groups, changed at random, uphill ever less      init, iterations, restarts,
                              often                                                random_state, time_limit
        ``lmas``              clusters of k-means, small ones merged and large     restarts, random_state, time_limit
                              ones split
        ``ona``               random groups that exchange records one by one       restarts, random_state, time_limit
        ``ona_local``         groups of MDAV*, polished as by ONA* in parts that   time_limit
                              change from round to round
        ``ona_star``          groups of MDAV*, dissolved and reassigned while      time_limit
                              that lowers the loss
        ``ona_star_gamma``    as ONA*, from the groups of MDAV*γ                   gamma, time_limit
        ``md``                around the two records farthest from each other      closest, time_limit
        ``mdav``              around the record farthest from the centroid, and    time_limit
                              the one farthest from that
        ``mdav_plus``         around the record farthest from the centroid         closest, time_limit
        ``mdav_star``         as MDAV+, but a record joins an existing group       closest, time_limit
                              where a new one would cost more
        ``mdav_star_gamma``   as MDAV*, with a threshold γ for opening groups      gamma, closest, time_limit
        ``sbm``               around the first and the last record in the order    time_limit
                              of rank sums
        ``tfrp``              around records far from two fixed points; groups     time_limit
                              are dissolved where that costs less
        ``v_mdav``            as MDAV+, then extended by records close to the      gamma, closest, time_limit
                              group
        ``mona``              halves, grouped by ONA* once they are small          rho, time_limit
        ``mona_2d``           as MONA, halved as Mondrian along two columns        rho, time_limit
        ``mondrian``          halves at the median of the column with the widest   time_limit
                              range
        ``mondrian_v``        halves at the median of the column with the largest  time_limit
                              variance
        ``mondrian_v2d``      halves also at the sum or difference of two columns  time_limit
        ``cbfs_order``        consecutive in the order in which CBFS takes         time_limit, integer
                              records
        ``mdav_order``        consecutive in the order in which MDAV takes         time_limit, integer
                              records
        ``npn``               consecutive on a walk that always goes on to the     time_limit, integer
                              nearest record
        ``projection``        consecutive in the best of 500 projections on a      directions, n_projections, ordered,
                              line                                                 refine, return_scores,
                                                                                   random_state, time_limit, integer
        ``tsp``               consecutive on a short tour through all records      exchanges, random_state,
                                                                                   time_limit, integer
        ``zscore``            consecutive in the order of the sum of the           integer
                              standardized columns
        ``dba``               the densest k records first; groups are dissolved    time_limit
                              where that costs less
        ``kmeans_cleanup``    clusters of k-means, small ones merged               factor, random_state, time_limit
        ``mst``               parts of the minimum spanning tree without its       split, time_limit
                              longest edges; large ones are split
        ``mu_approx``         the trees of ``nearest_neighbor``, large ones split  random_state, time_limit
        ``nearest_neighbor``  trees of near records, cut into groups               random_state
        ``pcl``               k-means with cells of equal size                     restarts, random_state, time_limit
        ``matching``          the best pairs; for k = 2 only                       none
        ===================== ==================================================== ====================================

        Orders give the best groups of records that are consecutive in them.  "matching" needs the packages of
        ``mag-sdc[matching]``, takes up to 2048 records, and makes one group of three of an odd number.

        Ties go to the record, or group, with the lowest number; when Mondrian halves, equal values stay in the order of
        the columns that it halved by before.
    standardize : bool
        Measure each column in its standard deviation (of the n records, ddof = 0), so that units do not matter.
        Representatives and masked values are in the units of the data in either case.
    backend : {"auto", "cpu", "cuda"}
        Where to compute.  "cuda" is for the methods that use an NVIDIA GPU: "projection", "mdav", "mdav_plus",
        "mdav_star", "ona_star", and the halving of "mondrian", "mona" and their variants; "auto" takes it for them
        where X is on the device.  The labels are the same.
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
    bound : {False, True, "lp", "neighbor"}
        Whether to compute a lower bound on the loss of any grouping with at least k records per group, the `bound` of
        the result, and how far above it this grouping is, its `gap`.  "neighbor" adds up the distances from the nearest
        records, about as fast as a fast method.  "lp" is the bound of the linear program of all groups, often within
        a few percent of the smallest loss; it takes seconds to minutes for some thousand records, longer for a larger
        k, and memory for all distances.  True is "lp" up to 8192 records and "neighbor" beyond.
    bound_time : float, optional
        Seconds after which "lp" gives the best bound so far; it is valid, but lower, and depends on the machine.
    integer : bool
        Publish the integers nearest to the means, half away from zero, and find the groups that lose least then.
    exchanges : float
        Random exchanges of stretches of the tour that are tried, per record ("tsp"); 10 by default, fewer above 5000
        records.
    directions : {"gaussian", "pca", "uniform"} or array, shape (d, m)
        Lines to project on ("projection"): the first principal component and then random directions, entries uniform in
        [0, 1] (the default) or Gaussian; the principal component alone; or the given columns alone.
    n_projections : int
        How many random directions; 500 by default.
    ordered : bool
        Whether the best directions are only taken as an order of the records, for the best groups by all columns (the
        default), or the groups are those that are optimal on the line.
    refine : int
        Rounds in which 64 directions around the best one are tried; none by default.
    return_scores : bool
        Whether ``details["directions"]`` of the result, (d, m), and ``details["scores"]``, the information loss of the
        optimal groups on each line, are kept.
    factor : float
        The number of clusters, relative to n/k ("kmeans_cleanup").
    gamma : float or "search"
        How eagerly groups are extended beyond k records; "search", the default, tries 0 to 2 in steps of 0.1 and takes
        the best, which ``details["gamma"]`` of the result reports.
    closest : {"centroid", "cost", "member"}
        Which group is closest to a record: the one with the nearest centroid (the default), the one that it costs
        least to add to, or that of the nearest member.
    restarts : int
        How many random starts, of which the best is taken; 10 by default, 3 of "pcl".  Of "anneal", how often the whole
        data are annealed, side by side, before their best parts are annealed further: 2 by default, and more than 6000
        records in parts only.
    init : str or array of integers, shape (n,)
        The groups to begin with ("anneal"): a label per record, each at least k times, or the name of a method; by
        default "ona_star", or "mona" if that takes more than 80 % of `time_limit`.  ``details["init"]`` of the result
        reports it; if it is "ona_star", the loss is at most that of "ona_star".
    iterations : float
        Steps of annealing per record, 2000 by default; until the time is up with a `time_limit`.  The same seed and
        iterations give the same groups, and the more the better; what a time limit gives depends on the machine.
    rho : float
        Parts of more than n**rho records are halved, smaller ones grouped ("mona"): 0 halves all the way, 1 is
        "ona_star"; 0.5 by default.
    split : {"md", "mdav", "mdav_plus"} or None
        The method that splits parts of 2k records or more ("mst"); None leaves them as they are.
    **options
        An option that the method does not use is an error.

    Returns
    -------
    RecordGrouping
        Labels, sizes, cost, representatives and masked records, in the library and on the device of `X`.

    Notes
    -----
    Groups have k records or more: k to 2k-1 from the six orders, "md", "mdav", "mdav_plus", the Lloyd and MONA methods,
    "dba", "tfrp", "sbm", "mst" unless ``split=None``, "mu_approx", "pcl" and "anneal", k to max(2k-1, 3k-5) from
    "nearest_neighbor", k to 2k from Mondrian, any number from the others.  Those of "pcl" differ by one record, up to
    4096 records, and in each half of larger tables.  Fewer than 2k records are one group.

    Examples
    --------
    >>> import mag
    >>> people = [[31.5, 170], [52.0, 181], [30.9, 168], [33.2, 173], [29.8, 165], [55.1, 185], [50.1, 179]]
    >>> grouping = mag.multivariate(people, k=3, method="zscore")
    >>> grouping.labels
    array([0, 1, 0, 0, 0, 1, 1], dtype=int32)
    >>> grouping.masked[0]
    array([ 31.35, 169.  ])

    How much lower could the loss be?

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> grouping = mag.multivariate(X, k=3, method="mdav", bound=True)
    >>> grouping.bound <= grouping.information_loss
    True
    >>> print(f"at most {grouping.gap:.0%} lower")
    at most 14% lower
    """
    engine, resident = backend_of(backend), on_device(X, backend)
    name = one_of("method", method, ["auto", *METHODS])
    there = resident if resident and bound is False and _stays(*resident[:2], k, name, options) else None
    values, origin = there[1:] if there else read_table("X", X, quiet=backend == "cpu")
    values = real_table("X", values)
    arithmetic, result_of = there[0].record_context(values) if there else (HostArithmetic, RecordGrouping)
    with arithmetic.active():
        finite("X", values)
    dtype, (n, d) = values.dtype, values.shape
    k = integer("k", k, 1, n, "n")
    name = automatic(n, d, k, time_limit is not None) if name == "auto" else name
    if resident is not None and METHODS[name].accepts("engine"):  # the data are on a device, so is the work
        engine = resident[0]
    lower = _bound(bound, bound_time, n)
    if dtype.kind == "f":
        values = values.astype(np.float64, copy=False)
    elif dtype.kind == "b":
        values = values.view(np.uint8)
    own: dict[str, Any] = {**options}
    check_keywords("multivariate", own, inspect.signature(multivariate).parameters)
    check_options(name, k, own, time_limit, engine, backend)
    in_integers = _integer(own.pop("integer", False), values, dtype)
    threads = thread_count("threads", threads)
    generator = generator_of(random_state)
    with arithmetic.active():
        standard = center_columns(values, flag("standardize", standardize), arithmetic)
    details: dict[str, Any] = {}
    names = [name] if n >= 2 * k and k > 1 and d > 1 else []
    report = bar_of(progress_of(progress))
    with working_on(name, is_quiet(report)), arithmetic.active():
        tracker = progress_for(names, k, own, in_integers, report, seconds("time_limit", time_limit))
        if n < 2 * k or k == 1:
            labels = np.zeros(n, np.int32) if n < 2 * k else np.arange(n)
        elif d == 1:
            labels = univariate(values[:, 0], k, cost="sse_int" if in_integers else "sse", threads=threads).labels
            name = "univariate"
        else:
            integers = _integer_columns(values, standard) if in_integers else None
            labels, details = run_method(
                name, standard.z, k, Resources(generator, tracker, threads, engine, integers), own
            )
        tracker.finish()
        labels, n_groups = number_groups(labels, n)
        if not at_least(k, labels, n_groups, False):
            raise group_below(k)
    result = partial(
        result_of,
        labels,
        k,
        n_groups,
        x=values,
        dtype=dtype,
        standard=standard,
        integer=in_integers,
        method=name,
        complete=not tracker.stopped,
        details={
            what: origin(arithmetic.array(fact)) if origin and isinstance(fact, np.ndarray) else fact
            for what, fact in details.items()
        },
        origin=origin,
    )
    if lower is None:
        return result()
    least = result()._squares  # which is optimal without a choice, and with one column
    if names:
        with working_on("bound", is_quiet(report)):
            if bound_time is not None:
                interruptible(warm_up_bound, lower)
            least = interruptible(BOUNDS[lower], standard.z, k, least, threads, Progress(None, bound_time))
    return result(bound=least)


def _stays(engine: DeviceBackend, X: Any, k: Any, name: str, options: MethodOptions) -> bool:
    """Whether records that are on a device are grouped without a copy of them for the host."""
    fits = METHODS[name].resident if name in METHODS else None
    if fits is None or X.ndim != 2 or X.dtype.kind not in "biuf" or options.get("integer") or not isinstance(k, int):
        return False
    n, d = X.shape
    return n >= 2 * k > 2 and d > 1 and fits(engine, n, d, k)


def _bound(bound: Any, bound_time: Any, n: int) -> str | None:
    """Which bound was asked for."""
    name = None
    if isinstance(bound, str):
        name = one_of("bound", bound, BOUNDS)
    elif flag("bound", bound):
        name = automatic_bound(n)
    if name == "lp" and n > DENSE:
        raise InputValueError(f"bound='lp' is for at most {DENSE} records; got n={n}, use 'neighbor'.")
    if name != "lp" and bound_time is not None:
        raise InputTypeError(f"bound_time is only used by bound 'lp'; got bound={describe(bound)} of n={n} records.")
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
