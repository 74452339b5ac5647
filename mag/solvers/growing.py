"""Groups without a largest size, in SIMD lanes: the blocks of `block`, as long as the data allow; O(n log n).

Columns b, b+1, … do not depend on each other as long as their best groups start before b.  So a block is tried: the
columns b .. e are searched over the rows up to b-1 alone, as `_searches` does.  Then one column decides: if no row from
b on is as good in column e as the best row r before b, none is in any column of the block.  For a row i from b on and
a column j < e,

    F[r] + C(r, e) ≤ F[i] + C(i, e)  and  C(r, j) + C(i, e) ≤ C(r, e) + C(i, j)  give  F[r] + C(r, j) ≤ F[i] + C(i, j):

costs are concave, also with a constant for every group and with a charge that is convex in the size, as that for
missing values is.  By induction over j the F that was tried is right up to e.  Where some row is as good, half of the
block is tried.  No group is smaller than `least`, so that `least` columns always remain.

The next block reads the rows from the best one of column e on: rows never turn back.  A block that cannot be twice as
long ends with columns whose groups start inside of it, so that a row is read by few blocks.

Where k is small and nothing is added but for values below k, `_soft` solves.

All of F, G and the sums have a line over all columns, with column 0 at PAD.  Blocks fill in the values that they look
at: sums from their own anchor, and F from near 0, so that costs are as accurate as those of `block`.
"""

from collections import namedtuple

import numpy as np

from mag._compiled.anchored_sums import AnchoredSums, lines
from mag._compiled.cost import join, left, right
from mag._compiled.jit import inlined, jit
from mag._compiled.lanes import falling, lanes_at, least_lane, select, spread
from mag._compiled.memory import part
from mag._compiled.starts import trace
from mag._compiled.work import integers, layout, length_for, reals, space_in
from mag._lib.workspace import borrow
from mag.solvers import _soft
from mag.solvers._anchored import clear
from mag.solvers._contract import GroupLimits, Solution, room_for_sizes
from mag.solvers._narrow import LARGEST_K, NUMBERS, PAD
from mag.solvers._searches import COLUMNS_PER_SEARCH, add_columns, charge, restart, search_columns, stack_at
from mag.solvers.extensions.columnwise import EVEN, at_stake

__all__ = ["memory", "run", "solve"]

GrowingBuffers = namedtuple("GrowingBuffers", "anchors F G inverse sums stack")


class GrowingBlock(namedtuple("GrowingBlock", "cost f G least most origin k fixed short")):
    """A block of columns, for `_searches`; every group costs `fixed` more, and `short` more per value below k."""


def _charge(m, value, size):
    missing = m.k - size
    return value + select(missing > 0, missing, 0 * missing) * m.short


def _settle(m, value):
    return value + m.fixed


GrowingBlock.charge, GrowingBlock.settle = inlined(_charge), inlined(_settle)


@layout
def anchors_at(space, n):
    """Which value is the anchor of every column."""
    return integers(space, n + 1)


@layout
def buffers_at(space, cost, n):
    """The memory of a solver."""
    length = n + 1 + 2 * PAD
    return GrowingBuffers(
        anchors=anchors_at(space, n),  # first, so that their position does not depend on the cost
        F=reals(space, length),
        G=reals(space, length),  # F + left
        inverse=reals(space, length),  # 1/size, with size 0 at PAD
        sums=lines(space, cost, length),  # of every term, from the anchor
        stack=stack_at(space),  # of searches
    )


def memory(kernel, n, k):
    """How many float64 it takes."""
    long = length_for(buffers_at, kernel, n)
    return max(long, _soft.memory(n, k)) if k <= LARGEST_K else long


def solve(cost, x, w, limits, sizes, work):
    """As `quadratic.solve`, for values and weights from `block.padded`; sizes have room for PAD more."""
    if limits.least == 1 < limits.k <= LARGEST_K and limits.fixed == 0.0 and cost.narrow:
        return _soft.solve(cost.narrow, NUMBERS[limits.k], x, w, limits.short, sizes, work)
    return _solve(cost, x, w, limits, sizes, work)


@jit
def _solve(cost, x, w, limits, sizes, work):
    k, least, fixed, short = limits
    n, first = len(x) - 2 * PAD, least + PAD
    memory = buffers_at(space_in(work), cost, n)
    F, G, inverse = memory.F, memory.G, part(memory.inverse, PAD)
    values, weights, sizes = part(x, PAD), part(w, PAD), part(sizes, 0)
    for p in range(first):
        F[p] = np.inf
    F[PAD] = spent = 0.0
    low, known, tried = np.int64(PAD), np.int64(1), max(least, COLUMNS_PER_SEARCH)
    b = least  # the first column of the block
    while b <= n:
        K, origin = min(tried, n + 1 - b), b + PAD
        while known < min(origin + K - low + 2 * COLUMNS_PER_SEARCH, n + PAD):
            inverse[known] = 1.0 / known
            known += 1
        frame = AnchoredSums(values, weights, -PAD, values[b - 1], memory.sums, inverse)
        m = GrowingBlock(cost, frame, G, least, n + PAD, origin, k, fixed, short)
        F[lanes_at(low - COLUMNS_PER_SEARCH, COLUMNS_PER_SEARCH)] = spread(np.inf, COLUMNS_PER_SEARCH)
        clear(memory.sums, origin, 0.0)
        spent += restart(m, F, F, low, 0)
        G[lanes_at(origin, COLUMNS_PER_SEARCH)] = spread(np.inf, COLUMNS_PER_SEARCH)
        add_columns(m, K)
        low = search_columns(m, F, sizes, low, K, memory.stack)
        stands = columns_that_stand(m, F, K)
        if stands < K:
            low = origin + stands - 1 - np.int64(sizes[b + stands - 1])
        for j in range(b, b + stands):
            memory.anchors[j] = b - 1
        tried = stands + (stands >> 1) + COLUMNS_PER_SEARCH if stands == K else max(stands, COLUMNS_PER_SEARCH)
        b += stands
    return spent + F[n + PAD]


@jit
def sums_behind(x, w, weighted, squares, sizes, work):
    """Total magnitude of the sums used to compute the costs of the returned groups."""
    anchors, values, weights = anchors_at(space_in(work), len(sizes) - 1), part(x, PAD), part(w, PAD)
    total, j = 0.0, len(sizes) - 1
    while j > 0:
        i, anchor = j - np.int64(sizes[j]), values[anchors[j]]
        for p in range(i, j):
            away = abs(values[p] - anchor)
            total += (weights[p] if weighted else 1.0) * (away * away if squares else away)
        j = i
    return total


@inlined
def columns_that_stand(m, F, count):
    """The number of columns of the block that no row inside of it reaches; F are the values from rows before it."""
    if count <= m.least:
        return count
    last = m.origin + count - 1 - m.least
    for p in range(m.origin, last + 1, COLUMNS_PER_SEARCH):
        i = lanes_at(p, COLUMNS_PER_SEARCH)
        m.G[i] = F[i] + left(m.cost, m.f, i)
    while count > m.least:
        e = m.origin + count - 1
        best = least_inside(m, e, e - m.least)
        if best + right(m.cost, m.f, e) + m.fixed > F[e]:
            break
        count = max(count >> 1, m.least)
    return count


@inlined
def least_inside(m, p, last):
    """The value for column p from the best row between the first column and `last`, without the column's own part."""
    m.G[lanes_at(last + 1, COLUMNS_PER_SEARCH)] = spread(np.inf, COLUMNS_PER_SEARCH)
    best = spread(np.inf, COLUMNS_PER_SEARCH)
    for q in range(m.origin, last + 1, COLUMNS_PER_SEARCH):
        i = lanes_at(q, COLUMNS_PER_SEARCH)
        value = charge(
            m, join(m.cost, m.f, m.G[i], i, p, falling(p - q, COLUMNS_PER_SEARCH)), falling(p - q, COLUMNS_PER_SEARCH)
        )
        best = select(value < best, value, best)
    return least_lane(best)


def run(column, problem):
    """A `Solution`."""
    kernel, values, weights = column[:3]
    if not weights.size:
        weights = values
    sizes = room_for_sizes(values.size - 2 * PAD)
    work = borrow("work", memory(kernel, sizes.size - 1, problem.k), np.float64)
    limits = GroupLimits(problem.k, problem.least, problem.fixed, problem.short)
    total = solve(kernel, values, weights, limits, sizes, work)
    starts = trace(sizes, problem)
    sums = sums_behind(values, weights, column.weights.size > 0, problem.squares, sizes, work)
    return Solution(starts, total, lost_to_rounding(column, problem, starts, sums))


def lost_to_rounding(column, problem, starts, sums):
    """How much more than the least the groups may cost, since rounded costs were compared.

    `sums` are those of their costs.  Groups that they were compared with have similar ones, unless weights differ too
    much.  F also includes the charge of every group, which is not part of the cost if groups are limited.
    """
    if problem.cost.integer:
        return 0.0
    longest = int(np.diff(starts, append=column.values.size - 2 * PAD).max())
    if column.weights.size and longest * column.unevenness > EVEN:
        sums += at_stake(column.values[PAD:-PAD], column.weights[PAD:-PAD], 2 * longest, problem.squares)
    return 2.0**-50 * sums + 2.0**-51 * problem.fixed * starts.size
