# mypy: ignore-errors
"""Nearest point next: from the record farthest from the mean, always on to the nearest one that is left.

Domingo-Ferrer, Martínez-Ballesté, Mateo-Sanz & Sebé 2006.
"""

import numpy as np

from mag._compiled.jit import jit
from mag._lib.progress import Progress
from mag.methods.distances.remaining import farthest, measure, nearest, remaining, sweep, take, the_rest
from mag.methods.orders.consecutive import labels_in_order

WORK = 2**24  # coordinates looked at between two looks at the clock


def group(X, k, *, integers, progress):
    """The best groups of consecutive records."""
    return labels_in_order(X, order(X, progress), k, integers)


def order(X, progress=None):
    """The walk; where time runs out, the rest in the order of their sums."""
    n, progress = len(X), progress or Progress()
    path, rest = np.empty(n, np.int64), remaining(X)
    measure(rest, X.mean(axis=0))
    path[0] = take(rest, farthest(rest))
    done = 1
    while done < n and not progress.step(1.0 - (1.0 - done / n) ** 2):
        stop = min(n, done + 1 + WORK // (rest.count[1] * X.shape[1]))
        walk(X, rest, path, done, stop)
        done = stop
    path[done:] = the_rest(X, path[:done])
    return path


@jit
def walk(X, rest, path, done, stop):
    """Steps done .. stop-1."""
    for step in range(done, stop):
        measure(rest, X[path[step - 1]])
        path[step] = take(rest, nearest(rest))
        sweep(rest)
