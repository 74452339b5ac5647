"""Distinct ℓ-diversity: ℓ different values in every class (Machanavajjhala et al. 2007; Thaeter, definition 3.10).

The formula of the thesis counts values in the table, its text in the class; the text is meant.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Distinct:
    """#{i : c_i > 0} ≥ ℓ."""

    l: int  # noqa: E741 - the usual name
    rises = True

    def holds(self, counts: np.ndarray, totals: np.ndarray) -> np.ndarray:
        """Whether each class has ℓ different values."""
        return np.count_nonzero(counts, axis=1) >= self.l

    def measure(self, counts: np.ndarray, totals: np.ndarray) -> np.ndarray:
        """How many different values each class has."""
        return np.count_nonzero(counts, axis=1).astype(np.float64)

    def why_not(self, totals: np.ndarray, column: object) -> str | None:
        """The table has fewer values."""
        most = int(np.count_nonzero(totals))
        return None if self.l <= most else f"diversity of {column!r} can be at most {most}; got {self.l}."
