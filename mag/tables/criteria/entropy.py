"""Entropy ℓ-diversity: as much uncertainty as ℓ equally frequent values have (Thaeter, definition 3.11)."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

CLEAR = 1e-9  # relative difference of logarithms that rounding cannot cause


@dataclass(frozen=True)
class Entropy:
    """s^s ≥ ℓ^s Π c_i^c_i, which is H ≥ log ℓ without logarithms."""

    l: Fraction  # noqa: E741 - the usual name
    rises = True

    def holds(self, counts: np.ndarray, totals: np.ndarray) -> np.ndarray:
        """Whether each class is at least as diverse as ℓ equally frequent values."""
        counts = np.asarray(counts)
        sizes = counts.sum(axis=1)
        whole, inside = sizes * np.log(sizes), _logs(counts)
        needed = sizes * math.log(self.l)
        slack, scale = whole - needed - inside, whole + needed + 1
        holds = slack > 0
        for row in np.flatnonzero(np.abs(slack) <= CLEAR * scale).tolist():
            holds[row] = self._holds_exactly(counts[row][counts[row] > 0].tolist())
        return holds

    def _holds_exactly(self, counts: list[int]) -> bool:
        """In integers; counts with a common divisor g have a g-th power on both sides."""
        divisor = math.gcd(*counts)
        counts = [count // divisor for count in counts]
        s = sum(counts)
        p, q = self.l.numerator, self.l.denominator
        return (s * q) ** s >= p**s * math.prod(count**count for count in counts)

    def measure(self, counts: np.ndarray, totals: np.ndarray) -> np.ndarray:
        """The number of equally frequent values that have the entropy of each class."""
        counts = np.asarray(counts)
        sizes = counts.sum(axis=1)
        return np.maximum(np.exp(np.log(sizes) - _logs(counts) / sizes), 1.0)

    def why_not(self, totals: np.ndarray, column: object) -> str | None:
        """The table itself is less diverse."""
        totals = np.asarray(totals)[None]
        if self.holds(totals, totals[0])[0]:
            return None
        most = math.floor(1000 * self.measure(totals, totals[0])[0]) / 1000
        return f"entropy diversity of {column!r} can be at most {most:g}; got {float(self.l):g}."


def _logs(counts: np.ndarray) -> np.ndarray:
    """Σ c log c of every class."""
    return (counts * np.log(np.maximum(counts, 1))).sum(axis=1)
