# mypy: ignore-errors
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
from mag._compiled.lanes import lanes_at, least_lane, select, spread
from mag._compiled.memory import grid, part, scratch
from mag._compiled.work import NOBODY, ZERO, fill, insert, layout, reals, wholes
from mag.methods.distances.leaves import LANES_PER_STEP, distances, width_of, write_record

RECORDS_PER_BLOCK = 64

Field = namedtuple("Field", "x low high ids lowest alive size place n d blocks boxes wide terms")


@layout
def field_at(space, n, d, terms=None):
    """A field of n records."""
    blocks, wide = (n + RECORDS_PER_BLOCK - 1) // RECORDS_PER_BLOCK, width_of(terms, d)
    boxes = (blocks + 7) // 8 * 8  # read eight at a time
    return Field(
        x=reals(space, blocks, wide, RECORDS_PER_BLOCK),  # the records of a block, column by column
        low=reals(space, wide, boxes),  # the box around them
        high=reals(space, wide, boxes),
        ids=wholes(space, blocks, RECORDS_PER_BLOCK),  # their numbers
        lowest=wholes(space, blocks),  # of these
        alive=wholes(space, blocks),  # how many of a block are free
        size=wholes(space, blocks),
        place=wholes(space, n),  # where record i is: block · LANES + lane
        n=n,
        d=d,
        blocks=blocks,
        boxes=boxes,
        wide=wide,  # columns of a block
        terms=terms,  # of distances, where there are categories (see `leaves`)
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
def fill_field(field, rows, order):
    """Put all records into the field, free; `order` is memory for n numbers."""
    n, wide, order = field.n, field.wide, part(order, 0)
    _arrange(field.terms, rows, n, field.d, order)
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
        _enter(field.terms, field.x[b], lane, i, rows, field.d)
        for j in range(wide):
            v = field.x[b, j, lane]
            field.low[j, b] = min(field.low[j, b], v)
            field.high[j, b] = max(field.high[j, b], v)


@called
def _arrange(terms, rows, n, d, order):
    """Order the records by place; those with categories by one number for each column."""
    if terms is None:
        _neighborhoods(rows, n, d, order, np.empty(n), np.empty(2 * d), np.empty((64, 2), np.int64))
    else:
        m = terms.n_numbers + terms.n_trees
        _neighborhoods(terms.keys, n, m, order, np.empty(n), np.empty(2 * m), np.empty((64, 2), np.int64))


@called
def _enter(terms, block, lane, i, rows, d):
    if terms is None:
        for j in range(d):
            block[j, lane] = rows[i, j]
    else:
        write_record(terms, block, lane, i)


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
def nearest_lane(terms, x, d, weight, count, point, i):
    """The first of the `count` points in blocks whose weighted squared distance from record i is least."""
    best, least, buffer = NOBODY, np.inf, scratch(LANES_PER_STEP)
    for first in range(0, count, LANES_PER_STEP):
        key = (
            distances(terms, x[first // RECORDS_PER_BLOCK], first % RECORDS_PER_BLOCK, d, point, i)
            * weight[lanes_at(first, LANES_PER_STEP)]
        )
        if best < 0 or least_lane(key) < least:
            buffer[lanes_at(0, LANES_PER_STEP)] = key
            for lane in range(first, min(count, first + LANES_PER_STEP)):
                if best < 0 or buffer[lane - first] < least:
                    best, least = lane, buffer[lane - first]
    return best


@inlined
def _gap(low, high, v, sign):
    """How far v is from intervals: from the near end (0 inside) if sign = 1, from the far one if -1."""
    below, above = low - v, v - high
    if sign > 0:
        t = select(below > above, below, above)
        return select(t > 0.0, t, spread(0.0, 8))
    return select(below < above, below, above)


@called
def bounds(terms, field, point, i, sign, out):
    """For every block, a lower bound of sign * distance from record i, which is `point`."""
    for b in range(0, field.boxes, 8):
        here, total = lanes_at(b, 8), spread(0.0, 8)
        if terms is None:
            for j in range(field.d):
                t = _gap(field.low[j, here], field.high[j, here], point[j], sign)
                total = total + t * t
        else:
            for j in range(terms.n_numbers):
                t = _gap(field.low[j, here], field.high[j, here], terms.numbers[i, j], sign)
                total = total + t * t
            edge = field.low if sign > 0 else field.high
            for c in range(terms.n_trees):
                total = total + edge[terms.codes[i, c], here]
        out[here] = total * sign


@called
def _visit(field, b, free, point, i, sign, skip, keys, ids, m, count):
    """Offer the free, or the assigned, records of block b to one list; returns the list's length."""
    d, alive = field.d, field.alive[b]
    start, stop = (0, alive) if free else (alive, field.size[b])
    x, names, buffer = field.x[b], field.ids[b], scratch(LANES_PER_STEP)
    worst = keys[m - 1] if count == m else np.inf
    for first in range(start // LANES_PER_STEP * LANES_PER_STEP, stop, LANES_PER_STEP):
        key = distances(field.terms, x, first, d, point, i) * sign
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
def scan(field, points, queries, count, itself, sign, free, keys, ids, m, lengths):
    """For each of `count` queries, rows of points, the m records with the smallest (sign * distance, number).

    sign = 1 finds the nearest, -1 the farthest; `free` chooses between free and assigned records; unless `itself`, a
    record does not find itself.  Lists are rows of keys and ids; `lengths` says how long each is.
    """
    bounds_of, home = np.empty((count, field.boxes)), np.empty(count, np.int64)
    _scan(field, points, queries, count, itself, sign, free, keys, ids, m, lengths, bounds_of, home)


@called
def _scan(field, points, queries, count, itself, sign, free, keys, ids, m, lengths, bounds_of, home):
    """Blocks are visited once for all queries, so they stay in the fastest cache."""
    bounds_of, home = grid(bounds_of, field.boxes), part(home, 0)
    for q in range(count):
        i, mine = queries[q], bounds_of[q]
        bounds(field.terms, field, points[i], i, sign, mine)
        b = ZERO  # the most promising block first: it makes the list's last entry small, and many blocks too far
        for other in range(1, field.blocks):
            if mine[other] < mine[b]:
                b = other
        home[q] = b
        skip = NOBODY if itself else i
        lengths[q] = _visit(field, b, free, points[i], i, sign, skip, keys[q], ids[q], m, ZERO)
    for b in range(field.blocks):
        for q in range(count):
            length, i = lengths[q], queries[q]
            if b != home[q] and (length < m or can_enter(field, b, bounds_of[q, b], keys[q, m - 1], ids[q, m - 1])):
                skip = NOBODY if itself else i
                lengths[q] = _visit(field, b, free, points[i], i, sign, skip, keys[q], ids[q], m, length)
