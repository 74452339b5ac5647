"""The nearest neighbors of every record.

SSE(G) = Σ over i in G of (the squared distances of i from the others of G) / (2·|G|).  In a group of s records, i is at
least as far from the s-1 others as from its s-1 nearest: it adds no less than their sum / (2s).  That never falls with
s, for the s-th nearest is no nearer than the average of those before it: no group size above k adds less than k does.
"""

import math

import numpy as np

from mag._compiled.work import work_for
from mag._lib.progress import Progress
from mag.bounds._bound import Bound
from mag.methods.distances.blocks import field_at
from mag.methods.distances.metric import metric_of
from mag.methods.distances.neighbors import neighbor_lists

EPSILON = 2.0**-52


def bound(X: np.ndarray, k: int, labels: np.ndarray, cost: float, threads: int, progress: Progress) -> Bound:
    """A lower bound on the cost of any grouping."""
    return Bound(least_cost(X, k, threads))


def least_cost(X: np.ndarray, k: int, threads: int) -> float:
    """The least cost of groups of each record and its nearest neighbors."""
    work = work_for(field_at, metric_of(X))
    _, distances = neighbor_lists(work, X, k - 1, threads, Progress())
    sums = np.add.accumulate(distances, axis=1)[:, -1]  # from the nearest on
    return math.fsum(sums) / (2 * k) * (1 - (X.shape[1] + k + 16) * EPSILON)
