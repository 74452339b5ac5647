"""The fast solver: O(n log k), the columns of a block side by side in SIMD lanes.

The k columns of a block (see `_anchored`) do not depend on each other; `_searches` finds their best rows.

Lines count positions from b-2k-PAD, so that column b stands at `origin`; sums are 0 there, negative to its left.
Where k is small, `_narrow` solves.
"""

from collections import namedtuple

import numpy as np

from mag._compiled.anchored_sums import AnchoredSums, lines, numbers, unreached
from mag._compiled.jit import inlined, jit
from mag._compiled.memory import part
from mag._compiled.starts import trace
from mag._compiled.work import layout, length_for, reals, space_in
from mag._lib.workspace import borrow
from mag.solvers import _narrow
from mag.solvers._contract import Solution
from mag.solvers._narrow import LARGEST_K, PAD, PANEL
from mag.solvers._searches import (
    COLUMNS_PER_SEARCH,
    SIZES_WORTH_SPLITTING,
    add_columns,
    restart,
    search_columns,
    stack_at,
)

__all__ = ["COLUMNS_PER_SEARCH", "LARGEST_K", "PAD", "PANEL", "SIZES_WORTH_SPLITTING", "memory", "run", "solve"]

BlockBuffers = namedtuple("BlockBuffers", "G rows columns inverse sums stack last")


class DiagonalBlock(namedtuple("DiagonalBlock", "cost f G least most origin")):
    """A block of columns, for `_searches`."""


def padded(values):
    """The sorted values between PAD copies of the first and of the last one, so that no loop needs a tail."""
    column = np.empty(values.size + 2 * PAD, values.dtype)
    column[PAD:-PAD], column[:PAD], column[-PAD:] = values, values[0], values[-1]
    return column


def size_type(k):
    """The type of the sizes that `solve` writes; there must be room for PAD more than for those of n + 1 columns."""
    return np.uint8 if k <= LARGEST_K else np.uint16 if k < 2**15 else np.int32


@layout
def buffers_at(space, cost, k):
    """The memory of a solver; F has two lines: a block reads its rows from one and writes its columns to the other."""
    length = 3 * k + 2 * PAD  # rows and columns of a block, and what loops without a tail read beside them
    return BlockBuffers(
        G=numbers(space, cost, length),  # F + left, of the rows
        rows=numbers(space, cost, length),
        columns=numbers(space, cost, length),
        inverse=reals(space, 2 * k + PAD),  # 1/size
        sums=lines(space, cost, length),  # of every term, from the anchor
        stack=stack_at(space),  # of searches
        last=reals(space, 2 * k - 1),  # F of the last columns, see `ending`
    )


def memory(kernel, n, k):
    """How many float64 it takes."""
    return _narrow.memory(k) if k <= LARGEST_K and kernel.narrow else length_for(buffers_at, kernel, k)


def ending(work, k):
    """F of the last 2k-1 columns, relative to each other, after `solve`."""
    return work[-(2 * k - 1) :]


def solve(cost, x, w, k, sizes, work):
    """As `simple.solve`, for values and weights from `padded`, or with any finite values in place of the copies."""
    run, kernel, size = compiled_for(k, cost)
    return run(kernel, size, x, w, sizes, work)


def compiled_for(k, kernel):
    """The compiled function for this k, and the kernel and k as it takes them: a Number where it is small."""
    if k > LARGEST_K or not kernel.narrow:
        return _solve, kernel, k
    return _narrow.solver_for(k), kernel.narrow, _narrow.NUMBERS[k]


def resume(cost, x, w, k, sizes, work, state):
    """Go on from a `state`: `fresh(k)`, or what the run over the columns before has left in it.  Leave it likewise.

    The first column to come is c + 1, where `stride(k)` divides c - `offset(k)`.  x and w start `lead(k)` values before
    value c, and end PAD behind the last column; sizes[offset(k) + 1] is that of the first column.  Runs over 2k-1
    columns or more leave the `ending` that a run over all columns would.
    """
    if k > LARGEST_K:
        return _resume(cost, k, x, w, sizes, work, state)
    spent = _narrow.resumer_for(k)(cost, _narrow.NUMBERS[k], x, w, sizes, work, state[:-1])
    state[:-1] = ending(work, k)
    return spent


def stride(k):
    """How many columns F restarts after."""
    return PANEL if k <= LARGEST_K else k - k % COLUMNS_PER_SEARCH


def offset(k):
    """The last column that is known at the start: 0, or those below k, which no group can end at."""
    return 0 if k <= LARGEST_K else k - 1


def lead(k):
    """How many values before its first one a run may read."""
    return PAD + 2 * offset(k) + (k > LARGEST_K)


def burn_in(k):
    """Columns after which two runs over random values have nearly always met, wherever their groups started."""
    return 6 * k * k + 20 * k


def fresh(k):
    """The state at a forced cut: F of the last 2k-1 columns, and which of them is the first that can still be best."""
    first = 2 * k - 2 - offset(k)
    state = np.full(2 * k, np.inf)
    state[first], state[-1] = 0.0, first if offset(k) else 0
    return state


@jit
def _solve(cost, k, x, w, sizes, work):
    memory = begin(cost, k, work)
    memory.columns[2 * k + PAD] = 0.0
    values, weights, n = part(x, PAD), part(w, PAD), len(x) - 2 * PAD
    return in_blocks(cost, k, (values, weights, n), sizes, memory, k, 2 * k + PAD)[0]


@jit
def _resume(cost, k, x, w, sizes, work, state):
    memory, state, n, K = begin(cost, k, work), part(state, 0), len(x) - 2 * PAD - k, k - k % COLUMNS_PER_SEARCH
    first = 2 * k + PAD + K - (2 * k - 1)
    for t in range(2 * k - 1):
        memory.columns[first + t] = state[t]
    for t in range(max(n + 1 - k, 0), 2 * k - 1):  # a run so short that it ends with columns of the one before
        memory.last[t - (n + 1 - k)] = state[t]
    column = part(x, k + PAD), part(w, k + PAD), n
    spent, low = in_blocks(cost, k, column, sizes, memory, K, first + np.int64(state[2 * k - 1]))
    for t in range(2 * k - 1):
        state[t] = memory.last[t]
    state[2 * k - 1] = low
    return spent


@inlined
def begin(cost, k, work):
    """The lines before the first block."""
    memory, everything = buffers_at(space_in(work), cost, k), part(work, 0)
    for p in range(len(work)):
        everything[p] = 0.0
    for p in range(3 * k + 2 * PAD):
        memory.G[p] = unreached(cost)
        memory.rows[p] = unreached(cost)
        memory.columns[p] = unreached(cost)
    for size in range(1, 2 * k + PAD):
        memory.inverse[size] = 1.0 / size
    for p in range(2 * k - 1):
        memory.last[p] = np.inf
    return memory


@inlined
def in_blocks(cost, k, column, sizes, memory, K, low):
    """The blocks from column k on: K columns stand in the block before it, whose first row that counts is at `low`.

    `column` : values, weights and how many.  Returns what the last column costs, and the first row that counts after
    it, among the last 2k-1.
    """
    values, weights, n = column
    origin, first_of_last = 2 * k + PAD, n - 2 * k + 2
    rows, columns, last, sizes = memory.rows, memory.columns, memory.last, part(sizes, 0)
    spent = 0.0
    b = k  # the first column of the block
    while b <= n:
        rows, columns = columns, rows
        frame = AnchoredSums(values, weights, b - origin, values[b - 1], memory.sums, memory.inverse)
        m = DiagonalBlock(cost, frame, memory.G, k, 2 * k - 1, origin)
        low = max(low - K, origin - 2 * k + 1)
        base = restart(m, rows, columns, low, K)
        spent += base
        for j in range(first_of_last, b):
            last[j - first_of_last] -= base
        K = min(k - k % COLUMNS_PER_SEARCH, n + 1 - b)  # no lanes without a column, except in the last block
        add_columns(m, K)
        low = search_columns(m, columns, sizes, low, K, memory.stack)
        for j in range(max(b, first_of_last), b + K):
            last[j - first_of_last] = columns[origin + j - b]
        b += K
    return spent + columns[origin + K - 1], max(low - origin - K + 2 * k - 1, 0)


def run_lanes(kernel, values, weights, k, which=""):
    """Sizes, their cost, and F of the last 2k-1 columns; `which` keeps memory of two runs at once apart."""
    n = values.size - 2 * PAD
    sizes = borrow("sizes" + which, n + 1 + PAD, size_type(k))
    work = borrow("work" + which, memory(kernel, n, k), np.float64)
    total = solve(kernel, values, weights, k, sizes, work)
    return sizes[: n + 1], total, ending(work, k)


def run(column, problem):
    """A `Solution`."""
    kernel, values, weights = column[:3]
    sizes, total, _ = run_lanes(kernel, values, weights if weights.size else values, problem.k)
    return Solution(trace(sizes, problem), total)
