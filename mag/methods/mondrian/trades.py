"""Trades: near groups swap records, or pass them on, where that lowers the loss by ranges and nodes.

Every round divides the groups by their means along other directions into small regions, in which any two of them meet:
groups at a border of one round are neighbors in another.  A rule on values of the records, and the price of breaking
it, may decide about moves, too.
"""

import numpy as np

from mag._lib.progress import Progress
from mag._lib.threads import each_in_time
from mag.methods.distances.hierarchies import CategoryColumns
from mag.methods.mondrian.cutting import divide, new_parts, sum_losses, table_of
from mag.methods.mondrian.halving import labels_of
from mag.methods.mondrian.pairs import DIVERSE, Rule, Terms, improve_region
from mag.methods.mondrian.regions import divide_groups, rotation

GROUPS_PER_REGION = 16
LEAST_GAIN, MAX_TRADING_ROUNDS = 0.002, 24  # of the loss, in a round that another follows
MAX_RECORDS = 2**22  # of all rounds, which take seconds
MAX_DIRECTIONS = 64  # of many coordinates
DIRECTIONS_SEED = 0  # chance is the same for every table


class Trades:
    """Rounds of regions, each along other directions; by the squares of numbers, if not by ranges and nodes."""

    def __init__(
        self,
        X: np.ndarray,
        k: int,
        columns: CategoryColumns,
        progress: Progress,
        threads: int,
        squares: bool = False,
        rule: Rule | None = None,
    ) -> None:
        self._X, self._progress, self._threads = X, progress.silent(), threads
        self._k, self._table, self._squares, self._rule = k, table_of(X, columns), squares, rule or _free(len(X))
        self._random = np.random.default_rng(DIRECTIONS_SEED)

    def run(self, labels: np.ndarray, price: float = 0.0) -> np.ndarray:
        """The labels after a round; regions that no time is left for stay as they are."""
        d, labels = self._X.shape[1], labels.copy()
        directions = (
            rotation(d, self._random) if d <= MAX_DIRECTIONS else self._random.standard_normal((d, MAX_DIRECTIONS))
        )
        parts = divide_groups(self._X, labels, directions, 0, GROUPS_PER_REGION, self._threads, self._progress)
        terms = Terms(self._table, self._squares, self._rule, self._k, price)

        def improve(rows: np.ndarray) -> None:
            improve_region(terms, rows[np.argsort(labels[rows], kind="stable")], labels)

        each_in_time(improve, parts, self._threads, lambda: self._progress.seconds_left() <= 0)
        return np.unique(labels, return_inverse=True)[1]

    def cut(self, labels: np.ndarray) -> np.ndarray:
        """The labels after groups of 2k records or more were cut where that lowers the loss."""
        sizes, parts = np.bincount(labels), new_parts(labels.size)
        parts.order[:] = np.argsort(labels, kind="stable")
        ends = np.cumsum(sizes)
        starts = ends - sizes
        parts.cuts[starts] = 1
        for g in np.flatnonzero(sizes >= 2 * self._k):
            divide(self._table, parts, starts[g], ends[g], self._k, self._k)
        return labels_of(parts.order, np.flatnonzero(parts.cuts))

    def loss(self, labels: np.ndarray) -> float:
        """By ranges and nodes."""
        ends = np.cumsum(np.bincount(labels))
        return float(sum_losses(self._table, np.argsort(labels, kind="stable"), ends))


def trade(
    X: np.ndarray, k: int, labels: np.ndarray, trees: CategoryColumns, threads: int, progress: Progress
) -> np.ndarray:
    """The groups after rounds of trades by ranges and nodes, until one gains little; labels 0, 1, …"""
    trades = Trades(X, k, trees, progress, threads)
    rounds, loss = min(max(MAX_RECORDS // len(X), 1), MAX_TRADING_ROUNDS), trades.loss(labels)
    for turn in range(rounds):
        if progress.step(turn / rounds):
            break
        labels = trades.cut(trades.run(labels))
        before, loss = loss, trades.loss(labels)
        if before - loss <= LEAST_GAIN * before:
            break
    return labels


def _free(n: int) -> Rule:
    """The rule that every group satisfies."""
    return Rule(np.zeros(n, np.int64), np.array([n]), n, DIVERSE, 1, 1, np.zeros(n))
