"""Groups that exchange records, and which centroid is nearest to a record while they do.

Centroids are written into a journal, block by block; one that moves is written anew at the end, and its old place
becomes infinitely far.  Every record remembers the few nearest centroids it has seen and a bound of all others, so
the next search compares what was written since, not everything.  Equally near groups are taken by number.
"""

from collections import namedtuple

import numpy as np

from mag._compiled.jit import called
from mag._compiled.lanes import at, lanes_at, least_lane, part, put, scratch
from mag._compiled.work import NOBODY, add, fill
from mag.methods.distances.blocks import LANES, STEP, distances

REMEMBERED = 6  # centroids per record
USED, END, SERIAL, CHANGED = 0, 1, 2, 3

# label[record]; of a group: member[g, p], size, sums, serial = when its centroid was written, or NOBODY without a group
# journal: x[block, column, lane], name and written[place]; numbers = [groups so far, journal's end, serials, changes]
# of a record: keys, ids, serials[rank], found, seen = the serial up to which it has looked, and a bound (key, id)
Groups = namedtuple(
    "Groups",
    "rows n d k room places sums x keys bound_key "
    "label member size serial name written numbers ids serials found seen bound_id scratch",
)


@called
def groups_at(work, r, w, rows, n, d, k):
    """Groups of n records."""
    most = n // k
    room = 2 * most + 4 * k + LANES  # numbers of groups, until `renumber`
    places = (3 * most // 2 + 2 * LANES) // LANES * LANES  # of the journal, until `_tidy`
    x = r + room * d
    keys = x + places * d
    bound_key = keys + n * REMEMBERED
    label = w
    member = label + n
    size = member + room * 3 * k
    serial, name = size + room, size + 2 * room
    written = name + places
    numbers = written + places
    ids = numbers + 4
    serials = ids + n * REMEMBERED
    found = serials + n * REMEMBERED
    seen, bound_id, own = found + n, found + 2 * n, found + 3 * n
    groups = Groups(
        rows,
        n,
        d,
        k,
        room,
        places,
        part(work.reals, r),
        part(work.reals, x),
        part(work.reals, keys),
        part(work.reals, bound_key),
        part(work.wholes, label),
        part(work.wholes, member),
        part(work.wholes, size),
        part(work.wholes, serial),
        part(work.wholes, name),
        part(work.wholes, written),
        part(work.wholes, numbers),
        part(work.wholes, ids),
        part(work.wholes, serials),
        part(work.wholes, found),
        part(work.wholes, seen),
        part(work.wholes, bound_id),
        part(work.wholes, own),
    )
    return groups, bound_key + n, own + 9 * k


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
        _enter(groups, i, at(labels, i))
        put(groups.numbers, USED, max(at(groups.numbers, USED), at(labels, i) + 1))
        _forget(groups, i)
    for g in range(at(groups.numbers, USED)):
        write(groups, g)


@called
def _enter(groups, i, g):
    size, d = at(groups.size, g), groups.d
    put(groups.member, g * 3 * groups.k + size, i)
    put(groups.size, g, size + 1)
    put(groups.label, i, g)
    for j in range(d):
        add(groups.sums, g * d + j, at(groups.rows, i * d + j))


@called
def _leave(groups, i, g):
    members, last, d = part(groups.member, g * 3 * groups.k), at(groups.size, g) - 1, groups.d
    p = 0
    while at(members, p) != i:
        p += 1
    put(members, p, at(members, last))
    put(groups.size, g, last)
    for j in range(d):
        add(groups.sums, g * d + j, -at(groups.rows, i * d + j))


# ---- the journal


@called
def _place(groups, serial):
    """The first place that was written at this serial or later."""
    low, high = 0, at(groups.numbers, END)
    while low < high:
        middle = (low + high) // 2
        if at(groups.written, middle) < serial:
            low = middle + 1
        else:
            high = middle
    return low


@called
def _blank(groups, place):
    put(groups.name, place, NOBODY)
    for j in range(groups.d):
        put(groups.x, (place // LANES * groups.d + j) * LANES + place % LANES, np.inf)


@called
def erase(groups, g):
    """The centroid of g is no longer in the journal: it moves, or there is no such group any more."""
    if at(groups.serial, g) >= 0:
        _blank(groups, _place(groups, at(groups.serial, g)))
        put(groups.serial, g, NOBODY)


@called
def write(groups, g):
    """The centroid of g as it is now, at the end of the journal."""
    erase(groups, g)
    if at(groups.numbers, END) == groups.places:
        _tidy(groups)
    place, serial, d = at(groups.numbers, END), at(groups.numbers, SERIAL) + 1, groups.d
    put(groups.numbers, END, place + 1)
    put(groups.numbers, SERIAL, serial)
    put(groups.name, place, g)
    put(groups.written, place, serial)
    put(groups.serial, g, serial)
    for j in range(d):
        mean = at(groups.sums, g * d + j) / at(groups.size, g)
        put(groups.x, (place // LANES * d + j) * LANES + place % LANES, mean)


@called
def _tidy(groups):
    """Drop what is no longer valid from the journal."""
    x, d, kept = groups.x, groups.d, 0
    for place in range(at(groups.numbers, END)):
        if at(groups.name, place) >= 0:
            put(groups.name, kept, at(groups.name, place))
            put(groups.written, kept, at(groups.written, place))
            for j in range(d):
                v = at(x, (place // LANES * d + j) * LANES + place % LANES)
                put(x, (kept // LANES * d + j) * LANES + kept % LANES, v)
            kept += 1
    for place in range(kept, at(groups.numbers, END)):
        _blank(groups, place)
    put(groups.numbers, END, kept)


# ---- what a record remembers


@called
def _forget(groups, i):
    put(groups.found, i, 0)
    put(groups.seen, i, NOBODY)
    put(groups.bound_key, i, np.inf)
    put(groups.bound_id, i, groups.room)


@called
def _remember(groups, i, key, g):
    """Offer a centroid to the memory of record i."""
    if key > at(groups.bound_key, i) or (key == at(groups.bound_key, i) and g >= at(groups.bound_id, i)):
        return
    keys, ids = part(groups.keys, i * REMEMBERED), part(groups.ids, i * REMEMBERED)
    serials, p = part(groups.serials, i * REMEMBERED), at(groups.found, i)
    if p == REMEMBERED:
        p -= 1
        last, name = at(keys, p), at(ids, p)
        if key > last or (key == last and g > name):
            put(groups.bound_key, i, key)
            put(groups.bound_id, i, g)
            return
        put(groups.bound_key, i, last)
        put(groups.bound_id, i, name)
    else:
        put(groups.found, i, p + 1)
    while p > 0 and (key < at(keys, p - 1) or (key == at(keys, p - 1) and g < at(ids, p - 1))):
        put(keys, p, at(keys, p - 1))
        put(ids, p, at(ids, p - 1))
        put(serials, p, at(serials, p - 1))
        p -= 1
    put(keys, p, key)
    put(ids, p, g)
    put(serials, p, at(groups.serial, g))


@called
def look(groups, i):
    """Bring the memory of record i up to date."""
    if at(groups.seen, i) == at(groups.numbers, SERIAL):
        return
    keys, ids, serials = (
        part(groups.keys, i * REMEMBERED),
        part(groups.ids, i * REMEMBERED),
        part(groups.serials, i * REMEMBERED),
    )
    kept = 0
    for p in range(at(groups.found, i)):
        if at(groups.serial, at(ids, p)) == at(serials, p):
            put(keys, kept, at(keys, p))
            put(ids, kept, at(ids, p))
            put(serials, kept, at(serials, p))
            kept += 1
    put(groups.found, i, kept)
    end, d = at(groups.numbers, END), groups.d
    start = _place(groups, at(groups.seen, i) + 1)
    put(groups.seen, i, at(groups.numbers, SERIAL))
    point, buffer = part(groups.rows, i * d), scratch(STEP)
    for first in range(start // STEP * STEP, end, STEP):
        key = distances(part(groups.x, first // LANES * d * LANES), first % LANES, d, point)
        if least_lane(key) <= at(groups.bound_key, i):
            put(buffer, lanes_at(0, STEP), key)
            for place in range(max(start, first), min(end, first + STEP)):
                if at(groups.name, place) >= 0:
                    _remember(groups, i, at(buffer, place - first), at(groups.name, place))


@called
def nearest(groups, i, own):
    """The group other than `own` whose centroid is nearest to record i, and the squared distance; NOBODY if none."""
    for again in range(2):
        look(groups, i)
        for p in range(at(groups.found, i)):
            g = at(groups.ids, i * REMEMBERED + p)
            if g != own:
                return g, at(groups.keys, i * REMEMBERED + p)
        if again == 0:  # all it remembered have moved away
            _forget(groups, i)
    return NOBODY, np.inf


# ---- changes


@called
def move(groups, i, source, target):
    """Record i changes groups; both centroids have yet to be written."""
    _leave(groups, i, source)
    _enter(groups, i, target)
    add(groups.numbers, CHANGED, 1)


@called
def replace(groups, g, members, parts, size):
    """Group g is split: part 0 keeps its number, the others get the next ones.  parts[p] is the part of members[p]."""
    first, count, d = at(groups.numbers, USED), 1, groups.d
    for p in range(size):
        count = max(count, at(parts, p) + 1)
    for h in range(count):
        target = g if h == 0 else first + h - 1
        put(groups.size, target, 0)
        fill(part(groups.sums, target * d), d, 0.0)
        for p in range(size):
            if at(parts, p) == h:
                _enter(groups, at(members, p), target)
        write(groups, target)
    put(groups.numbers, USED, first + count - 1)


@called
def renumber(groups, cursor):
    """Numbers without gaps when they are about to run out, in the same order; returns the new cursor."""
    used, d, wide = at(groups.numbers, USED), groups.d, 3 * groups.k
    if used + 2 * groups.k < groups.room:
        return cursor
    number, kept = np.empty(groups.room + 1, np.int64), 0
    for g in range(groups.room + 1):
        put(number, g, kept)
        if g < used and at(groups.serial, g) >= 0:
            for p in range(wide):
                put(groups.member, kept * wide + p, at(groups.member, g * wide + p))
            for j in range(d):
                put(groups.sums, kept * d + j, at(groups.sums, g * d + j))
            put(groups.size, kept, at(groups.size, g))
            put(groups.serial, kept, at(groups.serial, g))
            kept += 1
    for g in range(kept, groups.room):
        put(groups.serial, g, NOBODY)
        put(groups.size, g, 0)
    put(groups.numbers, USED, kept)
    for place in range(at(groups.numbers, END)):
        if at(groups.name, place) >= 0:
            put(groups.name, place, at(number, at(groups.name, place)))
    for i in range(groups.n):
        put(groups.label, i, at(number, at(groups.label, i)))
        put(groups.bound_id, i, at(number, at(groups.bound_id, i)))
        for p in range(at(groups.found, i)):
            put(groups.ids, i * REMEMBERED + p, at(number, at(groups.ids, i * REMEMBERED + p)))
    return at(number, cursor)
