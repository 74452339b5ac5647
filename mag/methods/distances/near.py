# mypy: allow-untyped-defs, no-check-untyped-defs
"""Near records of every record: most of its nearest ones, in time that grows like n log n.

Records are halved along random directions until parts are small, and all records of a part enter each other's lists.
Every division of the records takes other directions, so that most of those that a border of one division separates are
in one part of another: eight divisions find 90 % of the nearest ten of 100 000 normal records of ten columns.
"""

from collections import namedtuple
from functools import partial

import numpy as np

from mag._compiled.jit import called, jit
from mag._compiled.lanes import lanes_at, least_lane, spread
from mag._compiled.memory import grid, part, scratch
from mag._compiled.work import NOBODY
from mag._lib.progress import Progress
from mag._lib.threads import each

DIVISIONS = 8  # of the records
RECORDS_COMPARED = 1024  # largest number of records that are compared with each other
PARTS_PER_TASK = 16  # parts that one thread compares in turn
SAMPLE = 128  # records that a direction is chosen by
LANES_PER_STEP = 16  # distances at once
SEED = 3  # chance is the same for every table

# The nearest records found so far, nearest first, and their squared distances: rows of m entries.
NearLists = namedtuple("NearLists", "ids keys m")


def near_records(X: np.ndarray, count: int, threads: int, progress: Progress) -> tuple[np.ndarray, np.ndarray] | None:
    """Near records of every record, (n, count), nearest first, and their squared distances; None if the time is up.

    NOBODY, infinitely far, where fewer were found.  Which of equally near records are found is up to the divisions.
    """
    n, d = X.shape
    ids, keys = np.full((n, count), NOBODY, np.int32), np.full((n, count), np.inf)
    directions = np.random.default_rng(SEED).standard_normal((DIVISIONS, d, d))
    for first in range(0, DIVISIONS, threads):
        if progress.step(first / DIVISIONS):
            return None
        for order, edges in each(partial(_divide, X), directions[first : first + threads], threads):
            enter = partial(_enter_parts, X, order, edges, ids, keys)
            each(enter, range(0, edges.size - 1, PARTS_PER_TASK), threads)
    return ids, keys


def _divide(X: np.ndarray, directions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The order of the records, and where parts start and the last one ends in it."""
    order, cuts = np.arange(len(X)), np.zeros(len(X) + 1, np.bool_)
    divide_records(X, directions, order, cuts, RECORDS_COMPARED)
    return order, np.flatnonzero(cuts)


def _enter_parts(
    X: np.ndarray, order: np.ndarray, edges: np.ndarray, ids: np.ndarray, keys: np.ndarray, first: int
) -> None:
    enter_parts(X, order, edges, first, min(first + PARTS_PER_TASK, edges.size - 1), ids, keys)


# ---- divisions


@jit
def divide_records(X, directions, order, cuts, limit):
    """Halve the records along the direction in which a sample varies most, until parts are small.

    A part starts, and the last one ends, where `cuts` is True.
    """
    n, values = X.shape[0], np.empty(X.shape[0])
    stack = np.empty((128, 2), np.int64)
    stack[0, 0], stack[0, 1], depth = 0, n, 1
    cuts[n] = True
    while depth > 0:
        depth -= 1
        start, stop = stack[depth, 0], stack[depth, 1]
        cuts[start] = True
        if stop - start > limit:
            direction = directions[_widest(X, directions, order, start, stop)]
            for p in range(start, stop):
                values[p] = _along(X[order[p]], direction)
            middle = (start + stop) // 2
            _part_at(values, order, start, stop, middle)
            stack[depth, 0], stack[depth, 1] = start, middle
            stack[depth + 1, 0], stack[depth + 1, 1] = middle, stop
            depth += 2


@called
def _along(row, direction):
    total = 0.0
    for j in range(direction.size):
        total += row[j] * direction[j]
    return total


@called
def _widest(X, directions, order, start, stop):
    """The direction of the largest variance, among records at equal distances in the order."""
    step, best, most = max((stop - start) // SAMPLE, 1), 0, -1.0
    for g in range(directions.shape[0]):
        count, mean, squares = 0, 0.0, 0.0
        for p in range(start, stop, step):
            count += 1
            v = _along(X[order[p]], directions[g])
            squares += (v - mean) ** 2 * (count - 1) / count
            mean += (v - mean) / count
        if squares > most * count:
            best, most = g, squares / count
    return best


@called
def _part_at(values, order, start, stop, middle):
    """Exchange values[start:stop], and `order` with them: those before `middle` are at most those from it on."""
    low, high = start, stop - 1
    while low < high:
        a, b, c = values[low], values[(low + high) // 2], values[high]
        pivot = max(min(a, b), min(max(a, b), c))
        p, q = low, high
        while p <= q:
            while values[p] < pivot:
                p += 1
            while values[q] > pivot:
                q -= 1
            if p <= q:
                values[p], values[q] = values[q], values[p]
                order[p], order[q] = order[q], order[p]
                p += 1
                q -= 1
        if middle <= q:
            high = q
        elif middle >= p:
            low = p
        else:
            return


# ---- lists


@jit
def enter_parts(X, order, edges, first, last, ids, keys):
    """The records of each of the parts first .. last of `order` enter each other's lists."""
    m, d = ids.shape[1], X.shape[1]
    lists, most = NearLists(grid(ids, m), grid(keys, m), m), 0
    for p in range(first, last):
        most = max(most, edges[p + 1] - edges[p])
    columns = np.empty(d * (most + LANES_PER_STEP))
    for p in range(first, last):
        members, size = part(order, edges[p]), edges[p + 1] - edges[p]
        _enter_part(grid(X, d), d, members, size, part(columns, 0), lists)
    return columns.size  # the array is alive until here


@called
def _enter_part(rows, d, members, size, columns, lists):
    """Compare all of these members; `columns` is memory for their coordinates, column by column."""
    places = (size + LANES_PER_STEP - 1) // LANES_PER_STEP * LANES_PER_STEP
    for j in range(d):
        for p in range(size):
            columns[j * places + p] = rows[members[p], j]
        for p in range(size, places):
            columns[j * places + p] = np.inf
    away = scratch(LANES_PER_STEP)
    for p in range(size):
        i = members[p]
        row, worst = rows[i], lists.keys[i, lists.m - 1]
        for first in range(0, places, LANES_PER_STEP):
            key = spread(0.0, LANES_PER_STEP)
            for j in range(d):
                t = columns[lanes_at(j * places + first, LANES_PER_STEP)] - row[j]
                key = key + t * t
            if least_lane(key) < worst:
                away[lanes_at(0, LANES_PER_STEP)] = key
                for lane in range(LANES_PER_STEP):
                    if away[lane] < worst and first + lane != p:
                        _enter(lists, i, away[lane], members[first + lane])
                        worst = lists.keys[i, lists.m - 1]


@called
def _enter(lists, i, key, other):
    """Put a record that is nearer than the last one into the list of record i, unless it is there."""
    ids, keys, p = lists.ids[i], lists.keys[i], lists.m - 1
    for q in range(lists.m):
        if ids[q] == other:
            return
    while p > 0 and keys[p - 1] > key:
        keys[p] = keys[p - 1]
        ids[p] = ids[p - 1]
        p -= 1
    keys[p] = key
    ids[p] = np.int32(other)


@jit
def own_lists(near, part_of, place, members, number, own):
    """The places of those near records of `members` that are in part `number`: over and over, until a row is full.

    A record that has no near one there is near itself.
    """
    for p in range(members.size):
        count = 0
        for q in range(near.shape[1]):
            i = near[members[p], q]
            if i >= 0 and part_of[i] == number:
                own[p, count] = place[i]
                count += 1
        if count == 0:
            own[p, 0] = p
            count = 1
        for q in range(count, near.shape[1]):
            own[p, q] = own[p, q - count]
