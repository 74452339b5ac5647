# mypy: allow-untyped-defs, no-check-untyped-defs
"""How DBA begins: the record whose k nearest, itself included, cost least takes them as a group, and so on.

That needs little more than one search for neighbors.  Every record x has a list of free records, the nearest first.
Free records only become fewer, so the rest of a list stays right, and cost(N(x)) changes only when one of its
members leaves: each record knows in whose N(x) it is.  Where a list is used up, a bound is known: SSE(N) is 1/k of all
squared distances in N, at least those from x, and who is missing is no nearer than the end of the list.  It is searched
for again only if that bound could win.  Equal records have surroundings of the same cost, and the first of them wins:
the others wait until it has left.
"""

from collections import namedtuple

import numpy as np

from mag._compiled.jit import called, jit
from mag._compiled.memory import grid, part
from mag._compiled.work import NOBODY, fill, insert, integers, layout, reals, space_in, work_for
from mag._lib.progress import Progress
from mag.methods.distances.blocks import are_equal, field_at, is_free, take
from mag.methods.distances.metric import metric_of
from mag.methods.distances.neighbors import neighbor_lists, search_for
from mag.methods.mdav.centroids import cost_of
from mag.methods.mdav.run import group_rest

LENGTH = 4  # times k: the length of the lists
LISTS_PER_BATCH = 32  # lists that are made at once
BOUND_SLACK = 1.0 - 1e-9  # relative; far more than the rounding of a bound
RECORDS_PER_CLOCK_LOOK = 2**24  # records visited between two looks at the clock
PROGRESS_OF_FIRST_LISTS = 0.5  # of the progress is for the first lists
N_FREE, GROUPS = 0, 1
WAITING = np.int64(-2)  # the rank of a record that has no surroundings yet, since an equal one comes first

Surroundings = namedtuple("Surroundings", "rows field cost bound rank member first following twin changed counts k")


@layout
def surroundings_at(space, metric, k):
    """Of the records of a metric."""
    n = metric.n
    return Surroundings(
        rows=metric.points,
        field=field_at(space, metric),
        cost=reals(space, n),  # of N(x); infinite where it is not known, or x is not free
        bound=reals(space, n),  # of that, if it is unknown, otherwise infinite
        rank=integers(space, n),  # of the last member of N(x) in the list of x
        member=integers(space, n, k - 1),  # N(x) without x, in no order; NOBODY is missing
        first=integers(space, n),  # links all positions of a record in `member`
        following=integers(space, n, k - 1),
        twin=integers(space, n),  # the next record that equals this one, or NOBODY
        changed=integers(space, n),  # memory for those whose N(x) has changed
        counts=integers(space, 2),  # N_FREE, GROUPS
        k=k,
    )


@called
def _surroundings_in(work, X, k):
    """Cut the layout of `surroundings_at` from this memory."""
    return surroundings_at(space_in(work), metric_of(X), k)


@called
def _complete(s, x, ids, keys, length, out):
    """Put the next free records of the list where members of N(x) are missing, and write its cost, or a bound."""
    k, rank, present, missing, total = s.k, s.rank[x], 0, 0, 0.0
    for place in range(k - 1):
        if s.member[x, place] == NOBODY:
            rank += 1
            while rank < length and ids[rank] >= 0 and not is_free(s.field, ids[rank]):
                rank += 1
            if rank < length and ids[rank] >= 0:
                _link(s, x, place, ids[rank])
            else:
                rank = length
                missing += 1
    s.rank[x] = rank
    for p in range(min(rank + 1, length)):  # its members in order
        if ids[p] >= 0 and is_free(s.field, ids[p]):
            out[present] = ids[p]
            total += keys[p]
            present += 1
    s.cost[x] = np.inf if missing > 0 else cost_of(s.rows, s.field.d, x, out, k - 1)
    s.bound[x] = (total + missing * keys[length - 1]) / k * BOUND_SLACK if missing > 0 else np.inf


@called
def _link(s, x, place, other):
    s.member[x, place] = other
    s.following[x, place] = s.first[other]
    s.first[other] = x * (s.k - 1) + place


@called
def _take_group(s, ids, keys, length, labels, x, out):
    """N(x) leaves; those who have lost a member get the next one."""
    k, members, count = s.k, part(out, 0), 1
    members[0] = x
    for place in range(k - 1):
        members[count] = s.member[x, place]
        count += 1
    for p in range(k):
        i = members[p]
        take(s.field, i)
        labels[i] = s.counts[GROUPS]
        s.cost[i] = np.inf
        s.bound[i] = np.inf
    s.counts[GROUPS] += 1
    s.counts[N_FREE] -= k
    changed, many, places = s.changed, 0, k - 1
    for p in range(k):
        link = s.first[members[p]]
        while link != NOBODY:
            other, place = link // places, link % places
            link = s.following[other, place]
            s.member[other, place] = NOBODY
            if is_free(s.field, other) and s.cost[other] + s.bound[other] >= 0.0:
                s.cost[other] = -np.inf  # it is in `changed`
                s.bound[other] = 0.0
                changed[many] = other
                many += 1
    for p in range(k):
        i = NOBODY if s.rank[members[p]] == WAITING else s.twin[members[p]]
        while i != NOBODY and not is_free(s.field, i):
            i = s.twin[i]
        if i != NOBODY:
            s.rank[i] = NOBODY
            changed[many] = i
            many += 1
    for p in range(many):
        i = changed[p]
        _complete(s, i, ids[i], keys[i], length, out)


@called
def _least(values, n):
    """The first of the least values."""
    best = 0
    for i in range(1, n):
        if values[i] < values[best]:
            best = i
    return best


# ---- from Python


def group_densest(X: np.ndarray, k: int, threads: int, progress: Progress) -> np.ndarray:
    """Labels of groups of k, numbered in turn; fewer than k records that are left join the nearest groups."""
    n = len(X)
    work, labels = work_for(surroundings_at, metric_of(X), k), np.full(n, -1)
    length = min(LENGTH * k, n - 1)
    lists = neighbor_lists(work, X, length, threads, progress.span(0.0, PROGRESS_OF_FIRST_LISTS))
    left = n
    if not progress.stopped:
        begin(work, X, k, *lists)
        progress, wanted = progress.span(PROGRESS_OF_FIRST_LISTS, 1.0), np.empty(LISTS_PER_BATCH, np.int64)
        while left >= k and not progress.step(1.0 - left / n):  # groups leave, or bounds become costs until one can
            left, count = take_groups(work, X, k, *lists, labels, wanted, 1 + RECORDS_PER_CLOCK_LOOK // n)
            if count:
                search_for(work, X, wanted[:count], *lists, threads)
                renew(work, X, k, *lists, wanted[:count])
    group_rest(X, k, labels, threads, progress)
    return labels


@jit
def begin(work, X, k, ids, keys):
    """All records are free, and have lists."""
    n, length = ids.shape
    s = _surroundings_in(work, X, k)
    s.counts[N_FREE], s.counts[GROUPS] = n, 0
    fill(s.first, n, NOBODY)
    fill(s.member, n * (k - 1), NOBODY)
    fill(s.rank, n, NOBODY)
    out = np.empty(k, np.int64)
    lists, distances, last = grid(ids, length), grid(keys, length), np.arange(n)
    fill(s.twin, n, NOBODY)
    for x in range(n):
        first = lists[x, 0]  # the first of those at distance 0
        if first < x and distances[x, 0] == 0.0 and are_equal(s.field, x, first):
            s.twin[last[first]] = x
            last[first] = x
            s.rank[x] = WAITING
            s.cost[x] = s.bound[x] = np.inf
        else:
            _complete(s, x, lists[x], distances[x], length, out)


@jit
def take_groups(work, X, k, ids, keys, labels, wanted, most):
    """Make up to `most` groups, until lists are needed; returns how many records are free, and the number of lists."""
    n, length = ids.shape
    s = _surroundings_in(work, X, k)
    lists, distances, out, bounds = (
        grid(ids, length),
        grid(keys, length),
        np.empty(k, np.int64),
        np.empty(LISTS_PER_BATCH),
    )
    for _ in range(most):
        if s.counts[N_FREE] < k:
            break
        x = _least(s.cost, n)
        if s.bound[_least(s.bound, n)] <= s.cost[x]:
            return s.counts[N_FREE], _want(s, n, s.cost[x], bounds, wanted)
        _take_group(s, lists, distances, length, labels, x, out)
    return s.counts[N_FREE], 0


@called
def _want(s, n, most, bounds, wanted):
    """The records with the least bounds up to `most`; return their number."""
    count = 0
    for i in range(n):
        if s.bound[i] <= most and s.bound[i] < np.inf:
            count = insert(bounds, wanted, LISTS_PER_BATCH, count, s.bound[i], i)
    return count


@jit
def renew(work, X, k, ids, keys, renewed):
    """Give these records new lists, which begin with their previous members of N(x)."""
    length = ids.shape[1]
    s = _surroundings_in(work, X, k)
    lists, distances, out = grid(ids, length), grid(keys, length), np.empty(k, np.int64)
    for x in renewed:
        present = 0
        for place in range(k - 1):
            present += s.member[x, place] != NOBODY
        s.rank[x] = present - 1
        _complete(s, x, lists[x], distances[x], length, out)
