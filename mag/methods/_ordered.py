"""Records in a fixed order: the best groups of consecutive ones  (Domingo-Ferrer et al. 2006; Mortazavi 2020).

The sum of squares of d columns in a fixed order is not concave, so that every size k .. 2k-1 is looked at, O(knd).
"""

from dataclasses import dataclass

import numpy as np

from mag._jit import jit


@dataclass(frozen=True)
class Whole:
    """Integers for which integer representatives are to be optimal.

    `x` : the data as float64, each column relative to an integer near its mean; `unit` : what a unit of each column is
    worth in the standardised data.
    """

    x: np.ndarray
    unit: np.ndarray


def labels_in_order(X, order, k, whole=None):
    """The label of every record, for the best grouping of consecutive records in the given order."""
    sizes = np.zeros(len(X) + 1, np.int64)
    if whole is None:
        solve(X[order], np.ones(X.shape[1]), False, k, sizes)
    else:
        solve(whole.x[order], np.square(whole.unit), True, k, sizes)
    labels = np.empty(len(X), np.int64)
    write_labels(sizes, order, labels)
    return labels


@jit
def solve(x, weight, integer, k, sizes):
    """sizes[j] = size of the last group in the best grouping of the first j records; returns the cost of all.

    Sums start at the last record of each column of the program, x[j-1], so that no offset costs precision.
    """
    n, d = x.shape
    F = np.full(n + 1, np.inf)
    F[0] = 0.0
    total = np.zeros(d)
    squares = np.zeros(d)
    for j in range(k, n + 1):
        total[:] = 0.0
        squares[:] = 0.0
        low = max(0, j - 2 * k + 1)
        for i in range(j - 2, low - 1, -1):
            for c in range(d):
                y = x[i, c] - x[j - 1, c]
                total[c] += y
                squares[c] += y * y
            size = j - i
            if size >= k and F[i] < np.inf:
                cost = F[i]
                for c in range(d):
                    if integer:
                        centre = np.rint(total[c] / size)
                        cost += weight[c] * (squares[c] + centre * (centre * size - 2.0 * total[c]))
                    else:
                        cost += squares[c] - total[c] * total[c] / size
                if cost < F[j]:
                    F[j] = cost
                    sizes[j] = size
    return F[n]


@jit
def write_labels(sizes, order, labels):
    """Follow the last groups back from the end."""
    j, g = len(order), 0
    while j > 0:
        for i in range(j - sizes[j], j):
            labels[order[i]] = g
        j -= sizes[j]
        g += 1
