# mypy: allow-untyped-defs, no-check-untyped-defs
"""Nearest point next: from the record farthest from the mean, always on to the nearest one that is left.

Domingo-Ferrer, Martínez-Ballesté, Mateo-Sanz & Sebé 2006.  The nearest remaining record is usually among the few
nearest of all, which are searched for on several threads, and again when a quarter of the records is left.
"""

import numpy as np

from mag._compiled.jit import called, jit
from mag._compiled.memory import grid, part
from mag._compiled.work import NEAREST, NO, ONE, YES, space_in, work_for
from mag._lib.progress import Progress
from mag.methods.distances.blocks import FoundRecords, Query, field_at, is_free, scan, take
from mag.methods.distances.metric import metric_of
from mag.methods.distances.neighbors import neighbor_lists
from mag.methods.distances.remaining import the_rest
from mag.methods.orders.consecutive import IntegerColumns, labels_in_order

NEIGHBORS_PER_RECORD = 16  # nearest records of every record
SHARE_OF_LISTS = 0.7  # of the progress is for them
RECORDS_WORTH_SEARCHING = 256  # records that are worth another search
COORDINATES_PER_CLOCK_LOOK = 2**24  # largest number of coordinates visited between two looks at the clock


def group(X: np.ndarray, k: int, *, integers: IntegerColumns | None, threads: int, progress: Progress) -> np.ndarray:
    """The best groups of consecutive records."""
    return labels_in_order(X, order(X, progress, threads), k, integers)


def order(X: np.ndarray, progress: Progress | None = None, threads: int = 1) -> np.ndarray:
    """The walk; where time runs out, the rest in the order of their sums."""
    n, progress = len(X), progress or Progress()
    away = np.zeros(n)
    for x, mean in zip(X.T, X.mean(axis=0), strict=True):
        away += np.square(x - mean)
    path, done, rest = np.empty(n, np.int64), 1, np.arange(n)
    path[0] = np.argmax(away)
    while done < n and not progress.stopped:
        local = _walk_on(X[rest], np.searchsorted(rest, path[done - 1]), threads, progress.span(done / n, 1.0))
        path[done - 1 : done - 1 + len(local)] = rest[local]
        done += len(local) - 1
        rest = np.delete(rest, local[:-1])
    path[done:] = the_rest(X, path[:done])
    return path


def _walk_on(X: np.ndarray, start: int, threads: int, progress: Progress) -> np.ndarray:
    """The walk from a record on, until few of many are left."""
    n, d = X.shape
    work, path, done = work_for(field_at, metric_of(X)), np.empty(n, np.int64), 1
    path[0] = start
    near, _ = neighbor_lists(work, X, min(NEIGHBORS_PER_RECORD, n - 1), threads, progress.span(0.0, SHARE_OF_LISTS))
    last = n if n <= RECORDS_WORTH_SEARCHING else n - n // 4
    while done < last and not progress.step(SHARE_OF_LISTS + (1.0 - SHARE_OF_LISTS) * done / n):
        stop = min(last, done + 1 + COORDINATES_PER_CLOCK_LOOK // ((n - done) * d))
        walk(work, X, near, path, done, stop)
        done = stop
    return path[:done]


@jit
def walk(work, X, near, path, done, stop):
    """Steps done .. stop-1."""
    field = field_at(space_in(work), metric_of(X))
    key, other, one = np.empty(1), np.empty(1, np.int64), np.empty(1, np.int64)
    for step in range(done, stop):
        i, p = path[step - 1], 0
        take(field, i)
        while p < near.shape[1] and not is_free(field, near[i, p]):
            p += 1
        if p < near.shape[1]:
            path[step] = near[i, p]
        else:
            _find_nearest(field, path[step - 1 : step], key, other, one)
            path[step] = other[0]


@called
def _find_nearest(field, record, key, other, one):
    """The nearest free record; the caller keeps the arrays alive."""
    query = Query(field.metric, part(record, 0), ONE, NEAREST, YES, NO)
    scan(field, query, FoundRecords(grid(key, 1), grid(other, 1), part(one, 0), ONE))
