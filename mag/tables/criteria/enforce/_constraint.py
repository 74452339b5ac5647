"""A criterion and the sensitive values that it is about."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from mag._lib.lazy import cached_property
from mag.tables.criteria import Criterion
from mag.tables.criteria.distinct import Distinct
from mag.tables.criteria.entropy import Entropy
from mag.tables.criteria.ordered import Ordered
from mag.tables.criteria.recursive import Recursive

CELLS_PER_BLOCK = 2**21  # of a matrix of classes and values that is looked at at once


@dataclass(frozen=True)
class Constraint:
    """What a criterion requires of the values with these codes: 0, 1, … without gaps, in order where they have one.

    `totals` are how often each code occurs in the table, of which `codes` may be a part.
    """

    column: Hashable
    criterion: Criterion
    codes: np.ndarray
    totals: np.ndarray

    @classmethod
    def of(cls, column: Hashable, criterion: Criterion, codes: np.ndarray) -> "Constraint":
        """Of a whole table."""
        return cls(column, criterion, codes, np.bincount(codes))

    def select(self, rows: np.ndarray) -> "Constraint":
        """The same of some records; the table that they are compared with stays."""
        return Constraint(self.column, self.criterion, self.codes[rows], self.totals)

    def judge_groups(self, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Whether the criterion holds for groups 0, 1, …, and how bad each is: more is worse."""
        order = np.argsort(labels, kind="stable")
        return self.judge(labels[order], self.codes[order])

    def judge(self, group: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same for records of groups that stand one after the other."""
        m, n = self.totals.size, int(self.totals.sum())
        pairs, number = np.unique(group * m + codes, return_counts=True)
        row, value = pairs // m, pairs % m
        if isinstance(self.criterion, Ordered) and 2 * n * n * m < 2**63:
            return self.criterion.judge_pairs(row, value, number, self.totals)
        if isinstance(self.criterion, (Distinct, Entropy, Recursive)):  # how often values occur counts, not which do
            value = np.arange(row.size) - np.searchsorted(row, row)
            m = 1 + int(value.max())
        n_groups, block = 1 + int(row[-1]), max(1, CELLS_PER_BLOCK // m)
        holds, measure = np.empty(n_groups, bool), np.empty(n_groups)
        for first in range(0, n_groups, block):
            last = min(first + block, n_groups)
            here = slice(*np.searchsorted(row, [first, last]))
            counts = np.zeros((last - first, m), np.int64)
            counts[row[here] - first, value[here]] = number[here]
            holds[first:last] = self.criterion.holds(counts, self.totals)
            measure[first:last] = self.criterion.measure(counts, self.totals)
        return holds, -measure if self.criterion.rises else measure

    def judge_lists(self, members: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """The same for lists of records."""
        group = np.repeat(np.arange(len(members)), [rows.size for rows in members])
        return self.judge(group, self.codes[np.concatenate(members)])

    @cached_property
    def whole(self) -> tuple[bool, float]:
        """The same for all records as one group."""
        holds, badness = self.judge(np.zeros(self.codes.size, np.int64), self.codes)
        return bool(holds[0]), float(badness[0])
