# mypy: allow-untyped-defs, no-check-untyped-defs
"""The lists of `nearest_lists`, made on a device: the parts of the field that it needs, and where its results go."""

import numpy as np

from mag._backends.protocol import Boxes, DeviceBackend
from mag._compiled.jit import called, jit
from mag._compiled.memory import part
from mag._compiled.work import FARTHEST, NEAREST, ZERO, Work
from mag.methods.distances.blocks import RECORDS_PER_BLOCK
from mag.methods.mdav.ends import DEEP, ends_in
from mag.methods.mdav.nearest_lists import LISTS_PER_BATCH, reserve_lists
from mag.methods.mdav.state import SPARE, state_in


@jit
def _copy_field(work, X, k, x, low, high, ids):
    """The field as it is, column by column within blocks."""
    field = state_in(work, X, k, ZERO).field
    flat, source = part(x, 0), part(field.x, 0)
    for p in range(field.blocks * field.d * RECORDS_PER_BLOCK):
        flat[p] = source[p]
    for j in range(field.d):
        for b in range(field.boxes):
            low[j, b] = field.low[j, b]
            high[j, b] = field.high[j, b]
    for p in range(field.n):
        ids[p] = field.ids[p // RECORDS_PER_BLOCK, p % RECORDS_PER_BLOCK]


@jit
def _newly_taken(work, X, k, alive, out):
    """The records that were assigned since alive[b] of each block were free: they are stored after those still free."""
    field = state_in(work, X, k, ZERO).field
    count = 0
    for b in range(field.blocks):
        now = field.alive[b]
        for lane in range(now, alive[b]):
            out[count] = field.ids[b, lane]
            count += 1
        alive[b] = now
    return count


@called
def _copy_wanted(lists, count, out):
    for q in range(count):
        out[q] = lists.requests[q]


@called
def _store(lists, count, keys, ids, lengths):
    first = lists.used[0] - count
    for q in range(count):
        lists.filled[first + q] = lengths[q]
        for rank in range(lengths[q]):
            lists.keys[first + q, rank] = keys[q, rank]
            lists.ids[first + q, rank] = ids[q, rank]


@jit
def _reserve_nearest(work, X, k, out):
    """How many lists of nearest records are needed, and of which records."""
    lists = state_in(work, X, k, ZERO).near
    count = reserve_lists(lists)
    _copy_wanted(lists, count, out)
    return count


@jit
def _reserve_farthest(work, X, k, out):
    _, ends = ends_in(work, X, k, ZERO)
    count = reserve_lists(ends.far)
    _copy_wanted(ends.far, count, out)
    return count


@jit
def _store_nearest(work, X, k, count, keys, ids, lengths):
    _store(state_in(work, X, k, ZERO).near, count, keys, ids, lengths)


@jit
def _store_farthest(work, X, k, count, keys, ids, lengths):
    _, ends = ends_in(work, X, k, ZERO)
    _store(ends.far, count, keys, ids, lengths)


class DeviceLists:
    """Makes the lists that a method wants, when it has begun and whenever it stops for them."""

    def __init__(self, work: Work, X: np.ndarray, k: int, ends: bool, engine: DeviceBackend) -> None:
        n, d = X.shape
        blocks = -(-n // RECORDS_PER_BLOCK)
        boxes = Boxes(
            x=np.empty((blocks, d, RECORDS_PER_BLOCK)),
            low=np.empty((d, -(-blocks // 8) * 8)),
            high=np.empty((d, -(-blocks // 8) * 8)),
            ids=np.zeros(blocks * RECORDS_PER_BLOCK, np.int32),
            n=n,
            d=d,
        )
        _copy_field(work, X, k, boxes.x, boxes.low, boxes.high, boxes.ids)
        self.given, self.neighbors = (work, X, k), engine.neighbors(boxes)
        self.place = np.empty(n, np.int32)  # where a record was when all were free
        self.place[boxes.ids[:n]] = np.arange(n)
        self.alive, self.taken = (
            np.minimum(n - RECORDS_PER_BLOCK * np.arange(blocks), RECORDS_PER_BLOCK),
            np.empty(n, np.int64),
        )
        self.kinds = [(_reserve_nearest, _store_nearest, NEAREST, min(2 * k + SPARE, n))]
        if ends:
            self.kinds.append((_reserve_farthest, _store_farthest, FARTHEST, min(int(DEEP), n)))

    def make(self) -> None:
        """All lists that are needed."""
        count = _newly_taken(*self.given, self.alive, self.taken)
        self.neighbors.take(self.place[self.taken[:count]])
        wanted = np.empty(LISTS_PER_BATCH, np.int64)
        for reserve, store, sign, length in self.kinds:
            count = reserve(*self.given, wanted)
            if count:
                store(*self.given, count, *self.neighbors.lists(self.place[wanted[:count]], length, sign))
