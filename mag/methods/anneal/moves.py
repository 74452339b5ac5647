"""Groups that change at random, uphill less and less often: the moves of annealing, and what each of them costs.

With c the mean of a group of m records, a record x that leaves it saves m/(m-1)·|x-c|², one that joins it costs
m/(m+1)·|x-c|², and y in place of x costs |y-c|² - |x-c|² - |y-x|²/m.
"""

from collections import namedtuple

import numpy as np

from mag._compiled.jit import called, inlined, jit
from mag._compiled.lanes import at, cumulative, lanes_at, last_lane, part, put, spread
from mag._compiled.random import draw_below, draw_fraction, next_bits
from mag._compiled.work import NOBODY, ZERO, fill

WIDE = 4  # columns at once; rows are padded by zeros
RARE, OFTEN = 2, 64  # so many of so many steps dissolve a group or make one
SURE = 40.0  # exp(-40) of a chance is none
SEED, FREE = 0, 1

# rows[record, column], near[record, rank]; label and spot[record], member[label, spot] is the record; size, mean[group]
# free = groups that are not in use; log = who went and from where; numbers = [random state, groups that are free]
Chain = namedtuple("Chain", "rows near label spot member size mean free log numbers n d k length room")


@called
def chain_at(work, X, near, k):
    """A chain of records, those with the largest scale first, and their neighbors."""
    n, d = X.shape
    room = n // k + 1  # groups, and one that is about to be
    spot = n
    member = spot + n
    size = member + room * 2 * k
    free = size + room
    log = free + room
    numbers = log + 2 * k
    chain = Chain(
        part(X, 0),
        part(near, 0),
        part(work.wholes, 0),
        part(work.wholes, spot),
        part(work.wholes, member),
        part(work.wholes, size),
        part(work.reals, 0),
        part(work.wholes, free),
        part(work.wholes, log),
        part(work.wholes, numbers),
        n,
        d,
        k,
        near.shape[1],
        room,
    )
    return chain, room * d, numbers + 2


@jit
def room_for_chain(work, X, near, k):
    """The memory of a chain."""
    _, r, w = chain_at(work, X, near, k)
    return r, w


# ---- chance


@inlined
def _seed(chain):
    return part(chain.numbers, SEED)


@inlined
def _draw_rank(chain):
    return draw_below(_seed(chain), chain.length)


@called
def _accepts(chain, change, heat):
    if change <= 0.0:
        return True
    if change >= SURE * heat:
        return False
    return draw_fraction(_seed(chain)) < np.exp(-change / heat)


# ---- distances


@inlined
def _row(chain, i):
    return part(chain.rows, i * chain.d)


@inlined
def _mean(chain, g):
    return part(chain.mean, g * chain.d)


@inlined
def _apart(a, b, d):
    total = spread(0.0, WIDE)
    for j in range(0, d, WIDE):
        t = at(a, lanes_at(j, WIDE)) - at(b, lanes_at(j, WIDE))
        total = total + t * t
    return last_lane(cumulative(total, 1))


@inlined
def _saved(chain, i, g):
    m = at(chain.size, g)
    return m / (m - 1) * _apart(_row(chain, i), _mean(chain, g), chain.d)


@inlined
def _added(chain, i, g):
    m = at(chain.size, g)
    return m / (m + 1) * _apart(_row(chain, i), _mean(chain, g), chain.d)


# ---- changes


@inlined
def _shift(chain, g, x, weight):
    """The mean goes that part of the way to x, or away from it."""
    c = _mean(chain, g)
    for j in range(0, chain.d, WIDE):
        v = at(c, lanes_at(j, WIDE))
        put(c, lanes_at(j, WIDE), v + (at(x, lanes_at(j, WIDE)) - v) * weight)


@called
def _leave(chain, i):
    g = at(chain.label, i)
    last, p = at(chain.size, g) - 1, at(chain.spot, i)
    other = at(chain.member, g * 2 * chain.k + last)
    put(chain.member, g * 2 * chain.k + p, other)
    put(chain.spot, other, p)
    put(chain.size, g, last)
    if last > 0:
        _shift(chain, g, _row(chain, i), -1.0 / last)


@called
def _join(chain, i, g):
    p = at(chain.size, g)
    put(chain.member, g * 2 * chain.k + p, i)
    put(chain.spot, i, p)
    put(chain.label, i, g)
    put(chain.size, g, p + 1)
    if p == 0:  # whatever the mean was
        fill(_mean(chain, g), chain.d, 0.0)
    _shift(chain, g, _row(chain, i), 1.0 / (p + 1))


@called
def _swap(chain, i, j):
    g, h, d = at(chain.label, i), at(chain.label, j), chain.d
    p, q = at(chain.spot, i), at(chain.spot, j)
    put(chain.member, g * 2 * chain.k + p, j)
    put(chain.member, h * 2 * chain.k + q, i)
    put(chain.spot, i, q)
    put(chain.spot, j, p)
    put(chain.label, i, h)
    put(chain.label, j, g)
    x, y, c, e = _row(chain, i), _row(chain, j), _mean(chain, g), _mean(chain, h)
    a, b = 1.0 / at(chain.size, g), 1.0 / at(chain.size, h)
    for t in range(0, d, WIDE):
        index = lanes_at(t, WIDE)
        z = at(y, index) - at(x, index)
        put(c, index, at(c, index) + z * a)
        put(e, index, at(e, index) - z * b)


# ---- moves


@inlined
def _swap_change(chain, i, j):
    """What it costs to swap two records."""
    g, h = at(chain.label, i), at(chain.label, j)
    x, y, c, e = _row(chain, i), _row(chain, j), _mean(chain, g), _mean(chain, h)
    across, apart = spread(0.0, WIDE), spread(0.0, WIDE)
    for t in range(0, chain.d, WIDE):
        index = lanes_at(t, WIDE)
        z = at(y, index) - at(x, index)
        across = across + z * (at(c, index) - at(e, index))
        apart = apart + z * z
    inverse = 1.0 / at(chain.size, g) + 1.0 / at(chain.size, h)
    return -2.0 * last_lane(cumulative(across, 1)) - inverse * last_lane(cumulative(apart, 1))


@called
def _exchange(chain, i, heat):
    """Record i moves to the group of a neighbor, takes the place of one that moves on, or changes places with it.

    What that changes is returned, 0 if it is not accepted.
    """
    bits, k = next_bits(_seed(chain)), chain.k
    rank = min(_draw_rank(chain), _draw_rank(chain), _draw_rank(chain))  # of three: near ones are tried most
    g, h = at(chain.label, i), _group_near(chain, i, rank)
    if g == h:
        return 0.0
    loose = at(chain.size, g) > k
    if loose and at(chain.size, h) < 2 * k - 1 and bits >> np.uint64(63):
        change = _added(chain, i, h) - _saved(chain, i, g)
        if _accepts(chain, change, heat):
            _leave(chain, i)
            _join(chain, i, h)
            return change
        return 0.0
    z = at(chain.member, h * 2 * k + draw_below(_seed(chain), at(chain.size, h)))
    if loose and bits >> np.uint64(62) & np.uint64(1):
        return _pass_on(chain, i, z, _group_near(chain, z, _draw_rank(chain)), heat)
    change = _swap_change(chain, i, z)
    if _accepts(chain, change, heat):
        _swap(chain, i, z)
        return change
    return 0.0


@inlined
def _group_near(chain, i, rank):
    """The group of a neighbor."""
    return at(chain.label, np.int64(at(chain.near, i * chain.length + rank)))


@called
def _pass_on(chain, i, z, w, heat):
    """Record i takes the place of z, which goes to group w."""
    g, h = at(chain.label, i), at(chain.label, z)
    if w in (g, h) or at(chain.size, w) == 2 * chain.k - 1:
        return 0.0
    x, y, c, d = _row(chain, i), _row(chain, z), _mean(chain, h), chain.d
    change = _apart(x, c, d) - _apart(y, c, d) - _apart(x, y, d) / at(chain.size, h)
    change += _added(chain, z, w) - _saved(chain, i, g)
    if not _accepts(chain, change, heat):
        return 0.0
    _leave(chain, z)
    _join(chain, z, w)
    _leave(chain, i)
    _join(chain, i, h)
    return change


@called
def _take(chain, count, i, g):
    """Record i goes to g for now; `count` went before it."""
    put(chain.log, 2 * count, i)
    put(chain.log, 2 * count + 1, at(chain.label, i))
    _leave(chain, i)
    _join(chain, i, g)
    return count + 1


@called
def _undo(chain, count):
    for p in range(count - 1, -1, -1):
        i = at(chain.log, 2 * p)
        _leave(chain, i)
        _join(chain, i, at(chain.log, 2 * p + 1))
    return 0.0


@called
def _dissolve(chain, g, heat):
    """The members of a group of k go to the best of the groups around them."""
    k, change, count = chain.k, 0.0, ZERO
    for m in range(k, 0, -1):
        i = at(chain.member, g * 2 * k + m - 1)
        best, least, before = NOBODY, np.inf, g
        for rank in range(chain.length):
            h = _group_near(chain, i, rank)
            if h not in (g, before) and at(chain.size, h) < 2 * k - 1:
                cost = _added(chain, i, h)
                if cost < least:
                    best, least = h, cost
            before = h
        if best == NOBODY:
            return _undo(chain, count)
        change += least
        if m > 1:
            change -= _saved(chain, i, g)
        count = _take(chain, count, i, best)
    if not _accepts(chain, change, heat):
        return _undo(chain, count)
    put(chain.free, at(chain.numbers, FREE), g)
    put(chain.numbers, FREE, at(chain.numbers, FREE) + 1)
    return change


@called
def _create(chain, i, heat):
    """A new group of i and its nearest neighbors that others can spare."""
    k, change, count, rank, j = chain.k, 0.0, ZERO, ZERO, i
    g = at(chain.free, at(chain.numbers, FREE) - 1)
    while count < k:
        h = at(chain.label, j)
        if at(chain.size, h) > k:
            change -= _saved(chain, j, h)
            if count > 0:
                change += _added(chain, j, g)
            count = _take(chain, count, j, g)
        if count < k:
            if rank == chain.length:
                return _undo(chain, count)
            j = np.int64(at(chain.near, i * chain.length + rank))
            rank += 1
    if not _accepts(chain, change, heat):
        return _undo(chain, count)
    put(chain.numbers, FREE, at(chain.numbers, FREE) - 1)
    return change


@called
def _means(chain):
    """Recompute them: rounding adds up."""
    d, k = chain.d, chain.k
    for g in range(chain.room):
        m = at(chain.size, g)
        if m > 0:
            c = _mean(chain, g)
            fill(c, d, 0.0)
            for p in range(m):
                x = _row(chain, at(chain.member, g * 2 * k + p))
                for j in range(d):
                    put(c, j, at(c, j) + at(x, j))
            for j in range(d):
                put(c, j, at(c, j) / m)


# ---- from Python


@jit
def enter(work, X, near, k, labels, seed):
    """The chain starts at these labels, below n // k + 1."""
    chain, _, _ = chain_at(work, X, near, k)
    fill(chain.size, chain.room, 0)
    for i in range(chain.n):
        g = labels[i]
        p = at(chain.size, g)
        put(chain.member, g * 2 * k + p, i)
        put(chain.spot, i, p)
        put(chain.label, i, g)
        put(chain.size, g, p + 1)
    free = ZERO
    for g in range(chain.room):
        if at(chain.size, g) == 0:
            put(chain.free, free, g)
            free += 1
    put(chain.numbers, FREE, free)
    put(chain.numbers, SEED, seed)


@jit
def cool(work, X, near, k, heat, active, steps):
    """So many steps at this heat, of the first `active` records; returns what they changed the cost by."""
    chain, _, _ = chain_at(work, X, near, k)
    _means(chain)
    total = 0.0
    for _ in range(steps):
        i = draw_below(_seed(chain), active)
        if draw_below(_seed(chain), OFTEN) >= RARE or chain.length < k:  # who cannot make a group must not dissolve one
            total += _exchange(chain, i, heat)
        elif at(chain.size, at(chain.label, i)) == k:
            total += _dissolve(chain, at(chain.label, i), heat)
        else:
            total += _create(chain, i, heat)
    return total


@jit
def leave(work, X, near, k, labels):
    """The labels of now."""
    chain, _, _ = chain_at(work, X, near, k)
    for i in range(chain.n):
        labels[i] = at(chain.label, i)
