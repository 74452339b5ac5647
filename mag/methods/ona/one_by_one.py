# mypy: allow-untyped-defs, no-check-untyped-defs
"""ONA (algorithm 14): records go to the nearest centroid one by one, from a random start."""

from mag._compiled.jit import called, jit
from mag._compiled.memory import part
from mag._compiled.random import draw_below
from mag._compiled.work import NOBODY, ZERO, fill, integers, reals, rest_of, space_in
from mag.methods.distances.metric import metric_of
from mag.methods.ona.groups import groups_at, move, renumber, replace
from mag.methods.ona.joining import is_first
from mag.methods.ona.journal import nearest, write
from mag.methods.ona.phases import gather, too_large, try_dissolve

NESTED = 10  # rounds of a split


@called
def _two_parts(rows, size, d, k, seed, parts, sums):
    """ONA on 2k to 3k-1 records: two groups, never dissolved, since one group would cost more."""
    for p in range(size):
        parts[p] = 0 if p < k else 1 if p < 2 * k else draw_below(seed, 2)
    for p in range(size - 1, 0, -1):
        q = draw_below(seed, p + 1)
        v = parts[p]
        parts[p] = parts[q]
        parts[q] = v
    fill(sums, 2 * d, 0.0)
    count = ZERO
    for p in range(size):
        count += parts[p]
        for j in range(d):
            sums[parts[p], j] += rows[p, j]
    for _ in range(NESTED):
        changed = False
        for p in range(size):
            own = parts[p]
            mine = count if own == 1 else size - count
            if mine > k:
                here = there = 0.0
                for j in range(d):
                    v = rows[p, j]
                    here += (v - (sums[own, j] - v) / (mine - 1)) ** 2
                    there += (v - sums[1 - own, j] / (size - mine)) ** 2
                if there < here or (there == here and own == 1):
                    changed = True
                    count += 1 - 2 * own
                    parts[p] = 1 - own
                    for j in range(d):
                        v = rows[p, j]
                        sums[own, j] -= v
                        sums[1 - own, j] += v
        if not changed:
            break


@called
def _split(space, groups, g, seed):
    spare, size, d, k = rest_of(space), groups.size[g], groups.d, groups.k
    members, own, parts = groups.member[g], integers(spare, size), integers(spare, size)
    for p in range(size):
        own[p] = members[p]
    rows, sums = reals(spare, size, d), reals(spare, 2, d)
    gather(groups.rows, d, own, size, rows)
    _two_parts(rows, size, d, k, seed, parts, sums)
    first = parts[0]  # the part of the first record keeps the number
    for p in range(size):
        parts[p] = 0 if parts[p] == first else 1
    replace(groups, g, own, parts, size)


@called
def _closer(groups, i, g):
    """The group that record i of group g is closer to than to the others of its own, or NOBODY."""
    size, d, here = groups.size[g], groups.d, 0.0
    for j in range(d):
        v = groups.rows[i, j]
        here += (v - (groups.sums[g, j] - v) / (size - 1)) ** 2
    h, there = nearest(groups.journal, i, g)
    return h if h != NOBODY and (there < here or (there == here and h < g)) else NOBODY


@jit
def visit_records(work, X, k, start, stop, seed):
    """One pass over records start .. stop."""
    space = space_in(work)
    groups = groups_at(space, metric_of(X), k)
    targets = part(groups.scratch, k)
    for i in range(start, stop):
        renumber(groups, ZERO)
        g, many = groups.label[i], ZERO
        if groups.size[g] > k:
            h = _closer(groups, i, g)
            if h != NOBODY:
                move(groups, i, g, h)
                write(groups.journal, g)
                targets[0] = h
                many += 1
        elif groups.size[g] == k and try_dissolve(groups, g):
            many = k
        for p in range(many):
            if is_first(targets, p) and too_large(groups, targets[p]):
                _split(space, groups, targets[p], part(seed, 0))
