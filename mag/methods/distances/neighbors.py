"""The nearest records of every record, from blocks of near records on several threads."""

import numpy as np

from mag._compiled.jit import called, jit
from mag._compiled.memory import grid, part
from mag._compiled.work import NEAREST, NO, NOBODY, YES, space_in, work_for
from mag._lib.progress import Progress
from mag._lib.threads import each
from mag.methods.distances.blocks import field_at, fill_field, scan

BATCH = 64  # records whose neighbors are looked for in one call
FEW = 4  # records that are worth a thread
SHARE = 16  # calls of a thread between two looks at the clock


def neighbors(X, count, threads=1):
    """The `count` nearest other records of every record, nearest first, equally near ones in their order."""
    work = work_for(field_at, *X.shape)
    return neighbor_lists(work, X, count, threads, Progress())[0]


def neighbor_lists(work, X, count, threads, progress):
    """The `neighbors` and their squared distances; some are missing if `progress` has stopped.

    The memory begins with a field of the records, which is filled here.
    """
    n = len(X)
    arrange(work, X)
    found, distances = np.empty((n, count), np.int64), np.empty((n, count))
    for a in range(0, n, SHARE * BATCH * threads):
        search_for(work, X, np.arange(a, min(a + SHARE * BATCH * threads, n)), found, distances, threads)
        if progress.step(a / n):
            break
    return found, distances


def search_for(work, X, records, found, distances, threads):
    """The nearest free records of some records, into their rows; NOBODY behind the last one, infinitely far away."""
    share = max(min(BATCH, -(-len(records) // threads)), FEW)
    some = [records[a : a + share] for a in range(0, len(records), share)]
    each(lambda queries: search(work, X, queries, found, distances), some, threads)


@jit
def arrange(work, X):
    """Put the records into the field."""
    n, d = X.shape
    field = field_at(space_in(work), n, d)
    fill_field(field, grid(X, d), np.empty(n, np.int64))


@jit
def search(work, X, queries, found, distances):
    """The rows of these records."""
    (n, d), (count, m) = X.shape, (queries.size, found.shape[1])
    field = field_at(space_in(work), n, d)
    ids, keys, lengths = np.empty((count, m), np.int64), np.empty((count, m)), np.empty(count, np.int64)
    _search(field, X, queries, keys, ids, lengths)
    for q in range(count):
        i, length = queries[q], lengths[q]
        found[i, :length], distances[i, :length] = ids[q, :length], keys[q, :length]
        found[i, length:], distances[i, length:] = NOBODY, np.inf


@called
def _search(field, X, queries, keys, ids, lengths):
    """The caller keeps the arrays alive."""
    count, m = ids.shape
    rows, keys, ids = grid(X, X.shape[1]), grid(keys, m), grid(ids, m)
    scan(field, rows, part(queries, 0), count, NO, NEAREST, YES, keys, ids, m, part(lengths, 0))
