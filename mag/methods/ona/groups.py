# mypy: allow-untyped-defs, no-check-untyped-defs
"""Groups of fewer than 3k records that exchange them."""

from collections import namedtuple

import numpy as np

from mag._compiled.jit import called
from mag._compiled.work import fill, integers, layout, reals, space_in
from mag.methods.distances.blocks import RECORDS_PER_BLOCK
from mag.methods.distances.metric import metric_of
from mag.methods.ona.journal import add_record, clear_journal, journal_at, rename_groups, write

USED, CHANGED, VISITS = 0, 1, 2
TRUSTED = 2  # times the number of groups: as many visits of a phase believe any gain, ordinary data take fewer
EPSILON = 2.0**-48  # of the largest coordinate: more than rounding does to a distance from a mean

OnaGroups = namedtuple("OnaGroups", "journal rows n d k sums size label member counts largest scratch")


@layout
def groups_at(space, metric, k):
    """Groups of the records of a metric."""
    n, most = metric.n, metric.n // k
    room = 2 * most + 4 * k + RECORDS_PER_BLOCK  # numbers of groups, until `renumber`
    journal = journal_at(space, metric, most, room)
    return OnaGroups(
        journal=journal,
        rows=metric.points,
        n=n,
        d=metric.d,
        k=k,
        sums=journal.sums,
        size=journal.size,
        label=integers(space, n),
        member=integers(space, room, 3 * k),
        counts=integers(space, 3),  # USED, CHANGED, VISITS of this phase
        largest=reals(space, 1),  # of all coordinates, without sign
        scratch=integers(space, 9 * k),
    )


@called
def groups_in(work, X, k):
    """What `groups_at` cuts from this memory."""
    return groups_at(space_in(work), metric_of(X), k)


@called
def form(groups, labels):
    """The groups of labels 0, 1, …, each smaller than 3k."""
    clear_journal(groups.journal)
    fill(groups.counts, 3, 0)
    groups.largest[0] = 0.0
    for i in range(groups.n):
        for j in range(groups.d):
            groups.largest[0] = max(groups.largest[0], abs(groups.rows[i, j]))
        _enter(groups, i, labels[i])
        groups.counts[USED] = max(groups.counts[USED], labels[i] + 1)
    for g in range(groups.counts[USED]):
        write(groups.journal, g)


@called
def _enter(groups, i, g):
    groups.member[g, groups.size[g]] = i
    groups.label[i] = g
    add_record(groups.journal, g, i)


@called
def _leave(groups, i, g):
    members, last, d = groups.member[g], groups.size[g] - 1, groups.d
    p = 0
    while members[p] != i:
        p += 1
    members[p] = members[last]
    groups.size[g] = last
    for j in range(d):
        groups.sums[g, j] -= groups.rows[i, j]


@called
def move(groups, i, source, target):
    """Record i changes groups; both centroids have yet to be written."""
    _leave(groups, i, source)
    _enter(groups, i, target)
    groups.counts[CHANGED] += 1


@called
def least_gain(groups, cost):
    """What a change has to gain at least that replaces records of this cost; `_visit` says why.

    Distances from means are rounded by `error` a column, so the square of a sum of them by that much.
    """
    if groups.counts[VISITS] <= TRUSTED * (groups.n // groups.k):
        return 0.0
    error = EPSILON * groups.largest[0]
    many = 2 * groups.k * groups.d
    return many * error**2 + 2.0 * error * np.sqrt(many * max(cost, 0.0))


@called
def replace(groups, g, members, parts, size):
    """Group g is split: part 0 keeps its number, the others get the next ones.  parts[p] is the part of members[p]."""
    first, count, d = groups.counts[USED], 1, groups.d
    for p in range(size):
        count = max(count, parts[p] + 1)
    for h in range(count):
        target = g if h == 0 else first + h - 1
        groups.size[target] = 0
        fill(groups.sums[target], d, 0.0)
        for p in range(size):
            if parts[p] == h:
                _enter(groups, members[p], target)
        write(groups.journal, target)
    groups.counts[USED] = first + count - 1


@called
def renumber(groups, cursor):
    """Numbers without gaps when they are about to run out, in the same order; returns the new cursor."""
    journal, used, wide = groups.journal, groups.counts[USED], 3 * groups.k
    if used + 2 * groups.k < journal.room:
        return cursor
    number, count = np.empty(journal.room + 1, np.int64), 0
    for g in range(journal.room + 1):
        number[g] = count
        if g < used and journal.serial[g] >= 0:
            for p in range(wide):
                groups.member[count, p] = groups.member[g, p]
            count += 1
    groups.counts[USED] = count
    rename_groups(journal, number)
    for i in range(groups.n):
        groups.label[i] = number[groups.label[i]]
    return number[cursor]
