# mypy: allow-untyped-defs, no-check-untyped-defs
"""The better parts of two groupings.

Groups of one and groups of the other are connected where they share records.  Whatever is connected covers the same
records in both, so each such part can be taken from the one where it costs less, whatever the others do.
"""

from collections.abc import Sequence

import numpy as np

from mag._compiled.jit import called, jit
from mag._compiled.work import find_top


@called
def _means(X, labels, count):
    means, sizes = np.zeros((count, X.shape[1])), np.zeros(count)
    for i in range(labels.size):
        sizes[labels[i]] += 1
        for j in range(X.shape[1]):
            means[labels[i], j] += X[i, j]
    for g in range(count):
        if sizes[g] > 0:
            for j in range(X.shape[1]):
                means[g, j] /= sizes[g]
    return means


@jit
def _merge(X, first, second, a, b):
    """Labels from the cheaper of two groupings with labels below a and b, part by part; below a are the first's."""
    parent = np.arange(a + b)
    for i in range(first.size):
        p, q = find_top(parent, first[i]), find_top(parent, a + second[i])
        parent[max(p, q)] = min(p, q)
    here, there, saved = _means(X, first, a), _means(X, second, b), np.zeros(a + b)
    for i in range(first.size):
        p = find_top(parent, first[i])
        for j in range(X.shape[1]):
            saved[p] += (X[i, j] - here[first[i], j]) ** 2 - (X[i, j] - there[second[i], j]) ** 2
    labels = np.empty(first.size, np.int64)
    for i in range(first.size):
        labels[i] = a + second[i] if saved[find_top(parent, first[i])] > 0.0 else first[i]
    return labels


def best_parts(X: np.ndarray, groupings: Sequence[np.ndarray]) -> np.ndarray:
    """Labels 0, 1, … that cost no more than those of any of the groupings."""
    best = groupings[0]
    for other in groupings[1:]:
        best = numbered(_merge(X, best, other, best.max() + 1, other.max() + 1))
    return best


def numbered(labels: np.ndarray) -> np.ndarray:
    """The same groups by labels 0, 1, …"""
    return np.unique(labels, return_inverse=True)[1]
