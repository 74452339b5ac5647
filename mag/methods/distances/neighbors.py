"""The nearest records of every record, by looking at all of them."""

import numpy as np

from mag._compiled.jit import jit
from mag._lib.threads import each
from mag.methods.distances.remaining import measure, remaining

BATCH = 256  # records whose neighbors are looked for in one call


def neighbors(X, count, threads=1):
    """The `count` nearest other records of every record, nearest first, equally near ones in their order."""
    n = len(X)
    found = np.empty((n, count), np.int64)
    each(lambda first: search(X, remaining(X), first, min(first + BATCH, n), found), range(0, n, BATCH), threads)
    return found


@jit
def search(X, everyone, first, last, found):
    """The rows first .. last-1 of `found`."""
    n, count = found.shape
    distance = np.empty(count)
    for i in range(first, last):
        measure(everyone, X[i])
        everyone.distance[i] = np.inf
        kept = 0
        for j in range(n):
            if (kept == count and everyone.distance[j] >= distance[count - 1]) or j == i:
                continue
            place = min(kept, count - 1)
            while place > 0 and distance[place - 1] > everyone.distance[j]:
                distance[place], found[i, place] = distance[place - 1], found[i, place - 1]
                place -= 1
            distance[place], found[i, place] = everyone.distance[j], j
            kept = min(kept + 1, count)
