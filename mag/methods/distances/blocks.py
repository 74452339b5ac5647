# mypy: allow-untyped-defs, no-check-untyped-defs
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
from mag._compiled.lanes import lanes_at, least_lane
from mag._compiled.memory import grid, part, scratch
from mag._compiled.work import NOBODY, ZERO, fill, insert, integers, layout, reals
from mag.methods.distances.euclidean import BOXES_PER_STEP, LANES_PER_STEP
from mag.methods.distances.metric import distances, distances_to_boxes, sort_keys, write_record

RECORDS_PER_BLOCK = 64

Field = namedtuple("Field", "x low high ids lowest alive size place n d blocks boxes wide metric")

# What `scan` looks for: the nearest (sign = 1) or the farthest (-1) from each of `count` records of a metric, free or
# assigned ones of the field; unless `itself`, a record does not find itself.
Query = namedtuple("Query", "metric records count sign free itself")
# Where its lists go: rows of `keys` and `ids`, of m entries at most, of which `lengths` are filled.
FoundRecords = namedtuple("FoundRecords", "keys ids lengths m")


@layout
def field_at(space, metric):
    """A field of the records of a metric."""
    n, wide = metric.n, metric.wide
    blocks = (n + RECORDS_PER_BLOCK - 1) // RECORDS_PER_BLOCK
    boxes = (blocks + 7) // 8 * 8  # read eight at a time
    return Field(
        x=reals(space, blocks, wide, RECORDS_PER_BLOCK),  # the records of a block, column by column
        low=reals(space, wide, boxes),  # the box around them
        high=reals(space, wide, boxes),
        ids=integers(space, blocks, RECORDS_PER_BLOCK),  # their numbers
        lowest=integers(space, blocks),  # of these
        alive=integers(space, blocks),  # how many of a block are free
        size=integers(space, blocks),
        place=integers(space, n),  # where record i is: block · LANES + lane
        n=n,
        d=metric.d,
        blocks=blocks,
        boxes=boxes,
        wide=wide,  # columns of a block
        metric=metric,
    )


# ---- filling it


@called
def _swap(order, a, b):
    i = order[a]
    order[a] = order[b]
    order[b] = i


@called
def _before(values, i, j):
    return values[i] < values[j] or (values[i] == values[j] and i < j)


@called
def rank_split(values, order, start, stop, middle):
    """Reorder order[start:stop] so that those before `middle` come first by (values[number], number)."""
    values, order = part(values, 0), part(order, 0)
    low, high = start, stop - 1
    while low < high:
        center = (low + high) // 2  # the median of three guards against sorted input
        if _before(values, order[center], order[low]):
            _swap(order, low, center)
        if _before(values, order[high], order[low]):
            _swap(order, low, high)
        if _before(values, order[high], order[center]):
            _swap(order, center, high)
        pivot = order[center]
        i, j = low, high
        while i <= j:
            while _before(values, order[i], pivot):
                i += 1
            while _before(values, pivot, order[j]):
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
    mean, out = part(mean, 0), part(out, 0)
    fill(mean, d, 0.0)
    fill(out, d, 0.0)
    for p in range(start, stop):
        row = rows[order[p]]
        for j in range(d):
            mean[j] += row[j]
    for j in range(d):
        mean[j] /= stop - start
    for p in range(start, stop):
        row = rows[order[p]]
        for j in range(d):
            t = row[j] - mean[j]
            out[j] += t * t


@called
def _neighborhoods(rows, n, d, order, values, statistics, stack):
    """Order the records so that every LANES of them lie close together: a kd-tree without the tree."""
    values, statistics, stack = part(values, 0), part(statistics, 0), grid(stack, 2)
    for i in range(n):
        order[i] = i
    if n <= RECORDS_PER_BLOCK:
        return
    stack[0, 0] = 0
    stack[0, 1] = n
    depth = 1
    while depth > 0:
        depth -= 1
        start, stop = stack[depth, 0], stack[depth, 1]
        if stop - start <= RECORDS_PER_BLOCK:
            continue
        squares(rows, d, order, start, stop, part(statistics, d), statistics)
        widest = 0
        for j in range(1, d):
            if statistics[j] > statistics[widest]:
                widest = j
        for p in range(start, stop):
            i = order[p]
            values[i] = rows[i, widest]
        middle = start + (stop - start + 2 * RECORDS_PER_BLOCK - 1) // (2 * RECORDS_PER_BLOCK) * RECORDS_PER_BLOCK
        rank_split(values, order, start, stop, middle)
        stack[depth, 1] = middle
        stack[depth + 1, 0] = middle
        stack[depth + 1, 1] = stop
        depth += 2


@called
def fill_field(field, order):
    """Put all records into the field, free; `order` is memory for n numbers."""
    n, wide, order = field.n, field.wide, part(order, 0)
    keys, m = sort_keys(field.metric)
    _neighborhoods(keys, n, m, order, np.empty(n), np.empty(2 * m), np.empty((64, 2), np.int64))
    fill(field.x, field.blocks * wide * RECORDS_PER_BLOCK, 0.0)
    fill(field.low, wide * field.boxes, np.inf)
    fill(field.high, wide * field.boxes, -np.inf)
    for p in range(n):
        i, b, lane = order[p], p // RECORDS_PER_BLOCK, p % RECORDS_PER_BLOCK
        field.ids[b, lane] = i
        field.lowest[b] = i if lane == 0 else min(field.lowest[b], i)
        field.place[i] = p
        field.alive[b] = lane + 1
        field.size[b] = lane + 1
        write_record(field.metric, field.x[b], lane, i)
        for j in range(wide):
            v = field.x[b, j, lane]
            field.low[j, b] = min(field.low[j, b], v)
            field.high[j, b] = max(field.high[j, b], v)


# ---- assigning


@called
def is_free(field, i):
    """Whether record i has not been assigned."""
    p = field.place[i]
    return p % RECORDS_PER_BLOCK < field.alive[p // RECORDS_PER_BLOCK]


@called
def take(field, i):
    """Record i is assigned: it changes places with the last free record of its block."""
    p = field.place[i]
    b, lane = p // RECORDS_PER_BLOCK, p % RECORDS_PER_BLOCK
    last = field.alive[b] - 1
    ids, x, other = field.ids[b], field.x[b], field.ids[b, last]
    for j in range(field.wide):
        v = x[j, lane]
        x[j, lane] = x[j, last]
        x[j, last] = v
    ids[lane] = other
    ids[last] = i
    field.place[other] = p
    field.place[i] = b * RECORDS_PER_BLOCK + last
    field.alive[b] = last


@called
def are_equal(field, i, j):
    """Whether two records are equal in all columns."""
    p, q = field.place[i], field.place[j]
    equal = ZERO
    for c in range(field.wide):
        equal += (
            field.x[p // RECORDS_PER_BLOCK, c, p % RECORDS_PER_BLOCK]
            == field.x[q // RECORDS_PER_BLOCK, c, q % RECORDS_PER_BLOCK]
        )
    return equal == field.wide


# ---- distances


@called
def distance(a, b, d):
    """The squared distance of two points, rounded as in `distances`."""
    total = 0.0
    for j in range(d):
        t = a[j] - b[j]
        total += t * t
    return total


@called
def nearest_lane(metric, x, weight, count, i):
    """The first of the `count` points in blocks whose weighted squared distance from record i is least."""
    best, least, buffer = NOBODY, np.inf, scratch(LANES_PER_STEP)
    for first in range(0, count, LANES_PER_STEP):
        away = distances(metric, x[first // RECORDS_PER_BLOCK], first % RECORDS_PER_BLOCK, i)
        key = away * weight[lanes_at(first, LANES_PER_STEP)]
        if best < 0 or least_lane(key) < least:
            buffer[lanes_at(0, LANES_PER_STEP)] = key
            for lane in range(first, min(count, first + LANES_PER_STEP)):
                if best < 0 or buffer[lane - first] < least:
                    best, least = lane, buffer[lane - first]
    return best


@called
def bounds(metric, field, i, sign, out):
    """For every block, a lower bound of sign * distance from record i of the metric."""
    for b in range(0, field.boxes, BOXES_PER_STEP):
        out[lanes_at(b, BOXES_PER_STEP)] = distances_to_boxes(metric, field.low, field.high, b, i, sign) * sign


@called
def _visit(field, query, b, i, keys, ids, m, count):
    """Offer the free, or the assigned, records of block b to the list of record i; returns the list's length."""
    alive, skip, sign = field.alive[b], NOBODY if query.itself else i, query.sign
    start, stop = (0, alive) if query.free else (alive, field.size[b])
    x, names, buffer = field.x[b], field.ids[b], scratch(LANES_PER_STEP)
    worst = keys[m - 1] if count == m else np.inf
    for first in range(start // LANES_PER_STEP * LANES_PER_STEP, stop, LANES_PER_STEP):
        key = distances(query.metric, x, first, i) * sign
        if least_lane(key) <= worst:
            buffer[lanes_at(0, LANES_PER_STEP)] = key
            for lane in range(max(start, first), min(stop, first + LANES_PER_STEP)):
                if buffer[lane - first] <= worst and names[lane] != skip:
                    count = insert(keys, ids, m, count, buffer[lane - first], names[lane])
                    worst = keys[m - 1] if count == m else np.inf
    return count


@inlined
def can_enter(field, b, bound, key, number):
    """Whether records of block b may come before one at this distance with this number: many may be equally far."""
    return bound < key or (bound == key and field.lowest[b] < number)


@called
def scan(field, query, found):
    """Fill the lists of a query: the m records of the field with the smallest (sign * distance, number)."""
    bounds_of, home = np.empty((query.count, field.boxes)), np.empty(query.count, np.int64)
    _scan(field, query, found, bounds_of, home)


@called
def _scan(field, query, found, bounds_of, home):
    """Blocks are visited once for all records, so they stay in the fastest cache."""
    keys, ids, lengths, m = found.keys, found.ids, found.lengths, found.m
    bounds_of, home = grid(bounds_of, field.boxes), part(home, 0)
    for q in range(query.count):
        i, mine = query.records[q], bounds_of[q]
        bounds(query.metric, field, i, query.sign, mine)
        b = ZERO  # the most promising block first: it makes the list's last entry small, and many blocks too far
        for other in range(1, field.blocks):
            if mine[other] < mine[b]:
                b = other
        home[q] = b
        lengths[q] = _visit(field, query, b, i, keys[q], ids[q], m, ZERO)
    for b in range(field.blocks):
        for q in range(query.count):
            length = lengths[q]
            if b != home[q] and (length < m or can_enter(field, b, bounds_of[q, b], keys[q, m - 1], ids[q, m - 1])):
                lengths[q] = _visit(field, query, b, query.records[q], keys[q], ids[q], m, length)
