"""The fast solver: O(n log k), the columns of a block side by side in SIMD lanes.

The k columns of a block (see `_anchored`) do not depend on each other.  They are searched WIDTH at a time, over group
sizes: at one size all lanes read neighbors, and all are feasible.  As in `simple_plus` a search starts at the best row
of the columns before it.  Only where that leaves a long way to go, the columns left of the block are split at their
middle: its best row bounds both halves, as in divide and conquer; so tied values cost O(log k) a column at most.

Lines count positions from b-2k-PAD, so that column b stands at `origin`; sums are 0 there, negative to its left.
Where k is small, `_narrow` solves.
"""

from collections import namedtuple

import numpy as np
from numba.extending import overload

from mag._compiled.cost import join, left, right, terms
from mag._compiled.frame import Frame, lines
from mag._compiled.jit import INLINE, inlined, jit
from mag._compiled.lanes import (
    cumulative,
    falling,
    lanes_at,
    largest_lane,
    last_lane,
    least_lane,
    select,
    spread,
    spread_lane,
)
from mag._compiled.memory import part
from mag._compiled.work import layout, length_for, reals, space_in, wholes
from mag.solvers import _narrow
from mag.solvers._narrow import LARGEST_K, PAD, PANEL

WIDTH = 4  # columns of one search
STEP = 4  # values of one step of the running sums
LONG = 48  # sizes of one search from which on splitting pays
DEPTH = 64  # of the stack: every split halves the columns

Block = namedtuple("Block", "cost f G k origin")
Lines = namedtuple("Lines", "G rows columns inverse sums stack last")
FIRST, END, LOW, HIGH = range(4)  # of a search on the stack: columns first .. end-1 in the rows low .. high


def padded(values):
    """The sorted values between PAD copies of the first and of the last one, so that no loop needs a tail."""
    column = np.empty(values.size + 2 * PAD, values.dtype)
    column[PAD:-PAD], column[:PAD], column[-PAD:] = values, values[0], values[-1]
    return column


def size_type(k):
    """The type of the sizes that `solve` writes; there must be room for PAD more than for those of n + 1 columns."""
    return np.uint8 if k <= LARGEST_K else np.uint16 if k < 2**15 else np.int32


@layout
def lines_at(space, cost, k):
    """The memory of a solver; F has two lines: a block reads its rows from one and writes its columns to the other."""
    length = 3 * k + 2 * PAD  # rows and columns of a block, and what loops without a tail read beside them
    return Lines(
        G=reals(space, length),  # F + left, of the rows
        rows=reals(space, length),
        columns=reals(space, length),
        inverse=reals(space, 2 * k + PAD),  # 1/size
        sums=lines(space, cost, length),  # of every term, from the anchor
        stack=wholes(space, DEPTH, 4),  # of searches
        last=reals(space, 2 * k - 1),  # F of the last columns, see `ending`
    )


def memory(kernel, n, k):
    """How many float64 it takes."""
    return _narrow.memory(k) if k <= LARGEST_K else length_for(lines_at, kernel, k)


def ending(work, k):
    """F of the last 2k-1 columns, relative to each other, after `solve`."""
    return work[-(2 * k - 1) :]


def solve(cost, x, w, k, sizes, work):
    """As `simple.solve`, for values and weights from `padded`, or with any finite values in place of the copies."""
    run, size = compiled_for(k)
    return run(cost, size, x, w, sizes, work)


def compiled_for(k):
    """The compiled function for this k, and k as it takes it: a Number where it is small."""
    return (_solve, k) if k > LARGEST_K else (_narrow.solver_for(k), _narrow.NUMBERS[k])


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
    memory = begin(cost, k, work)
    memory.columns[2 * k + PAD] = 0.0
    return in_blocks(cost, k, part(x, PAD), part(w, PAD), len(x) - 2 * PAD, sizes, memory, k, 2 * k + PAD)[0]


@jit
def _resume(cost, k, x, w, sizes, work, state):
    memory, state, n, K = begin(cost, k, work), part(state, 0), len(x) - 2 * PAD - k, k - k % WIDTH
    first = 2 * k + PAD + K - (2 * k - 1)
    for t in range(2 * k - 1):
        memory.columns[first + t] = state[t]
    for t in range(max(n + 1 - k, 0), 2 * k - 1):  # a run so short that it ends with columns of the one before
        memory.last[t - (n + 1 - k)] = state[t]
    values, weights = part(x, k + PAD), part(w, k + PAD)
    spent, low = in_blocks(cost, k, values, weights, n, sizes, memory, K, first + np.int64(state[2 * k - 1]))
    for t in range(2 * k - 1):
        state[t] = memory.last[t]
    state[2 * k - 1] = low
    return spent


@inlined
def begin(cost, k, work):
    """The lines before the first block."""
    memory, everything = lines_at(space_in(work), cost, k), part(work, 0)
    for p in range(len(work)):
        everything[p] = 0.0
    for p in range(3 * k + 2 * PAD):
        memory.G[p] = np.inf
        memory.rows[p] = np.inf
        memory.columns[p] = np.inf
    for size in range(1, 2 * k + PAD):
        memory.inverse[size] = 1.0 / size
    for p in range(2 * k - 1):
        memory.last[p] = np.inf
    return memory


@inlined
def in_blocks(cost, k, values, weights, n, sizes, memory, K, low):
    """The blocks from column k on: K columns stand in the block before it, whose first row that counts is at `low`.

    Returns what the last column costs, and the first row that counts behind it, among the last 2k-1.
    """
    origin, first_of_last = 2 * k + PAD, n - 2 * k + 2
    rows, columns, last, sizes = memory.rows, memory.columns, memory.last, part(sizes, 0)
    spent = 0.0
    b = k  # the first column of the block
    while b <= n:
        rows, columns = columns, rows
        frame = Frame(values, weights, b - origin, values[b - 1], memory.sums, memory.inverse)
        m = Block(cost, frame, memory.G, k, origin)
        low = max(low - K, origin - 2 * k + 1)
        base = restart(m, rows, columns, low, K)
        spent += base
        for j in range(first_of_last, b):
            last[j - first_of_last] -= base
        K = min(k - k % WIDTH, n + 1 - b)  # no lanes without a column, except in the last block
        add_columns(m, K)
        low = search_columns(m, columns, sizes, low, K, memory.stack)
        for j in range(max(b, first_of_last), b + K):
            last[j - first_of_last] = columns[origin + j - b]
        b += K
    return spent + columns[origin + K - 1], max(low - origin - K + 2 * k - 1, 0)


# ---- the sums of a block


@inlined
def restart(m, rows, columns, low, K):
    """The rows from `low` to the anchor: F restarts near 0, G = F + left; returns what was subtracted from F."""
    origin = m.origin
    base = least(rows, low + K, origin + K)
    carry = nothing(m.f.sums)
    p = origin
    while p > low:
        p -= STEP
        i = lanes_at(p, STEP)
        carry = add_left(m.f.sums, terms(m.cost, m.f, i), carry, i)
        restarted = rows[i + K] - base
        columns[i] = restarted
        m.G[i] = restarted + left(m.cost, m.f, i)
    for p in range(low - 2 * WIDTH, low, WIDTH):  # a search reads up to WIDTH + 2 rows below
        m.G[lanes_at(p, WIDTH)] = spread(np.inf, WIDTH)
    return base


@inlined
def least(F, start, stop):
    """The smallest of F[start:stop], which are at least WIDTH."""
    smallest = F[lanes_at(stop - WIDTH, WIDTH)]
    for p in range(start, stop - WIDTH, WIDTH):
        here = F[lanes_at(p, WIDTH)]
        smallest = select(here < smallest, here, smallest)
    return least_lane(smallest)


@inlined
def add_columns(m, K):
    """The sums from the anchor to every column."""
    carry = nothing(m.f.sums)
    for p in range(m.origin, m.origin + K, STEP):
        i = lanes_at(p, STEP)
        carry = add_right(m.f.sums, terms(m.cost, m.f, i), carry, i)


def nothing(sums):
    """A zero per term."""


def add_left(sums, values, carry, i):
    """Continue every line downwards over the lanes of i; `carry` are the sums above them."""


def add_right(sums, values, carry, i):
    """Continue every line upwards over the lanes of i; `carry` are the sums below them."""


@overload(nothing, **INLINE)
def _nothing(sums):
    if len(sums) == 0:
        return lambda sums: ()
    return lambda sums: (spread(0.0, STEP),) + nothing(sums[1:])


# The next carry needs one addition only, so that steps hardly wait for each other.


@overload(add_left, **INLINE)
def _add_left(sums, values, carry, i):
    if len(sums) == 0:
        return lambda sums, values, carry, i: ()

    def each(sums, values, carry, i):
        run = cumulative(values[0], -1)
        sums[0][i] = carry[0] - run
        return (carry[0] - spread_lane(run, 0),) + add_left(sums[1:], values[1:], carry[1:], i)

    return each


@overload(add_right, **INLINE)
def _add_right(sums, values, carry, i):
    if len(sums) == 0:
        return lambda sums, values, carry, i: ()

    def each(sums, values, carry, i):
        run = cumulative(values[0], 1)
        sums[0][i + 1] = carry[0] + run
        return (carry[0] + spread_lane(run, -1),) + add_right(sums[1:], values[1:], carry[1:], i)

    return each


# ---- the searches of a block


@inlined
def search_columns(m, columns, sizes, low, K, stack):
    """F and sizes of K columns whose best rows are at `low` or later; returns the best row of the last column."""
    k, origin, shift = m.k, m.origin, m.f.shift
    stack[0, FIRST] = 0
    stack[0, END] = K
    stack[0, LOW] = low
    stack[0, HIGH] = origin - 1
    depth = 1
    while depth > 0:  # columns c .. end-1 have their best rows in low .. high
        depth -= 1
        c, end, high = stack[depth, FIRST], stack[depth, END], stack[depth, HIGH]
        low = max(low, stack[depth, LOW])
        while c < end:
            smallest = max(k, origin + c - high)
            largest = min(2 * k - 1, origin + c + WIDTH - 1 - low)
            if largest - smallest >= LONG and end - c >= 2 * WIDTH:
                middle = c + (end - c) // (2 * WIDTH) * WIDTH
                p = origin + middle - 1
                first, last = max(low, p - 2 * k + 1), min(high, p - k)
                if last - first >= WIDTH:
                    row = best_row(m, p, first, last)
                    stack[depth, FIRST] = middle
                    stack[depth, END] = end
                    stack[depth, LOW] = row
                    stack[depth, HIGH] = high
                    depth += 1
                    end, high = middle, row
                    continue
            j = lanes_at(origin + c, WIDTH)
            best, size = search(m, j, smallest, largest)
            columns[j] = best + right(m.cost, m.f, j)
            sizes[j + shift] = size
            low = origin + c + WIDTH - 1 - last_lane(size)
            c += WIDTH
        if c > K:  # the last lanes were no columns
            low = origin + K - 1 - np.int64(sizes[origin + K - 1 + shift])
    return low


@inlined
def search(m, j, smallest, largest):
    """The best value of each column, without the column's own part, and its size among smallest .. largest."""
    best = other_best = spread(np.inf, WIDTH)
    size = other_size = spread(0, WIDTH)
    rounds = (largest - smallest + 4) >> 2
    if smallest + 4 * rounds > 2 * m.k:
        rounds -= 1
    # Two searches in turn, each with its own best, wait less.  Sizes count up from `smallest`: what was computed from
    # the result of the search before, as `largest` was, would hold up the loads.
    L = smallest
    here = spread(L, WIDTH)
    there = here + 1
    for _ in range(rounds):
        for _ in range(2):
            best, size = keep(candidate(m, j, L), here, best, size)
            other_best, other_size = keep(candidate(m, j, L + 1), there, other_best, other_size)
            here = here + 2
            there = there + 2
            L += 2
    for last in range(L, largest + 1):
        best, size = keep(candidate(m, j, last), spread(last, WIDTH), best, size)
    size = select(other_best == best, select(other_size < size, other_size, size), size)  # the smaller size of equals
    return keep(other_best, other_size, best, size)


@inlined
def candidate(m, j, size):
    i = j - size
    return join(m.cost, m.f, m.G[i], i, j, size)


@inlined
def keep(value, size, best, best_size):
    better = value < best
    return select(better, value, best), select(better, size, best_size)


@inlined
def best_row(m, p, low, high):
    """The best row of column p among low .. high, more than WIDTH of them; the last of equals."""
    best = spread(np.inf, WIDTH)
    start = spread(low, WIDTH)
    q = low
    while True:
        i = lanes_at(q, WIDTH)
        value = join(m.cost, m.f, m.G[i], i, p, falling(p - q, WIDTH))
        better = value <= best
        best, start = select(better, value, best), select(better, spread(q, WIDTH), start)
        if q == high - WIDTH + 1:
            break
        q = min(q + WIDTH, high - WIDTH + 1)  # the last step overlaps
    return largest_lane(select(best == least_lane(best), lanes_at(0, WIDTH) + start, spread(low, WIDTH)))
