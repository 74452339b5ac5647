"""Closeness by an earth mover's distance: a ground distance of values determines how much is moved, and how far."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

HIGH = 2**10  # no tree is higher


@dataclass(frozen=True, eq=False)
class Transport:
    """The distance of a class of s records from the table of n is `work` / (`unit` · s · n); it must not exceed t."""

    t: Fraction
    rises = False

    def work(self, counts: np.ndarray, totals: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
        """For each class an integer, mass moved times distance; the sizes of classes; and n."""
        raise NotImplementedError

    def unit(self, totals: np.ndarray) -> int:
        """The largest ground distance, as `work` counts it."""
        raise NotImplementedError

    def holds(self, counts: np.ndarray, totals: np.ndarray) -> np.ndarray:
        """Whether the distribution of each class is within t of the table's."""
        work, sizes, n = self.work(counts, totals)
        return np.asarray(work <= limits(self.t, self.unit(totals), sizes, n), bool)

    def measure(self, counts: np.ndarray, totals: np.ndarray) -> np.ndarray:
        """The distance of each class from the table."""
        work, sizes, n = self.work(counts, totals)
        return (work / (self.unit(totals) * n * sizes)).astype(np.float64)

    def why_not(self, totals: np.ndarray, column: object) -> None:
        """The table as one class is at distance 0 from itself."""


def limits(t: Fraction, unit: int, sizes: np.ndarray, n: int) -> np.ndarray:
    """The largest integer that is at most t·unit·s·n, for every size s of a class."""
    different, place = np.unique(sizes, return_inverse=True)
    most = [math.floor(t * (unit * s * n)) for s in different.tolist()]
    return np.array(most, dtype=None if max(most, default=0) < 2**63 else object)[place]


def excess(counts: np.ndarray, totals: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """n·c − s·N for every class and value: n·s times the difference of both distributions; the sizes s; and n.

    In Python's integers where sums over values could exceed 64 bits.
    """
    counts, totals = np.asarray(counts), np.asarray(totals)
    sizes, n = counts.sum(axis=1), int(totals.sum())
    if 2 * n * int(sizes.max(initial=0)) * max(totals.size, HIGH) >= 2**63:
        counts, totals, sizes = counts.astype(object), totals.astype(object), sizes.astype(object)
    return n * counts - sizes[:, None] * totals, sizes, n
