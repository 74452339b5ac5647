"""The stable order of every column, and its values in it: a radix sort of all columns at once (kernels/sort.cu).

CuPy would sort a table by merging (value, index) pairs of 16 bytes, and one column by a radix sort of such pairs, 296
bytes a value; this moves one word of the key and a 32-bit record, 8 bytes a pass, 196 bytes a value in all.
"""

from typing import Any

import numpy as np

from mag._backends.cuda.launch import Device

TILE = 4096  # values that a thread block sorts at once
PARTS = 512  # of one column at most: their counts are added up one after the other
_BLOCKS = 16  # thread blocks per multiprocessor, of 256 lanes each
_KINDS = {"u": "UNSIGNED", "i": "SIGNED", "f": "REAL"}


def sort(device: Device, x: Any, records: Any, flags: Any) -> Any:
    """Fill in `records`, int32 [cols][n], the stable order of each row of x; the sorted values, float64.

    Integers become distances from the smallest.  −0.0 counts as 0.0, and NaN goes to either end.  Rows whose order
    turns out not to be one are flagged, see `UNSORTED`.
    """
    xp, (cols, n), width = device.xp, x.shape, x.dtype.itemsize
    parts, length = parts_of(device, cols, n)
    kind = _kind_of(x)
    shape, cut = (np.int32(n), np.int32(cols)), (np.int32(parts), np.int32(length))
    differ, spare = xp.zeros(cols, np.uint64), device.empty(cols, n)
    words, other = (device.empty(cols, n, dtype=np.uint32) for _ in range(2))
    counts = device.empty(cols, parts, 256)
    threads = 256 * cols * parts
    device.launch("sort", "keys", threads, 256, (x, *shape, *cut, words, differ, counts), **kind)
    for number in range(width):
        if number == 4:
            lifted = x, differ, *shape, *cut, words, other, records, spare, counts
            device.launch("sort", "lift", threads, 256, lifted, **kind)
            del lifted
        known = differ, *shape, *cut, np.int32(number), counts
        if number % 4:  # the first digits of a word are counted already
            device.launch("sort", "count", threads, 256, (words, other, *known), **kind)
        device.launch("sort", "offsets", 256 * cols, 256, (differ, cut[0], np.int32(number), counts), **kind)
        device.launch("sort", "scatter", threads, 256, (words, other, records, spare, *known), **kind)
    del words, other  # to make room for the values
    values, met = device.empty(cols, n, dtype=np.float64), xp.zeros((cols, -(-n // 32)), np.uint32)
    placed = x, differ, np.int32(width), *shape, records, spare, values, met, flags
    device.launch("sort", "place", 256 * cols * -(-n // 256), 256, placed, **kind)
    return values


def gather(device: Device, x: Any, records: Any) -> Any:
    """The values of each row of x in this order, float64; integers as distances from the first."""
    cols, n = x.shape
    values = device.empty(cols, n, dtype=np.float64)
    given = x, records, np.int32(n), np.int32(cols), values
    device.launch("sort", "gather", cols * n, 256, given, **_kind_of(x))
    return values


def _kind_of(x: Any) -> dict[str, Any]:
    return {"key": 8 * x.dtype.itemsize, "kind": _KINDS[x.dtype.kind]}


def parts_of(device: Device, cols: int, n: int) -> tuple[int, int]:
    """How many parts of how many values a column is sorted in: whole tiles, enough for all multiprocessors."""
    tiles = -(-n // TILE)
    most = min(-(-device.lanes * _BLOCKS // 256 // cols), tiles, PARTS)
    length = -(-tiles // max(1, most))
    return -(-tiles // length), TILE * length
