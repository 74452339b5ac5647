"""t-closeness where all values are 1 apart: half the sum of differences (Li et al. 2007, section 4.2)."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mag.criteria._criterion import always_feasible, excess, limits


@dataclass(frozen=True)
class Equal:
    """Σ |n c_i − s N_i| ≤ 2 t s n."""

    t: Fraction
    rises = False
    why_not = always_feasible

    def holds(self, counts: np.ndarray, totals: np.ndarray) -> np.ndarray:
        """Whether the distribution of each class is within t of the table's."""
        work, sizes, n = _work(counts, totals)
        return np.asarray(work <= limits(self.t, 2, sizes, n), bool)

    def measure(self, counts: np.ndarray, totals: np.ndarray) -> np.ndarray:
        """The distance of each class from the table."""
        work, sizes, n = _work(counts, totals)
        return (work / (2 * n * sizes)).astype(np.float64)


def _work(counts: np.ndarray, totals: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    more, sizes, n = excess(counts, totals)
    return np.abs(more).sum(axis=1), sizes, n
