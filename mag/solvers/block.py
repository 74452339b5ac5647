"""The fast solver: O(n log k), the columns of a block side by side in SIMD lanes.

The k columns of a block (see `_anchored`) do not depend on each other; `_searches` finds their best rows.

Lines count positions from b-2k-PAD, so that column b stands at `origin`; sums are 0 there, negative to its left.
Where k is small, `_narrow` solves.
"""

from collections import namedtuple

import numpy as np

from mag._compiled.frame import Frame, line, lines, unit, unreached, words
from mag._compiled.jit import inlined, jit
from mag._compiled.memory import part
from mag.solvers import _narrow
from mag.solvers._narrow import LARGEST_K, PAD, PANEL
from mag.solvers._searches import DEPTH, LONG, WIDTH, add_columns, as_integers, restart, search_columns

__all__ = ["LARGEST_K", "LONG", "PAD", "PANEL", "WIDTH", "memory", "solve"]


class Block(namedtuple("Block", "cost f G least most origin")):
    """A block of columns, for `_searches`."""


def padded(values):
    """The sorted values between PAD copies of the first and of the last one, so that no loop needs a tail."""
    column = np.empty(values.size + 2 * PAD, values.dtype)
    column[PAD:-PAD], column[:PAD], column[-PAD:] = values, values[0], values[-1]
    return column


def size_type(k):
    """The type of the sizes that `solve` writes; there must be room for PAD more than for those of n + 1 columns."""
    return np.uint8 if k <= LARGEST_K else np.uint16 if k < 2**15 else np.int32


def memory(kernel, n, k):
    """How many float64 it takes: F twice, G, a line per term, 1/size, the stack of searches, and the ending."""
    if k <= LARGEST_K and kernel.narrow:
        return _narrow.memory(k)
    return words(kernel) * ((3 + kernel.n_terms) * (3 * k + 2 * PAD) + 2 * k + PAD) + 4 * DEPTH + 2 * k - 1


def ending(work, k):
    """F of the last 2k-1 columns, relative to each other, after `solve`."""
    return work[-(2 * k - 1) :]


def solve(cost, x, w, k, sizes, work):
    """As `simple.solve`, for values and weights from `padded`, or with any finite values in place of the copies."""
    run, size = compiled_for(k, cost)
    return run(cost, size, x, w, sizes, work)


def compiled_for(k, kernel):
    """The compiled function for this k, and k as it takes it: a Number where it is small."""
    return (_solve, k) if k > LARGEST_K or not kernel.narrow else (_narrow.solver_for(k), _narrow.NUMBERS[k])


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
    return PANEL if k <= LARGEST_K else k - k % WIDTH


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
    lay_out(cost, k, work)[2 * k + PAD] = 0.0
    return in_blocks(cost, k, part(x, PAD), part(w, PAD), len(x) - 2 * PAD, sizes, work, k, 2 * k + PAD)[0]


@jit
def _resume(cost, k, x, w, sizes, work, state):
    columns, n, K = lay_out(cost, k, work), len(x) - 2 * PAD - k, k - k % WIDTH
    first = 2 * k + PAD + K - (2 * k - 1)
    last, state = part(work, len(work) - (2 * k - 1)), part(state, 0)
    for t in range(2 * k - 1):
        columns[first + t] = state[t]
    for t in range(max(n + 1 - k, 0), 2 * k - 1):  # a run so short that it ends with columns of the one before
        last[t - (n + 1 - k)] = state[t]
    values, weights = part(x, k + PAD), part(w, k + PAD)
    spent, low = in_blocks(cost, k, values, weights, n, sizes, work, K, first + np.int64(state[2 * k - 1]))
    for t in range(2 * k - 1):
        state[t] = last[t]
    state[2 * k - 1] = low
    return spent


@inlined
def lay_out(cost, k, work):
    """The lines before the first block; that of the columns."""
    length = 3 * k + 2 * PAD
    first, memory = line(cost, work, 0), part(work, 0)
    inverse, last = part(work, 3 * length * unit(cost)), part(work, len(work) - (2 * k - 1))
    for p in range(3 * length):
        first[p] = unreached(cost)
    for p in range(3 * length * unit(cost), len(work)):
        memory[p] = 0.0
    for size in range(1, 2 * k + PAD):
        inverse[size] = 1.0 / size
    for p in range(2 * k - 1):
        last[p] = np.inf
    return line(cost, work, 2 * length)


@inlined
def in_blocks(cost, k, values, weights, n, sizes, work, K, low):
    """The blocks from column k on: K columns stand in the block before it, whose first row that counts is at `low`.

    Returns what the last column costs, and the first row that counts behind it, among the last 2k-1.
    """
    origin = 2 * k + PAD
    length = 3 * k + 2 * PAD  # rows and columns of a block, and what loops without a tail read beside them
    # F has two lines: a block reads the rows from one and writes its columns to the other.
    G, rows, columns = line(cost, work, 0), line(cost, work, length), line(cost, work, 2 * length)
    inverse = part(work, 3 * length * unit(cost))
    sizes = part(sizes, 0)
    sums = lines(cost, work, 3 * length + 2 * k + PAD, length)
    last, first_of_last = part(work, len(work) - (2 * k - 1)), n - 2 * k + 2
    stack = as_integers(work, len(work) - (2 * k - 1) - 4 * DEPTH)
    spent = 0.0
    b = k  # the first column of the block
    while b <= n:
        rows, columns = columns, rows
        m = Block(cost, Frame(values, weights, b - origin, values[b - 1], sums, inverse), G, k, 2 * k - 1, origin)
        low = max(low - K, origin - 2 * k + 1)
        base = restart(m, rows, columns, low, K)
        spent += base
        for j in range(first_of_last, b):
            last[j - first_of_last] -= base
        K = min(k - k % WIDTH, n + 1 - b)  # no lanes without a column, except in the last block
        add_columns(m, K)
        low = search_columns(m, columns, sizes, low, K, stack)
        for j in range(max(b, first_of_last), b + K):
            last[j - first_of_last] = columns[origin + j - b]
        b += K
    return spent + columns[origin + K - 1], max(low - origin - K + 2 * k - 1, 0)
