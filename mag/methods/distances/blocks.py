"""Records in blocks that are scanned fast: the distances, the k nearest and the farthest of every method.

Records that lie close together share a block of LANES, stored column by column, so that one instruction works on
several records.  A block knows the box around its records, and a scan skips blocks whose box is too far (or too near)
to matter.  That is exact to the last bit: the distance to a box is rounded like the distance to a record, term by
term in the same order, so it can never exceed it.

A record that has been assigned is swapped to the end of its block: lanes [0, alive) are free, lanes [alive, size) are
assigned.  Whoever is equally far is taken in the order of record numbers, wherever it is stored.
"""

from collections import namedtuple

import numpy as np

from mag._compiled.jit import called, inlined
from mag._compiled.lanes import at, lanes_at, least_lane, part, put, scratch, select, spread
from mag._compiled.work import NOBODY, ZERO, fill, insert

LANES = 64
STEP = 16  # lanes at a time: four registers of four

# x[b, column, lane]; low, high[column, b], `boxes` wide; ids[b, lane]; alive, size[b]; place[id] = b * LANES + lane.
Field = namedtuple("Field", "x low high ids alive size place n d blocks boxes")


@called
def field_at(work, r, w, n, d):
    """A field of n records."""
    blocks = (n + LANES - 1) // LANES
    boxes = (blocks + 7) // 8 * 8  # read eight at a time
    low = r + blocks * d * LANES
    high = low + d * boxes
    alive = w + blocks * LANES
    size, place = alive + blocks, alive + 2 * blocks
    field = Field(
        part(work.reals, r),
        part(work.reals, low),
        part(work.reals, high),
        part(work.wholes, w),
        part(work.wholes, alive),
        part(work.wholes, size),
        part(work.wholes, place),
        n,
        d,
        blocks,
        boxes,
    )
    return field, high + d * boxes, place + n


# ---- filling it


@called
def _swap(order, a, b):
    i = at(order, a)
    put(order, a, at(order, b))
    put(order, b, i)


@called
def _before(values, i, j):
    return at(values, i) < at(values, j) or (at(values, i) == at(values, j) and i < j)


@called
def rank_split(values, order, start, stop, middle):
    """Reorder order[start:stop] so that those before `middle` come first by (values[number], number)."""
    low, high = start, stop - 1
    while low < high:
        center = (low + high) // 2  # the median of three guards against sorted input
        if _before(values, at(order, center), at(order, low)):
            _swap(order, low, center)
        if _before(values, at(order, high), at(order, low)):
            _swap(order, low, high)
        if _before(values, at(order, high), at(order, center)):
            _swap(order, center, high)
        pivot = at(order, center)
        i, j = low, high
        while i <= j:
            while _before(values, at(order, i), pivot):
                i += 1
            while _before(values, pivot, at(order, j)):
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
def squares(rows, d, order, start, stop, mean, out):
    """For each column of the records order[start:stop]: the mean, and the sum of squares around it."""
    fill(mean, d, 0.0)
    fill(out, d, 0.0)
    for p in range(start, stop):
        row = part(rows, at(order, p) * d)
        for j in range(d):
            put(mean, j, at(mean, j) + at(row, j))
    for j in range(d):
        put(mean, j, at(mean, j) / (stop - start))
    for p in range(start, stop):
        row = part(rows, at(order, p) * d)
        for j in range(d):
            t = at(row, j) - at(mean, j)
            put(out, j, at(out, j) + t * t)


@called
def _neighborhoods(rows, n, d, order):
    """Order the records so that every LANES of them lie close together: a kd-tree without the tree."""
    for i in range(n):
        put(order, i, i)
    if n <= LANES:
        return
    values, statistics, stack = np.empty(n), np.empty(2 * d), np.empty(128, np.int64)
    put(stack, 0, 0)
    put(stack, 1, n)
    depth = 1
    while depth > 0:
        depth -= 1
        start, stop = at(stack, 2 * depth), at(stack, 2 * depth + 1)
        if stop - start <= LANES:
            continue
        squares(rows, d, order, start, stop, part(statistics, d), statistics)
        widest = 0
        for j in range(1, d):
            if at(statistics, j) > at(statistics, widest):
                widest = j
        for p in range(start, stop):
            i = at(order, p)
            put(values, i, at(rows, i * d + widest))
        middle = start + (stop - start + 2 * LANES - 1) // (2 * LANES) * LANES
        rank_split(values, order, start, stop, middle)
        put(stack, 2 * depth + 1, middle)
        put(stack, 2 * depth + 2, middle)
        put(stack, 2 * depth + 3, stop)
        depth += 2


@called
def fill_field(field, rows, order):
    """Put all records into the field, free; `order` is memory for n numbers."""
    n, d, boxes = field.n, field.d, field.boxes
    _neighborhoods(rows, n, d, order)
    fill(field.x, field.blocks * d * LANES, 0.0)
    fill(field.low, d * boxes, np.inf)
    fill(field.high, d * boxes, -np.inf)
    for p in range(n):
        i, b, lane = at(order, p), p // LANES, p % LANES
        put(field.ids, p, i)
        put(field.place, i, p)
        put(field.alive, b, lane + 1)
        put(field.size, b, lane + 1)
        for j in range(d):
            v = at(rows, i * d + j)
            put(field.x, (b * d + j) * LANES + lane, v)
            put(field.low, j * boxes + b, min(at(field.low, j * boxes + b), v))
            put(field.high, j * boxes + b, max(at(field.high, j * boxes + b), v))


# ---- assigning


@called
def is_free(field, i):
    """Whether record i has not been assigned."""
    p = at(field.place, i)
    return p % LANES < at(field.alive, p // LANES)


@called
def take(field, i):
    """Record i is assigned: it changes places with the last free record of its block."""
    p, d = at(field.place, i), field.d
    b = p // LANES
    last = at(field.alive, b) - 1
    q = b * LANES + last
    other = at(field.ids, q)
    for j in range(d):
        here, there = (b * d + j) * LANES + p % LANES, (b * d + j) * LANES + last
        v = at(field.x, here)
        put(field.x, here, at(field.x, there))
        put(field.x, there, v)
    put(field.ids, p, other)
    put(field.ids, q, i)
    put(field.place, other, p)
    put(field.place, i, q)
    put(field.alive, b, last)


# ---- distances


@inlined
def distances(x, first, d, point):
    """The squared distances of STEP lanes of a block from the point; columns are added in order."""
    total = spread(0.0, STEP)
    for j in range(d):
        t = at(x, lanes_at(first + j * LANES, STEP)) - at(point, j)
        total = total + t * t
    return total


@called
def distance(a, b, d):
    """The squared distance of two points, rounded as in `distances`."""
    total = 0.0
    for j in range(d):
        t = at(a, j) - at(b, j)
        total += t * t
    return total


@called
def nearest_lane(x, d, weight, count, point):
    """The first of the `count` points in blocks whose weighted squared distance is least."""
    best, least, buffer = NOBODY, np.inf, scratch(STEP)
    for first in range(0, count, STEP):
        block = part(x, first // LANES * d * LANES)
        key = distances(block, first % LANES, d, point) * at(weight, lanes_at(first, STEP))
        if best < 0 or least_lane(key) < least:
            put(buffer, lanes_at(0, STEP), key)
            for lane in range(first, min(count, first + STEP)):
                if best < 0 or at(buffer, lane - first) < least:
                    best, least = lane, at(buffer, lane - first)
    return best


@called
def bounds(field, point, sign, out):
    """For every block, a lower bound of sign * distance."""
    boxes = field.boxes
    for b in range(0, boxes, 8):
        total = spread(0.0, 8)
        for j in range(field.d):
            below = at(field.low, lanes_at(j * boxes + b, 8)) - at(point, j)
            above = at(point, j) - at(field.high, lanes_at(j * boxes + b, 8))
            if sign > 0:
                t = select(below > above, below, above)
                t = select(t > 0.0, t, spread(0.0, 8))
            else:
                t = select(below < above, below, above)
            total = total + t * t
        put(out, lanes_at(b, 8), total * sign)


@called
def _visit(field, b, free, point, sign, skip, keys, ids, m, found):
    """Offer the free, or the assigned, records of block b to one list; returns the list's length."""
    d, alive = field.d, at(field.alive, b)
    start, stop = (0, alive) if free else (alive, at(field.size, b))
    x, names, buffer = part(field.x, b * d * LANES), part(field.ids, b * LANES), scratch(STEP)
    worst = at(keys, m - 1) if found == m else np.inf
    for first in range(start // STEP * STEP, stop, STEP):
        key = distances(x, first, d, point) * sign
        if least_lane(key) <= worst:
            put(buffer, lanes_at(0, STEP), key)
            for lane in range(max(start, first), min(stop, first + STEP)):
                if at(buffer, lane - first) <= worst and at(names, lane) != skip:
                    found = insert(keys, ids, m, found, at(buffer, lane - first), at(names, lane))
                    worst = at(keys, m - 1) if found == m else np.inf
    return found


@called
def scan(field, points, queries, count, itself, sign, free, keys, ids, m, found):
    """For each of `count` queries, rows of points, the m records with the smallest (sign * distance, number).

    sign = 1 finds the nearest, -1 the farthest; `free` chooses between free and assigned records; unless `itself`, a
    record does not find itself.  Blocks are visited once for all queries, so they stay in the fastest cache.
    """
    blocks, boxes, d = field.blocks, field.boxes, field.d
    bound, home = np.empty(count * boxes), np.empty(count, np.int64)
    for q in range(count):
        i = at(queries, q)
        point, skip, mine = part(points, i * d), NOBODY if itself else i, part(bound, q * boxes)
        bounds(field, point, sign, mine)
        b = ZERO  # the most promising block first: it makes the list's last entry small, and many blocks too far
        for other in range(1, blocks):
            if at(mine, other) < at(mine, b):
                b = other
        put(home, q, b)
        put(found, q, _visit(field, b, free, point, sign, skip, part(keys, q * m), part(ids, q * m), m, ZERO))
    for b in range(blocks):
        for q in range(count):
            some, i = at(found, q), at(queries, q)
            if b != at(home, q) and (some < m or at(bound, q * boxes + b) <= at(keys, q * m + m - 1)):
                point, skip = part(points, i * d), NOBODY if itself else i
                some = _visit(field, b, free, point, sign, skip, part(keys, q * m), part(ids, q * m), m, some)
                put(found, q, some)
