"""The memory of compiled methods: two arrays, cut into parts.

A method's state is a tuple of bare pointers into `reals` and `wholes`.  That compiles several times faster than a tuple
of arrays, and a state needs no allocation: functions called `…_at` lay it out from offsets r and w on, and return
where it ends.  `room` finds out how much that is.
"""

from collections import namedtuple

import numpy as np

from mag._compiled.jit import called
from mag._compiled.lanes import at, put

Work = namedtuple("Work", "reals wholes")

# Numba compiles a function anew for every literal that it is called with; these are no literals.
NOBODY, ZERO, ONE = np.int64(-1), np.int64(0), np.int64(1)
NO, YES = np.bool_(False), np.bool_(True)
NEAREST, FARTHEST = 1.0, -1.0


def work_for(room, *shape):
    """Memory for what `room(work, *shape)` lays out."""
    nothing = Work(np.empty(0), np.empty(0, np.int64))
    reals, wholes = room(nothing, *shape)
    return Work(np.empty(reals), np.empty(wholes, np.int64))


@called
def fill(array, count, value):
    """The first `count` elements are `value`."""
    for i in range(count):
        put(array, i, value)


@called
def add(array, i, value):
    """array[i] += value"""
    put(array, i, at(array, i) + value)


@called
def _comes_before(keys, i, j):
    return at(keys, i) > at(keys, j) or (at(keys, i) == at(keys, j) and i < j)


@called
def sort_falling(order, count, keys):
    """Sort numbers by falling keys[number]; equal keys by number.  A heap: no memory, never slow."""
    start, end = count // 2, count
    while end > 1:
        if start > 0:
            start -= 1
        else:
            end -= 1
            last = at(order, end)
            put(order, end, at(order, 0))
            put(order, 0, last)
        root, item = start, at(order, start)
        while 2 * root + 1 < end:
            child = 2 * root + 1
            if child + 1 < end and _comes_before(keys, at(order, child), at(order, child + 1)):
                child += 1
            if not _comes_before(keys, item, at(order, child)):
                break
            put(order, root, at(order, child))
            root = child
        put(order, root, item)


@called
def insert(keys, ids, m, found, key, i):
    """Put (key, i) into a sorted list that keeps the m smallest; returns its length."""
    if found == m:
        last = at(keys, m - 1)
        if key > last or (key == last and i > at(ids, m - 1)):
            return found
        p = m - 1
    else:
        p = found
        found += 1
    while p > 0 and (key < at(keys, p - 1) or (key == at(keys, p - 1) and i < at(ids, p - 1))):
        put(keys, p, at(keys, p - 1))
        put(ids, p, at(ids, p - 1))
        p -= 1
    put(keys, p, key)
    put(ids, p, i)
    return found
