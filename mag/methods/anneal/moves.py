# mypy: allow-untyped-defs, no-check-untyped-defs
"""Groups that change at random, uphill less and less often: the moves of annealing, and what each of them costs.

With c the mean of a group of m records, a record x that leaves it saves m/(m-1)·|x-c|², one that joins it costs
m/(m+1)·|x-c|², and y in place of x costs |y-c|² - |x-c|² - |y-x|²/m.
"""

from collections import namedtuple

import numpy as np

from mag._compiled.jit import called, inlined, jit
from mag._compiled.lanes import cumulative, lanes_at, last_lane, spread
from mag._compiled.memory import grid, part
from mag._compiled.random import draw_below, draw_fraction, next_bits
from mag._compiled.work import NOBODY, ZERO, fill, integers, layout, reals, space_in

COLUMNS_PER_STEP = 4  # columns at once; rows are padded by zeros
RARE, OFTEN = 2, 64  # so many of so many steps dissolve a group or make one
SURE = 40.0  # exp(-40) of a chance is none
SEED, FREE = 0, 1

Chain = namedtuple("Chain", "rows near label spot member size mean free log numbers n d k length room")


@layout
def chain_at(space, rows, near, n, d, k, length):
    """A chain of records, those with the largest scale first, and their neighbors."""
    room = n // k + 1  # groups, and one that is about to be
    return Chain(
        rows=rows,
        near=near,
        label=integers(space, n),
        spot=integers(space, n),  # member[label, spot] is the record
        member=integers(space, room, 2 * k),
        size=integers(space, room),
        mean=reals(space, room, d),
        free=integers(space, room),  # groups that are not in use
        log=integers(space, k, 2),  # who went, and from where
        numbers=integers(space, 2),  # SEED: random state; FREE: groups that are free
        n=n,
        d=d,
        k=k,
        length=length,
        room=room,
    )


@called
def _chain_in(work, X, near, k):
    """What `chain_at` cuts from this memory."""
    d, length = X.shape[1], near.shape[1]
    return chain_at(space_in(work), grid(X, d), grid(near, length), X.shape[0], d, k, length)


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
def _apart(a, b, d):
    total = spread(0.0, COLUMNS_PER_STEP)
    for j in range(0, d, COLUMNS_PER_STEP):
        t = a[lanes_at(j, COLUMNS_PER_STEP)] - b[lanes_at(j, COLUMNS_PER_STEP)]
        total = total + t * t
    return last_lane(cumulative(total, 1))


@inlined
def _saved(chain, i, g):
    m = chain.size[g]
    return m / (m - 1) * _apart(chain.rows[i], chain.mean[g], chain.d)


@inlined
def _added(chain, i, g):
    m = chain.size[g]
    return m / (m + 1) * _apart(chain.rows[i], chain.mean[g], chain.d)


# ---- changes


@inlined
def _shift(chain, g, x, weight):
    """The mean goes that part of the way to x, or away from it."""
    c = chain.mean[g]
    for j in range(0, chain.d, COLUMNS_PER_STEP):
        v = c[lanes_at(j, COLUMNS_PER_STEP)]
        c[lanes_at(j, COLUMNS_PER_STEP)] = v + (x[lanes_at(j, COLUMNS_PER_STEP)] - v) * weight


@called
def _leave(chain, i):
    g = chain.label[i]
    last, p = chain.size[g] - 1, chain.spot[i]
    other = chain.member[g, last]
    chain.member[g, p] = other
    chain.spot[other] = p
    chain.size[g] = last
    if last > 0:
        _shift(chain, g, chain.rows[i], -1.0 / last)


@called
def _join(chain, i, g):
    p = chain.size[g]
    chain.member[g, p] = i
    chain.spot[i] = p
    chain.label[i] = g
    chain.size[g] = p + 1
    if p == 0:  # whatever the mean was
        fill(chain.mean[g], chain.d, 0.0)
    _shift(chain, g, chain.rows[i], 1.0 / (p + 1))


@called
def _swap(chain, i, j):
    g, h, d = chain.label[i], chain.label[j], chain.d
    p, q = chain.spot[i], chain.spot[j]
    chain.member[g, p] = j
    chain.member[h, q] = i
    chain.spot[i] = q
    chain.spot[j] = p
    chain.label[i] = h
    chain.label[j] = g
    x, y, c, e = chain.rows[i], chain.rows[j], chain.mean[g], chain.mean[h]
    a, b = 1.0 / chain.size[g], 1.0 / chain.size[h]
    for t in range(0, d, COLUMNS_PER_STEP):
        index = lanes_at(t, COLUMNS_PER_STEP)
        z = y[index] - x[index]
        c[index] += z * a
        e[index] -= z * b


# ---- moves


@inlined
def _swap_change(chain, i, j):
    """What it costs to swap two records."""
    g, h = chain.label[i], chain.label[j]
    x, y, c, e = chain.rows[i], chain.rows[j], chain.mean[g], chain.mean[h]
    across, apart = spread(0.0, COLUMNS_PER_STEP), spread(0.0, COLUMNS_PER_STEP)
    for t in range(0, chain.d, COLUMNS_PER_STEP):
        index = lanes_at(t, COLUMNS_PER_STEP)
        z = y[index] - x[index]
        across = across + z * (c[index] - e[index])
        apart = apart + z * z
    inverse = 1.0 / chain.size[g] + 1.0 / chain.size[h]
    return -2.0 * last_lane(cumulative(across, 1)) - inverse * last_lane(cumulative(apart, 1))


@called
def _exchange(chain, i, heat):
    """Record i moves to the group of a neighbor, takes the place of one that moves on, or changes places with it.

    What that changes is returned, 0 if it is not accepted.
    """
    bits, k = next_bits(_seed(chain)), chain.k
    rank = min(_draw_rank(chain), _draw_rank(chain), _draw_rank(chain))  # of three: near ones are tried most
    g, h = chain.label[i], _group_near(chain, i, rank)
    if g == h:
        return 0.0
    loose = chain.size[g] > k
    if loose and chain.size[h] < 2 * k - 1 and bits >> np.uint64(63):
        change = _added(chain, i, h) - _saved(chain, i, g)
        if _accepts(chain, change, heat):
            _leave(chain, i)
            _join(chain, i, h)
            return change
        return 0.0
    z = chain.member[h, draw_below(_seed(chain), chain.size[h])]
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
    return chain.label[np.int64(chain.near[i, rank])]


@called
def _pass_on(chain, i, z, w, heat):
    """Record i takes the place of z, which goes to group w."""
    g, h = chain.label[i], chain.label[z]
    if w in (g, h) or chain.size[w] == 2 * chain.k - 1:
        return 0.0
    x, y, c, d = chain.rows[i], chain.rows[z], chain.mean[h], chain.d
    change = _apart(x, c, d) - _apart(y, c, d) - _apart(x, y, d) / chain.size[h]
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
    chain.log[count, 0] = i
    chain.log[count, 1] = chain.label[i]
    _leave(chain, i)
    _join(chain, i, g)
    return count + 1


@called
def _undo(chain, count):
    for p in range(count - 1, -1, -1):
        i = chain.log[p, 0]
        _leave(chain, i)
        _join(chain, i, chain.log[p, 1])
    return 0.0


@called
def _dissolve(chain, g, heat):
    """The members of a group of k go to the best of the groups around them."""
    k, change, count = chain.k, 0.0, ZERO
    for m in range(k, 0, -1):
        i = chain.member[g, m - 1]
        best, least, before = NOBODY, np.inf, g
        for rank in range(chain.length):
            h = _group_near(chain, i, rank)
            if h not in (g, before) and chain.size[h] < 2 * k - 1:
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
    chain.free[chain.numbers[FREE]] = g
    chain.numbers[FREE] += 1
    return change


@called
def _create(chain, i, heat):
    """A new group of i and its nearest neighbors that others can spare."""
    k, change, count, rank, j = chain.k, 0.0, ZERO, ZERO, i
    g = chain.free[chain.numbers[FREE] - 1]
    while count < k:
        h = chain.label[j]
        if chain.size[h] > k:
            change -= _saved(chain, j, h)
            if count > 0:
                change += _added(chain, j, g)
            count = _take(chain, count, j, g)
        if count < k:
            if rank == chain.length:
                return _undo(chain, count)
            j = np.int64(chain.near[i, rank])
            rank += 1
    if not _accepts(chain, change, heat):
        return _undo(chain, count)
    chain.numbers[FREE] -= 1
    return change


@called
def _means(chain):
    """Recompute them: rounding adds up."""
    d = chain.d
    for g in range(chain.room):
        m = chain.size[g]
        if m > 0:
            c = chain.mean[g]
            fill(c, d, 0.0)
            for p in range(m):
                x = chain.rows[chain.member[g, p]]
                for j in range(d):
                    c[j] += x[j]
            for j in range(d):
                c[j] /= m


# ---- from Python


@jit
def enter(work, X, near, k, labels, seed):
    """The chain starts at these labels, below n // k + 1."""
    chain = _chain_in(work, X, near, k)
    fill(chain.size, chain.room, 0)
    for i in range(chain.n):
        g = labels[i]
        p = chain.size[g]
        chain.member[g, p] = i
        chain.spot[i] = p
        chain.label[i] = g
        chain.size[g] = p + 1
    free = ZERO
    for g in range(chain.room):
        if chain.size[g] == 0:
            chain.free[free] = g
            free += 1
    chain.numbers[FREE] = free
    chain.numbers[SEED] = seed


@jit
def cool(work, X, near, k, heat, active, steps):
    """So many steps at this heat, of the first `active` records; returns what they changed the cost by."""
    chain = _chain_in(work, X, near, k)
    _means(chain)
    total = 0.0
    for _ in range(steps):
        i = draw_below(_seed(chain), active)
        if draw_below(_seed(chain), OFTEN) >= RARE or chain.length < k:  # who cannot make a group must not dissolve one
            total += _exchange(chain, i, heat)
        elif chain.size[chain.label[i]] == k:
            total += _dissolve(chain, chain.label[i], heat)
        else:
            total += _create(chain, i, heat)
    return total


@jit
def leave(work, X, near, k, labels):
    """The labels of now."""
    chain = _chain_in(work, X, near, k)
    for i in range(chain.n):
        labels[i] = chain.label[i]
