"""The nearest neighbors of every record.

SSE(G) = Σ over i in G of (the squared distances of i from the others of G) / (2·|G|).  In a group of s records, i is at
least as far from the s-1 others as from its s-1 nearest: it adds no less than their sum / (2s).  That never falls with
s, for the s-th nearest is no nearer than the average of those before it: no group size above k adds less than k does.
"""

import math

import numpy as np

from mag._compiled.jit import jit
from mag._compiled.work import NEAREST, NO, YES, work_for
from mag._lib.threads import each
from mag.methods.distances.blocks import field_at, fill_field, scan

EPSILON = 2.0**-52
BATCH = 64  # records whose neighbors are looked for at once


def bound(X, k, cost, threads, progress):
    """What any grouping costs at least."""
    n, d = X.shape
    work = work_for(room, n, d)
    arrange(work, X)
    sums = np.empty(n)
    each(lambda first: add_up(work, X, k, first, min(first + BATCH, n), sums), range(0, n, BATCH), threads)
    return math.fsum(sums) / (2 * k) * (1 - (d + k + 16) * EPSILON)


@jit
def room(work, n, d):
    """How much memory the field takes."""
    _, reals, wholes = field_at(work, 0, 0, n, d)
    return reals, wholes


@jit
def arrange(work, X):
    """Put the records into the field."""
    n, d = X.shape
    field, _, _ = field_at(work, 0, 0, n, d)
    fill_field(field, X, np.empty(n, np.int64))


@jit
def add_up(work, X, k, first, last, sums):
    """For records first .. last-1, the squared distances from the k-1 nearest, summed up."""
    n, d = X.shape
    field, _, _ = field_at(work, 0, 0, n, d)
    count, near = last - first, k - 1
    keys, ids, found = np.empty(count * near), np.empty(count * near, np.int64), np.empty(count, np.int64)
    queries = np.arange(first, last)
    scan(field, X, queries, count, NO, NEAREST, YES, keys, ids, near, found)
    for q in range(count):
        sums[first + q] = keys[q * near : (q + 1) * near].sum()
