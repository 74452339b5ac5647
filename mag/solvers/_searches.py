"""The sums and the searches of a block of columns, in SIMD lanes.

The columns of a block are those that end a group after the anchor; the rows that start it lie before or at the
anchor, and F is known there.  So columns do not depend on each other.  They are searched WIDTH at a time, over group
sizes: at one size all lanes read neighbors.  As in `simple_plus` a search starts at the best row of the columns before
it.  Only if that leaves a long way to go, the remaining columns of the block are split at their middle: its best row
bounds both halves, as in divide and conquer; so n tied values cost O(log n) a column at most.

A block is a named tuple: the cost, the frame, G = F + left of the rows, the smallest and the largest size of a group,
and the position of the first column; `charge` and `settle` may be defined for its class.
"""

import numpy as np
from numba.extending import overload

from mag._compiled.anchored_sums import unreached
from mag._compiled.cost import join, left, right, terms
from mag._compiled.jit import INLINE, inlined
from mag._compiled.lanes import (
    cumulative,
    falling,
    is_least,
    lanes_at,
    largest_lane,
    last_lane,
    least_lane,
    select,
    spread,
    spread_lane,
)
from mag._compiled.pair import pair, to_pair
from mag._compiled.work import integers, layout

COLUMNS_PER_SEARCH = 4  # columns of one search
SUMS_PER_STEP = 4  # values of one step of the running sums
SIZES_WORTH_SPLITTING = 48  # sizes of one search from which on splitting pays
LONG_IF_DEAR = 24  # the same for costs that search for a median
DEPTH = 64  # of the stack: every split halves the columns

FIRST, END, LOW, HIGH = range(4)  # of a search on the stack: columns first .. end-1 in the rows low .. high


@layout
def stack_at(space):
    """The stack of searches."""
    return integers(space, DEPTH, 4)


# ---- the sums of a block


@inlined
def restart(m, rows, columns, low, K):
    """The rows from `low` to the anchor: F restarts near 0, G = F + left; return the value subtracted from F."""
    origin = m.origin
    base = least(rows, low + K, origin + K)
    carry = nothing(m.f.sums)
    p = origin
    while p > low:
        p -= SUMS_PER_STEP
        i = lanes_at(p, SUMS_PER_STEP)
        carry = add_left(m.f.sums, terms(m.cost, m.f, i), carry, i)
        restarted = rows[i + K] - base
        columns[i] = restarted
        m.G[i] = restarted + left(m.cost, m.f, i)
    for p in range(low - 2 * COLUMNS_PER_SEARCH, low, COLUMNS_PER_SEARCH):  # a search reads up to WIDTH + 2 rows below
        m.G[lanes_at(p, COLUMNS_PER_SEARCH)] = spread(unreached(m.cost), COLUMNS_PER_SEARCH)
    return base


@inlined
def least(F, start, stop):
    """The smallest of F[start:stop], which has at least WIDTH entries."""
    smallest = F[lanes_at(stop - COLUMNS_PER_SEARCH, COLUMNS_PER_SEARCH)]
    for p in range(start, stop - COLUMNS_PER_SEARCH, COLUMNS_PER_SEARCH):
        here = F[lanes_at(p, COLUMNS_PER_SEARCH)]
        smallest = select(here < smallest, here, smallest)
    return least_lane(smallest)


@inlined
def add_columns(m, K):
    """The sums from the anchor to every column."""
    carry = nothing(m.f.sums)
    for p in range(m.origin, m.origin + K, SUMS_PER_STEP):
        i = lanes_at(p, SUMS_PER_STEP)
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
    if sums[0].dtype is pair:
        return lambda sums: (to_pair(spread(0.0, SUMS_PER_STEP)),) + nothing(sums[1:])
    return lambda sums: (spread(0.0, SUMS_PER_STEP),) + nothing(sums[1:])


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


def nowhere(cost):
    """The best value before the first row is looked at."""


def long_search(cost):
    """How many sizes of one search are worth splitting the columns."""


def charge(m, value, size):
    """The charge that is added to the cost of groups of a size."""


def settle(m, value):
    """The charge that is added to the cost of all groups."""


@overload(nowhere, **INLINE)
def _nowhere(cost):
    if cost.kernel.number == "pair":
        return lambda cost: to_pair(spread(unreached(cost), COLUMNS_PER_SEARCH))
    return lambda cost: spread(np.inf, COLUMNS_PER_SEARCH)


@overload(long_search, **INLINE)
def _long_search(cost):
    long = SIZES_WORTH_SPLITTING if cost.kernel.medians is None else LONG_IF_DEAR
    return lambda cost: long


@overload(charge, **INLINE)
def _charge(m, value, size):
    added = getattr(m.instance_class, "charge", None)
    if added is None:
        return lambda m, value, size: value
    return lambda m, value, size: added(m, value, size)


@overload(settle, **INLINE)
def _settle(m, value):
    added = getattr(m.instance_class, "settle", None)
    if added is None:
        return lambda m, value: value
    return lambda m, value: added(m, value)


@inlined
def search_columns(m, columns, sizes, low, K, stack):
    """F and sizes of K columns whose best rows are at `low` or later; returns the best row of the last column."""
    origin, shift = m.origin, m.f.shift
    stack[0, FIRST] = 0
    stack[0, END] = K
    stack[0, LOW] = low
    stack[0, HIGH] = origin - 1
    depth, hint = 1, spread(origin, COLUMNS_PER_SEARCH)
    while depth > 0:  # columns c .. end-1 have their best rows in low .. high
        depth -= 1
        c, end, high = stack[depth, FIRST], stack[depth, END], stack[depth, HIGH]
        low = max(low, stack[depth, LOW])
        while c < end:
            smallest = max(m.least, origin + c - high)
            largest = min(m.most, origin + c + COLUMNS_PER_SEARCH - 1 - low)
            if largest - smallest >= long_search(m.cost) and end - c >= 2 * COLUMNS_PER_SEARCH:
                middle = c + (end - c) // (2 * COLUMNS_PER_SEARCH) * COLUMNS_PER_SEARCH
                p = origin + middle - 1
                first, last = max(low, p - m.most), min(high, p - m.least)
                if last - first >= COLUMNS_PER_SEARCH:
                    row = best_row(m, p, first, last)
                    stack[depth, FIRST] = middle
                    stack[depth, END] = end
                    stack[depth, LOW] = row
                    stack[depth, HIGH] = high
                    depth += 1
                    end, high = middle, row
                    continue
            j = lanes_at(origin + c, COLUMNS_PER_SEARCH)
            best, size, hint = find(m, j, smallest, largest, hint)
            columns[j] = settle(m, best + right(m.cost, m.f, j))
            sizes[j + shift] = size
            low = origin + c + COLUMNS_PER_SEARCH - 1 - last_lane(size)
            c += COLUMNS_PER_SEARCH
        if c > K:  # the last lanes were no columns
            low = origin + K - 1 - np.int64(sizes[origin + K - 1 + shift])
    return low


def find(m, j, smallest, largest, hint):
    """As `search`; the hint is its result for the columns before."""


@overload(find, **INLINE)
def _find(m, j, smallest, largest, hint):
    medians = m[m.fields.index("cost")].kernel.medians
    if medians is None:
        return lambda m, j, smallest, largest, hint: (*search(m, j, smallest, largest), hint)
    first, following, join_at = medians

    def find_along(m, j, smallest, largest, hint):
        """Medians move to the right with the columns, and only to the left while groups grow."""
        i, size = j - smallest, spread(smallest, COLUMNS_PER_SEARCH)
        middle, before = first(m.f, i, j, smallest, hint + COLUMNS_PER_SEARCH)
        hint = middle
        best = charge(m, join_at(m.f, m.G[i], i, j, middle, before), smallest)
        for L in range(smallest + 1, largest + 1):
            i = j - L
            middle, before = following(m.f, i, j, middle, before)
            value = charge(m, join_at(m.f, m.G[i], i, j, middle, before), L)
            best, size = keep(value, spread(L, COLUMNS_PER_SEARCH), best, size)
        return best, size, hint

    return find_along


@inlined
def search(m, j, smallest, largest):
    """The best value of each column, without the column's own part, and its size among smallest .. largest."""
    best = other_best = nowhere(m.cost)
    size = other_size = spread(0, COLUMNS_PER_SEARCH)
    rounds = (largest - smallest + 4) >> 2
    if smallest + 4 * rounds > m.most + 1:
        rounds -= 1
    # Two searches in turn, each with its own best, wait less.  Sizes count up from `smallest`: values computed from
    # the result of the search before, as `largest` was, would hold up the loads.
    L = smallest
    here = spread(L, COLUMNS_PER_SEARCH)
    there = here + 1
    for _ in range(rounds):
        for _ in range(2):
            best, size = keep(candidate(m, j, L), here, best, size)
            other_best, other_size = keep(candidate(m, j, L + 1), there, other_best, other_size)
            here = here + 2
            there = there + 2
            L += 2
    for last in range(L, largest + 1):
        best, size = keep(candidate(m, j, last), spread(last, COLUMNS_PER_SEARCH), best, size)
    size = select(other_best == best, select(other_size < size, other_size, size), size)  # the smaller size of equals
    return keep(other_best, other_size, best, size)


@inlined
def candidate(m, j, size):
    i = j - size
    return charge(m, join(m.cost, m.f, m.G[i], i, j, size), size)


@inlined
def keep(value, size, best, best_size):
    better = value < best
    return select(better, value, best), select(better, size, best_size)


@inlined
def best_row(m, p, low, high):
    """The best row of column p among low .. high, more than WIDTH of them; the last of equals."""
    best = nowhere(m.cost)
    start = hint = spread(low, COLUMNS_PER_SEARCH)
    q = low
    while True:
        value, hint = join_rows(m, q, p, hint)
        value = charge(m, value, falling(p - q, COLUMNS_PER_SEARCH))
        better = value <= best
        best, start = select(better, value, best), select(better, spread(q, COLUMNS_PER_SEARCH), start)
        if q == high - COLUMNS_PER_SEARCH + 1:
            break
        q = min(q + COLUMNS_PER_SEARCH, high - COLUMNS_PER_SEARCH + 1)  # the last step overlaps
    return largest_lane(
        select(is_least(best), lanes_at(0, COLUMNS_PER_SEARCH) + start, spread(low, COLUMNS_PER_SEARCH))
    )


def join_rows(m, q, p, hint):
    """G plus the part that depends on both ends, of WIDTH rows from q on and column p; the hint as that of `find`."""


@overload(join_rows, **INLINE)
def _join_rows(m, q, p, hint):
    medians = m[m.fields.index("cost")].kernel.medians
    if medians is None:

        def at_once(m, q, p, hint):
            i = lanes_at(q, COLUMNS_PER_SEARCH)
            return join(m.cost, m.f, m.G[i], i, p, falling(p - q, COLUMNS_PER_SEARCH)), hint

        return at_once
    first, _, join_at = medians

    def near(m, q, p, hint):
        i = lanes_at(q, COLUMNS_PER_SEARCH)
        middle, before = first(m.f, i, p, p - q - COLUMNS_PER_SEARCH + 1, hint + COLUMNS_PER_SEARCH // 2)
        return join_at(m.f, m.G[i], i, p, middle, before), middle

    return near
