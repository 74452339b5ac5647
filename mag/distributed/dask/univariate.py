"""One column in chunks, grouped as `mag.univariate` groups it: range partition, local sort, stretches, labels back."""

from operator import getitem
from typing import Any

import dask.array as da
import numpy as np

from mag._backends.cpu import BOTH_ENDS_FROM_N, stretches
from mag._lib.checks import describe, integer, one_of
from mag._lib.errors import InputTypeError
from mag.costs import COSTS
from mag.distributed import _ranges
from mag.distributed import _univariate_tasks as tasks
from mag.distributed._results import ScaledColumn, representative_type
from mag.distributed.dask._graph import Key, Tasks
from mag.distributed.dask._inputs import real_chunks


def univariate(x: Any, k: int, *, cost: str = "sse", ranges: int | None = None) -> ScaledColumn:
    """Group the numbers of a dask array, too many for one machine, into the groups that `mag.univariate` finds.

    Chunks are sorted and dealt into ranges of values, and the dynamic program runs over all ranges at once.  A range
    starts ahead from a guess, and is kept only if its state where it begins has the very bits that the range before it
    ends with; otherwise it is computed from there.  Labels, masked values and cost are those of `mag.univariate`.

    Parameters
    ----------
    x : dask array of real numbers, shape (n,)
        The values, in any order, in chunks of known sizes; as in `mag.univariate`.  NaN and infinity are refused.
        Integers must lie within a range of 2**53.
    k : int
        The smallest group size, from 1 to n.
    cost : str
        The cost of a group, a name of `mag.univariate`.
    ranges : int, optional
        The number of ranges; the number of chunks of `x` by default.

    Returns
    -------
    ScaledColumn
        Labels and masked values as dask arrays in chunks like those of `x`, and the cost and the number of groups;
        all of them lazy.

    Notes
    -----
    Every chunk meets every range, which creates 3 · chunks · ranges small tasks: a hundred chunks are fine, a thousand
    are not.  Memory is about 40 bytes per value, on all workers together, which spill data that do not fit; one task
    takes a few copies of a chunk or a range.

    Equally spaced values, and k so large that 6k² + 20k values are more than a range, are solved range after range:
    the same result, and only sorting is done side by side.

    Examples
    --------
    >>> import dask.array as da
    >>> import mag.distributed
    >>> scaled = mag.distributed.univariate(da.from_array([1.0, 10.0, 2.0, 11.0, 3.0], chunks=2), k=2)
    >>> scaled.labels
    dask.array<labels-of-mag-univariate, shape=(5,), dtype=int32, chunksize=(2,), chunktype=numpy.ndarray>
    >>> scaled.masked.compute()
    array([ 2. , 10.5,  2. , 10.5,  2. ])
    """
    if not isinstance(x, da.Array):
        raise InputTypeError(f"x must be a dask array; got {describe(x)}, use mag.univariate for data in memory.")
    real_chunks("x", x, 1)
    sizes, n = x.chunks[0], x.size
    k = integer("k", k, 1, n, "n")
    cost = one_of("cost", cost, COSTS)
    if COSTS[cost].integer and x.dtype.kind == "f":
        raise InputTypeError(f"cost {cost!r} needs integers; got {x.dtype.name}, round x to integers first.")
    ranges = len(sizes) if ranges is None else integer("ranges", ranges, 1, n, "n")
    t = Tasks("univariate", [x], x.name, k, cost, ranges)
    arranged = t.each("arranged", _ranges.arrange, [(x.name, c) for c in range(len(sizes))])
    dealt = t.add("dealt", [], _ranges.deal, t.each("sampled", _ranges.sample, arranged, ranges), ranges, "x")
    split = [t.add("split", [c], _ranges.split, key, c, dealt) for c, key in enumerate(arranged)]
    merged = t.each("merged", _ranges.merge, t.exchange("piece", split, ranges))
    edges = t.add("edges", [], tasks.locate_edges, t.each("counted", tasks.count_values, merged))
    starts = _starts(t, merged, dealt, edges, n, k, cost)
    numbered = t.add("numbered", [], tasks.number_starts, t.each("first", tasks.read_first_start, starts), n)
    head, represented = None, []
    for p in reversed(range(ranges)):
        where = [starts[p], numbered, edges, p]
        represented.append(t.add("represented", [p], tasks.represent_groups, merged[p], head, *where, x.dtype, cost, k))
        head = t.add("head", [p], tasks.take_head, merged[p], head, 2 * k - 1)
    represented.reverse()
    windows = _windows(t, merged, dealt, n, k) if COSTS[cost].integer else []
    facts = t.entries("fact", represented, 1)
    checked = t.add("checked", [], tasks.check_groups, facts, windows, dealt, min(4 * k, n), cost, k)

    def back(what: str, function: Any, dtype: Any, details: list[list[Any]]) -> da.Array:
        """Apply a function to the values of every range, and return the results in chunks like those of x."""
        results = []
        for p in range(ranges):
            results.append(t.add(what, [p], function, merged[p], starts[p], edges, p, checked, *details[p]))
        restored = {}
        for c, pieces in enumerate(t.exchange(f"{what}-piece", results, len(sizes))):
            restored[c,] = t.add(f"{what}-chunk", [c], _ranges.restore, arranged[c], pieces)
        return t.array(what, restored, x.chunks, dtype)

    labels, representative = np.int32 if n // k < 2**31 else np.int64, representative_type(cost, x.dtype)
    return ScaledColumn(
        back("labels", tasks.label_range, labels, [[numbered, labels]] * ranges),
        back("masked", tasks.mask_range, representative, [[one] for one in represented]),
        k,
        t.value("n_groups", t.entries("groups", [numbered], 2)[0]),
        t.value("cost", t.entries("total", [checked], 1)[0]),
    )


def _starts(t: Tasks, merged: list[Any], dealt: Key, edges: Key, n: int, k: int, cost: str) -> list[Any]:
    """Keys of where groups start, range by range."""
    if k == 1 or n < 2 * k:
        trivial = tasks.start_every_value if k == 1 else tasks.start_first_value
        return [t.add("starts", [p], trivial, edges, p) for p in range(len(merged))]
    numbers = t.each("numbers", _ranges.numbers, merged, dealt)
    if n < max(BOTH_ENDS_FROM_N, 8 * k):
        solved, _ = _half(t, "ahead", numbers, edges, n, n, k, cost)
        return _trace(t, "ahead", solved, edges, t.add("cut", [], tasks.choose_cut, None, None, n), k, False)
    # as `mag.univariate`: from both ends, on mirrored values from the right, joined at the best cut between them
    middle = n // 2
    mirrored = t.each("mirrored", tasks.mirror_numbers, numbers[::-1])
    turned = t.add("turned", [], tasks.mirror_edges, edges)
    left, end = _half(t, "ahead", numbers, edges, n, middle + 2 * k - 2, k, cost)
    right, other_end = _half(t, "back", mirrored, turned, n, n - middle, k, COSTS[cost].mirror)
    cut = t.add("cut", [], tasks.choose_cut, end, other_end, middle)
    uncut = t.add("uncut", [], tasks.mirror_cut, cut, n)
    forwards = _trace(t, "ahead", left, edges, cut, k, False)
    backwards = _trace(t, "back", right, turned, uncut, k, True)[::-1]
    return [t.add("starts", [p], tasks.join_starts, forwards[p], backwards[p], n) for p in range(len(merged))]


def _half(
    t: Tasks, half: str, numbers: list[Any], edges: Key, n: int, length: int, k: int, cost: str
) -> tuple[list[Any], Key]:
    """Keys of the stretches of the first `length` values, and of the states at their ends."""
    ahead = stretches.run_ahead(k)
    guess = ahead * len(numbers) < n  # otherwise the guesses would cost more than they save
    tail: Any = None
    leave: Any = None
    solved = []
    for q, key in enumerate(numbers):
        where = [edges, q, length, cost, k]
        guessed = t.add(f"{half}-guessed", [q], tasks.guess_stretch, key, tail, ahead, *where) if guess and q else None
        solved.append(t.add(f"{half}-followed", [q], tasks.follow_stretch, guessed, leave, key, tail, *where))
        leave = t.add(f"{half}-left", [q], tasks.read_state, solved[-1], leave)
        tail = t.add(f"{half}-tail", [q], tasks.take_tail, tail, key, stretches.tail(k, ahead if guess else 0))
    return solved, leave


def _trace(t: Tasks, half: str, solved: list[Any], edges: Key, cut: Key, k: int, mirrored: bool) -> list[Any]:
    """Keys of where groups start, range by range, followed back from the cut."""
    traces = []
    for q in reversed(range(len(solved))):
        traces.append(t.add(f"{half}-trace", [q], tasks.trace_starts, solved[q], cut, edges, q, k, mirrored))
        cut = t.add(f"{half}-cut", [q], getitem, traces[-1], 1)
    return t.entries(f"{half}-starts", traces[::-1], 0)


def _windows(t: Tasks, merged: list[Any], dealt: Key, n: int, k: int) -> list[Any]:
    """Keys of the widest range of 4k + 1 neighbors, range by range."""
    tail, windows = None, []
    for p, key in enumerate(merged):
        windows.append(t.add("window", [p], tasks.measure_widest_window, key, tail, dealt, min(4 * k, n - 1)))
        tail = t.add("window-tail", [p], tasks.take_window_tail, tail, key, dealt, 4 * k)
    return windows
