"""Recursive (c, ℓ)-diversity: the most frequent value is not too frequent (Machanavajjhala et al. 2007)."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np


@dataclass(frozen=True)
class Recursive:
    """r_1 < c · (r_ℓ + r_(ℓ+1) + …), counts r of a class in descending order."""

    c: Fraction
    l: int  # noqa: E741 - the usual name
    rises = False

    def holds(self, counts: np.ndarray, totals: np.ndarray) -> np.ndarray:
        """Whether the most frequent value of each class is rarer than c times all from the ℓ-th on."""
        first, rest = self._parts(counts)
        different, place = np.unique(rest, return_inverse=True)
        below = np.array([math.ceil(self.c * int(r)) - 1 for r in different.tolist()], dtype=object)
        return np.asarray(first <= below[place], bool)

    def measure(self, counts: np.ndarray, totals: np.ndarray) -> np.ndarray:
        """Largest count divided by the sum of the counts from the ℓ-th largest on; infinite if that sum is 0."""
        first, rest = self._parts(counts)
        return np.divide(first, rest, out=np.full(len(first), np.inf), where=rest > 0)

    def why_not(self, totals: np.ndarray, column: object) -> str | None:
        """The table itself is not."""
        totals = np.asarray(totals)[None]
        if self.holds(totals, totals[0])[0]:
            return None
        return (
            f"recursive diversity ({float(self.c):g}, {self.l}) of {column!r} is more than all records together have: "
            "pass a larger c or a smaller l."
        )

    def _parts(self, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        falling = -np.sort(-np.asarray(counts), axis=1)
        return falling[:, 0], falling[:, self.l - 1 :].sum(axis=1)
