"""Requirements on classes, and which records are suppressed or withheld if a class fails."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mag.tables.criteria import CRITERIA, Criterion
from mag.tables.recode._classes import NodeClasses, ValueCounts

BY_FREQUENCY = tuple(CRITERIA[name] for name in ("distinct", "entropy", "recursive"))  # of any values
COUNTS_PER_BLOCK = 2**22  # counts of classes × values that are looked at together


@dataclass(frozen=True)
class Rules:
    """At least `k` records in every class, and at most `most` suppressed ones.

    `is_root`: whether suppressed records are published, as the root in all columns.  `criteria` are those of sensitive
    columns, each with the position of its column in `NodeClasses.pairs`.
    """

    k: int
    most: int
    is_root: bool
    criteria: Sequence[tuple[int, Criterion]] = ()

    @property
    def is_monotone(self) -> bool:
        """Whether a node above one that is allowed is allowed, too.

        A class that fails may take one down that it is merged with, but for the number of records and of distinct
        values; where no record may be suppressed, all classes of an allowed node hold, and so do their unions.
        """
        return self.most == 0 or all(isinstance(criterion, CRITERIA["distinct"]) for _, criterion in self.criteria)

    def decide_suppression(self, classes: NodeClasses) -> "ClassSuppression | None":
        """Decide which classes are published, and in which strata suppressed records are published as the root.

        The suppressed records of a stratum are a class as well, which is withheld if it fails.  Distributions are
        compared with that of the published records: each time that classes are suppressed, all others are checked
        again.  None if more records than allowed would be suppressed, or no record would be published.
        """
        n_strata = int(classes.stratum.max()) + 1
        kept = classes.counts >= self.k
        while True:
            lost = np.bincount(classes.stratum[~kept], classes.counts[~kept], n_strata).astype(np.int64)
            suppressed = int(lost.sum())
            if suppressed > self.most:
                return None
            shown = (lost >= self.k) & self.is_root
            failing = self._apply_criteria(classes, kept, shown) if self.criteria else kept[:0]
            if not failing.any():
                break
            kept = kept & ~failing
        if not (kept.any() or shown.any()):
            return None
        smallest = int(np.concatenate([classes.counts[kept], lost[shown]]).min())
        return ClassSuppression(kept, shown, suppressed, int(lost[~shown].sum()), smallest)

    def _apply_criteria(self, classes: NodeClasses, kept: np.ndarray, shown: np.ndarray) -> np.ndarray:
        """Which kept classes fail; `shown` is cleared where the suppressed records of a stratum do."""
        groups = np.where(kept, -1, classes.stratum)
        roots = [pairs.totals(groups, shown.size) for pairs in classes.pairs]
        whole = [_sum_where(pairs, kept) for pairs in classes.pairs]
        while True:
            totals = [own + root[shown].sum(axis=0) for own, root in zip(whole, roots, strict=True)]
            strata, bad = np.flatnonzero(shown), np.zeros(shown.size, bool)
            for place, criterion in self.criteria:
                bad[strata] |= ~_holds(criterion, roots[place][strata], totals[place])
            if not bad.any():
                break
            shown &= ~bad
        failing, rows = np.zeros(kept.size, bool), np.flatnonzero(kept)
        for place, criterion in self.criteria:
            is_plain = isinstance(criterion, BY_FREQUENCY)
            pairs = classes.pairs[place].renumbered() if is_plain else classes.pairs[place]
            step = max(COUNTS_PER_BLOCK // pairs.n_values, 1)
            for first in range(0, rows.size, step):
                some = rows[first : first + step]
                counts = pairs.table(some)
                holds = criterion.holds(counts, totals[place]) if is_plain else _holds(criterion, counts, totals[place])
                failing[some] |= ~holds
        return failing


@dataclass(frozen=True)
class ClassSuppression:
    """The result for classes: `kept` ones stay; in some strata suppressed records are `shown`; counts of records."""

    kept: np.ndarray
    shown: np.ndarray
    suppressed: int
    withheld: int
    smallest: int


def _sum_where(pairs: ValueCounts, kept: np.ndarray) -> np.ndarray:
    return pairs.totals(np.where(kept, 0, -1), 1)[0]


def _holds(criterion: Criterion, counts: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """Test published values only: ranks of others do not count.  A hierarchy is independent of them."""
    if not len(counts):
        return np.ones(0, bool)
    there = slice(None) if isinstance(criterion, CRITERIA["hierarchical"]) else totals > 0
    return criterion.holds(counts[:, there], totals[there])
