"""What a criterion offers, and the limits that earth mover's distances share."""

import math
from fractions import Fraction
from typing import Protocol

import numpy as np

HIGH = 2**10  # no tree is higher


class Criterion(Protocol):
    """A condition on the sensitive values of every class; `counts` are classes × values, `totals` the whole table's."""

    @property
    def rises(self) -> bool:
        """Whether a larger measure is better."""

    def holds(self, counts: np.ndarray, totals: np.ndarray) -> np.ndarray:
        """Whether each class satisfies it, decided in integers."""

    def measure(self, counts: np.ndarray, totals: np.ndarray) -> np.ndarray:
        """What the criterion bounds, as a float for each class."""

    def why_not(self, totals: np.ndarray, column: object) -> str | None:
        """Why no classes of this table can satisfy it, as a sentence; None where the table as one class does."""


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


def always_feasible(criterion: object, totals: np.ndarray, column: object) -> None:
    """The table as one class is at distance 0 from itself."""
