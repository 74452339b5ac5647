# mypy: ignore-errors
"""The nearest neighbors of every record.

SSE(G) = Σ over i in G of (the squared distances of i from the others of G) / (2·|G|).  In a group of s records, i is at
least as far from the s-1 others as from its s-1 nearest: it adds no less than their sum / (2s).  That never falls with
s, for the s-th nearest is no nearer than the average of those before it: no group size above k adds less than k does.
"""

import math

import numpy as np

from mag._compiled.jit import called, jit
from mag._compiled.memory import grid, part
from mag._compiled.work import NEAREST, NO, YES, space_in, work_for
from mag._lib.threads import each
from mag.methods.distances.blocks import field_at, fill_field, scan

EPSILON = 2.0**-52
BATCH = 64  # records whose neighbors are looked for at once


def bound(X, k, cost, threads, progress):
    """What any grouping costs at least."""
    n, d = X.shape
    work = work_for(field_at, n, d)
    arrange(work, X)
    sums = np.empty(n)
    each(lambda first: add_up(work, X, k, first, min(first + BATCH, n), sums), range(0, n, BATCH), threads)
    return math.fsum(sums) / (2 * k) * (1 - (d + k + 16) * EPSILON)


@jit
def arrange(work, X):
    """Put the records into the field."""
    n, d = X.shape
    field = field_at(space_in(work), n, d)
    fill_field(field, grid(X, d), np.empty(n, np.int64))


@jit
def add_up(work, X, k, first, last, sums):
    """For records first .. last-1, the squared distances from the k-1 nearest, summed up."""
    n, d = X.shape
    field = field_at(space_in(work), n, d)
    count, near = last - first, k - 1
    keys, ids = np.empty((count, near)), np.empty((count, near), np.int64)
    queries, lengths = np.arange(first, last), np.empty(count, np.int64)
    _scan(field, X, queries, keys, ids, lengths)
    for q in range(count):
        sums[first + q] = keys[q].sum()


@called
def _scan(field, X, queries, keys, ids, lengths):
    """The caller keeps the arrays alive."""
    count, near = ids.shape
    rows, keys, ids = grid(X, X.shape[1]), grid(keys, near), grid(ids, near)
    scan(field, rows, part(queries, 0), count, NO, NEAREST, YES, keys, ids, near, part(lengths, 0))
