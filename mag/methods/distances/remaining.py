# mypy: allow-untyped-defs, no-check-untyped-defs
"""The records that are still to be taken, column by column in memory, so that distances to all of them are fast.

Records that were taken are at infinite distance until they are swept out.  Those that are left keep their order: among
equally near or far ones, the first of the data is chosen.
"""

from collections import namedtuple

import numpy as np

from mag._compiled.jit import jit

STRIP = 512  # distances computed at once, while they stay in the cache

# Columns (d, n), the record behind each place, squared distances to the point asked for last, [places, records left].
Remaining = namedtuple("Remaining", "x record distance count")


def remaining(X: np.ndarray) -> Remaining:
    """All records."""
    n = len(X)
    return Remaining(np.ascontiguousarray(X.T), np.arange(n), np.empty(n), np.array([n, n]))


def the_rest(X: np.ndarray, taken: np.ndarray) -> np.ndarray:
    """The records that were not taken, in the order of the sum of their columns."""
    free = np.ones(len(X), bool)
    free[taken] = False
    order = np.argsort(X.sum(axis=1), kind="stable")
    return order[free[order]]


@jit
def measure(r, point):
    """Squared distances of all records to a point; infinite for those that were taken."""
    d, places = r.x.shape[0], r.count[0]
    for low in range(0, places, STRIP):
        high = min(low + STRIP, places)
        for i in range(low, high):
            y = r.x[0, i] - point[0]
            r.distance[i] = y * y
        for c in range(1, d):
            for i in range(low, high):
                y = r.x[c, i] - point[c]
                r.distance[i] += y * y


@jit
def nearest(r):
    """The place of the first record at the least distance."""
    best = 0
    for i in range(1, r.count[0]):
        if r.distance[i] < r.distance[best]:
            best = i
    return best


@jit
def farthest(r):
    """The place of the first record at the largest distance."""
    best, distance = -1, -1.0
    for i in range(r.count[0]):
        if distance < r.distance[i] < np.inf:
            best, distance = i, r.distance[i]
    return best


@jit
def take(r, place):
    """Take the record at a place out, and return it."""
    r.x[0, place] = r.distance[place] = np.inf
    r.count[1] -= 1
    return r.record[place]


@jit
def sweep(r):
    """Close the gaps, once a quarter of the places are empty."""
    places, left = r.count
    if 4 * left > 3 * places:
        return
    end = 0
    for i in range(places):
        if r.x[0, i] < np.inf:
            r.record[end] = r.record[i]
            r.distance[end] = r.distance[i]
            for c in range(r.x.shape[0]):
                r.x[c, end] = r.x[c, i]
            end += 1
    r.count[0] = end


@jit
def mean(r, point):
    """Write the mean of the records that are left."""
    for c in range(len(point)):
        total = 0.0
        for i in range(r.count[0]):
            if r.x[0, i] < np.inf:
                total += r.x[c, i]
        point[c] = total / r.count[1]
