# mypy: allow-untyped-defs, no-check-untyped-defs
"""Groups around the corners of the unit cube, one corner after the other."""

import numpy as np

from mag._compiled.jit import called, jit
from mag._compiled.memory import grid, part
from mag._compiled.work import NEAREST, ONE, YES, space_in, work_for
from mag._lib.progress import Progress
from mag.methods.distances.blocks import FoundRecords, Query, field_at, scan, take
from mag.methods.distances.metric import metric_of
from mag.methods.distances.neighbors import arrange

COORDINATES_PER_CLOCK_LOOK = 2**24  # coordinates looked at between two looks at the clock


def group_at_corners(X: np.ndarray, k: int, progress: Progress) -> np.ndarray:
    """Labels of groups of k around the corners in turn, numbered like them; the last one has up to 2k-1 records.

    X has values from 0 to 1.  Equally near records are taken in the order of their values, column by column.
    """
    n, d = X.shape
    order = np.lexsort(X.T[::-1])  # by the first column first; `scan` takes equally near records by number
    X, last = X[order], max(n // k - 1, 0)
    work, found, share = work_for(field_at, metric_of(X)), np.full(n, last), 1 + COORDINATES_PER_CLOCK_LOOK // (n * d)
    arrange(work, X)
    for a in range(0, last, share):
        progress.step(a / last)
        some = np.arange(a, min(a + share, last))
        take_nearest(work, X, k, corners(some, d), some, found)
    labels = np.empty(n, np.int64)
    labels[order] = found
    return labels


def corners(numbers: np.ndarray, d: int) -> np.ndarray:
    """Corners of the unit cube in d dimensions: in the order of a Gray code, each followed by the opposite one."""
    pairs = numbers // 2 % 2 ** min(d - 1, 62)
    codes = pairs ^ (pairs >> 1)
    bits = codes[:, None] >> np.minimum(np.arange(d), 62) & 1
    return np.abs(bits - numbers[:, None] % 2).astype(np.float64)


@jit
def take_nearest(work, X, k, points, numbers, found):
    """The k free records nearest to each point are its group."""
    field = field_at(space_in(work), metric_of(X))
    keys, ids, lengths, query = np.empty(k), np.empty(k, np.int64), np.empty(1, np.int64), np.empty(1, np.int64)
    for g in range(len(points)):
        query[0] = g
        _nearest(field, points, query, keys, ids, lengths)
        for i in ids:
            take(field, i)
            found[i] = numbers[g]


@called
def _nearest(field, points, query, keys, ids, lengths):
    """The caller keeps the arrays alive."""
    k, query = ids.size, Query(metric_of(points), part(query, 0), ONE, NEAREST, YES, YES)
    scan(field, query, FoundRecords(grid(keys, k), grid(ids, k), part(lengths, 0), k))
