"""Groups around the first and the last record in the order of rank sums  (Mahmood, Kabir & Mustafa 2012).

Each record has a rank in every column, equal values in the order of the data, and records are sorted by the sum of
their ranks, once: section 8.4 of Thaeter's thesis (2021).  It claims that records that leave do not change the order of
the others; they can, and sorting again after every group, as in the paper, gives other groups.
"""

import numpy as np

from mag._lib.progress import Progress
from mag.methods.mdav.both_ends import both_ends
from mag.methods.mdav.run import run_steps


def group(X: np.ndarray, k: int, *, threads: int, progress: Progress) -> np.ndarray:
    """Labels of groups of k, and one of up to 2k-1."""
    order = np.argsort(rank_sums(X), kind="stable")
    orders, cursors = np.stack([order, order[::-1]]), np.zeros(3, np.int64)
    return run_steps(both_ends, X, k, orders, cursors, 2 * k, threads=threads, progress=progress)


def rank_sums(X: np.ndarray) -> np.ndarray:
    """The sum of each record's ranks 0 .. n-1 in the columns."""
    n, d = X.shape
    ranks = np.empty((d, n), np.int64)
    for x, rank in zip(X.T, ranks, strict=True):
        rank[np.argsort(x, kind="stable")] = np.arange(n)
    return ranks.sum(axis=0)
