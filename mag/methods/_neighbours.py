"""The nearest records of every record, by looking at all of them."""

import numpy as np

from mag._jit import jit
from mag.backends._threads import both
from mag.methods._remaining import measure, remaining


def neighbours(X, count, threads=1):
    """The `count` nearest other records of every record, nearest first, equally near ones in their order."""
    n = len(X)
    found = np.empty((n, count), np.int64)
    half = n // 2
    both(lambda: search(X, remaining(X), 0, half, found), lambda: search(X, remaining(X), half, n, found), threads)
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
