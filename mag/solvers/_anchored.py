"""Diagonal blocks in the anchored frame, shared by the solvers whose groups have k to 2k-1 values.

F[j] is the least cost of the first j values.  A block is the columns j = b .. b+k-1; every row i that can start their
last group is at most b-1, so x[b-1] lies in all candidate groups and is their anchor.  Before each block F restarts
near 0 by subtracting the least F that is still needed: then neither an offset of the data nor the length of the column
costs any precision.  Positions in a block count from b-2k, so that b stands at 2k.
"""

from collections import namedtuple

from numba.extending import overload

from mag._compiled.anchored_sums import AnchoredSums, center, lines, numbers, source, zero
from mag._compiled.cost import join, left, right, terms
from mag._compiled.jit import INLINE, inlined
from mag._compiled.work import layout, length_for, reals, space_in
from mag.solvers._contract import Solution, run_scalar

AnchoredState = namedtuple("AnchoredState", "x w n k F G sums inverse")


@layout
def state_at(space, cost, x, w, n, k):
    """The state of a solver."""
    window = min(3 * k, n + k) + 1  # the rows and columns of a block
    return AnchoredState(
        x,
        w,
        n,
        k,
        F=numbers(space, cost, n + 1),
        G=numbers(space, cost, window),  # F + left, of the rows of the block
        sums=lines(space, cost, window),  # of every term, from the anchor
        inverse=reals(space, 2 * k),  # 1/size
    )


def memory(kernel, n, k):
    """How many float64 a State takes."""
    return length_for(state_at, kernel, None, None, n, k)


@inlined
def start(cost, x, w, k, sizes, work):
    """The state before the first block."""
    s = state_at(space_in(work), cost, source(cost, x), source(cost, w), len(sizes) - 1, k)
    for size in range(1, 2 * k):
        s.inverse[size] = 1.0 / size
    s.F[0] = zero(cost)
    return s


@inlined
def first_row(b, k):
    """The first row of the block at b: nothing but 0 before column 2k, then the starts of groups below 2k values."""
    return 0 if b < 2 * k else max(k, b - 2 * k + 1)


@inlined
def last_row(b, k):
    """The last row that can start a group of the block at b."""
    return 0 if b < 2 * k else b - 1


@inlined
def frame_at(cost, s, b, columns):
    """The frame of the block at b, with all sums from its anchor."""
    origin = 2 * s.k
    shift = b - origin
    f = AnchoredSums(s.x, s.w, shift, center(cost, s.x, b - 1), s.sums, s.inverse)
    nought = clear(s.sums, origin, zero(cost))
    carry = nought
    for p in range(origin - 1, first_row(b, s.k) - shift - 1, -1):
        carry = go_on(s.sums, carry, terms(cost, f, p), p, -1)
    carry = nought
    for p in range(origin, origin + columns - 1):
        carry = go_on(s.sums, carry, terms(cost, f, p), p + 1, 1)
    return f


@inlined
def anchor(cost, s, b, columns):
    """The frame of the block at b, with G = F + left for its rows; also what was subtracted from F."""
    f = frame_at(cost, s, b, columns)
    shift, row, last = f.shift, first_row(b, s.k), last_row(b, s.k)
    base = s.F[row]
    for i in range(row + 1, last + 1):
        base = min_of(s.F[i], base)
    for i in range(row, last + 1):
        restarted = s.F[i] - base
        s.F[i] = restarted
        s.G[i - shift] = restarted + left(cost, f, i - shift)
    return f, base


@inlined
def scan(cost, f, G, p, low, high):
    """The best row of column p among low..high, the later of equals, and its value without the column's own part."""
    best, row = join(cost, f, G[low], low, p, p - low), low
    for i in range(low + 1, high + 1):
        candidate = join(cost, f, G[i], i, p, p - i)
        if candidate <= best:
            best, row = candidate, i
    return best, row


@inlined
def settle(cost, s, f, p, row, best, sizes):
    """Store column p: its cost and the size of its last group."""
    s.F[p + f.shift] = best + right(cost, f, p)
    sizes[p + f.shift] = p - row


@inlined
def min_of(a, b):
    return a if a < b else b


def clear(sums, p, nought):
    """Every line is 0 at the anchor: these zeros."""


def go_on(sums, carry, values, p, sign):
    """Every line goes on to position p, from `carry`, the sums at its neighbor: the sums there."""


@overload(clear, **INLINE)
def _clear(sums, p, nought):
    if len(sums) == 0:
        return lambda sums, p, nought: ()

    def each(sums, p, nought):
        sums[0][p] = nought
        return (nought,) + clear(sums[1:], p, nought)

    return each


@overload(go_on, prefer_literal=True, **INLINE)
def _go_on(sums, carry, values, p, sign):
    if len(sums) == 0:
        return lambda sums, carry, values, p, sign: ()

    if sign.literal_value > 0:

        def each(sums, carry, values, p, sign):
            here = carry[0] + values[0]
            sums[0][p] = here
            return (here,) + go_on(sums[1:], carry[1:], values[1:], p, 1)
    else:

        def each(sums, carry, values, p, sign):
            here = carry[0] - values[0]
            sums[0][p] = here
            return (here,) + go_on(sums[1:], carry[1:], values[1:], p, -1)

    return each


def run_bounded(solve, column, problem):
    """The `run` of solvers whose groups have fewer than 2k values."""
    starts, total, _ = run_scalar(solve, memory, column, problem, problem.k)
    return Solution(starts, total)
