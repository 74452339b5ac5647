# mypy: ignore-errors
"""Groups that exchange records, and which centroid is nearest to a record while they do.

Centroids are written into a journal, block by block; one that moves is written anew at the end, and its old place
becomes infinitely far.  Every record remembers the few nearest centroids it has seen and a bound of all others, so
the next search compares what was written since, not everything.  Equally near groups are taken by number.
"""

from collections import namedtuple

import numpy as np

from mag._compiled.jit import called
from mag._compiled.lanes import lanes_at, least_lane
from mag._compiled.memory import grid, scratch
from mag._compiled.work import NOBODY, fill, layout, reals, space_in, wholes
from mag.methods.distances.blocks import LANES, STEP, distances

REMEMBERED = 6  # centroids per record
USED, END, SERIAL, CHANGED = 0, 1, 2, 3

Groups = namedtuple(
    "Groups",
    "rows n d k room places sums x keys bound_key "
    "label member size serial name stamp numbers ids serials filled up_to bound_id scratch",
)


@layout
def groups_at(space, rows, n, d, k):
    """Groups of n records."""
    most = n // k
    room = 2 * most + 4 * k + LANES  # numbers of groups, until `renumber`
    blocks = (3 * most // 2 + 2 * LANES) // LANES  # of the journal
    return Groups(
        rows=rows,
        n=n,
        d=d,
        k=k,
        room=room,
        places=blocks * LANES,  # of the journal, until `_tidy`
        # groups
        sums=reals(space, room, d),
        member=wholes(space, room, 3 * k),
        size=wholes(space, room),
        serial=wholes(space, room),  # when its centroid was written, or NOBODY without a group
        # the journal
        x=reals(space, blocks, d, LANES),  # centroids
        name=wholes(space, blocks * LANES),  # whose it is
        stamp=wholes(space, blocks * LANES),  # its serial
        numbers=wholes(space, 4),  # USED, END, SERIAL, CHANGED
        # records
        label=wholes(space, n),
        keys=reals(space, n, REMEMBERED),  # distances from the centroids that it remembers, nearest first
        ids=wholes(space, n, REMEMBERED),  # their groups
        serials=wholes(space, n, REMEMBERED),
        filled=wholes(space, n),  # how many it remembers
        up_to=wholes(space, n),  # the serial up to which it has looked
        bound_key=reals(space, n),  # all others are farther than (key, id)
        bound_id=wholes(space, n),
        scratch=wholes(space, 9 * k),
    )


@called
def groups_in(work, X, k):
    """What `groups_at` cuts from this memory."""
    return groups_at(space_in(work), grid(X, X.shape[1]), X.shape[0], X.shape[1], k)


@called
def form(groups, labels):
    """The groups of labels 0, 1, …, each smaller than 3k."""
    n = groups.n
    fill(groups.sums, groups.room * groups.d, 0.0)
    fill(groups.x, groups.places * groups.d, np.inf)
    fill(groups.size, groups.room, 0)
    fill(groups.serial, groups.room, NOBODY)
    fill(groups.name, groups.places, NOBODY)
    fill(groups.numbers, 4, 0)
    for i in range(n):
        _enter(groups, i, labels[i])
        groups.numbers[USED] = max(groups.numbers[USED], labels[i] + 1)
        _forget(groups, i)
    for g in range(groups.numbers[USED]):
        write(groups, g)


@called
def _enter(groups, i, g):
    size, d = groups.size[g], groups.d
    groups.member[g, size] = i
    groups.size[g] = size + 1
    groups.label[i] = g
    for j in range(d):
        groups.sums[g, j] += groups.rows[i, j]


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


# ---- the journal


@called
def _place(groups, serial):
    """The first place that was written at this serial or later."""
    low, high = 0, groups.numbers[END]
    while low < high:
        middle = (low + high) // 2
        if groups.stamp[middle] < serial:
            low = middle + 1
        else:
            high = middle
    return low


@called
def _blank(groups, place):
    groups.name[place] = NOBODY
    for j in range(groups.d):
        groups.x[place // LANES, j, place % LANES] = np.inf


@called
def erase(groups, g):
    """The centroid of g is no longer in the journal: it moves, or there is no such group any more."""
    if groups.serial[g] >= 0:
        _blank(groups, _place(groups, groups.serial[g]))
        groups.serial[g] = NOBODY


@called
def write(groups, g):
    """The centroid of g as it is now, at the end of the journal."""
    erase(groups, g)
    if groups.numbers[END] == groups.places:
        _tidy(groups)
    place, serial, d = groups.numbers[END], groups.numbers[SERIAL] + 1, groups.d
    groups.numbers[END] = place + 1
    groups.numbers[SERIAL] = serial
    groups.name[place] = g
    groups.stamp[place] = serial
    groups.serial[g] = serial
    for j in range(d):
        mean = groups.sums[g, j] / groups.size[g]
        groups.x[place // LANES, j, place % LANES] = mean


@called
def _tidy(groups):
    """Drop what is no longer valid from the journal."""
    x, d, end = groups.x, groups.d, 0
    for place in range(groups.numbers[END]):
        if groups.name[place] >= 0:
            groups.name[end] = groups.name[place]
            groups.stamp[end] = groups.stamp[place]
            for j in range(d):
                v = x[place // LANES, j, place % LANES]
                x[end // LANES, j, end % LANES] = v
            end += 1
    for place in range(end, groups.numbers[END]):
        _blank(groups, place)
    groups.numbers[END] = end


# ---- what a record remembers


@called
def _forget(groups, i):
    groups.filled[i] = 0
    groups.up_to[i] = NOBODY
    groups.bound_key[i] = np.inf
    groups.bound_id[i] = groups.room


@called
def _remember(groups, i, key, g):
    """Offer a centroid to the memory of record i."""
    if key > groups.bound_key[i] or (key == groups.bound_key[i] and g >= groups.bound_id[i]):
        return
    keys, ids, serials, p = groups.keys[i], groups.ids[i], groups.serials[i], groups.filled[i]
    if p == REMEMBERED:
        p -= 1
        last, name = keys[p], ids[p]
        if key > last or (key == last and g > name):
            groups.bound_key[i] = key
            groups.bound_id[i] = g
            return
        groups.bound_key[i] = last
        groups.bound_id[i] = name
    else:
        groups.filled[i] = p + 1
    while p > 0 and (key < keys[p - 1] or (key == keys[p - 1] and g < ids[p - 1])):
        keys[p] = keys[p - 1]
        ids[p] = ids[p - 1]
        serials[p] = serials[p - 1]
        p -= 1
    keys[p] = key
    ids[p] = g
    serials[p] = groups.serial[g]


@called
def look(groups, i):
    """Bring the memory of record i up to date."""
    if groups.up_to[i] == groups.numbers[SERIAL]:
        return
    keys, ids, serials = groups.keys[i], groups.ids[i], groups.serials[i]
    filled = 0
    for p in range(groups.filled[i]):
        if groups.serial[ids[p]] == serials[p]:
            keys[filled] = keys[p]
            ids[filled] = ids[p]
            serials[filled] = serials[p]
            filled += 1
    groups.filled[i] = filled
    end, d = groups.numbers[END], groups.d
    start = _place(groups, groups.up_to[i] + 1)
    groups.up_to[i] = groups.numbers[SERIAL]
    point, buffer = groups.rows[i], scratch(STEP)
    for first in range(start // STEP * STEP, end, STEP):
        key = distances(groups.x[first // LANES], first % LANES, d, point)
        if least_lane(key) <= groups.bound_key[i]:
            buffer[lanes_at(0, STEP)] = key
            for place in range(max(start, first), min(end, first + STEP)):
                if groups.name[place] >= 0:
                    _remember(groups, i, buffer[place - first], groups.name[place])


@called
def nearest(groups, i, own):
    """The group other than `own` whose centroid is nearest to record i, and the squared distance; NOBODY if none."""
    for again in range(2):
        look(groups, i)
        for p in range(groups.filled[i]):
            g = groups.ids[i, p]
            if g != own:
                return g, groups.keys[i, p]
        if again == 0:  # all it remembered have moved away
            _forget(groups, i)
    return NOBODY, np.inf


# ---- changes


@called
def move(groups, i, source, target):
    """Record i changes groups; both centroids have yet to be written."""
    _leave(groups, i, source)
    _enter(groups, i, target)
    groups.numbers[CHANGED] += 1


@called
def replace(groups, g, members, parts, size):
    """Group g is split: part 0 keeps its number, the others get the next ones.  parts[p] is the part of members[p]."""
    first, count, d = groups.numbers[USED], 1, groups.d
    for p in range(size):
        count = max(count, parts[p] + 1)
    for h in range(count):
        target = g if h == 0 else first + h - 1
        groups.size[target] = 0
        fill(groups.sums[target], d, 0.0)
        for p in range(size):
            if parts[p] == h:
                _enter(groups, members[p], target)
        write(groups, target)
    groups.numbers[USED] = first + count - 1


@called
def renumber(groups, cursor):
    """Numbers without gaps when they are about to run out, in the same order; returns the new cursor."""
    used, d, wide = groups.numbers[USED], groups.d, 3 * groups.k
    if used + 2 * groups.k < groups.room:
        return cursor
    number, count = np.empty(groups.room + 1, np.int64), 0
    for g in range(groups.room + 1):
        number[g] = count
        if g < used and groups.serial[g] >= 0:
            for p in range(wide):
                groups.member[count, p] = groups.member[g, p]
            for j in range(d):
                groups.sums[count, j] = groups.sums[g, j]
            groups.size[count] = groups.size[g]
            groups.serial[count] = groups.serial[g]
            count += 1
    for g in range(count, groups.room):
        groups.serial[g] = NOBODY
        groups.size[g] = 0
    groups.numbers[USED] = count
    for place in range(groups.numbers[END]):
        if groups.name[place] >= 0:
            groups.name[place] = number[groups.name[place]]
    for i in range(groups.n):
        groups.label[i] = number[groups.label[i]]
        groups.bound_id[i] = number[groups.bound_id[i]]
        for p in range(groups.filled[i]):
            groups.ids[i, p] = number[groups.ids[i, p]]
    return number[cursor]
