"""Lists of nearest records that are kept while records are being assigned.

A list holds the `length` nearest free records of one record at the time of the scan.  Free records only ever become
fewer, so whatever is still free in the list is nearest today, in the same order; a list is renewed when too few of
its records are left.  Methods say which records they will look at next, and the lists of many records are made in one
scan, on several threads.
"""

from collections import namedtuple

import numpy as np

from mag._jit import called, jit
from mag.methods._field import is_free, scan
from mag.methods._pool import side_by_side

BATCH = 64  # records whose lists are made at once
MEMORY = 1 << 22  # entries of all lists

# slot[record] or -1; keys, ids[slot, rank]; found[slot] entries; used[0] slots
Lists = namedtuple("Lists", "slot keys ids found used")


@called
def lists_for(n, length):
    """No lists yet, with room for as many as memory allows."""
    length = min(length, n)
    slots = min(n, max(2 * BATCH, MEMORY // length)) + BATCH
    keys, ids = np.empty((slots, length)), np.empty((slots, length), np.int64)
    return Lists(np.full(n, -1), keys, ids, np.zeros(slots, np.int64), np.zeros(1, np.int64))


@jit
def make_lists(n, length):
    """`lists_for` from Python."""
    return lists_for(n, length)


@called
def first_free(field, lists, i, skip, wanted, out):
    """The first free records in the list of i, into out; False if the list is missing or used up."""
    slot = lists.slot[i]
    if slot < 0:
        return False
    count, rank = 0, 0
    while count < wanted and rank < lists.found[slot]:
        other = lists.ids[slot, rank]
        if other != skip and is_free(field, other):
            out[count] = other
            count += 1
        rank += 1
    if count == wanted:
        return True
    return lists.found[slot] < lists.keys.shape[1]  # a list that is not full had everybody


@called
def request(lists, wanted, count, i):
    """Put record i on the list of wanted ones, once."""
    if lists.slot[i] != -2 and count < wanted.size:
        lists.slot[i] = -2
        wanted[count] = i
        count += 1
    return count


@called
def foresee(field, lists, order, cursor, size, breadth, depth, wanted, count):
    """Add to the wanted records those that come next in `order` and their `breadth` nearest; returns how many there are.

    Of the former `size` neighbours will be needed, of the latter `depth`.
    """
    out, nearest = np.empty(max(size, depth), np.int64), np.empty(breadth, np.int64)
    seen = 0
    for p in range(cursor, order.size):
        if seen == wanted.size or count == wanted.size:
            break
        i = order[p]
        if not is_free(field, i):
            continue
        seen += 1
        if lists.slot[i] == -2:
            continue
        if not first_free(field, lists, i, -1, size, out):
            count = request(lists, wanted, count, i)
            continue
        nearest[:] = -1
        first_free(field, lists, i, -1, breadth, nearest)
        for other in nearest:
            if other >= 0 and lists.slot[other] != -2 and not first_free(field, lists, other, i, depth, out):
                count = request(lists, wanted, count, other)
    return count


@called
def room(lists, wanted, count):
    """Slots for the wanted records; returns the first.  When memory is used up, all older lists are forgotten."""
    if lists.used[0] + count > lists.found.size:
        lists.slot[:] = -1
        lists.used[0] = 0
    first = lists.used[0]
    for q in range(count):
        lists.slot[wanted[q]] = first + q
    lists.used[0] = first + count
    return first


@jit
def fill(rows, field, lists, wanted, sign, first, start, stop):
    """Scan for the lists of wanted[start:stop], in the slots from `first` on."""
    ids = wanted[start:stop]
    a, b = first + start, first + stop
    scan(field, rows[ids], ids, sign, True, lists.keys[a:b], lists.ids[a:b], lists.found[a:b])
