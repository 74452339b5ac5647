"""Records in blocks that are scanned fast: the distances, the k nearest and the farthest of every method.

Records that lie close together share a block of LANES, stored column by column, so that one instruction works on
several records.  A block knows the box around its records, and a scan skips blocks whose box is too far (or too near)
to matter.  That is exact to the last bit: the distance to a box is rounded like the distance to a record, term by
term in the same order, so it can never exceed it.

A record that has been assigned is swapped to the end of its block: lanes [0, alive) are free, lanes [alive, size) are
assigned.  Whoever is equally far is taken in the order of record numbers, wherever it is stored.
"""

import hashlib
import pathlib
from collections import namedtuple

import numpy as np

from mag._jit import Number, called, inlined, jit
from mag._lanes import at, lanes_at, least_lane, part, put, scratch, select
from mag._lanes import spread as lanes_of

LANES = 64
STEP = 16  # lanes at a time: four registers of four

# x[b, column, lane], ids[b, lane], alive[b], size[b], low and high[column, b], place[id] = b * LANES + lane.
Field = namedtuple("Field", "x ids alive size low high place code")


def _digest():
    folder = pathlib.Path(__file__).parent
    return hashlib.sha256(b"".join(file.read_bytes() for file in sorted(folder.glob("*.py")))).hexdigest()[:16]


CODE = Number(_digest())  # part of every Field's type: numba's cache would not notice a change in another file


@called
def _swap(order, a, b):
    order[a], order[b] = order[b], order[a]


@called
def rank_split(values, order, start, stop, middle):
    """Reorder order[start:stop] so that those before `middle` come first by (value, record number)."""
    low, high = start, stop - 1
    while low < high:
        # the median of three guards against sorted input
        centre = (low + high) // 2
        for a, b in ((low, centre), (low, high), (centre, high)):
            i, j = order[a], order[b]
            if values[j] < values[i] or (values[j] == values[i] and j < i):
                _swap(order, a, b)
        pivot = order[centre]
        level = values[pivot]
        i, j = low, high
        while i <= j:
            while values[order[i]] < level or (values[order[i]] == level and order[i] < pivot):
                i += 1
            while level < values[order[j]] or (values[order[j]] == level and pivot < order[j]):
                j -= 1
            if i <= j:
                _swap(order, i, j)
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@called
def spread(rows, order, start, stop, variance):
    """For each column of the records order[start:stop]: the sum of squares around the mean."""
    d = rows.shape[1]
    mean = np.zeros(d)
    for p in range(start, stop):
        row = rows[order[p]]
        for j in range(d):
            mean[j] += row[j]
    for j in range(d):
        mean[j] /= stop - start
        variance[j] = 0.0
    for p in range(start, stop):
        row = rows[order[p]]
        for j in range(d):
            variance[j] += (row[j] - mean[j]) ** 2


@called
def _neighbourhoods(rows):
    """An order of the records in which every LANES of them lie close together: a kd-tree without the tree."""
    n, d = rows.shape
    order = np.arange(n)
    starts, stops = np.empty(64, np.int64), np.empty(64, np.int64)
    starts[0], stops[0], depth = 0, n, 1
    variance, values = np.empty(d), np.empty(n)
    while depth > 0:
        depth -= 1
        start, stop = starts[depth], stops[depth]
        if stop - start <= LANES:
            continue
        spread(rows, order, start, stop, variance)
        widest = np.argmax(variance)
        for p in range(start, stop):
            values[order[p]] = rows[order[p], widest]
        middle = start + (stop - start + 2 * LANES - 1) // (2 * LANES) * LANES
        rank_split(values, order, start, stop, middle)
        starts[depth], stops[depth] = start, middle
        starts[depth + 1], stops[depth + 1] = middle, stop
        depth += 2
    return order


@jit
def _blocks(rows):
    """The arrays of a Field of all records."""
    n, d = rows.shape
    order = _neighbourhoods(rows)
    blocks = (n + LANES - 1) // LANES
    x, ids = np.zeros((blocks, d, LANES)), np.zeros((blocks, LANES), np.int64)
    alive, place = np.zeros(blocks, np.int64), np.empty(n, np.int64)
    # boxes are read eight at a time
    low, high = np.full((d, (blocks + 7) // 8 * 8), np.inf), np.full((d, (blocks + 7) // 8 * 8), -np.inf)
    for p in range(n):
        i, b, lane = order[p], p // LANES, p % LANES
        ids[b, lane], place[i], alive[b] = i, p, lane + 1
        for j in range(d):
            v = rows[i, j]
            x[b, j, lane] = v
            low[j, b], high[j, b] = min(low[j, b], v), max(high[j, b], v)
    return x, ids, alive, alive.copy(), low, high, place


def field_of(rows):
    """All records, free, in blocks."""
    return Field(*_blocks(rows), CODE)


@called
def small_field(rows, code):
    """`field_of` for compiled code."""
    x, ids, alive, size, low, high, place = _blocks(rows)
    return Field(x, ids, alive, size, low, high, place, code)


@called
def is_free(field, i):
    p = field.place[i]
    return p % LANES < field.alive[p // LANES]


@called
def take(field, i):
    """Record i is assigned: it changes places with the last free record of its block."""
    b, lane = field.place[i] // LANES, field.place[i] % LANES
    last = field.alive[b] - 1
    x, other = field.x[b], field.ids[b, last]
    for j in range(x.shape[0]):
        x[j, lane], x[j, last] = x[j, last], x[j, lane]
    field.ids[b, lane], field.ids[b, last] = other, i
    field.place[other], field.place[i] = b * LANES + lane, b * LANES + last
    field.alive[b] = last


@inlined
def distances(x, first, d, point):
    """The squared distances of STEP lanes from the point; x and point are parts, columns are added in order."""
    total = lanes_of(0.0, STEP)
    for j in range(d):
        t = at(x, lanes_at(first + j * LANES, STEP)) - at(point, j)
        total = total + t * t
    return total


@called
def distance(a, b):
    """The squared distance of two points, rounded as in `distances`."""
    total = 0.0
    for j in range(a.size):
        t = a[j] - b[j]
        total += t * t
    return total


@called
def _bounds(field, point, sign, out):
    """For every block, a lower bound of sign * distance."""
    d, blocks = field.low.shape
    for b in range(0, blocks, 8):
        total = lanes_of(0.0, 8)
        for j in range(d):
            p = point[j]
            below = at(field.low, lanes_at(j * blocks + b, 8)) - p
            above = p - at(field.high, lanes_at(j * blocks + b, 8))
            if sign > 0:
                t = select(below > above, below, above)
                t = select(t > 0.0, t, lanes_of(0.0, 8))
            else:
                t = select(below < above, below, above)
            total = total + t * t
        put(out, lanes_at(b, 8), total * sign)


@called
def insert(keys, ids, found, key, i):
    """Put (key, i) into a sorted list that keeps the smallest; returns its length."""
    m = keys.size
    if found == m:
        if key > keys[m - 1] or (key == keys[m - 1] and i > ids[m - 1]):
            return found
        p = m - 1
    else:
        p = found
        found += 1
    while p > 0 and (key < keys[p - 1] or (key == keys[p - 1] and i < ids[p - 1])):
        keys[p], ids[p] = keys[p - 1], ids[p - 1]
        p -= 1
    keys[p], ids[p] = key, i
    return found


@called
def _visit(field, b, start, stop, point, sign, skip, keys, ids, found):
    """Offer the lanes [start, stop) of block b to one list; returns the list's length."""
    d, m = field.x.shape[1], keys.size
    x, p, names, buffer = part(field.x, b * d * LANES), part(point, 0), part(field.ids, b * LANES), scratch(STEP)
    worst = keys[m - 1] if found == m else np.inf
    for first in range(start // STEP * STEP, stop, STEP):
        key = distances(x, first, d, p) * sign
        if least_lane(key) <= worst:
            put(buffer, lanes_at(0, STEP), key)
            for lane in range(max(start, first), min(stop, first + STEP)):
                if at(buffer, lane - first) <= worst and at(names, lane) != skip:
                    found = insert(keys, ids, found, at(buffer, lane - first), at(names, lane))
                    worst = keys[m - 1] if found == m else np.inf
    return found


@jit
def scan(field, points, skips, sign, free, keys, ids, found):
    """For each point the keys.shape[1] records with the smallest (sign * distance, record number).

    sign = 1 finds the nearest, -1 the farthest; `free` chooses between free and assigned records.  A record does not
    find the one in `skips`, itself.  Blocks are visited once for all points, so they stay in the fastest cache.
    """
    blocks, n_points = field.alive.size, points.shape[0]
    alive, size, m = field.alive, field.size, keys.shape[1]
    bound, home = np.empty((n_points, field.low.shape[1])), np.empty(n_points, np.int64)
    for q in range(n_points):
        _bounds(field, points[q], sign, bound[q])
        # the most promising block first: it makes the list's last entry small, and many blocks too far
        home[q] = b = np.argmin(bound[q, :blocks])
        start, stop = (0, alive[b]) if free else (alive[b], size[b])
        found[q] = _visit(field, b, start, stop, points[q], sign, skips[q], keys[q], ids[q], 0)
    for b in range(blocks):
        start, stop = (0, alive[b]) if free else (alive[b], size[b])
        if start == stop:
            continue
        for q in range(n_points):
            if b != home[q] and (found[q] < m or bound[q, b] <= keys[q, m - 1]):
                found[q] = _visit(field, b, start, stop, points[q], sign, skips[q], keys[q], ids[q], found[q])


@called
def nearest_lane(x, weight, count, point):
    """The first of the `count` points in blocks whose weighted squared distance is least."""
    d, best, least = x.shape[1], -1, np.inf
    p, w, buffer = part(point, 0), part(weight, 0), scratch(STEP)
    for first in range(0, count, STEP):
        b = first // LANES
        key = distances(part(x, b * d * LANES), first % LANES, d, p) * at(w, lanes_at(first, STEP))
        if best < 0 or least_lane(key) < least:
            put(buffer, lanes_at(0, STEP), key)
            for lane in range(first, min(count, first + STEP)):
                if best < 0 or at(buffer, lane - first) < least:
                    best, least = lane, at(buffer, lane - first)
    return best
