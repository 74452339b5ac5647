"""ONA (algorithm 14): records go to the nearest centroid one by one, from a random start."""

from mag._compiled.jit import called, jit
from mag._compiled.lanes import at, part, put
from mag._compiled.random import draw_below
from mag._compiled.work import NOBODY, ZERO, fill
from mag.methods.ona.journal import groups_at, move, nearest, renumber, replace, write
from mag.methods.ona.phases import gather, is_first, too_large, try_dissolve

NESTED = 10  # rounds of a split


@called
def _two_parts(rows, size, d, k, seed, parts, sums):
    """ONA on 2k to 3k-1 records: two groups, never dissolved, since one group would cost more."""
    for p in range(size):
        put(parts, p, 0 if p < k else 1 if p < 2 * k else draw_below(seed, 2))
    for p in range(size - 1, 0, -1):
        q = draw_below(seed, p + 1)
        v = at(parts, p)
        put(parts, p, at(parts, q))
        put(parts, q, v)
    fill(sums, 2 * d, 0.0)
    count = ZERO
    for p in range(size):
        count += at(parts, p)
        for j in range(d):
            put(sums, at(parts, p) * d + j, at(sums, at(parts, p) * d + j) + at(rows, p * d + j))
    for _ in range(NESTED):
        changed = False
        for p in range(size):
            own = at(parts, p)
            mine = count if own == 1 else size - count
            if mine > k:
                here = there = 0.0
                for j in range(d):
                    v = at(rows, p * d + j)
                    here += (v - (at(sums, own * d + j) - v) / (mine - 1)) ** 2
                    there += (v - at(sums, (1 - own) * d + j) / (size - mine)) ** 2
                if there < here or (there == here and own == 1):
                    changed = True
                    count += 1 - 2 * own
                    put(parts, p, 1 - own)
                    for j in range(d):
                        v = at(rows, p * d + j)
                        put(sums, own * d + j, at(sums, own * d + j) - v)
                        put(sums, (1 - own) * d + j, at(sums, (1 - own) * d + j) + v)
        if not changed:
            break


@called
def _split(work, r, w, groups, g, seed):
    size, d, k = at(groups.size, g), groups.d, groups.k
    members, own = part(groups.member, g * 3 * k), part(work.wholes, w)
    for p in range(size):
        put(own, p, at(members, p))
    rows, parts = part(work.reals, r), part(own, size)
    gather(groups.rows, d, own, size, rows)
    _two_parts(rows, size, d, k, seed, parts, part(rows, size * d))
    first = at(parts, 0)  # the part of the first record keeps the number
    for p in range(size):
        put(parts, p, 0 if at(parts, p) == first else 1)
    replace(groups, g, own, parts, size)


@called
def _closer(groups, i, g):
    """The group that record i of group g is closer to than to the others of its own, or NOBODY."""
    size, d, here = at(groups.size, g), groups.d, 0.0
    for j in range(d):
        v = at(groups.rows, i * d + j)
        here += (v - (at(groups.sums, g * d + j) - v) / (size - 1)) ** 2
    h, there = nearest(groups, i, g)
    return h if h != NOBODY and (there < here or (there == here and h < g)) else NOBODY


@jit
def visit_records(work, X, k, start, stop, seed):
    """One pass over records start .. stop."""
    n, d = X.shape
    groups, r, w = groups_at(work, ZERO, ZERO, part(X, 0), n, d, k)
    targets = part(groups.scratch, k)
    for i in range(start, stop):
        renumber(groups, ZERO)
        g, many = at(groups.label, i), ZERO
        if at(groups.size, g) > k:
            h = _closer(groups, i, g)
            if h != NOBODY:
                move(groups, i, g, h)
                write(groups, g)
                put(targets, 0, h)
                many += 1
        elif at(groups.size, g) == k and try_dissolve(groups, g):
            many = k
        for p in range(many):
            if is_first(targets, p) and too_large(groups, at(targets, p)):
                _split(work, r, w, groups, at(targets, p), part(seed, 0))
