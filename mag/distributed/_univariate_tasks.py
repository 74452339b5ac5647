"""The tasks of `mag.distributed.univariate` on the ranges of a column: stretches, starts, labels and values."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mag._backends.cpu import stretches
from mag._backends.cpu.stretches import Stretch
from mag._backends.safety import FLOAT64_EXACT, UNDERFLOW_COST
from mag._compiled.groups import Groups
from mag._lib.errors import REPORT, InputValueError, group_below
from mag.costs import COSTS
from mag.distributed import _ranges
from mag.distributed._ranges import Deal, Range
from mag.distributed._representatives import find_representatives, representative_type
from mag.solvers import block

# ---- the dynamic program


def prepend_tail(tail: np.ndarray | None, numbers: np.ndarray) -> np.ndarray:
    """Put the end of the ranges before a range in front of its numbers."""
    return numbers if tail is None else np.concatenate([tail, numbers])


def take_tail(tail: np.ndarray | None, numbers: np.ndarray, length: int) -> np.ndarray:
    """Take the last `length` numbers of a range and of those before it."""
    return prepend_tail(None if tail is None else tail[max(tail.size + numbers.size - length, 0) :], numbers)[
        -length:
    ].copy()


def bound_stretch(edges: list[int], q: int, length: int, k: int) -> tuple[int, int]:
    """Find the columns between which the stretch of range q lies; empty if the range lies after the half."""
    if edges[q] >= length and q:
        return length, length
    begin = stretches.boundary(edges[q], length, k)
    return begin, length if edges[q + 1] >= length else stretches.boundary(edges[q + 1], length, k)


def guess_stretch(
    numbers: np.ndarray, tail: np.ndarray, ahead: int, edges: list[int], q: int, length: int, cost: str, k: int
) -> Stretch:
    """Solve the stretch of range q from a forced cut `ahead` columns before it."""
    values = prepend_tail(tail, numbers)
    begin, end = bound_stretch(edges, q, length, k)
    return stretches.speculate(values, edges[q + 1] - values.size, begin, end, ahead, cost, k)


def follow_stretch(
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
    """Solve the stretch of range q from the state after the previous one, or keep the guess if it began so."""
    state = block.fresh(k) if leave is None else leave[0]
    values = prepend_tail(tail, numbers)
    first = edges[q + 1] - values.size
    if guessed is not None:
        return stretches.follow(guessed, state, values, first, cost, k)
    return stretches.solve(values, first, *bound_stretch(edges, q, length, k), cost, k, state)


def read_state(stretch: Stretch, before: tuple[Any, ...] | None) -> tuple[np.ndarray, np.ndarray]:
    """Read the state and the ending after a stretch; those before it if it has no columns."""
    if len(stretch.marks) == 1 and before is not None:
        return before
    return stretch.states[-1], stretch.ending


def choose_cut(left: tuple[Any, ...] | None, right: tuple[Any, ...] | None, middle: int) -> tuple[int, np.ndarray]:
    """Choose the column to follow groups back from, with the starts that were passed on the way there."""
    if left is None or right is None:
        return middle, np.empty(0, np.int64)
    column = middle + int(np.argmin(left[1] + right[1][::-1]))
    return column, np.array([column])


def mirror_cut(cut: tuple[int, np.ndarray], n: int) -> tuple[int, np.ndarray]:
    """Count the column of a cut from the right."""
    return n - cut[0], np.empty(0, np.int64)


def trace_starts(
    stretch: Stretch, cut: tuple[int, np.ndarray], edges: list[int], q: int, k: int, mirrored: bool
) -> tuple[np.ndarray, tuple[int, np.ndarray]]:
    """Follow groups back: the starts that belong to range q, and where to go on from, with starts of ranges before."""
    column, passed = cut
    cuts = stretches.cuts(stretch, column, k)
    if cuts.size:
        column, passed = int(cuts[0]), np.concatenate([cuts, passed])
    own = np.searchsorted(passed, edges[q], "right" if mirrored else "left")
    return passed[own:], (column, passed[:own])


def join_starts(forwards: np.ndarray, backwards: np.ndarray, n: int) -> np.ndarray:
    """Join the starts from the left with those from the right, on mirrored values."""
    return np.concatenate([forwards, n - backwards[::-1]])


def mirror_numbers(numbers: np.ndarray) -> np.ndarray:
    """Negate and reverse numbers, so that they ascend again."""
    return np.negative(numbers[::-1])


def mirror_edges(edges: list[int]) -> list[int]:
    """Count the edges of ranges from the right."""
    return [edges[-1] - edge for edge in reversed(edges)]


def start_every_value(merged: Range, edges: list[int], p: int) -> np.ndarray:
    """Start a group at every value of range p: k is 1."""
    return np.arange(edges[p], edges[p + 1])


def start_first_value(merged: Range, edges: list[int], p: int) -> np.ndarray:
    """Start the only group at the first value of all: n is below 2k."""
    return np.zeros(1 if edges[p] == 0 < edges[p + 1] else 0, np.int64)


# ---- results that follow from the starts


@dataclass(frozen=True)
class Fact:
    """Of the groups that start in a range: the last representative, the cost, the widest range, the smallest size."""

    last: np.ndarray
    cost: float | int
    widest: float
    least: int


def represent_groups(
    merged: Range,
    head: np.ndarray | None,
    starts: np.ndarray,
    numbered: tuple[Any, ...],
    edges: list[int],
    p: int,
    dtype: np.dtype,
    keep: bool,
    cost: str,
    k: int,
) -> tuple[np.ndarray, Fact]:
    """Compute the representatives of the groups that start in range p, and facts about them."""
    kind = COSTS[cost]
    if not starts.size:
        none = np.empty(0, representative_type(cost, dtype, keep))
        return none, Fact(none, 0, 0.0, np.iinfo(np.int64).max)
    stop = numbered[1][p]
    values = merged.values if head is None else np.concatenate([merged.values, head])
    values = values[starts[0] - edges[p] : stop - edges[p]]
    if values.size != stop - starts[0]:
        raise RuntimeError(f"A group of more than 2k-1 records, k={k}, was found and withheld; {REPORT}")
    groups = Groups(values, starts - starts[0])
    representatives = find_representatives(groups, cost, dtype, keep)
    with np.errstate(over="ignore"):
        (total,) = np.add.reduceat(kind.losses(groups, values), [0])
    widest = np.ldexp(groups.last().astype(np.float64), groups.scale).max()
    fact = Fact(representatives[-1:], total, float(widest), int(groups.sizes.min()))
    return representatives, fact


def take_first(merged: Range, length: int) -> np.ndarray:
    """Take the first `length` values of a range."""
    return merged.values[:length].copy()


def take_head(own: np.ndarray, head: np.ndarray | None, length: int) -> np.ndarray:
    """Take the first `length` values of a range and of the ranges after it, from the first ones of each."""
    return own if head is None else np.concatenate([own, head[: length - own.size]])


def read_first_start(starts: np.ndarray) -> tuple[int, int]:
    """Count the groups that start in a range, and find the first start; -1 without a start."""
    return starts.size, int(starts[0]) if starts.size else -1


def number_starts(firsts: list[tuple[int, int]], n: int) -> tuple[list[int], list[int], int]:
    """Count the groups that start before each range and all groups, and find the first start after each range."""
    before = np.concatenate([[0], np.cumsum([count for count, _ in firsts])])
    stops, stop = [], n
    for _, first in reversed(firsts):
        stops.append(stop)
        stop = first if first >= 0 else stop
    return before[:-1].tolist(), stops[::-1], int(before[-1])


def check_groups(
    facts: list[Fact], windows: list[float], dealt: Deal, reach: int, cost: str, k: int
) -> tuple[list[np.ndarray], float | int]:
    """Find the representatives of the groups that reach into ranges, and the cost; raise if the groups are invalid."""
    kind = COSTS[cost]
    if windows and 8 * reach * int(max(windows)) ** 2 >= FLOAT64_EXACT:
        raise InputValueError(
            "cost 'sse_int' needs x whose sums of squares float64 holds; use mag.univariate for wider ones."
        )
    if min(fact.least for fact in facts) < k:
        raise group_below(k)
    widest = max(fact.widest for fact in facts)
    if not kind.integer and widest and kind.pair(np.ldexp(widest, -dealt.scale)) < UNDERFLOW_COST:
        raise InputValueError("x must not hold differences whose squares underflow; use mag.univariate for these.")
    reaching, last = [], next(fact.last for fact in facts if fact.last.size)  # nothing reaches into the first
    for fact in facts:
        reaching.append(last)
        last = fact.last if fact.last.size else last
    total = sum(fact.cost for fact in facts)
    return reaching, int(total) if kind.integer else float(total)


def take_window_tail(merged: Range, dealt: Deal, length: int) -> np.ndarray:
    """Take the last `length` numbers of a range, as the solver reads them."""
    return take_tail(None, _ranges.numbers(merged, dealt), length)


def measure_widest_window(merged: Range, tail: np.ndarray | None, dealt: Deal, reach: int) -> float:
    """Measure the widest distance between values `reach` positions apart."""
    values = prepend_tail(tail, _ranges.numbers(merged, dealt))
    return float((values[reach:] - values[: values.size - reach]).max(initial=0.0)) if values.size > reach else 0.0


def count_group_values(starts: np.ndarray, edges: list[int], p: int) -> np.ndarray:
    """Count the values of range p that belong to the group that reaches into it, and to each that starts in it."""
    return np.diff(np.concatenate([[edges[p]], starts, [edges[p + 1]]]))


def label_range(
    merged: Range, starts: np.ndarray, edges: list[int], p: int, checked: Any, numbered: tuple[Any, ...], dtype: Any
) -> list[np.ndarray]:
    """Label the values of range p, as the pieces that they came in; after `checked`, so that nothing below k leaves."""
    before = numbered[0][p]
    groups = np.arange(before - 1, before + starts.size, dtype=dtype)
    return _ranges.split_results(np.repeat(groups, count_group_values(starts, edges, p)), merged)


def mask_range(
    merged: Range, starts: np.ndarray, edges: list[int], p: int, checked: Any, represented: tuple[np.ndarray, Fact]
) -> list[np.ndarray]:
    """Replace the values of range p by the representatives of their groups, as the pieces that they came in."""
    representatives = np.concatenate([checked[0][p], represented[0]])
    return _ranges.split_results(np.repeat(representatives, count_group_values(starts, edges, p)), merged)


def count_values(merged: Range) -> int:
    """Count the values of a range."""
    return merged.values.size


def locate_edges(counts: list[int]) -> list[int]:
    """Find where ranges begin and end in the sorted column."""
    return np.concatenate([[0], np.cumsum(counts)]).tolist()
