# mypy: ignore-errors
"""The nearest records of every record, by looking at all of them."""

import numpy as np

from mag._compiled.jit import jit
from mag._lib.threads import each
from mag.methods.distances.remaining import measure, remaining

BATCH = 256  # records whose neighbors are looked for in one call


def neighbors(X, count, threads=1):
    """The `count` nearest other records of every record, nearest first, equally near ones in their order."""
    n = len(X)
    nearest = np.empty((n, count), np.int64)
    each(lambda first: search(X, remaining(X), first, min(first + BATCH, n), nearest), range(0, n, BATCH), threads)
    return nearest


@jit
def search(X, everyone, first, last, nearest):
    """The rows first .. last-1 of `nearest`."""
    n, count = nearest.shape
    distance = np.empty(count)
    for i in range(first, last):
        measure(everyone, X[i])
        everyone.distance[i] = np.inf
        filled = 0
        for j in range(n):
            if (filled == count and everyone.distance[j] >= distance[count - 1]) or j == i:
                continue
            place = min(filled, count - 1)
            while place > 0 and distance[place - 1] > everyone.distance[j]:
                distance[place], nearest[i, place] = distance[place - 1], nearest[i, place - 1]
                place -= 1
            distance[place], nearest[i, place] = everyone.distance[j], j
            filled = min(filled + 1, count)
