# mypy: allow-untyped-defs, no-check-untyped-defs
"""The nearest records of every record, from blocks of near records on several threads.

Each distance is computed once, for both of its records.  Blocks make tiles, and two tiles are compared at a time: in
every round each tile meets one other, so that no two threads write into the same lists, and none has to wait.
"""

from collections import namedtuple
from collections.abc import Iterator

import numpy as np

from mag._compiled.jit import called, jit
from mag._compiled.lanes import lanes_at, least_lane, select, spread
from mag._compiled.memory import grid, part, scratch
from mag._compiled.work import NEAREST, NO, NOBODY, YES, Work, insert, space_in, work_for
from mag._lib.progress import Progress
from mag._lib.threads import each, each_in_time
from mag.methods.distances.blocks import RECORDS_PER_BLOCK, FoundRecords, Query, field_at, fill_field, scan
from mag.methods.distances.euclidean import LANES_PER_STEP
from mag.methods.distances.metric import distances, metric_of

RECORDS_PER_CALL = 64  # records whose neighbors are looked for in one call
RECORDS_PER_THREAD = 4  # records that are worth a thread
TILE = 16  # blocks of a tile, which fits into a cache
TILES = 64  # at most

# The lists of all places of the field, rows of m entries; the last distance of every list, `worst`; the largest of
# these of every block, `most`.
NeighborLists = namedtuple("NeighborLists", "ids keys worst most m")


def neighbors(X: np.ndarray, count: int, threads: int = 1) -> np.ndarray:
    """The `count` nearest other records of every record, nearest first, equally near ones in their order."""
    work = work_for(field_at, metric_of(X))
    return neighbor_lists(work, X, count, threads, Progress())[0]


def neighbor_lists(
    work: Work, X: np.ndarray, count: int, threads: int, progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    """The `neighbors` and their squared distances; some are missing if `progress` has stopped.

    The memory begins with a field of the records, which is filled here.
    """
    n = len(X)
    arrange(work, X)
    blocks = -(-n // RECORDS_PER_BLOCK)
    places = blocks * RECORDS_PER_BLOCK
    lists = NeighborLists(
        ids=np.full((places, count), n),
        keys=np.full((places, count), np.inf),
        worst=np.full(places, np.inf),
        most=np.full(blocks, np.inf),
        m=count,
    )
    lists.worst[n:] = -1.0  # nobody is there
    size = max(TILE, -(-blocks // TILES))
    tiles = -(-blocks // size)

    def is_over() -> bool:
        return progress.seconds_left() <= 0

    for number, round_ in enumerate(rounds(tiles)):
        each_in_time(lambda pair: compare_tiles(work, X, *pair, size, lists), round_, threads, is_over)
        if progress.step(number / tiles):
            break
    order = places_of(work, X)
    return lists.ids[order], lists.keys[order]


def rounds(tiles: int) -> Iterator[list[tuple[int, int]]]:
    """Pairs of numbers, each with itself and with each other, so that no number is in two pairs of a round."""
    yield [(tile, tile) for tile in range(tiles)]
    ring = [*range(tiles), *([-1] if tiles % 2 else [])]  # who meets -1 pauses
    for _ in range(len(ring) - 1):
        pairs = [(ring[i], ring[-1 - i]) for i in range(len(ring) // 2)]
        yield [pair for pair in pairs if -1 not in pair]
        ring = [ring[0], ring[-1], *ring[1:-1]]


def search_for(
    work: Work, X: np.ndarray, records: np.ndarray, found: np.ndarray, distances: np.ndarray, threads: int
) -> None:
    """The nearest free records of some records, into their rows; NOBODY behind the last one, infinitely far away."""
    share = max(min(RECORDS_PER_CALL, -(-len(records) // threads)), RECORDS_PER_THREAD)
    some = [records[a : a + share] for a in range(0, len(records), share)]
    each(lambda queries: search(work, X, queries, found, distances), some, threads)


@jit
def arrange(work, X):
    """Put the records into the field."""
    field = field_at(space_in(work), metric_of(X))
    fill_field(field, np.empty(X.shape[0], np.int64))


@jit
def places_of(work, X):
    """Where each record is in the field."""
    field, found = field_at(space_in(work), metric_of(X)), np.empty(X.shape[0], np.int64)
    for i in range(found.size):
        found[i] = field.place[i]
    return found


# ---- all records


@jit
def compare_tiles(work, X, one, two, size, lists):
    """Records of two tiles enter each other's lists."""
    field = field_at(space_in(work), metric_of(X))
    ids, keys = grid(lists.ids, lists.m), grid(lists.keys, lists.m)
    lists = NeighborLists(ids, keys, part(lists.worst, 0), part(lists.most, 0), lists.m)
    first, stop = one * size, min((one + 1) * size, field.blocks)
    if one == two:
        for apart in range(size):  # each block with itself first: its lists are full then, and bounds small
            for a in range(first, stop - apart):
                _compare_blocks(field, lists, a, a + apart)
    else:
        for a in range(first, stop):
            for b in range(two * size, min((two + 1) * size, field.blocks)):
                _compare_blocks(field, lists, a, b)


@called
def _compare_blocks(field, lists, a, b):
    worst, most, apart = lists.worst, lists.most, _apart(field, a, b)
    if apart >= max(most[a], most[b]):
        # many may be equally far: those with lower numbers enter
        here = apart == most[a] and field.lowest[b] < _last(lists, a, apart)
        there = apart == most[b] and field.lowest[a] < _last(lists, b, apart)
        if not (here or there):
            return
    away = scratch(RECORDS_PER_BLOCK)
    _measure_to_box(field, a, b, away)
    for lane in range(field.size[a]):
        place = a * RECORDS_PER_BLOCK + lane
        if away[lane] <= max(worst[place], most[b]):
            _compare(field, lists, place, b, lane + 1 if a == b else 0)
    most[a] = _largest(worst, a)
    most[b] = _largest(worst, b)


@called
def _compare(field, lists, place, b, start):
    """The record at a place, and those of block b from lane `start` on."""
    i, names, first_place, buffer, worst = (
        field.ids[place // RECORDS_PER_BLOCK, place % RECORDS_PER_BLOCK],
        field.ids[b],
        b * RECORDS_PER_BLOCK,
        scratch(LANES_PER_STEP),
        lists.worst,
    )
    for first in range(start // LANES_PER_STEP * LANES_PER_STEP, field.size[b], LANES_PER_STEP):
        key = distances(field.metric, field.x[b], first, i)
        theirs = least_lane(key - worst[lanes_at(first_place + first, LANES_PER_STEP)]) <= 0.0
        if theirs or least_lane(key) <= worst[place]:
            buffer[lanes_at(0, LANES_PER_STEP)] = key
            for lane in range(max(start, first), min(field.size[b], first + LANES_PER_STEP)):
                _enter(lists, place, buffer[lane - first], names[lane])
                _enter(lists, first_place + lane, buffer[lane - first], i)


@called
def _enter(lists, place, away, other):
    """Offer a record to the list of a place."""
    if away <= lists.worst[place]:
        insert(lists.keys[place], lists.ids[place], lists.m, lists.m, away, other)
        lists.worst[place] = lists.keys[place, lists.m - 1]


@called
def _largest(worst, b):
    largest = worst[b * RECORDS_PER_BLOCK]
    for lane in range(1, RECORDS_PER_BLOCK):
        largest = max(largest, worst[b * RECORDS_PER_BLOCK + lane])
    return largest


@called
def _last(lists, b, away):
    """The highest number that is last in a list of block b, at this distance."""
    number = NOBODY
    for place in range(b * RECORDS_PER_BLOCK, (b + 1) * RECORDS_PER_BLOCK):
        if lists.worst[place] == away:
            number = max(number, lists.ids[place, lists.m - 1])
    return number


@called
def _measure_to_box(field, a, b, away):
    """Lower bounds of the squared distances of the records of block a from those of block b."""
    for first in range(0, RECORDS_PER_BLOCK, LANES_PER_STEP):
        here, total = lanes_at(first, LANES_PER_STEP), spread(0.0, LANES_PER_STEP)
        for j in range(field.d):
            x = field.x[a, j, here]
            below, above = field.low[j, b] - x, x - field.high[j, b]
            t = select(below > above, below, above)
            t = select(t > 0.0, t, spread(0.0, LANES_PER_STEP))
            total = total + t * t
        away[here] = total


@called
def _apart(field, a, b):
    """A lower bound of the squared distances of the records of two blocks."""
    total = 0.0
    for j in range(field.d):
        t = max(max(field.low[j, b] - field.high[j, a], field.low[j, a] - field.high[j, b]), 0.0)
        total += t * t
    return total


# ---- some records


@jit
def search(work, X, queries, found, distances):
    """The rows of these records."""
    count, m = queries.size, found.shape[1]
    field = field_at(space_in(work), metric_of(X))
    ids, keys, lengths = np.empty((count, m), np.int64), np.empty((count, m)), np.empty(count, np.int64)
    _search(field, queries, keys, ids, lengths)
    for q in range(count):
        i, length = queries[q], lengths[q]
        found[i, :length], distances[i, :length] = ids[q, :length], keys[q, :length]
        found[i, length:], distances[i, length:] = NOBODY, np.inf


@called
def _search(field, queries, keys, ids, lengths):
    """The caller keeps the arrays alive."""
    count, m = ids.shape
    found = FoundRecords(grid(keys, m), grid(ids, m), part(lengths, 0), m)
    scan(field, Query(field.metric, part(queries, 0), count, NEAREST, YES, NO), found)
