"""What the tasks of `mag.scale.univariate` do with the ranges of a column: stretches, starts, and what follows."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mag._backends.problem import EXACT, TINY
from mag._compiled.groups import Groups
from mag._lib.errors import REPORT, ValueMistake, group_below
from mag.costs import COSTS
from mag.results import published
from mag.scale import _chain, _ranges
from mag.scale._chain import Stretch
from mag.scale._ranges import Deal, Range
from mag.solvers import block


def one_group(dtype: np.dtype) -> Groups:
    return Groups(np.zeros(1, np.float64 if dtype.kind == "f" else dtype), np.zeros(1, np.int64))


# ---- the dynamic program


def window(tail: np.ndarray | None, numbers: np.ndarray) -> np.ndarray:
    return numbers if tail is None else np.concatenate([tail, numbers])


def end_of(tail: np.ndarray | None, numbers: np.ndarray, length: int) -> np.ndarray:
    return window(None if tail is None else tail[max(tail.size + numbers.size - length, 0) :], numbers)[-length:].copy()


def bounds(edges: list[int], q: int, length: int, k: int) -> tuple[int, int]:
    """The columns between which the stretch of range q lies; none where the range lies behind the half."""
    if edges[q] >= length and q:
        return length, length
    begin = _chain.boundary(edges[q], length, k)
    return begin, length if edges[q + 1] >= length else _chain.boundary(edges[q + 1], length, k)


def guess(
    numbers: np.ndarray, tail: np.ndarray, ahead: int, edges: list[int], q: int, length: int, cost: str, k: int
) -> Stretch:
    values = window(tail, numbers)
    begin, end = bounds(edges, q, length, k)
    return _chain.speculate(values, edges[q + 1] - values.size, begin, end, ahead, cost, k)


def follow(
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
    values = window(tail, numbers)
    first = edges[q + 1] - values.size
    if guessed is not None:
        return _chain.follow(guessed, state, values, first, cost, k)
    return _chain.solve(values, first, *bounds(edges, q, length, k), cost, k, state)


def leave(stretch: Stretch, before: tuple | None) -> tuple[np.ndarray, np.ndarray]:
    """The state and the ending behind a stretch; those before it where it has no columns."""
    if len(stretch.marks) == 1 and before is not None:
        return before
    return stretch.states[-1], stretch.ending


def cut(left: tuple | None, right: tuple | None, middle: int) -> tuple[int, np.ndarray]:
    """Where to follow groups back from, and the starts that were passed on the way there."""
    if left is None or right is None:
        return middle, np.empty(0, np.int64)
    cut = middle + int(np.argmin(left[1] + right[1][::-1]))
    return cut, np.array([cut])


def uncut(cut: tuple[int, np.ndarray], n: int) -> tuple[int, np.ndarray]:
    return n - cut[0], np.empty(0, np.int64)


def follow_back(
    stretch: Stretch, cut: tuple[int, np.ndarray], edges: list[int], q: int, k: int, mirrored: bool
) -> tuple[np.ndarray, tuple[int, np.ndarray]]:
    """The starts that belong to range q, and where to go on from, with the starts of ranges before it."""
    column, passed = cut
    found = _chain.cuts(stretch, column, k)
    if found.size:
        column, passed = int(found[0]), np.concatenate([found, passed])
    own = np.searchsorted(passed, edges[q], "right" if mirrored else "left")
    return passed[own:], (column, passed[:own])


def onwards(traced: tuple[np.ndarray, tuple[int, np.ndarray]]) -> tuple[int, np.ndarray]:
    """Where to go on from."""
    return traced[1]


def join(forwards: np.ndarray, backwards: np.ndarray, n: int) -> np.ndarray:
    """Starts found from the left, and from the right on mirrored values."""
    return np.concatenate([forwards, n - backwards[::-1]])


def mirror(numbers: np.ndarray) -> np.ndarray:
    return np.negative(numbers[::-1])


def turn(edges: list[int]) -> list[int]:
    return [edges[-1] - edge for edge in reversed(edges)]


def every(edges: list[int], p: int) -> np.ndarray:
    return np.arange(edges[p], edges[p + 1])


def only(edges: list[int], p: int) -> np.ndarray:
    return np.zeros(1 if edges[p] == 0 < edges[p + 1] else 0, np.int64)


# ---- what follows from the starts


@dataclass(frozen=True)
class Fact:
    """Of the groups that start in a range: the last representative, the cost, the widest range, the smallest size."""

    last: np.ndarray
    cost: float | int
    widest: float
    least: int


def found(
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
        none = published(chosen.representatives(one_group(dtype)), dtype)[:0]
        return none, Fact(none, 0, 0.0, np.iinfo(np.int64).max)
    stop = numbered[1][p]
    values = merged.values if head is None else np.concatenate([merged.values, head])
    values = values[starts[0] - edges[p] : stop - edges[p]]
    if values.size != stop - starts[0]:
        raise RuntimeError(f"A group of more than 2k-1 records, k={k}, was found and withheld; {REPORT}")
    groups = Groups(values, starts - starts[0])
    representatives = published(chosen.representatives(groups), dtype)
    with np.errstate(over="ignore"):
        (total,) = np.add.reduceat(chosen.losses(groups, values), [0])
    widest = np.ldexp(groups.last().astype(np.float64), groups.scale).max()
    fact = Fact(representatives[-1:], total, float(widest), int(groups.sizes.min()))
    return representatives, fact


def head(merged: Range, head: np.ndarray | None, length: int) -> np.ndarray:
    values = merged.values[:length]
    return values.copy() if head is None else np.concatenate([values, head[: length - values.size]])


def first(starts: np.ndarray) -> tuple[int, int]:
    return starts.size, int(starts[0]) if starts.size else -1


def number(firsts: list[tuple[int, int]], n: int) -> tuple[list[int], list[int], int]:
    """How many groups start before each range, where the first one behind each starts, and how many there are."""
    before = np.concatenate([[0], np.cumsum([count for count, _ in firsts])])
    stops, stop = [], n
    for _, first in reversed(firsts):
        stops.append(stop)
        stop = first if first >= 0 else stop
    return before[:-1].tolist(), stops[::-1], int(before[-1])


def check(
    facts: list[Fact], windows: list[float], dealt: Deal, reach: int, cost: str, k: int
) -> tuple[list[np.ndarray], float | int]:
    """The representatives of the groups that reach into the ranges, and the cost; or what speaks against these."""
    chosen = COSTS[cost]
    if windows and 8 * reach * int(max(windows)) ** 2 >= EXACT:
        raise ValueMistake(
            "cost 'sse_int' needs x whose sums of squares float64 holds; use mag.univariate for wider ones."
        )
    if min(fact.least for fact in facts) < k:
        raise group_below(k)
    widest = max(fact.widest for fact in facts)
    if not chosen.integer and widest and chosen.pair(np.ldexp(widest, -dealt.scale)) < TINY:
        raise ValueMistake("x must not hold values so much closer than they are large; use mag.univariate for these.")
    reaching, last = [], next(fact.last for fact in facts if fact.last.size)  # nothing reaches into the first
    for fact in facts:
        reaching.append(last)
        last = fact.last if fact.last.size else last
    total = sum(fact.cost for fact in facts)
    return reaching, int(total) if chosen.integer else float(total)


def window_tail(tail: np.ndarray | None, merged: Range, dealt: Deal, length: int) -> np.ndarray:
    return end_of(tail, _ranges.numbers(merged, dealt), length)


def widest(merged: Range, tail: np.ndarray | None, dealt: Deal, reach: int) -> float:
    values = window(tail, _ranges.numbers(merged, dealt))
    return float((values[reach:] - values[: values.size - reach]).max(initial=0.0)) if values.size > reach else 0.0


def lengths(starts: np.ndarray, edges: list[int], p: int) -> np.ndarray:
    """How many values of range p belong to the group that reaches into it, and to each that starts in it."""
    return np.diff(np.concatenate([[edges[p]], starts, [edges[p + 1]]]))


def labels(
    merged: Range, starts: np.ndarray, numbered: tuple, edges: list[int], p: int, checked: tuple, dtype: Any
) -> list[np.ndarray]:
    before = numbered[0][p]
    groups = np.arange(before - 1, before + starts.size, dtype=dtype)
    return _ranges.part_of(np.repeat(groups, lengths(starts, edges, p)), merged)


def masked(
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
    return _ranges.part_of(np.repeat(representatives, lengths(starts, edges, p)), merged)


def count(merged: Range) -> int:
    return merged.values.size


def edges(counts: list[int]) -> list[int]:
    return np.concatenate([[0], np.cumsum(counts)]).tolist()
