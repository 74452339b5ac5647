"""Groups that change at random, uphill less and less often: the moves of annealing, and what each of them costs.

With c the mean of a group of m records, a record x that leaves it saves m/(m-1)·|x-c|², one that joins it costs
m/(m+1)·|x-c|², and y in place of x costs |y-c|² - |x-c|² - |y-x|²/m.
"""

from collections import namedtuple

import numpy as np

from mag._jit import called, inlined, jit
from mag._lanes import at, cumulative, lanes_at, last_lane, part, put, spread
from mag.methods._memory import NOBODY, ZERO, fill

WIDE = 4  # columns at once; rows are padded by zeros
RARE = np.uint64(2)  # of 64 steps dissolve a group or make one
SURE = 40.0  # exp(-40) of a chance is none
SEED, FREE = 0, 1

# rows[record, column], near[record, rank]; label and spot[record]: member[label, spot] is the record; size, mean[group];
# free = groups that are not in use; log of what a move did
Chain = namedtuple("Chain", "rows near label spot member size mean free log numbers n d k length room")


@called
def chain_at(work, X, near, k):
    """The memory of a chain."""
    n, d = X.shape
    room = n // k + 1
    mean = ZERO
    label = ZERO
    spot = label + n
    member = spot + n
    size = member + room * 2 * k
    free = size + room
    log = free + room
    numbers = log + 4 * k
    return Chain(
        part(X, 0),
        part(near, 0),
        part(work.wholes, label),
        part(work.wholes, spot),
        part(work.wholes, member),
        part(work.wholes, size),
        part(work.reals, mean),
        part(work.wholes, free),
        part(work.wholes, log),
        part(work.wholes, numbers),
        n,
        d,
        k,
        near.shape[1],
        room,
    ), room * d, numbers + 2


@jit
def room_for_chain(work, X, near, k):
    _, r, w = chain_at(work, X, near, k)
    return r, w


# ---- chance


@called
def _next(chain):
    """64 random bits (xorshift64*, Vigna 2016)."""
    x = np.uint64(at(chain.numbers, SEED))
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    put(chain.numbers, SEED, np.int64(x))
    return x * np.uint64(2685821657736338717)


@inlined
def _below(bits, count):
    """A number below `count` from 32 random bits."""
    return np.int64((bits & np.uint64(0xFFFFFFFF)) * np.uint64(count) >> np.uint64(32))


@called
def _accepts(chain, change, heat):
    if change <= 0.0:
        return True
    if change >= SURE * heat:
        return False
    return np.float64(_next(chain) >> np.uint64(11)) * 2.0**-53 < np.exp(-change / heat)


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
    """Record i moves to the group of a neighbour, or changes places with one of that group."""
    bits = _next(chain)
    # the least of three: most are among the nearest
    rank = min(_below(bits, chain.length), _below(bits >> np.uint64(20), chain.length))
    bits = _next(chain)
    rank = min(rank, _below(bits >> np.uint64(25), chain.length))
    j = np.int64(at(chain.near, i * chain.length + rank))
    g, h, k = at(chain.label, i), at(chain.label, j), chain.k
    if g == h:
        return
    loose, room = at(chain.size, g) > k, at(chain.size, h) < 2 * k - 1
    if loose and room and bits >> np.uint64(63):
        if _accepts(chain, _added(chain, i, h) - _saved(chain, i, g), heat):
            _leave(chain, i)
            _join(chain, i, h)
        return
    z = at(chain.member, h * 2 * k + _below(bits, at(chain.size, h)))
    if loose and bits >> np.uint64(62) & np.uint64(1):
        # a chain: i takes the place of z, which goes to a neighbour's group
        w = at(chain.label, np.int64(at(chain.near, z * chain.length + _below(bits >> np.uint64(20), chain.length))))
        if w != g and w != h and at(chain.size, w) < 2 * k - 1:
            d, c = chain.d, _mean(chain, h)
            x, y = _row(chain, i), _row(chain, z)
            change = _apart(x, c, d) - _apart(y, c, d) - _apart(x, y, d) / at(chain.size, h)
            change += _added(chain, z, w) - _saved(chain, i, g)
            if _accepts(chain, change, heat):
                _leave(chain, z)
                _join(chain, z, w)
                _leave(chain, i)
                _join(chain, i, h)
        return
    if _accepts(chain, _swap_change(chain, i, z), heat):
        _swap(chain, i, z)


@called
def _undo(chain, count):
    for p in range(count - 1, -1, -1):
        i = at(chain.log, 2 * p)
        _leave(chain, i)
        _join(chain, i, at(chain.log, 2 * p + 1))


@called
def _record(chain, count, i):
    put(chain.log, 2 * count, i)
    put(chain.log, 2 * count + 1, at(chain.label, i))


@called
def _dissolve(chain, g, heat):
    """The members go to the best of the groups around them."""
    k, change, count = chain.k, 0.0, ZERO
    while at(chain.size, g) > 0:
        m = at(chain.size, g)
        i = at(chain.member, g * 2 * k + m - 1)
        best, least, before = NOBODY, np.inf, g
        for rank in range(chain.length):
            h = at(chain.label, np.int64(at(chain.near, i * chain.length + rank)))
            if h != g and h != before and at(chain.size, h) < 2 * k - 1:
                cost = _added(chain, i, h)
                if cost < least:
                    best, least = h, cost
            before = h
        if best == NOBODY:
            _undo(chain, count)
            return
        change += least
        if m > 1:
            change -= _saved(chain, i, g)
        _record(chain, count, i)
        _leave(chain, i)
        _join(chain, i, best)
        count += 1
    if _accepts(chain, change, heat):
        free = at(chain.numbers, FREE)
        put(chain.free, free, g)
        put(chain.numbers, FREE, free + 1)
    else:
        _undo(chain, count)


@called
def _create(chain, i, heat):
    """A new group of i and its nearest neighbours that others can spare."""
    k, change, count, rank = chain.k, 0.0, ZERO, ZERO
    if at(chain.size, at(chain.label, i)) == k:
        return
    g = at(chain.free, at(chain.numbers, FREE) - 1)
    j = i
    while True:
        if at(chain.size, at(chain.label, j)) > k:
            if count > 0:
                change += _added(chain, j, g)
            change -= _saved(chain, j, at(chain.label, j))
            _record(chain, count, j)
            _leave(chain, j)
            _join(chain, j, g)
            count += 1
            if count == k:
                break
        if rank == chain.length:
            _undo(chain, count)
            return
        j = np.int64(at(chain.near, i * chain.length + rank))
        rank += 1
    if _accepts(chain, change, heat):
        put(chain.numbers, FREE, at(chain.numbers, FREE) - 1)
    else:
        _undo(chain, count)


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
    """So many steps at this heat, of the first `active` records."""
    chain, _, _ = chain_at(work, X, near, k)
    _means(chain)
    for _ in range(steps):
        bits = _next(chain)
        i = _below(bits, active)
        if bits >> np.uint64(58) < RARE:
            g = at(chain.label, i)
            if at(chain.size, g) == k:
                _dissolve(chain, g, heat)
            else:
                _create(chain, i, heat)
        else:
            _exchange(chain, i, heat)


@jit
def leave(work, X, near, k, labels):
    """The labels of now."""
    chain, _, _ = chain_at(work, X, near, k)
    for i in range(chain.n):
        labels[i] = at(chain.label, i)
