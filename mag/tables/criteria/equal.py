"""t-closeness where all values are 1 apart: half the sum of differences (Li et al. 2007, section 4.2)."""

from dataclasses import dataclass

import numpy as np

from mag.tables.criteria._transport import Transport, excess


@dataclass(frozen=True)
class Equal(Transport):
    """Σ |n c_i − s N_i| ≤ 2 t s n."""

    def work(self, counts: np.ndarray, totals: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
        """The sum of surpluses and deficits."""
        more, sizes, n = excess(counts, totals)
        return np.abs(more).sum(axis=1), sizes, n

    def unit(self, totals: np.ndarray) -> int:
        """All that is moved counts twice."""
        return 2
