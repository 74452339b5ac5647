"""One column in chunks, grouped as `mag.univariate` groups it: range partition, local sort, stretches, labels back."""

from dataclasses import dataclass
from typing import Any

import dask.array as da
import numpy as np

from mag._checks import integer, one_of, shown
from mag.backends._problem import EXACT, TINY
from mag.backends.cpu import LONG
from mag.costs import COSTS
from mag.costs._groups import Groups
from mag.grouping import published
from mag.scale import _chain, _ranges
from mag.scale._chain import Stretch
from mag.scale._graph import Tasks
from mag.scale._ranges import Deal, Range
from mag.scale._results import ScaledColumn
from mag.solvers import block


def univariate(x: Any, k: int, *, cost: str = "sse", ranges: int | None = None) -> ScaledColumn:
    """Group the numbers of a dask array, too many for one machine, into the groups that `mag.univariate` finds.

    Chunks are sorted and dealt into ranges of values, and the dynamic program runs over all ranges at once.  A range
    starts ahead from a guess, and is kept only if its state where it begins has the very bits that the range before it
    ends with; otherwise it is computed from there.  Labels, masked values and cost are those of `mag.univariate`.

    Parameters
    ----------
    x : dask array of real numbers, shape (n,)
        The values, in any order, in chunks of known sizes; what `mag.univariate` takes.  NaN and infinity are refused.
        Integers must lie within a range of 2**53.
    k : int
        The smallest group size, from 1 to n.
    cost : {"maxdist", "rounddown", "roundup", "sae", "sse", "sse_int"}
        What grouping loses, see `mag.univariate`.
    ranges : int, optional
        How many ranges; as many as `x` has chunks by default.

    Returns
    -------
    ScaledColumn
        Labels and masked values as dask arrays in chunks like those of `x`, and the cost and the number of groups;
        nothing is computed before dask is asked to.

    Notes
    -----
    Every chunk meets every range, which makes for 3 · chunks · ranges small tasks: a hundred chunks are fine, a
    thousand are not.  Memory is about 40 bytes a value in all, on all workers together, which spill what they cannot
    hold; one task takes a few copies of a chunk or a range.

    Equally spaced values, and k so large that 6k² + 20k values are more than a range, are solved range after range:
    the same result, and only sorting is done side by side.

    Examples
    --------
    >>> import dask.array as da
    >>> import mag.scale
    >>> scaled = mag.scale.univariate(da.from_array([1.0, 10.0, 2.0, 11.0, 3.0], chunks=2), k=2)
    >>> scaled.labels
    dask.array<labels-of-mag-univariate, shape=(5,), dtype=int32, chunksize=(2,), chunktype=numpy.ndarray>
    >>> scaled.masked.compute()
    array([ 2. , 10.5,  2. , 10.5,  2. ])
    """
    sizes = _chunks(x)
    n = sum(sizes)
    k = integer("k", k, 1, n, "n")
    cost = one_of("cost", cost, COSTS)
    if COSTS[cost].integer and x.dtype.kind == "f":
        raise TypeError(f"cost {cost!r} needs integers; got {x.dtype.name}, round x to integers first.")
    ranges = len(sizes) if ranges is None else integer("ranges", ranges, 1, n, "n")
    t = Tasks("univariate", [x], x.name, k, cost, ranges)
    arranged = [t.add("arranged", [c], _ranges.arrange, (x.name, c)) for c in range(len(sizes))]
    sampled = [t.add("sampled", [c], _ranges.sample, key, ranges) for c, key in enumerate(arranged)]
    dealt = t.add("dealt", [], _ranges.deal, sampled, ranges, "x")
    split = [t.add("split", [c], _ranges.split, key, c, dealt) for c, key in enumerate(arranged)]
    merged = [
        t.add("merged", [p], _ranges.merge, [t.add("part", [c, p], _entry, key, p) for c, key in enumerate(split)])
        for p in range(ranges)
    ]
    counted = [t.add("counted", [p], _count, key) for p, key in enumerate(merged)]
    edges = t.add("edges", [], _edges, counted)
    starts = _starts(t, merged, dealt, edges, n, k, cost)
    numbered = t.add("numbered", [], _number, [t.add("first", [p], _first, key) for p, key in enumerate(starts)], n)
    head, found = None, []
    for p in reversed(range(ranges)):
        found.append(t.add("found", [p], _found, merged[p], head, starts[p], numbered, edges, p, x.dtype, cost, k))
        head = t.add("head", [p], _head, merged[p], head, 2 * k - 1)
    found.reverse()
    facts = [t.add("fact", [p], _entry, key, 1) for p, key in enumerate(found)]
    reaches = _windows(t, merged, dealt, n, k) if COSTS[cost].integer else []
    checked = t.add("checked", [], _check, facts, reaches, dealt, min(4 * k, n), cost, k)
    label_type = np.int32 if n // k < 2**31 else np.int64
    representative = published(COSTS[cost].centres(_one_group(x.dtype)), x.dtype).dtype

    def back(what: str, function: Any, dtype: Any, *others: list) -> da.Array:
        """What a function finds for every range, in chunks like those of x."""
        results = [
            t.add(what, [p], function, merged[p], starts[p], numbered, edges, p, checked, *(o[p] for o in others), dtype)
            for p in range(ranges)
        ]
        restored = {}
        for c in range(len(sizes)):
            parts = [t.add(f"{what}-part", [p, c], _entry, key, c) for p, key in enumerate(results)]
            restored[c,] = t.add(f"{what}-chunk", [c], _ranges.restore, arranged[c], parts)
        return t.array(what, restored, x.chunks, dtype)

    labels = back("labels", _labels, label_type)
    masked = back("masked", _masked, representative, found)
    groups = t.value("n_groups", t.add("groups", [], _entry, numbered, 2))
    total = t.value("cost", t.add("total", [], _entry, checked, 1))
    return ScaledColumn(labels, masked, k, groups, total)


def _chunks(x: Any) -> tuple[int, ...]:
    """The sizes of the chunks of an array of one dimension."""
    if not isinstance(x, da.Array):
        raise TypeError(f"x must be a dask array; got {shown(x)}, use mag.univariate for data in memory.")
    if x.ndim != 1:
        raise ValueError(f"x must have one dimension; got an array of shape {x.shape}.")
    if x.dtype.kind not in "biuf" or x.dtype.itemsize > 8:
        raise TypeError(f"x must hold real numbers up to float64; got dtype {x.dtype.name}.")
    if np.isnan(x.size):
        raise ValueError("x must have chunks of known sizes; call x.compute_chunk_sizes() first.")
    if x.size == 0:
        raise ValueError("x must hold at least one value; got none.")
    return x.chunks[0]


def _one_group(dtype: np.dtype) -> Groups:
    return Groups(np.zeros(1, np.float64 if dtype.kind == "f" else dtype), np.zeros(1, np.int64))


# ---- the dynamic program


def _starts(t: Tasks, merged: list, dealt: tuple, edges: tuple, n: int, k: int, cost: str) -> list:
    """Keys of where groups start, range by range."""
    if k == 1 or n < 2 * k:
        return [t.add("starts", [p], _all if k == 1 else _one, edges, p) for p in range(len(merged))]
    numbers = [t.add("numbers", [p], _ranges.numbers, key, dealt) for p, key in enumerate(merged)]
    if n < max(LONG, 8 * k):
        ahead = _half(t, "ahead", numbers, edges, n, n, k, cost)
        cut = t.add("cut", [], _cut, None, None, n)
        forwards = _trace(t, "ahead", *ahead, edges, cut, k, False)
        return [t.add("starts", [p], _join, forwards[p], None, n) for p in range(len(merged))]
    # as `mag.univariate`: from both ends, on mirrored values from the right, joined at the best cut between them
    middle = n // 2
    mirrored = [t.add("mirrored", [p], _mirror, key) for p, key in enumerate(reversed(numbers))]
    turned = t.add("turned", [], _turn, edges)
    left, left_exits = _half(t, "ahead", numbers, edges, n, middle + 2 * k - 2, k, cost)
    right, right_exits = _half(t, "back", mirrored, turned, n, n - middle, k, COSTS[cost].mirror)
    cut = t.add("cut", [], _cut, left_exits[-1], right_exits[-1], middle)
    forwards = _trace(t, "ahead", left, left_exits, edges, cut, k, False)
    backwards = _trace(t, "back", right, right_exits, turned, t.add("uncut", [], _uncut, cut, n), k, True)
    return [t.add("starts", [p], _join, a, b, n) for p, (a, b) in enumerate(zip(forwards, reversed(backwards)))]


def _half(
    t: Tasks, half: str, numbers: list, edges: tuple, n: int, length: int, k: int, cost: str
) -> tuple[list, list]:
    """Keys of the stretches of the first `length` values, and of how each is left."""
    ahead = _chain.forget(k)
    guess = ahead * len(numbers) < n  # otherwise the guesses would cost more than they save
    tail, leave = None, None
    stretches, exits = [], []
    for q, key in enumerate(numbers):
        where = [edges, q, length, cost, k]
        guessed = t.add(f"{half}-guessed", [q], _guess, key, tail, ahead, *where) if guess and q else None
        stretches.append(t.add(f"{half}-followed", [q], _follow, guessed, leave, key, tail, *where))
        leave = t.add(f"{half}-left", [q], _leave, stretches[-1], leave)
        exits.append(leave)
        tail = t.add(f"{half}-tail", [q], _tail, tail, key, _chain.tail(k, ahead if guess else 0))
    return stretches, exits


def _trace(
    t: Tasks, half: str, stretches: list, exits: list, edges: tuple, cut: tuple, k: int, mirrored: bool
) -> list:
    """Keys of where groups start, range by range, followed back from the cut."""
    traces = []
    for q in reversed(range(len(stretches))):
        traces.append(t.add(f"{half}-trace", [q], _follow_back, stretches[q], cut, edges, q, k, mirrored))
        cut = t.add(f"{half}-cut", [q], _entry, traces[-1], 1)
    traces.reverse()
    return [t.add(f"{half}-starts", [q], _entry, key, 0) for q, key in enumerate(traces)]


def _window(tail: np.ndarray | None, numbers: np.ndarray) -> np.ndarray:
    return numbers if tail is None else np.concatenate([tail, numbers])


def _tail(tail: np.ndarray | None, numbers: np.ndarray, length: int) -> np.ndarray:
    return _window(None if tail is None else tail[max(tail.size + numbers.size - length, 0) :], numbers)[-length:].copy()


def _bounds(edges: list[int], q: int, length: int, k: int) -> tuple[int, int]:
    """The columns between which the stretch of range q lies; none where the range lies behind the half."""
    if edges[q] >= length and q:
        return length, length
    begin = _chain.boundary(edges[q], length, k)
    return begin, length if edges[q + 1] >= length else _chain.boundary(edges[q + 1], length, k)


def _guess(
    numbers: np.ndarray, tail: np.ndarray, ahead: int, edges: list[int], q: int, length: int, cost: str, k: int
) -> Stretch:
    values = _window(tail, numbers)
    begin, end = _bounds(edges, q, length, k)
    return _chain.speculate(values, edges[q + 1] - values.size, begin, end, ahead, cost, k)


def _follow(
    guessed: Stretch | None,
    leave: tuple[np.ndarray, np.ndarray] | None,
    numbers: np.ndarray,
    tail: np.ndarray | None,
    edges: list[int],
    q: int,
    length: int,
    cost: str,
    k: int,
) -> Stretch:
    state = block.fresh(k) if leave is None else leave[0]
    values = _window(tail, numbers)
    first = edges[q + 1] - values.size
    if guessed is not None:
        return _chain.follow(guessed, state, values, first, cost, k)
    return _chain.solve(values, first, *_bounds(edges, q, length, k), cost, k, state)


def _leave(stretch: Stretch, before: tuple | None) -> tuple[np.ndarray, np.ndarray]:
    """The state and the ending behind a stretch; those before it where it has no columns."""
    if len(stretch.marks) == 1 and before is not None:
        return before
    return stretch.states[-1], stretch.ending


def _cut(left: tuple | None, right: tuple | None, middle: int) -> tuple[int, np.ndarray]:
    """Where to follow groups back from, and the starts that were passed on the way there."""
    if left is None or right is None:
        return middle, np.empty(0, np.int64)
    cut = middle + int(np.argmin(left[1] + right[1][::-1]))
    return cut, np.array([cut])


def _uncut(cut: tuple[int, np.ndarray], n: int) -> tuple[int, np.ndarray]:
    return n - cut[0], np.empty(0, np.int64)


def _follow_back(
    stretch: Stretch, cut: tuple[int, np.ndarray], edges: list[int], q: int, k: int, mirrored: bool
) -> tuple[np.ndarray, tuple[int, np.ndarray]]:
    """The starts that belong to range q, and where to go on from, with the starts of ranges before it."""
    column, passed = cut
    found = _chain.cuts(stretch, column, k)
    if found.size:
        column, passed = int(found[0]), np.concatenate([found, passed])
    own = np.searchsorted(passed, edges[q], "right" if mirrored else "left")
    return passed[own:], (column, passed[:own])


def _join(forwards: np.ndarray, backwards: np.ndarray | None, n: int) -> np.ndarray:
    return forwards if backwards is None else np.concatenate([forwards, n - backwards[::-1]])


def _mirror(numbers: np.ndarray) -> np.ndarray:
    return np.negative(numbers[::-1])


def _turn(edges: list[int]) -> list[int]:
    return [edges[-1] - edge for edge in reversed(edges)]


def _all(edges: list[int], p: int) -> np.ndarray:
    return np.arange(edges[p], edges[p + 1])


def _one(edges: list[int], p: int) -> np.ndarray:
    return np.zeros(1 if edges[p] == 0 < edges[p + 1] else 0, np.int64)


# ---- what follows from the starts


@dataclass(frozen=True)
class Fact:
    """Of the groups that start in a range: the last representative, the cost, the widest range, the smallest size."""

    last: np.ndarray
    cost: float | int
    widest: float
    least: int


def _found(
    merged: Range,
    head: np.ndarray | None,
    starts: np.ndarray,
    numbered: tuple,
    edges: list[int],
    p: int,
    dtype: np.dtype,
    cost: str,
    k: int,
) -> tuple[np.ndarray, Fact]:
    """Representatives of the groups that start in range p, and facts about them."""
    chosen = COSTS[cost]
    if not starts.size:
        none = published(chosen.centres(_one_group(dtype)), dtype)[:0]
        return none, Fact(none, 0, 0.0, np.iinfo(np.int64).max)
    stop = numbered[1][p]
    values = merged.values if head is None else np.concatenate([merged.values, head])
    values = values[starts[0] - edges[p] : stop - edges[p]]
    if values.size != stop - starts[0]:
        raise RuntimeError(f"A group of more than 2k-1 records, k={k}, was found and withheld; please report this.")
    groups = Groups(values, starts - starts[0])
    representatives = published(groups.placed(chosen.centres(groups)), dtype)
    with np.errstate(over="ignore"):
        (total,) = np.add.reduceat(chosen.losses(groups, values), [0])
    widest = (groups.y[groups.starts + groups.sizes - 1] * groups.unit).max()
    fact = Fact(representatives[-1:], total, float(widest), int(groups.sizes.min()))
    return representatives, fact


def _head(merged: Range, head: np.ndarray | None, length: int) -> np.ndarray:
    values = merged.values[:length]
    return values.copy() if head is None else np.concatenate([values, head[: length - values.size]])


def _first(starts: np.ndarray) -> tuple[int, int]:
    return starts.size, int(starts[0]) if starts.size else -1


def _number(firsts: list[tuple[int, int]], n: int) -> tuple[list[int], list[int], int]:
    """How many groups start before each range, where the first one behind each starts, and how many there are."""
    before = np.concatenate([[0], np.cumsum([count for count, _ in firsts])])
    stops, stop = [], n
    for _, first in reversed(firsts):
        stops.append(stop)
        stop = first if first >= 0 else stop
    return before[:-1].tolist(), stops[::-1], int(before[-1])


def _check(
    facts: list[Fact], windows: list[float], dealt: Deal, reach: int, cost: str, k: int
) -> tuple[list[np.ndarray], float | int]:
    """For each range the representative of the group that reaches into it, and the cost; or what speaks against them."""
    chosen = COSTS[cost]
    if windows and 8 * reach * int(max(windows)) ** 2 >= EXACT:
        raise ValueError("cost 'sse_int' needs x whose sums of squares float64 holds; use mag.univariate for wider ones.")
    if min(fact.least for fact in facts) < k:
        raise RuntimeError(f"A group of fewer than k={k} records was found and withheld; please report this.")
    widest = max(fact.widest for fact in facts)
    if not chosen.integer and widest and chosen.pair(np.ldexp(widest, -dealt.scale)) < TINY:
        raise ValueError("x must not hold values so much closer than they are large; use mag.univariate for these.")
    reaching, last = [], next(fact.last for fact in facts if fact.last.size)  # nothing reaches into the first
    for fact in facts:
        reaching.append(last)
        last = fact.last if fact.last.size else last
    total = sum(fact.cost for fact in facts)
    return reaching, int(total) if chosen.integer else float(total)


def _windows(t: Tasks, merged: list, dealt: tuple, n: int, k: int) -> list:
    """Keys of the widest range of 4k + 1 neighbours, range by range."""
    tail, windows = None, []
    for p, key in enumerate(merged):
        windows.append(t.add("window", [p], _widest, key, tail, dealt, min(4 * k, n - 1)))
        tail = t.add("window-tail", [p], _window_tail, tail, key, dealt, 4 * k)
    return windows


def _window_tail(tail: np.ndarray | None, merged: Range, dealt: Deal, length: int) -> np.ndarray:
    return _tail(tail, _ranges.numbers(merged, dealt), length)


def _widest(merged: Range, tail: np.ndarray | None, dealt: Deal, reach: int) -> float:
    values = _window(tail, _ranges.numbers(merged, dealt))
    return float((values[reach:] - values[: values.size - reach]).max(initial=0.0)) if values.size > reach else 0.0


def _lengths(starts: np.ndarray, edges: list[int], p: int) -> np.ndarray:
    """How many values of range p belong to the group that reaches into it, and to each that starts in it."""
    return np.diff(np.concatenate([[edges[p]], starts, [edges[p + 1]]]))


def _labels(
    merged: Range, starts: np.ndarray, numbered: tuple, edges: list[int], p: int, checked: tuple, dtype: Any
) -> list[np.ndarray]:
    before = numbered[0][p]
    groups = np.arange(before - 1, before + starts.size, dtype=dtype)
    return _ranges.part_of(np.repeat(groups, _lengths(starts, edges, p)), merged)


def _masked(
    merged: Range,
    starts: np.ndarray,
    numbered: tuple,
    edges: list[int],
    p: int,
    checked: tuple,
    found: tuple[np.ndarray, Fact],
    dtype: Any,
) -> list[np.ndarray]:
    representatives = np.concatenate([checked[0][p], found[0]])
    return _ranges.part_of(np.repeat(representatives, _lengths(starts, edges, p)), merged)


def _entry(results: Any, i: int) -> Any:
    return results[i]


def _count(merged: Range) -> int:
    return merged.values.size


def _edges(counts: list[int]) -> list[int]:
    return np.concatenate([[0], np.cumsum(counts)]).tolist()
