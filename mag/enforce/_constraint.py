"""A criterion and the sensitive values that it is about."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from mag._lib.lazy import cached_property
from mag.criteria import Criterion

CELLS = 2**21  # of a matrix of classes and values that is looked at at once


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

    def look(self, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Whether the criterion holds for groups 0, 1, …, and how bad each is: more is worse."""
        m, n_groups = self.totals.size, int(labels.max()) + 1
        order = np.argsort(labels, kind="stable")
        groups, codes = labels[order], self.codes[order]
        block = max(1, CELLS // m)
        holds, badness = np.empty(n_groups, bool), np.empty(n_groups)
        for first in range(0, n_groups, block):
            last = min(first + block, n_groups)
            here = slice(*np.searchsorted(groups, [first, last]))
            pairs = (groups[here] - first) * m + codes[here]
            counts = np.bincount(pairs, minlength=(last - first) * m).reshape(last - first, m)
            holds[first:last], badness[first:last] = self.judge(counts)
        return holds, badness

    def judge(self, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Whether the criterion holds for rows of counts, and how bad each is: more is worse."""
        measure = self.criterion.measure(counts, self.totals)
        return self.criterion.holds(counts, self.totals), -measure if self.criterion.rises else measure

    def count(self, members: Sequence[np.ndarray]) -> np.ndarray:
        """How often each code occurs among these records: a row for each list of them."""
        return np.stack([np.bincount(self.codes[rows], minlength=self.totals.size) for rows in members])

    @cached_property
    def whole(self) -> tuple[bool, float]:
        """The same as `judge` of all records as one group."""
        holds, badness = self.judge(np.bincount(self.codes, minlength=self.totals.size)[None])
        return bool(holds[0]), float(badness[0])
