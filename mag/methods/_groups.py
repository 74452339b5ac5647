"""Groups that exchange records, and which centroid is nearest to a record while they do.

Centroids are written into a journal, block by block; one that moves is written anew at the end, and its old place
becomes infinitely far.  Every record remembers the few nearest centroids it has seen and a bound of all others, so
the next search compares what was written since, not everything.  Equally near groups are taken by number.
"""

from collections import namedtuple

import numpy as np

from mag._jit import called
from mag._lanes import at, lanes_at, least_lane, part, put, scratch
from mag.methods._field import LANES, STEP, distances

REMEMBERED = 6  # centroids per record

# label[record]; member[g, p], size[g], sums[g], serial[g] = when its centroid was written, -1 if there is no such group
# journal: x[block, column, lane], name and written[place]; numbers = [groups so far, journal's end, serials so far]
# of a record: ids, serials, keys[rank], found, seen = the serial up to which it has looked, beyond = bound (key, id)
Groups = namedtuple(
    "Groups",
    "rows label member size sums serial x name written numbers ids serials keys found seen beyond_key beyond_id",
)
USED, END, SERIAL, CHANGED = 0, 1, 2, 3


@called
def groups_of(rows, labels, k):
    """The groups of labels 0, 1, …, each smaller than 2k."""
    n, d = rows.shape
    room = 2 * (n // k) + 4 * k + LANES
    places = 3 * (n // k) // 2 + LANES
    groups = Groups(
        rows,
        labels,
        np.empty((room, 3 * k), np.int64),
        np.zeros(room, np.int64),
        np.zeros((room, d)),
        np.full(room, -1),
        np.full((places // LANES + 1, d, LANES), np.inf),
        np.full((places // LANES + 1) * LANES, -1),
        np.zeros((places // LANES + 1) * LANES, np.int64),
        np.zeros(4, np.int64),
        np.empty((n, REMEMBERED), np.int64),
        np.empty((n, REMEMBERED), np.int64),
        np.empty((n, REMEMBERED)),
        np.zeros(n, np.int64),
        np.full(n, -1),
        np.full(n, np.inf),
        np.full(n, room),
    )
    for i in range(n):
        g = labels[i]
        groups.numbers[USED] = max(groups.numbers[USED], g + 1)
        _enter(groups, i, g)
    for g in range(groups.numbers[USED]):
        write(groups, g)
    return groups


@called
def _enter(groups, i, g):
    size = groups.size[g]
    groups.member[g, size], groups.size[g], groups.label[i] = i, size + 1, g
    for j in range(groups.rows.shape[1]):
        groups.sums[g, j] += groups.rows[i, j]


@called
def _leave(groups, i, g):
    size = groups.size[g]
    for p in range(size):
        if groups.member[g, p] == i:
            groups.member[g, p] = groups.member[g, size - 1]
            break
    groups.size[g] = size - 1
    for j in range(groups.rows.shape[1]):
        groups.sums[g, j] -= groups.rows[i, j]


@called
def _erase(groups, g):
    """The centroid of g is no longer in the journal."""
    if groups.serial[g] < 0:
        return
    numbers, written = groups.numbers, groups.written
    place = np.searchsorted(written[: numbers[END]], groups.serial[g])
    groups.name[place] = -1
    for j in range(groups.sums.shape[1]):
        groups.x[place // LANES, j, place % LANES] = np.inf
    groups.serial[g] = -1


@called
def write(groups, g):
    """The centroid of g as it is now, at the end of the journal."""
    _erase(groups, g)
    if groups.numbers[END] == groups.name.size:
        _tidy(groups)
    numbers = groups.numbers
    place = numbers[END]
    numbers[END] += 1
    numbers[SERIAL] += 1
    groups.name[place], groups.written[place], groups.serial[g] = g, numbers[SERIAL], numbers[SERIAL]
    for j in range(groups.sums.shape[1]):
        groups.x[place // LANES, j, place % LANES] = groups.sums[g, j] / groups.size[g]


@called
def _tidy(groups):
    """Drop what is no longer valid from the journal."""
    x, name, written, d = groups.x, groups.name, groups.written, groups.sums.shape[1]
    kept = 0
    for place in range(groups.numbers[END]):
        if name[place] >= 0:
            name[kept], written[kept] = name[place], written[place]
            for j in range(d):
                x[kept // LANES, j, kept % LANES] = x[place // LANES, j, place % LANES]
            kept += 1
    for place in range(kept, groups.numbers[END]):
        name[place] = -1
        for j in range(d):
            x[place // LANES, j, place % LANES] = np.inf
    groups.numbers[END] = kept


@called
def _remember(groups, i, key, g):
    """Offer a centroid to the memory of record i."""
    keys, ids, found = groups.keys[i], groups.ids[i], groups.found[i]
    if key > groups.beyond_key[i] or (key == groups.beyond_key[i] and g >= groups.beyond_id[i]):
        return
    if found == REMEMBERED:
        last = found - 1
        if key > keys[last] or (key == keys[last] and g > ids[last]):
            groups.beyond_key[i], groups.beyond_id[i] = key, g
            return
        groups.beyond_key[i], groups.beyond_id[i] = keys[last], ids[last]
        p = last
    else:
        p = found
        groups.found[i] = found + 1
    while p > 0 and (key < keys[p - 1] or (key == keys[p - 1] and g < ids[p - 1])):
        keys[p], ids[p], groups.serials[i, p] = keys[p - 1], ids[p - 1], groups.serials[i, p - 1]
        p -= 1
    keys[p], ids[p], groups.serials[i, p] = key, g, groups.serial[g]


@called
def look(groups, i):
    """Bring the memory of record i up to date."""
    if groups.seen[i] == groups.numbers[SERIAL]:
        return
    kept = 0
    for p in range(groups.found[i]):
        g = groups.ids[i, p]
        if groups.serial[g] == groups.serials[i, p]:
            groups.ids[i, kept], groups.keys[i, kept], groups.serials[i, kept] = g, groups.keys[i, p], groups.serials[i, p]
            kept += 1
    groups.found[i] = kept
    end, d = groups.numbers[END], groups.sums.shape[1]
    start = np.searchsorted(groups.written[:end], groups.seen[i] + 1)
    groups.seen[i] = groups.numbers[SERIAL]
    point, buffer = part(groups.rows, i * d), scratch(STEP)
    for first in range(start // STEP * STEP, end, STEP):
        key = distances(part(groups.x, first // LANES * d * LANES), first % LANES, d, point)
        if least_lane(key) <= groups.beyond_key[i]:
            put(buffer, lanes_at(0, STEP), key)
            for place in range(max(start, first), min(end, first + STEP)):
                if groups.name[place] >= 0:
                    _remember(groups, i, at(buffer, place - first), groups.name[place])


@called
def nearest(groups, i, own):
    """The group other than `own` whose centroid is nearest to record i, and the squared distance; -1 if none."""
    look(groups, i)
    for again in range(2):
        for p in range(groups.found[i]):
            if groups.ids[i, p] != own:
                return groups.ids[i, p], groups.keys[i, p]
        if again == 0:  # all it remembered have moved away: start from nothing
            groups.found[i], groups.seen[i] = 0, -1
            groups.beyond_key[i], groups.beyond_id[i] = np.inf, groups.size.size
            look(groups, i)
    return -1, np.inf


@called
def move(groups, i, source, target):
    """Record i changes groups."""
    _leave(groups, i, source)
    _enter(groups, i, target)
    groups.numbers[CHANGED] += 1


@called
def dissolve(groups, g):
    """Group g is no more; its members have left."""
    _erase(groups, g)


@called
def replace(groups, g, parts, count):
    """Group g is split: part 0 keeps its number, the others get the next ones.  parts[p] is the part of member p."""
    members, size = groups.member[g, : groups.size[g]].copy(), groups.size[g]
    first = groups.numbers[USED]
    groups.numbers[USED] += count - 1
    for h in range(count):
        target = g if h == 0 else first + h - 1
        groups.size[target] = 0
        groups.sums[target, :] = 0.0
        for p in range(size):
            if parts[p] == h:
                _enter(groups, members[p], target)
        write(groups, target)


@called
def renumber(groups, cursor, k):
    """Numbers without gaps when they are about to run out, in the same order; returns the new cursor."""
    used, n = groups.numbers[USED], groups.label.size
    if used + 2 * k <= groups.size.size:
        return cursor
    number, kept = np.empty(groups.size.size + 1, np.int64), 0
    for g in range(groups.size.size + 1):
        number[g] = kept
        if g < used and groups.serial[g] >= 0:
            groups.member[kept], groups.size[kept] = groups.member[g], groups.size[g]
            groups.sums[kept], groups.serial[kept] = groups.sums[g], groups.serial[g]
            kept += 1
    groups.serial[kept:] = -1
    groups.numbers[USED] = kept
    for place in range(groups.numbers[END]):
        if groups.name[place] >= 0:
            groups.name[place] = number[groups.name[place]]
    for i in range(n):
        groups.label[i], groups.beyond_id[i] = number[groups.label[i]], number[groups.beyond_id[i]]
        for p in range(groups.found[i]):
            groups.ids[i, p] = number[groups.ids[i, p]]
    return number[cursor]
