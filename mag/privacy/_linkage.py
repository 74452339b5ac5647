"""Who finds whom among the nearest records."""

from dataclasses import dataclass

import numpy as np

from mag._lib.equal import classes

CELLS = 2**20  # of a block of distances: no n × n matrix is ever in memory
TIE = 1 + 1e-9  # squared distances closer than this are equal


@dataclass(frozen=True)
class Linkage:
    """How many records an intruder links by taking the nearest masked record of every original one.

    Attributes
    ----------
    expected : float
        The share of correct links if the intruder draws among equally near records.
    possible : float
        The share of records whose true counterpart is among the nearest.
    certain : float
        The share of records whose true counterpart is the only nearest.
    """

    expected: float
    possible: float
    certain: float


def link(X: np.ndarray, Y: np.ndarray) -> Linkage:
    """The squared Euclidean distances of all records to all distinct masked ones, block by block."""
    labels = classes("masked", Y)
    _, first, counts = np.unique(labels, return_index=True, return_counts=True)
    distinct = Y[first].T
    expected, possible, certain = 0.0, 0, 0
    for rows in np.split(np.arange(len(X)), range(0, len(X), max(1, CELLS // counts.size)))[1:]:
        far = np.zeros((rows.size, counts.size))
        for j in range(X.shape[1]):
            far += np.square(X[rows, j, None] - distinct[j])
        bound = far.min(axis=1) * TIE
        nearest = far[np.arange(rows.size), labels[rows]] <= bound
        candidates = (far <= bound[:, None]) @ counts
        expected += float((nearest / candidates).sum())
        possible += int(nearest.sum())
        certain += int((nearest & (candidates == 1)).sum())
    return Linkage(expected / len(X), possible / len(X), certain / len(X))
