"""The cost of any group [i, j), however long, in the anchored frame; for the solvers that do not bound group sizes.

The anchor of [i, j) is the boundary between cells of 16 values, inside the group, with the most trailing zeros (a
disjoint sparse table): `table` holds, per level h, the sums of the cost's terms from every boundary to the boundary of
order h that it belongs to, and at most 15 values are added at each end.  Groups within one cell are anchored at i.
Since costs are never differences of sums over the whole column, they are as accurate as those of `_anchored`.

Rows and columns are numbered without gaps: row 0 starts at value 0, row r > 0 at value least-1+r, column c ends at
value c+2·least-2, so that column c may be reached from the rows r < c.
"""

from collections import namedtuple

import numpy as np
from numba.extending import overload

from mag._compiled.anchored_sums import center, numbers, source, sums_by, zero
from mag._compiled.cost import join, left, right, terms
from mag._compiled.jit import INLINE, called, inlined
from mag._compiled.wide import to_wide
from mag._compiled.work import layout, length_for, reals, space_in
from mag.solvers._contract import GroupLimits, Solution, run_scalar

SHIFT = 4
CELL = 1 << SHIFT

# `least` is the smallest size allowed; every group costs `fixed` more, and `short` more per value below k.
Spans = namedtuple("Spans", "x w n k least fixed short F rest lost doubt table")
ROUNDING_LOSS = 2.0**-50  # of the sums behind a cost may be lost
ILL = 2.0**10  # sums that are this many times as large as the cost say little about it
Anchor = namedtuple("Anchor", "x w shift center")


class GroupSpan(namedtuple("GroupSpan", "cost s x w shift center level middle i j at_i at_j")):
    """A group with its anchor, and the sums at its two ends."""


@layout
def spans_at(space, cost, x, w, n, limits):
    """The state of a solver."""
    levels, boundaries = 0, (n >> SHIFT) + 1
    while n >> SHIFT >> levels > 0:
        levels += 1
    return Spans(
        x,
        w,
        n,
        limits.k,
        limits.least,
        limits.fixed,
        limits.short,
        doubt=numbers(space, cost, 2),  # how much more than the least the solution may cost: see `hesitate`
        F=numbers(space, cost, n + 1),
        rest=numbers(space, cost, n + 1),  # of F, beyond its 53 bits
        lost=reals(space, n + 1),  # how far F may be from what its groups cost
        table=sums_by(space, cost, levels, boundaries),
    )


def memory(kernel, n, k):
    """How many float64 Spans take."""
    return length_for(spans_at, kernel, None, None, n, GroupLimits(k, 0, 0.0, 0.0))


def doubt(work):
    """How much more than the least the solution may cost, since rounded costs were compared; not for wide integers."""
    return float(work[0] + work[1])


# ---- tuples of sums


def nothing(cost):
    """A zero per term."""


def added(a, b):
    """Sums plus sums."""


def taken(a, b):
    """Sums minus sums."""


def loaded(cost, place):
    """The sums stored at a place of the table."""


def stored(place, sums):
    """Store sums at a place of the table."""


@overload(nothing, **INLINE)
def _nothing(cost):
    return {
        0: lambda cost: (),
        1: lambda cost: (zero(cost),),
        2: lambda cost: (zero(cost), zero(cost)),
        3: lambda cost: (zero(cost), zero(cost), zero(cost)),
    }[cost.kernel.n_terms]


@overload(added, **INLINE)
def _added(a, b):
    if len(a) == 0:
        return lambda a, b: ()
    return lambda a, b: (a[0] + b[0],) + added(a[1:], b[1:])


@overload(taken, **INLINE)
def _taken(a, b):
    if len(a) == 0:
        return lambda a, b: ()
    return lambda a, b: (a[0] - b[0],) + taken(a[1:], b[1:])


@overload(loaded, **INLINE)
def _loaded(cost, place):
    return {
        0: lambda cost, place: (),
        1: lambda cost, place: (place[0],),
        2: lambda cost, place: (place[0], place[1]),
        3: lambda cost, place: (place[0], place[1], place[2]),
    }[cost.kernel.n_terms]


@overload(stored, **INLINE)
def _stored(place, sums):
    if len(sums) == 0:
        return lambda place, sums: None

    def each(place, sums):
        for t in range(len(sums)):
            place[t] = sums[t]

    return each


# ---- the table


@inlined
def over(cost, a, start, stop):
    """The terms of the values start .. stop-1, summed."""
    sums = nothing(cost)
    for i in range(start, stop):
        sums = added(sums, terms(cost, a, i))
    return sums


@inlined
def start(cost, x, w, limits, sizes, work):
    """The table, and the columns below 2·least: one group."""
    n, least = len(sizes) - 1, limits.least
    cells = n >> SHIFT
    s = spans_at(space_in(work), cost, source(cost, x), source(cost, w), n, limits)
    level = 0
    while (cells >> level) > 0:
        reach = 1 << level
        for middle in range(reach, cells + 1, 2 * reach):
            if middle * CELL >= n:
                continue
            a = Anchor(s.x, s.w, 0, center(cost, s.x, middle * CELL))
            sums = nothing(cost)
            stored(s.table[level, middle], sums)
            for q in range(middle, min(middle + reach - 1, cells)):
                sums = added(sums, over(cost, a, q * CELL, (q + 1) * CELL))
                stored(s.table[level, q + 1], sums)
            sums = nothing(cost)
            for q in range(middle - 1, middle - reach - 1, -1):
                sums = taken(sums, over(cost, a, q * CELL, (q + 1) * CELL))
                stored(s.table[level, q], sums)
        level += 1
    s.doubt[0] = s.doubt[1] = zero(cost)
    none = np.int64(0)  # a literal would be compiled once more
    keep(cost, s, none, none, zero(cost), 0.0)
    for j in range(least, min(n + 1, 2 * least - 1)):
        c, sums = group_cost(cost, s, none, j)
        keep(cost, s, j, none, c, sums)
        sizes[j] = j
    return s


@inlined
def seek(cost, s, a, level, middle, i, p):
    """The signed sums from the anchor to position p."""
    if level < 0:
        return over(cost, a, i, p)
    if p >= middle * CELL:
        q = max((p - 1) >> SHIFT, middle)
        return added(loaded(cost, s.table[level, q]), over(cost, a, q * CELL, p))
    q = (p + CELL - 1) >> SHIFT
    return taken(loaded(cost, s.table[level, q]), over(cost, a, p, q * CELL))


@inlined
def span(cost, s, i, j):
    """The group [i, j) with its anchor."""
    before, last = i >> SHIFT, (j - 1) >> SHIFT
    if before == last:
        level, middle = -1, -1
        anchor = i
    else:
        level = 0
        while (before ^ last) >> (level + 1) > 0:
            level += 1
        middle = (last >> level) << level
        anchor = middle * CELL
    a = Anchor(s.x, s.w, 0, center(cost, s.x, anchor))
    at_i = seek(cost, s, a, level, middle, i, i)
    at_j = seek(cost, s, a, level, middle, i, j)
    return GroupSpan(cost, s, s.x, s.w, 0, a.center, level, middle, i, j, at_i, at_j)


distant = called(seek.py_func)  # only a median lies elsewhere than at the ends


def _total(f, t, i):
    def total(f, t, i):
        if i == f.i:
            return f.at_i[t]
        if i == f.j:
            return f.at_j[t]
        a = Anchor(f.x, f.w, 0, f.center)
        return distant(f.cost, f.s, a, f.level, f.middle, f.i, i)[t]

    return total


GroupSpan.total = staticmethod(_total)


@called
def group_cost(cost, s, i, j):
    """C(i, j), with what is added for values below k, and the sums behind it; `keep` adds what all groups cost more."""
    f = span(cost, s, i, j)
    below = s.k - (j - i) if j - i < s.k else 0
    start, stop = left(cost, f, i), right(cost, f, j)
    return join(cost, f, start + stop, i, j, j - i) + penalty(cost, s.short) * below, sums_of(cost, start, stop)


def sums_of(cost, start, stop):
    """How large the sums at both ends are."""


@overload(sums_of, **INLINE)
def _sums_of(cost, start, stop):
    if cost.kernel.number == "wide":
        return lambda cost, start, stop: 0.0
    return lambda cost, start, stop: abs(start) + abs(stop)


def penalty(cost, amount):
    """A penalty in the cost's numbers."""


@overload(penalty, **INLINE)
def _penalty(cost, amount):
    if cost.kernel.number == "wide":
        return lambda cost, amount: to_wide(int(amount))
    return lambda cost, amount: amount


# ---- F, summed over the whole column, so kept in two parts: F = high + low to 106 bits


def keep(cost, s, j, i, c, sums):
    """F[j] = F[i] + c + fixed, F[0] = 0: what a group costs is not rounded to what all groups cost."""


def apart(cost, s, a, b):
    """F[a] - F[b], accurate to its own size."""


@overload(keep, **INLINE)
def _keep(cost, s, j, i, c, sums):
    if cost.kernel.number == "wide":

        def exact(cost, s, j, i, c, sums):
            s.F[j] = s.F[i] + c + penalty(cost, s.fixed) if j > 0 else zero(cost)

        return exact

    def compensated(cost, s, j, i, c, sums):
        if j == 0:
            s.F[0] = s.rest[0] = s.lost[0] = 0.0
        else:
            total, rest = plus(s.F[i], s.rest[i], c)
            total, rest = plus(total, rest, s.fixed)
            s.F[j] = total
            s.rest[j] = rest
            s.lost[j] = s.lost[i] + ROUNDING_LOSS * sums

    return compensated


@inlined
def plus(high, rest, c):
    """high + rest + c in two parts."""
    total = high + c
    back = total - high
    rest += (high - (total - back)) + (c - back)
    return total + rest, rest - ((total + rest) - total)


@overload(apart, **INLINE)
def _apart(cost, s, a, b):
    if cost.kernel.number == "wide":
        return lambda cost, s, a, b: s.F[a] - s.F[b]

    def compensated(cost, s, a, b):
        return (s.F[a] - s.F[b]) + (s.rest[a] - s.rest[b])

    return compensated


# ---- rows and columns


@inlined
def first_value(s, r):
    """Where a group of row r starts."""
    return 0 if r == 0 else s.least - 1 + r


@inlined
def last_value(s, c):
    """Where a group of column c ends."""
    return c + 2 * s.least - 2


@inlined
def columns(s):
    """The number of the last column."""
    return s.n - 2 * s.least + 2


@called
def later_is_better(cost, s, a, b, c):
    """Whether row b > a is at least as good as row a in column c."""
    i, h, j = first_value(s, a), first_value(s, b), last_value(s, c)
    (earlier, sums), (later, other_sums), between = (
        group_cost(cost, s, i, j),
        group_cost(cost, s, h, j),
        apart(cost, s, i, h),
    )
    hesitate(cost, s, i, h, earlier, later, between, sums + other_sums)
    return later - earlier <= between


def hesitate(cost, s, i, h, earlier, later, between, sums):
    """Add to the doubt what a wrong decision may cost, where rounding could have made it.

    To keep the earlier row decides about columns before, where groups may cost much less; to keep the later one only
    about columns behind, where they cost more.  What F has lost at the two rows is part of whole groupings, of which
    one is found: that counts once, where it is the most.
    """


@overload(hesitate, **INLINE)
def _hesitate(cost, s, i, h, earlier, later, between, sums):
    if cost.kernel.number == "wide":
        return lambda cost, s, i, h, earlier, later, between, sums: None

    def add(cost, s, i, h, earlier, later, between, sums):
        costs = earlier + later + abs(between)
        lost, before = ROUNDING_LOSS * (costs + sums), s.lost[i] + s.lost[h]
        lead = (later - earlier) - between
        if abs(lead) <= lost and (lead > 0.0 or sums > ILL * costs):
            s.doubt[0] += lost
        if abs(lead) <= lost + before:
            s.doubt[1] = max(s.doubt[1], before)

    return add


@inlined
def settle(cost, s, c, r, sizes):
    """Store column c, reached from row r."""
    i, j = first_value(s, r), last_value(s, c)
    c, sums = group_cost(cost, s, i, j)
    keep(cost, s, j, i, c, sums)
    sizes[j] = j - i


@inlined
def settled_row(s, c, sizes):
    """The row that column c was reached from."""
    j = last_value(s, c)
    i = j - np.int64(sizes[j])
    return i - s.least + 1 if i > 0 else np.int64(0)


def run_unbounded(solve, column, problem):
    """The `run` of solvers without a bound on the size of groups."""
    limits = GroupLimits(problem.k, problem.least, problem.fixed, problem.short)
    starts, total, work = run_scalar(solve, memory, column, problem, limits)
    return Solution(starts, total, doubt(work) if column.kernel.number == "real" else 0.0)
