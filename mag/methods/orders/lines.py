# mypy: allow-untyped-defs, no-check-untyped-defs
"""Records projected on lines, whose optimal groups are scored by all columns, on the threads of the host.

A backend with a device has the same functions: `mag._backends.protocol.Projections`.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from mag._backends import cpu
from mag._backends.problem import Problem
from mag._compiled.jit import jit
from mag._compiled.lanes import lanes_at
from mag._compiled.memory import grid
from mag._lib.lazy import cached_property
from mag._lib.threads import each
from mag._lib.workspace import borrow
from mag.methods.orders.consecutive import PADDED_COLUMNS, best_in_orders

NUMBERS_PER_BLOCK = 2**16  # numbers that are projected at once, by one thread


class HostProjections:
    """Directions that the records X, (n, d), were projected on; one of them is kept."""

    def __init__(self, X: np.ndarray, problem: Problem, threads: int) -> None:
        self.X, self.problem, self.threads = X, problem, threads
        self.total = float(np.square(X).sum())
        self._batch = self._kept = np.empty((0, 0))

    @cached_property
    def columns(self) -> np.ndarray:
        """X.T."""
        return np.ascontiguousarray(self.X.T)

    @cached_property
    def rows(self) -> np.ndarray:
        """X with columns of zeros for lanes without one."""
        n, d = self.X.shape
        rows = np.zeros((n, -(-d // PADDED_COLUMNS) * PADDED_COLUMNS))
        rows[:, :d] = self.X
        return rows

    @property
    def width(self) -> int:
        """How many directions should be scored at once."""
        return 4 * self.threads * max(1, NUMBERS_PER_BLOCK // len(self.X))

    def score(self, directions: np.ndarray) -> np.ndarray:
        """What the optimal groups of each direction, a row, lose by all columns."""
        self._batch, m = directions, len(directions)
        width = max(1, min(NUMBERS_PER_BLOCK // len(self.X), -(-m // self.threads)))
        blocks = [directions[i : i + width] for i in range(0, m, width)]
        return np.concatenate(each(self._score, blocks, self.threads))

    def _group(self, directions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Labels of the optimal groups on each line, and how many there are."""
        lines = borrow("lines", len(directions) * len(self.X), np.float64).reshape(len(directions), -1)
        for line, direction in zip(lines, directions, strict=True):
            project(self.columns, direction, line)
        found = cpu.group_columns(lines.T, [(self.problem, np.arange(len(directions)))], 1)
        assert found is not None  # the records are finite
        return found[:2]

    def _score(self, directions: np.ndarray) -> np.ndarray:
        labels, n_groups = self._group(directions)
        most = int(n_groups.max())
        sums, sizes = borrow("sums", most * self.rows.shape[1], np.float64), borrow("counts", most, np.int32)
        scores = np.empty(len(directions))
        score(self.rows, self.total, labels, n_groups, sums, sizes, scores)
        return scores

    def keep(self, row: int) -> None:
        """Keep this direction of the last batch."""
        self._kept = self._batch[row]

    def labels(self) -> np.ndarray:
        """The labels of the direction that was kept."""
        return self._group(self._kept[None, :])[0][0]

    def orders(self, directions: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
        """The order of the records on each line."""
        return (np.argsort(project(self.columns, direction), kind="stable") for direction in directions)

    def labels_in_orders(self, directions: Iterable[np.ndarray]) -> np.ndarray:
        """Labels of the best groups of records that are consecutive on one of the lines; of equals, on the first."""
        return best_in_orders(self.X, self.orders(directions), self.problem.k, None)

    def products(self) -> np.ndarray:
        """The products of the columns with each other; of the records, where there are fewer of these."""
        n, d = self.X.shape
        X = self.X if d <= n else self.columns
        products = np.zeros((X.shape[1], X.shape[1]))
        add_products(X, products)
        return products

    def combined(self, shares: np.ndarray) -> np.ndarray:
        """The sum of all records, each times its share."""
        return project(self.X, shares)


def project(XT: np.ndarray, direction: np.ndarray, line: np.ndarray | None = None) -> np.ndarray:
    """X @ direction, summed column by column: the same on every machine, and for any number of threads."""
    line = np.empty(XT.shape[1]) if line is None else line
    add_columns(XT, direction, line)
    return line


@jit
def add_columns(XT, direction, line):
    """line = Σ direction[c] · XT[c]."""
    for i in range(len(line)):
        line[i] = direction[0] * XT[0, i]
    for c in range(1, len(direction)):
        u = direction[c]
        for i in range(len(line)):
            line[i] += u * XT[c, i]


@jit
def add_products(X, products):
    """The products of the columns with each other, one record after the other: the same on every machine."""
    n, d = X.shape
    rows, sums = grid(X, d), grid(products, d)
    for i in range(n):
        for a in range(d):
            u = rows[i, a]
            for b in range(a, d):
                sums[a, b] += u * rows[i, b]
    for a in range(d):
        for b in range(a):
            sums[a, b] = sums[b, a]


@jit
def score(X, total, labels, n_groups, sums, sizes, scores):
    """The sum of squares of each row of labels, Σ|x|² - Σ|sum of group|²/size: to about 1e-15 of Σ|x|², and fast."""
    n, d = X.shape
    rows, totals = grid(X, d), grid(sums, d)
    for j in range(len(scores)):
        sizes[: n_groups[j]] = 0
        sums[: n_groups[j] * d] = 0.0
        for i in range(n):
            g = np.int64(labels[j, i])
            sizes[g] += 1
            for c in range(0, d, PADDED_COLUMNS):
                here = lanes_at(c, PADDED_COLUMNS)
                totals[g, here] += rows[i, here]
        between = 0.0
        for g in range(n_groups[j]):
            squares = 0.0
            for c in range(d):
                squares += totals[g, c] * totals[g, c]
            between += squares / sizes[g]
        scores[j] = max(total - between, 0.0)
