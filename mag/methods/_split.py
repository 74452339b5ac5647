"""Groups of 2k records or more, split by another method."""

from typing import Protocol

import numpy as np

from mag._lib.progress import Progress


class Split(Protocol):
    """A method that makes groups of k to 2k-1 records, and needs nothing but records."""

    def __call__(self, X: np.ndarray, k: int, *, threads: int, progress: Progress) -> np.ndarray: ...


def split_large(
    X: np.ndarray, k: int, labels: np.ndarray, split: Split, threads: int, progress: Progress
) -> np.ndarray:
    """Split groups of 2k records or more (algorithm 13 of Thaeter's thesis); `labels` are changed.

    Records keep their order.  The first part keeps the number of the group, the others get the next ones.
    """
    sizes = np.bincount(labels)
    order, ends, used = np.argsort(labels, kind="stable"), np.cumsum(sizes), len(sizes)
    for g in np.flatnonzero(sizes >= 2 * k):
        members = order[ends[g] - sizes[g] : ends[g]]
        parts = split(X[members], k, threads=threads, progress=progress)
        labels[members] = np.where(parts > 0, used - 1 + parts, g)
        used += int(parts.max())
    return labels
