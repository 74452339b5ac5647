"""The stable order of every column, and its values in it, all columns at once.

Columns of MIN_BUCKET_SORT_N to MAX_BUCKET_SORT_N values are dealt into buckets that are sorted in shared memory
(kernels/buckets.cu), if there are MIN_BUCKET_SORT_VALUES in all. All others, and those whose buckets do not fit, are
left to a radix sort (kernels/sort.cu), which moves one word of the key and a 32-bit record, 8 bytes a pass. Only the
device knows which columns these are; the host does not wait for that, and launches both sorts. CuPy would sort a
table by merging (value, index) pairs of 16 bytes, and one column by a radix sort of such pairs.
"""

from typing import Any

import numpy as np

from mag._backends.cuda.launch import Device

TILE = 4096  # values that a thread block sorts at once
VALUES_PER_DEAL = 3072  # values that a thread block deals into buckets at once
MEAN_BUCKET_VALUES = 800  # largest mean number of values of a bucket; up to 2048 fit
MIN_BUCKET_SORT_N = 2**12  # fewest values of a column that is sorted by buckets
MAX_BUCKET_SORT_N = 256 * MEAN_BUCKET_VALUES  # most
MIN_BUCKET_SORT_VALUES = 2**18  # values of a table, whose bytes are worth five launches more
MAX_PARTS_PER_COLUMN = 512  # of one column: their counts are added up one after the other
_BLOCKS = 16  # thread blocks per multiprocessor, of 256 lanes each
_KINDS = {"u": "UNSIGNED", "i": "SIGNED", "f": "REAL"}


def sort(device: Device, x: Any, records: Any, flags: Any) -> Any:
    """Fill in `records`, int32 [cols][n], the stable order of each row of x; the sorted values, float64.

    Integers become distances from the smallest. −0.0 counts as 0.0, and NaN goes to either end. Rows whose order is
    not a permutation are flagged, see `UNSORTED`.
    """
    xp, (cols, n), width = device.xp, x.shape, x.dtype.itemsize
    parts, length = parts_of(device, cols, n)
    kind, size = _kind_of(x), np.int32(n)
    cut = size, np.int32(parts), np.int32(length)
    differ, spare, done = xp.zeros(cols, np.uint64), device.empty(cols, n), xp.zeros(cols, np.int32)
    words, other = room = device.empty(2, cols, n, dtype=np.uint32)
    if width >= 4 and MIN_BUCKET_SORT_N <= n <= MAX_BUCKET_SORT_N and cols * n >= MIN_BUCKET_SORT_VALUES:
        _sort_by_buckets(device, x, room, spare, records, done)
    counts = device.empty(cols, parts, 256)
    threads = 256 * cols * parts
    device.launch("sort", "keys", threads, 256, (x, done, *cut, words, differ, counts), **kind)
    for number in range(width):
        if number == 4:
            lifted = x, done, differ, *cut, words, other, records, spare, counts
            device.launch("sort", "lift", threads, 256, lifted, **kind)
            del lifted
        known = differ, *cut, np.int32(number), counts
        if number % 4:  # the first digits of a word are counted already
            device.launch("sort", "count", threads, 256, (words, other, *known), **kind)
        device.launch("sort", "offsets", 256 * cols, 256, (differ, cut[1], np.int32(number), counts), **kind)
        device.launch("sort", "scatter", threads, 256, (words, other, records, spare, *known), **kind)
    del words, other, room  # for the values
    values, met = device.empty(cols, n, dtype=np.float64), xp.zeros((cols, -(-n // 32)), np.uint32)
    placed = x, done, differ, np.int32(width), size, records, spare, values, met, flags
    device.launch("sort", "place", 256 * cols * -(-n // 256), 256, placed, **kind)
    return values


def _sort_by_buckets(device: Device, x: Any, keys: Any, dealt: Any, records: Any, done: Any) -> None:
    """Fill in `records` of the rows whose buckets fit, and mark these rows in `done`; keys and dealt are scratch."""
    cols, n = x.shape
    parts, length = parts_of(device, cols, n, VALUES_PER_DEAL)
    buckets = 1 << (-(-n // MEAN_BUCKET_VALUES) - 1).bit_length()
    kind, size, many, cut = _kind_of(x), np.int32(n), np.int32(buckets), (np.int32(parts), np.int32(length))
    splitters, counts = device.empty(cols, 256, dtype=np.uint64), device.empty(cols, parts, 256)
    starts = device.empty(cols, 256)
    device.launch("buckets", "sample", 256 * cols, 256, (x, size, many, splitters), **kind)
    device.launch("buckets", "assign", 256 * cols * parts, 256, (x, splitters, size, many, *cut, counts), **kind)
    device.launch("buckets", "lay_out", 256 * cols, 256, (splitters, many, cut[0], counts, starts, done), **kind)
    given = x, splitters, done, size, many, *cut, counts, keys, dealt
    device.launch("buckets", "deal", 256 * cols * parts, 256, given, **kind)
    filled = splitters, starts, done, size, many, keys, dealt, records
    device.launch("buckets", "settle", 256 * cols * buckets, 256, filled, **kind)


def gather(device: Device, x: Any, records: Any) -> Any:
    """The values of each row of x in this order, float64; integers as distances from the first."""
    cols, n = x.shape
    values = device.empty(cols, n, dtype=np.float64)
    given = x, records, np.int32(n), np.int32(cols), values
    device.launch("sort", "gather", cols * n, 256, given, **_kind_of(x))
    return values


def _kind_of(x: Any) -> dict[str, Any]:
    return {"key": 8 * x.dtype.itemsize, "kind": _KINDS[x.dtype.kind]}


def parts_of(device: Device, cols: int, n: int, tile: int = TILE) -> tuple[int, int]:
    """How many parts of how many values a column is sorted in: whole tiles, enough for all multiprocessors."""
    tiles = -(-n // tile)
    most = min(-(-device.lanes * _BLOCKS // 256 // cols), tiles, MAX_PARTS_PER_COLUMN)
    length = -(-tiles // max(1, most))
    return -(-tiles // length), tile * length
