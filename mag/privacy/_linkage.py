"""Who finds whom among the nearest records."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mag._lib.equal import classes
from mag.hierarchy.mixed import Interval, Scale

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
    """By the squared Euclidean distances of all records to all distinct masked ones."""

    def distances(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
        far = np.zeros((rows.size, others.size))
        for j in range(X.shape[1]):
            far += np.square(X[rows, j, None] - Y[others, j])
        return far

    return link_by(classes("masked", Y), distances)


def link_scales(scales: Sequence[Scale], units: Sequence[float]) -> Linkage:
    """By the distances of every column, each divided by its unit, squared and added up."""
    cells = {place: scale.after for place, scale in enumerate(scales)}
    cells |= {-1 - place: scale.high for place, scale in enumerate(scales) if isinstance(scale, Interval)}

    def distances(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
        far = np.zeros((rows.size, others.size))
        for scale, unit in zip(scales, units, strict=True):
            far += scale.squared(rows, others) / unit**2
        return far

    return link_by(classes("masked", cells), distances)


def link_by(labels: np.ndarray, distances: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Linkage:
    """By the distances of records to masked ones, block by block; `labels` are the classes of equal masked records."""
    n = labels.size
    _, first, counts = np.unique(labels, return_index=True, return_counts=True)
    expected, possible, certain = 0.0, 0, 0
    for rows in np.split(np.arange(n), range(0, n, max(1, CELLS // counts.size)))[1:]:
        far = distances(rows, first)
        bound = far.min(axis=1) * TIE
        nearest = far[np.arange(rows.size), labels[rows]] <= bound
        candidates = (far <= bound[:, None]) @ counts
        expected += float((nearest / candidates).sum())
        possible += int(nearest.sum())
        certain += int((nearest & (candidates == 1)).sum())
    return Linkage(expected / n, possible / n, certain / n)
