"""t-closeness where values i and j of m are |i − j| / (m − 1) apart (Li et al. 2007, section 4.1).

The thesis (section 3.3) omits the division by m − 1; without it the distance could exceed 1.
"""

from dataclasses import dataclass

import numpy as np

from mag.tables.criteria._transport import Transport, excess, limits


@dataclass(frozen=True)
class Ordered(Transport):
    """Σ_{i<m} |n (c_1 + … + c_i) − s (N_1 + … + N_i)| ≤ t (m − 1) s n; values are in order."""

    def work(self, counts: np.ndarray, totals: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
        """The sum of mass that crosses each boundary between two values."""
        more, sizes, n = excess(counts, totals)
        return np.abs(np.cumsum(more, axis=1)[:, :-1]).sum(axis=1), sizes, n

    def unit(self, totals: np.ndarray) -> int:
        """From the first value to the last."""
        return max(len(totals) - 1, 1)

    def judge_pairs(
        self, row: np.ndarray, value: np.ndarray, number: np.ndarray, totals: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """`holds` and `measure` of classes with few of many values, from the counts that are not 0, row by row.

        Between two of its values the cumulated count of a class is constant, while that of the table grows past it
        once: prefix sums of the table's give the area between both.
        """
        m, n = totals.size, int(totals.sum())
        below = np.cumsum(totals)
        area = np.concatenate(([0], np.cumsum(below)))
        first = np.flatnonzero(np.diff(row, prepend=-1))
        sizes = np.add.reduceat(number, first)
        reached = np.cumsum(number)
        reached -= (reached - number)[first][row]
        end = np.append(value[1:], m)
        end[first[1:] - 1] = m
        s = sizes[row]
        cross = np.clip(np.searchsorted(below, -(-n * reached // s)), value, end)
        work = n * reached * (2 * cross - value - end) + s * (area[value] + area[end] - 2 * area[cross])
        work = np.add.reduceat(work, first) + sizes * area[value[first]]
        return work <= limits(self.t, self.unit(totals), sizes, n), work / (self.unit(totals) * n * sizes)
