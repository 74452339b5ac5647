"""The lattice of a table: its nodes, their classes, and their losses, in integers."""

import math
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mag.tables.recode._classes import NodeClasses, ValueCounts
from mag.tables.recode._ladder import Ladder
from mag.tables.recode._rules import ClassSuppression, Rules

Levels = tuple[int, ...]
REMEMBERED = 2**22  # rows of classes that are kept for nodes above


@dataclass(frozen=True, order=True)
class Outcome:
    """Evaluation of a node; smaller is better: least loss, fewest suppressed records, lowest levels."""

    value: int  # of `Lattice.unit`
    suppressed: int
    levels: Levels
    withheld: int
    smallest: int
    lost: tuple[int, ...]  # for each column, leaves below the nodes of all records


class Lattice:
    """All combinations of levels of some columns.

    Parameters
    ----------
    ladders : list of Ladder
        The columns.
    codes : array of int, shape (n, columns)
        Every record's value in them, a place in `Ladder.numbers`.
    stratum : array of int, shape (n,)
    sensitive : sequence of (array of int, int)
        For each sensitive column: every record's value, and the number of values.
    importance : sequence of float
        How much each column counts.
    """

    def __init__(
        self,
        ladders: Sequence[Ladder],
        codes: np.ndarray,
        stratum: np.ndarray,
        sensitive: Sequence[tuple[np.ndarray, int]] = (),
        importance: Sequence[float] | None = None,
    ) -> None:
        self.ladders, self.n = list(ladders), len(codes)
        self.shape = tuple(ladder.n_levels for ladder in ladders)
        self.bottom, self.top = (0,) * len(self.shape), tuple(n_levels - 1 for n_levels in self.shape)
        everyone = np.arange(self.n)
        pairs = [ValueCounts(everyone, values, np.ones(self.n, np.int64), count) for values, count in sensitive]
        records = NodeClasses(codes, stratum, np.ones(self.n, np.int64), pairs)
        lowest = np.stack([ladder.numbers[0][codes[:, j]] for j, ladder in enumerate(ladders)], axis=1)
        self.tuples, self.tuple_of_record = records.merge(lowest, self._sizes(self.bottom))
        self._lifts = [[ladder.lift(level) for level in range(ladder.n_levels - 1)] for ladder in ladders]
        self._known: OrderedDict[Levels, NodeClasses] = OrderedDict()
        self._rows = 0
        shares = [Fraction(weight) for weight in importance or [1.0] * len(self.shape)]
        parts = [share / ladder.leaves for share, ladder in zip(shares, ladders, strict=True)]
        scale = math.lcm(*(part.denominator for part in parts))
        self._weights = [int(part * scale) for part in parts]
        self.unit = 1 / (scale * self.n * sum(shares))  # of values: exact
        self._base = [self._lost_on_levels(j) for j in range(len(self.shape))]

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return math.prod(self.shape)

    def _sizes(self, levels: Levels) -> list[int]:
        return [ladder.nodes[level].size for ladder, level in zip(self.ladders, levels, strict=True)]

    def _lost_on_levels(self, j: int) -> list[int]:
        ladder, codes = self.ladders[j], self.tuples.codes[:, j]
        lost = []
        for level in range(ladder.n_levels):
            if level:
                codes = self._lifts[j][level - 1][codes]
            lost.append(int(ladder.below[level][codes] @ self.tuples.counts))
        return lost

    def in_hierarchies(self, levels: Levels) -> Levels:
        """The levels of the hierarchies that a node is."""
        return tuple(ladder.lowest + level for ladder, level in zip(self.ladders, levels, strict=True))

    # ---- losses

    def base(self, levels: Levels) -> int:
        """The loss of a node without suppression: no node above loses less, with suppression or without."""
        return sum(weight * base[level] for weight, base, level in zip(self._weights, self._base, levels, strict=True))

    def every_base(self) -> np.ndarray:
        """The same of all nodes, as shares of all there is to lose, rounded to floats."""
        total = np.zeros(self.shape)
        for j, (weight, base) in enumerate(zip(self._weights, self._base, strict=True)):
            along = np.array([float(weight * lost * self.unit) for lost in base])
            total += along.reshape([-1 if axis == j else 1 for axis in range(len(self.shape))])
        return total

    def judge(self, levels: Levels, rules: Rules) -> Outcome | None:
        """Evaluate a node; None if it is not allowed."""
        classes = self.classes(levels)
        suppression = rules.decide_suppression(classes)
        if suppression is None:
            return None
        lost = self._lost(levels, classes, suppression)
        value = sum(weight * own for weight, own in zip(self._weights, lost, strict=True))
        return Outcome(value, suppression.suppressed, levels, suppression.withheld, suppression.smallest, lost)

    def _lost(self, levels: Levels, classes: NodeClasses, suppression: ClassSuppression) -> tuple[int, ...]:
        gone = ~suppression.kept
        counts = classes.counts[gone]
        return tuple(
            base[level] - int(ladder.below[level][codes] @ counts) + suppression.suppressed * ladder.leaves
            for base, level, ladder, codes in zip(self._base, levels, self.ladders, classes.codes[gone].T, strict=True)
        )

    def ncp(self, outcome: Outcome) -> Fraction:
        """The normalized certainty penalty, every column counting alike."""
        shares = [Fraction(lost, ladder.leaves) for lost, ladder in zip(outcome.lost, self.ladders, strict=True)]
        return sum(shares, Fraction(0)) / (self.n * len(shares))

    # ---- classes

    def classes(self, levels: Levels) -> NodeClasses:
        """The classes of a node, from those of a node below it that are still known, or from the distinct records."""
        if levels in self._known:
            self._known.move_to_end(levels)
            return self._known[levels]
        below = [self._lowered(levels, j) for j in range(len(levels)) if levels[j]]
        known = [(self._known[node].counts.size, node) for node in below if node in self._known]
        start, classes = self.bottom, self.tuples
        if known:
            start = min(known)[1]
            classes = self._known[start]
        codes = classes.codes
        if start != levels:
            codes = codes.copy()
        for j, (low, high) in enumerate(zip(start, levels, strict=True)):
            for level in range(low, high):
                codes[:, j] = self._lifts[j][level][codes[:, j]]
        coarser, _ = classes.merge(codes, self._sizes(levels))
        self._remember(levels, coarser)
        return coarser

    @staticmethod
    def _lowered(levels: Levels, j: int) -> Levels:
        return (*levels[:j], levels[j] - 1, *levels[j + 1 :])

    def _remember(self, levels: Levels, classes: NodeClasses) -> None:
        self._known[levels] = classes
        self._rows += classes.counts.size
        while self._rows > REMEMBERED and len(self._known) > 1:
            _, oldest = self._known.popitem(last=False)
            self._rows -= oldest.counts.size

    def records(self, levels: Levels, rules: Rules) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of every record: its class on a node, whether it is suppressed, and whether it is withheld."""
        codes = np.stack([self._raised(j, level) for j, level in enumerate(levels)], axis=1)
        classes, place = self.tuples.merge(codes, self._sizes(levels))
        suppression = rules.decide_suppression(classes)
        assert suppression is not None
        own = place[self.tuple_of_record]
        suppressed = ~suppression.kept[own]
        return own, suppressed, suppressed & ~suppression.shown[classes.stratum[own]]

    def _raised(self, j: int, level: int) -> np.ndarray:
        codes = self.tuples.codes[:, j]
        for below in range(level):
            codes = self._lifts[j][below][codes]
        return codes
