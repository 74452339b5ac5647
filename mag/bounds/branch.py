"""Branch and price: the least cost of any grouping, where it can be proven.

The linear program of groups (`lp`) gives a bound, and payments to which every group has an excess of 0 or more.  A
grouping costs at least the bound and the excesses of its groups.  So none that costs less than the best known one has
a group whose excess is more than the gap between its cost and the bound.  If all groups of less excess can be listed,
they are an integer program, solved by dividing it (`_nodes`).  Better groupings, which make the gap smaller and the
list shorter, are found among the groups that are known so far, by HiGHS (`_integer`); the proof does not rely on it.
"""

import importlib.util

import numpy as np

from mag._lib.progress import Progress
from mag.bounds import lp
from mag.bounds._bound import Bound
from mag.bounds._integer import Columns, best_cover, columns_of
from mag.bounds._nodes import PROVEN, Nodes

IMPROVING_PER_RECORD = 6  # groups among which a better grouping is searched for, per record
MAX_LISTED_GROUPS = 200_000  # groups
MAX_LISTS, LIST_DIVISOR = 4, 4.0  # lists that are tried; a list that is too long is tried with so much less excess
CLOSE_TO_PROGRAM = 2e-5  # relative gap to the linear program
RELAXING = 0.5  # share of the time


def bound(X: np.ndarray, k: int, labels: np.ndarray, cost: float, threads: int, progress: Progress) -> Bound:
    """A lower bound on the cost of any grouping, and the best grouping found."""
    if importlib.util.find_spec("scipy") is None:
        raise ImportError("bound 'branch' needs scipy: pip install 'mag-sdc[matching]'.")
    relaxed = lp.relax(X, k, cost, threads, progress.share(0.0, RELAXING), CLOSE_TO_PROGRAM)
    found = _BestGrouping(relaxed, labels, cost, progress)
    least = found.search()
    return Bound(least, found.labels)


class _BestGrouping:
    """The best grouping so far, and the groups that are known."""

    def __init__(self, relaxed: lp.Relaxation, labels: np.ndarray, cost: float, progress: Progress) -> None:
        self.proof, self.pool, self.task = relaxed
        self.labels: np.ndarray | None = None
        self.known, self.cost = labels, cost
        self.progress = self.task.progress = progress  # the time of all, not that of the linear program
        self.n = len(labels)
        sizes = np.bincount(labels)
        if sizes.max() < 2 * self.task.k:
            groups = np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])
            self.pool.add(np.array([np.pad(g, (0, 2 * self.task.k - 1 - len(g))) for g in groups]), sizes)

    def search(self) -> float:
        """Improve the grouping; returns a lower bound."""
        self._improve()
        most = self._gap()
        for _ in range(MAX_LISTS):
            if self._gap() <= PROVEN * self.cost or self.progress.step(RELAXING):
                break
            listed = self.task.listed(self.proof.paid, self.proof.sets, most, MAX_LISTED_GROUPS)
            if listed is None:
                most /= LIST_DIVISOR
                continue
            self.pool.add(*listed)
            if most >= self._gap():
                return self._divide()
            before = self.cost
            self._improve()
            if self.cost == before:
                break
            most = self._gap()
        return self.proof.bound

    def _gap(self) -> float:
        return self.cost * (1 + self.task.margin) - self.proof.bound

    def _columns(self) -> tuple[Columns, np.ndarray]:
        """All groups that are known, and their excess."""
        columns = columns_of(self.pool.groups, self.pool.sizes, self.pool.costs, self.n)
        return columns, columns.excess(self.proof.paid, self.proof.sets, self.task.k)

    def _improve(self) -> None:
        """Take the best grouping into groups that are known and have little excess."""
        columns, excess = self._columns()
        most, place = self._gap(), IMPROVING_PER_RECORD * self.n
        if len(excess) > place:
            most = min(most, np.partition(excess, place)[place])
        self._keep(best_cover(columns.only((excess <= most) | columns.of(self.known)), self.progress))

    def _keep(self, cover: tuple[float, np.ndarray] | None) -> None:
        if cover is not None and cover[0] < self.cost:
            self.cost, self.labels = cover
            self.known = self.labels

    def _divide(self) -> float:
        """Search among the groups that a better grouping may have, which are known."""
        columns, excess = self._columns()
        small, full = excess <= self._gap(), self.proof.sets.inside[self.proof.paid.toll > 0]
        nodes = Nodes(
            columns.only(small),
            excess[small],
            full,
            self.task.k,
            self.cost,
            self.proof.bound,
            self.task.margin,
            self.progress,
        )
        least = nodes.search()
        if nodes.labels is not None:
            self.cost, self.labels = nodes.cost, nodes.labels
        return max(least, self.proof.bound)
