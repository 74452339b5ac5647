# mypy: allow-untyped-defs, no-check-untyped-defs
"""Lists of nearest records that are kept while records are being assigned.

A list holds the `length` nearest free records of one record at the time of the scan.  Free records only ever become
fewer, so the records of the list that are still free are the nearest ones now, in the same order; a list is renewed
when too few of its records are left.  Equal records share one list, which holds them as well. Methods name the records
that they will visit next, and the lists of many records are made in one scan, on several threads.
"""

from collections import namedtuple

import numpy as np

from mag._compiled.jit import called
from mag._compiled.memory import grid, part
from mag._compiled.work import NOBODY, YES, fill, integers, layout, reals
from mag.methods.distances.blocks import FoundRecords, Query, are_equal, is_free, scan
from mag.methods.distances.metric import first_equal

LISTS_PER_BATCH = 64  # records whose lists are made at once
MEMORY = 1 << 22  # entries of all lists
NO_LIST, LIST_WANTED = np.int64(-1), np.int64(-2)

NearestLists = namedtuple("NearestLists", "keys ids filled slot requests used length slots n")


@layout
def lists_at(space, metric, length):
    """Lists for some of the records of a metric."""
    n = metric.n
    length = min(length + 1 if metric.repeats else length, n)
    slots = min(2 * n, max(2 * LISTS_PER_BATCH, MEMORY // length)) + LISTS_PER_BATCH
    return NearestLists(
        keys=reals(space, slots, length),  # a list is a row: the distances, nearest first
        ids=integers(space, slots, length),  # and whose they are
        filled=integers(space, slots),  # how long a list is
        slot=integers(space, n),  # where the list of record i is, or MISSING or WANTED
        requests=integers(space, LISTS_PER_BATCH),  # records that need a list
        used=integers(space, 2),  # number of slots in use, number of requests
        length=length,
        slots=slots,
        n=n,
    )


@called
def drop_lists(lists):
    """Drop all lists."""
    fill(lists.slot, lists.n, NO_LIST)
    fill(lists.used, 2, 0)


@called
def copy_lists(lists, near, length):
    """Begin with lists of all records, if there is room for them."""
    if lists.slots < lists.n + LISTS_PER_BATCH:
        return
    for i in range(lists.n):
        lists.slot[i] = i
        lists.filled[i] = length
        for rank in range(length):
            lists.ids[i, rank] = near[i, rank]
    lists.used[0] = lists.n


@called
def slot_of(field, lists, i):
    """Where the list of record i is, or MISSING or WANTED."""
    return lists.slot[first_equal(field.metric, i)]


@called
def first_free(field, lists, i, skip, size, out):
    """The first free records in the list of i, into out; False if the list is missing or used up."""
    slot = slot_of(field, lists, i)
    if slot < 0:
        return False
    ids, filled, count, rank = lists.ids[slot], lists.filled[slot], 0, 0
    while count < size and rank < filled:
        other = ids[rank]
        if other != skip and other != i and is_free(field, other):
            out[count] = other
            count += 1
        rank += 1
    return count == size or filled < lists.length  # a list that is not full contains every free record


@called
def request_list(field, lists, i):
    """Note that record i wants a list."""
    count, twin = lists.used[1], first_equal(field.metric, i)
    if lists.slot[twin] != LIST_WANTED and count < LISTS_PER_BATCH:
        lists.slot[twin] = LIST_WANTED
        lists.requests[count] = twin
        lists.used[1] = count + 1


@called
def foresee(field, lists, order, cursor, size, breadth, depth, out):
    """Request lists for the records that come next in `order`, and for their `breadth` nearest.

    The former need `size` neighbors, the latter `depth`; `out` is memory for that.  Equal records have the same
    neighbors, in the list of the first of them.
    """
    nearest, seen, before = part(out, max(size, depth)), 0, NOBODY
    for p in range(cursor, field.n):
        i = order[p]
        if seen == LISTS_PER_BATCH or lists.used[1] == LISTS_PER_BATCH:
            break
        if not is_free(field, i):
            continue
        seen += 1
        same = before >= 0 and are_equal(field, i, before)
        before = i
        if same:
            continue
        if slot_of(field, lists, i) == LIST_WANTED:
            continue
        if not first_free(field, lists, i, NOBODY, size, out):
            request_list(field, lists, i)
            continue
        fill(nearest, breadth, -1)
        first_free(field, lists, i, NOBODY, breadth, nearest)
        for q in range(breadth):
            other = nearest[q]
            known = other < 0 or slot_of(field, lists, other) == LIST_WANTED
            if not known and not first_free(field, lists, other, i, depth, out):
                request_list(field, lists, other)


@called
def reserve_lists(lists):
    """Reserve slots for the requested records; return their number.  Where memory is full, older lists are dropped."""
    count = lists.used[1]
    if lists.used[0] + count > lists.slots:
        fill(lists.slot, lists.n, NO_LIST)
        lists.used[0] = 0
    first = lists.used[0]
    for q in range(count):
        lists.slot[lists.requests[q]] = first + q
    lists.used[0] = first + count
    lists.used[1] = 0
    return count


@called
def make_lists(field, lists, sign, count, start, stop):
    """Scan for the lists start .. stop of the `count` that were reserved last."""
    first = lists.used[0] - count + start
    keys, ids = grid(lists.keys[first], lists.length), grid(lists.ids[first], lists.length)
    query = Query(field.metric, part(lists.requests, start), stop - start, sign, YES, field.metric.repeats)
    scan(field, query, FoundRecords(keys, ids, part(lists.filled, first), lists.length))
