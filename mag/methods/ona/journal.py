# mypy: allow-untyped-defs, no-check-untyped-defs
"""The centroids of groups that exchange records, and which of them is nearest to a record while they do.

Centroids are written into a journal, block by block; one that moves is written anew at the end, and its old place
becomes infinitely far.  Every record remembers the few nearest centroids it has seen and a bound of all others, so
the next search compares only centroids written since then.  Equally near groups are taken by number.
"""

from collections import namedtuple

import numpy as np

from mag._compiled.jit import called
from mag._compiled.lanes import lanes_at, least_lane
from mag._compiled.memory import scratch
from mag._compiled.work import NOBODY, fill, integers, layout, reals
from mag.methods.distances.blocks import RECORDS_PER_BLOCK
from mag.methods.distances.euclidean import LANES_PER_STEP
from mag.methods.distances.metric import distances, write_centroid

REMEMBERED = 6  # centroids per record
END, SERIAL = 0, 1

Journal = namedtuple(
    "Journal",
    "rows n d wide metric room places sums size serial x name stamp numbers keys ids serials filled up_to bound_key "
    "bound_id",
)


@layout
def journal_at(space, metric, most, room):
    """For the records of a metric in `most` groups, which have numbers below `room`."""
    n, wide, blocks = metric.n, metric.wide, (3 * most // 2 + 2 * RECORDS_PER_BLOCK) // RECORDS_PER_BLOCK
    return Journal(
        rows=metric.points,
        n=n,
        d=metric.d,
        wide=wide,  # columns of a block
        metric=metric,
        room=room,
        places=blocks * RECORDS_PER_BLOCK,  # until `_tidy`
        # groups
        sums=reals(space, room, metric.d),
        size=integers(space, room),
        serial=integers(space, room),  # when its centroid was written, or NOBODY without a group
        # the written entries
        x=reals(space, blocks, wide, RECORDS_PER_BLOCK),  # centroids
        name=integers(space, blocks * RECORDS_PER_BLOCK),  # whose it is
        stamp=integers(space, blocks * RECORDS_PER_BLOCK),  # its serial
        numbers=integers(space, 2),  # END, SERIAL
        # records
        keys=reals(space, n, REMEMBERED),  # distances from the centroids that it remembers, nearest first
        ids=integers(space, n, REMEMBERED),  # their groups
        serials=integers(space, n, REMEMBERED),
        filled=integers(space, n),  # how many it remembers
        up_to=integers(space, n),  # the last serial that it has seen
        bound_key=reals(space, n),  # all others are farther than (key, id)
        bound_id=integers(space, n),
    )


@called
def clear_journal(journal):
    """No groups, nothing written, and nothing remembered."""
    fill(journal.sums, journal.room * journal.d, 0.0)
    fill(journal.x, journal.places * journal.wide, np.inf)
    fill(journal.size, journal.room, 0)
    fill(journal.serial, journal.room, NOBODY)
    fill(journal.name, journal.places, NOBODY)
    fill(journal.numbers, 2, 0)
    for i in range(journal.n):
        _forget(journal, i)


@called
def add_record(journal, g, i):
    """Record i counts in group g; its centroid has yet to be written."""
    journal.size[g] += 1
    for j in range(journal.d):
        journal.sums[g, j] += journal.rows[i, j]


@called
def _place(journal, serial):
    """The first place that was written at this serial or later."""
    low, high = 0, journal.numbers[END]
    while low < high:
        middle = (low + high) // 2
        if journal.stamp[middle] < serial:
            low = middle + 1
        else:
            high = middle
    return low


@called
def _blank(journal, place):
    journal.name[place] = NOBODY
    for j in range(journal.wide):
        journal.x[place // RECORDS_PER_BLOCK, j, place % RECORDS_PER_BLOCK] = np.inf


@called
def erase(journal, g):
    """Remove the centroid of g from the journal: it moves, or the group no longer exists."""
    if journal.serial[g] >= 0:
        _blank(journal, _place(journal, journal.serial[g]))
        journal.serial[g] = NOBODY


@called
def write(journal, g):
    """The centroid of g as it is now, at the end of the journal."""
    erase(journal, g)
    if journal.numbers[END] == journal.places:
        _tidy(journal)
    place, serial = journal.numbers[END], journal.numbers[SERIAL] + 1
    journal.numbers[END] = place + 1
    journal.numbers[SERIAL] = serial
    journal.name[place] = g
    journal.stamp[place] = serial
    journal.serial[g] = serial
    block, lane = journal.x[place // RECORDS_PER_BLOCK], place % RECORDS_PER_BLOCK
    write_centroid(journal.metric, block, lane, journal.sums[g], journal.size[g])


@called
def _tidy(journal):
    """Drop invalid entries from the journal."""
    x, end = journal.x, 0
    for place in range(journal.numbers[END]):
        if journal.name[place] >= 0:
            journal.name[end] = journal.name[place]
            journal.stamp[end] = journal.stamp[place]
            for j in range(journal.wide):
                v = x[place // RECORDS_PER_BLOCK, j, place % RECORDS_PER_BLOCK]
                x[end // RECORDS_PER_BLOCK, j, end % RECORDS_PER_BLOCK] = v
            end += 1
    for place in range(end, journal.numbers[END]):
        _blank(journal, place)
    journal.numbers[END] = end


# ---- the memory of a record


@called
def _forget(journal, i):
    journal.filled[i] = 0
    journal.up_to[i] = NOBODY
    journal.bound_key[i] = np.inf
    journal.bound_id[i] = journal.room


@called
def _remember(journal, i, key, g):
    """Offer a centroid to the memory of record i."""
    if key > journal.bound_key[i] or (key == journal.bound_key[i] and g >= journal.bound_id[i]):
        return
    keys, ids, serials, p = journal.keys[i], journal.ids[i], journal.serials[i], journal.filled[i]
    if p == REMEMBERED:
        p -= 1
        last, name = keys[p], ids[p]
        if key > last or (key == last and g > name):
            journal.bound_key[i] = key
            journal.bound_id[i] = g
            return
        journal.bound_key[i] = last
        journal.bound_id[i] = name
    else:
        journal.filled[i] = p + 1
    while p > 0 and (key < keys[p - 1] or (key == keys[p - 1] and g < ids[p - 1])):
        keys[p] = keys[p - 1]
        ids[p] = ids[p - 1]
        serials[p] = serials[p - 1]
        p -= 1
    keys[p] = key
    ids[p] = g
    serials[p] = journal.serial[g]


@called
def refresh_record(journal, i):
    """Bring the memory of record i up to date."""
    if journal.up_to[i] == journal.numbers[SERIAL]:
        return
    keys, ids, serials = journal.keys[i], journal.ids[i], journal.serials[i]
    filled = 0
    for p in range(journal.filled[i]):
        if journal.serial[ids[p]] == serials[p]:
            keys[filled] = keys[p]
            ids[filled] = ids[p]
            serials[filled] = serials[p]
            filled += 1
    journal.filled[i] = filled
    start, end = _place(journal, journal.up_to[i] + 1), journal.numbers[END]
    journal.up_to[i] = journal.numbers[SERIAL]
    buffer = scratch(LANES_PER_STEP)
    for first in range(start // LANES_PER_STEP * LANES_PER_STEP, end, LANES_PER_STEP):
        key = distances(journal.metric, journal.x[first // RECORDS_PER_BLOCK], first % RECORDS_PER_BLOCK, i)
        if least_lane(key) <= journal.bound_key[i]:
            buffer[lanes_at(0, LANES_PER_STEP)] = key
            for place in range(max(start, first), min(end, first + LANES_PER_STEP)):
                if journal.name[place] >= 0:
                    _remember(journal, i, buffer[place - first], journal.name[place])


@called
def nearest(journal, i, own):
    """The group other than `own` whose centroid is nearest to record i, and the squared distance; NOBODY if none."""
    for again in range(2):
        refresh_record(journal, i)
        for p in range(journal.filled[i]):
            g = journal.ids[i, p]
            if g != own:
                return g, journal.keys[i, p]
        if again == 0:  # all it remembered have moved away
            _forget(journal, i)
    return NOBODY, np.inf


@called
def rename_groups(journal, number):
    """Rename group g to number[g], in the same order and without gaps; number[room] is the number of groups."""
    count, d = number[journal.room], journal.d
    for g in range(journal.room):
        to = number[g]
        if number[g + 1] > to:
            for j in range(d):
                journal.sums[to, j] = journal.sums[g, j]
            journal.size[to] = journal.size[g]
            journal.serial[to] = journal.serial[g]
    for g in range(count, journal.room):
        journal.serial[g] = NOBODY
        journal.size[g] = 0
    for place in range(journal.numbers[END]):
        if journal.name[place] >= 0:
            journal.name[place] = number[journal.name[place]]
    for i in range(journal.n):
        journal.bound_id[i] = number[journal.bound_id[i]]
        for p in range(journal.filled[i]):
            journal.ids[i, p] = number[journal.ids[i, p]]
