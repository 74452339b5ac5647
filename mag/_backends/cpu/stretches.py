"""A sorted column too long for one thread or machine: its stretches solved side by side, joined without a trace.

The solver "block" restarts F after every `stride` columns.  Its state there is the 2k-1 values of F that
still count, relative to the least.  A run from the same state, bit by bit, finds the same groups.  A stretch therefore
starts ahead of its first column from a forced cut; where its state at that column equals the last state of the stretch
before it, a run over the whole column would have found the same state, by induction.  Where it differs, the true state
is followed until the two meet at one of the marks that the stretch has left, or to the end of the stretch: values that
never forget where groups started (equally spaced ones) are solved in order.
"""

import itertools
from dataclasses import dataclass

import numpy as np

from mag._compiled.starts import starts_of
from mag._lib.threads import each
from mag.costs import COSTS
from mag.solvers import block
from mag.solvers.block import PAD

FIRST_MARK = 4  # strides after the start of a stretch; every mark lies twice as far as the one before


@dataclass(frozen=True)
class Stretch:
    """Columns `begin`+1 to the last mark: sizes of their last groups, and the states at the marks.

    `ending` is F of the last 2k-1 columns as the solver left it, `spent` the cost of the last column above the least
    one that counted at the start.
    """

    begin: int
    sizes: np.ndarray
    marks: list[int]
    states: list[np.ndarray]
    ending: np.ndarray
    spent: float = 0.0


def run_ahead(k: int) -> int:
    """Columns that a stretch starts ahead: whole strides, and four more to forget how F was rounded before."""
    return (-(-block.burn_in(k) // block.stride(k)) + 4) * block.stride(k)


def tail(k: int, ahead: int) -> int:
    """The number of values before its own that a stretch reads."""
    return ahead + 2 * k + 3 * block.stride(k) + block.lead(k)


def boundary(values: int, length: int, k: int) -> int:
    """The last column that the first `values` of `length` allow a stretch to end at; 2k-1 are left for the last one."""
    column = min(values, length - (2 * k - 1))
    return max(column - (column - block.offset(k)) % block.stride(k), block.offset(k))


def solve_all(
    values: np.ndarray, first: int, length: int, cost: str, k: int, parts: int, threads: int
) -> tuple[np.ndarray, float, np.ndarray]:
    """Columns up to `length` in that many stretches, on threads: sizes, the cost of the last one, and the ending."""
    edges = sorted({boundary(length * q // parts, length, k) for q in range(parts)}) + [length]
    bounds = list(itertools.pairwise(edges))
    ahead = run_ahead(k)
    guessed = each(lambda ends: speculate(values, first, ends[0], ends[1], ahead, cost, k), bounds, threads)
    sizes, state, spent = np.zeros(length + 1, block.size_type(k)), block.fresh(k), 0.0
    for guess in guessed:
        stretch = follow(guess, state, values, first, cost, k)
        sizes[stretch.begin + 1 : stretch.marks[-1] + 1] = stretch.sizes
        state, spent = stretch.states[-1], spent + stretch.spent
    return sizes, spent, stretch.ending


def speculate(values: np.ndarray, first: int, begin: int, end: int, ahead: int, cost: str, k: int) -> Stretch:
    """Columns begin+1 to end from a forced cut `ahead` columns before, or at the start; values[0] is value `first`."""
    start, state = max(begin - ahead, block.offset(k)), block.fresh(k)
    if start < begin < end:
        state = _run(values, first, start, begin, cost, k, state)[2]
    return solve(values, first, begin, end, cost, k, state)


def solve(values: np.ndarray, first: int, begin: int, end: int, cost: str, k: int, state: np.ndarray) -> Stretch:
    """Columns begin+1 to end from the state at `begin`."""
    marks = _marks(begin, end, k)
    states, sizes, ending, spent = [state], [np.empty(0, block.size_type(k))], state[:-1], 0.0
    for left, right in itertools.pairwise(marks):
        more, ending, state, extra = _run(values, first, left, right, cost, k, state)
        sizes.append(more)
        states.append(state)
        spent += extra
    return Stretch(begin, np.concatenate(sizes), marks, states, ending, spent)


def follow(stretch: Stretch, state: np.ndarray, values: np.ndarray, first: int, cost: str, k: int) -> Stretch:
    """The stretch as it is from the true state at its start."""
    if same(state, stretch.states[0]):
        return stretch
    sizes, states, ending = stretch.sizes.copy(), list(stretch.states), stretch.ending
    states[0] = state
    for i, (begin, end) in enumerate(itertools.pairwise(stretch.marks)):
        true_sizes, ending, state, _ = _run(values, first, begin, end, cost, k, state)
        sizes[begin - stretch.begin : end - stretch.begin] = true_sizes
        if same(state, stretch.states[i + 1]):
            ending = stretch.ending
            break
        states[i + 1] = state
    return Stretch(stretch.begin, sizes, stretch.marks, states, ending, stretch.spent)


def cuts(stretch: Stretch, column: int, k: int) -> np.ndarray:
    """Starts of groups that end at or before `column`, but after the start of the stretch; ascending."""
    reached = column - stretch.begin
    if reached <= 0:
        return np.empty(0, np.int64)
    sizes = np.concatenate([np.zeros(1, stretch.sizes.dtype), stretch.sizes[:reached]])
    starts = np.empty(reached // k + 1, np.int64)
    return stretch.begin + starts[starts_of(sizes, k, False, starts) :]


def same(state: np.ndarray, other: np.ndarray) -> bool:
    """Whether runs from both states find the same: they have the same bits."""
    return np.array_equal(state.view(np.int64), other.view(np.int64))


def _run(
    values: np.ndarray, first: int, begin: int, end: int, cost: str, k: int, state: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Sizes of columns begin+1 to end, F of the last 2k-1, the state at the end, and the value subtracted there."""
    kernel, offset = COSTS[cost].kernel, block.offset(k)
    low, high = begin - block.lead(k) - first, end + PAD - first
    x = values[max(low, 0) : high]
    if low < 0 or high > values.size:
        before, behind = np.full(max(-low, 0), values[0]), np.full(max(high - values.size, 0), values[-1])
        x = np.concatenate([before, x, behind])
    sizes = np.empty(offset + end - begin + 1 + PAD, block.size_type(k))
    work, state = np.empty(block.memory(kernel, end - begin, k), np.float64), state.copy()
    spent = block.resume(kernel, x, x, k, sizes, work, state) - state[-2]
    ending = state[:-1].copy()
    counts = state[int(state[-1]) : -1]
    spent += counts.min()
    counts -= counts.min()
    state[: int(state[-1])] = np.inf  # these can no longer be best
    return sizes[offset + 1 : offset + 1 + end - begin], ending, state, spent


def _marks(begin: int, end: int, k: int) -> list[int]:
    """Columns at which the state is kept; none so late that the last run would not compute the whole ending."""
    marks, step = [begin], FIRST_MARK * block.stride(k)
    while begin + step <= end - (2 * k - 1):
        marks.append(begin + step)
        step *= 2
    return [*marks, end] if end > begin else marks
