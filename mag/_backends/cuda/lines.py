"""Records projected on lines, grouped and scored on a device: kernels/records.cu and consecutive.cu.

The records go there once, if they are not there.  Of every batch of directions, the scores come back; at the end, one
vector of labels.
"""

from typing import Any

import numpy as np

from mag._backends.cuda.columns import ColumnBatch
from mag._backends.cuda.launch import Device, Solved, cut, label, size_type, trace, verify
from mag._backends.cuda.sort import sort
from mag._backends.cuda.totals import total_of
from mag._backends.problem import Problem
from mag._lib.errors import REPORT, group_below

MAX_BATCH_VALUES = 2**26  # values of a batch
TAKEN = 64  # bytes that each takes: the line, its groups, and what grouping needs


class DeviceProjections:
    """Directions that the records X, (n, d), were projected on; of one of them, labels are kept.

    `total` is the sum of squares of all records.
    """

    scratch = 2**23  # numbers of what groups in an order cost, and of sums on the way, at once

    def __init__(self, device: Device, X: Any, problem: Problem) -> None:
        xp = device.xp
        self.device, self.problem = device, problem
        self.rows = xp.asarray(X)
        self.columns = xp.ascontiguousarray(self.rows.T)
        self.total = total_of(device, self.rows, squared=True)
        self._batch: Any = None
        self._kept: Any = None

    @property
    def width(self) -> int:
        """How many directions should be scored at once."""
        free = self.device.free_bytes()
        return max(
            1, (MAX_BATCH_VALUES if free is None else min(MAX_BATCH_VALUES, free // (2 * TAKEN))) // len(self.rows)
        )

    def score(self, directions: np.ndarray) -> np.ndarray:
        """What the groups of each direction, a row, lose by all columns."""
        device, (n, d), m = self.device, self.rows.shape, len(directions)
        shape = np.int32(n), np.int32(d), np.int32(m)
        self._batch = found = ColumnBatch(device, self._projected(self.columns, directions), self.problem)
        if not found.finish():
            raise FloatingPointError("A projection of finite records is not finite.")
        most, groups = np.int64(found.starts.shape[1]), found.n_groups
        ranked, kept = device.empty(m, n), device.empty(m, int(most), dtype=np.float64)
        ordered = found.order, found.labels, found.starts, groups, shape[0], shape[2], most, ranked
        device.launch("records", "rank", m * n, 256, ordered)
        added = self.rows, ranked, found.starts, groups, *shape, most, kept
        device.launch("records", "squares", m * int(most), 128, added)
        scores = device.empty(m, dtype=np.float64)
        device.launch("records", "score", m, 64, (kept, groups, np.float64(self.total), shape[2], most, scores))
        return device.host(scores)

    def _projected(self, columns: Any, directions: np.ndarray) -> Any:
        """Σ direction[c] · columns[c] for every direction, a row."""
        device, (d, n), m = self.device, columns.shape, len(directions)
        lines = device.empty(m, n, dtype=np.float64)
        given = columns, device.xp.asarray(directions), np.int32(n), np.int32(d), np.int32(m), lines
        device.launch("records", "project", -(-m // 8) * n, 256, given)
        return lines

    def products(self) -> np.ndarray:
        """The products of the columns with each other; of the records, where there are fewer of these."""
        device, (n, d) = self.device, self.rows.shape
        X = self.columns if d <= n else self.rows
        products = device.empty(len(X), len(X), dtype=np.float64)
        given = X, np.int32(len(X)), np.int32(X.shape[1]), products
        device.launch("records", "gram", products.size, 128, given)
        return device.host(products)

    def combined(self, shares: np.ndarray) -> np.ndarray:
        """The sum of all records, each times its share."""
        return self.device.host(self._projected(self.rows, np.ascontiguousarray(shares)[None, :]))[0]

    def keep(self, row: int) -> None:
        """Keep the labels of this direction of the last batch, instead of others."""
        self._kept = self._batch.labels[row].copy()

    def labels(self) -> np.ndarray:
        """The labels that were kept."""
        return self.device.host(self._kept)

    def labels_in_orders(self, directions: np.ndarray) -> np.ndarray:
        """Labels of the best groups of records that are consecutive on one of the lines; of equals, on the first."""
        width, least = self.width, np.inf
        kept: tuple[Any, ...] = ()
        for first in range(0, len(directions), width):
            order, sizes, costs = self._best_on(directions[first : first + width])
            if costs.min() < least:
                row = int(np.argmin(costs))
                least, kept = float(costs[row]), (order[row : row + 1].copy(), sizes[row : row + 1].copy())
        return self._labels_of(*kept)

    def _best_on(self, directions: np.ndarray) -> tuple[Any, Any, np.ndarray]:
        """The order of records on each line, the sizes of last groups in it, and what all groups cost."""
        device, n, m = self.device, len(self.rows), len(directions)
        order, flags = device.empty(m, n), device.xp.zeros(m, np.int32)
        sort(device, self._projected(self.columns, directions), order, flags)
        sizes, costs = self._solved_in(order)
        if device.host(flags).any():
            raise RuntimeError(f"The device's sort returned no permutation; {REPORT}")
        return order, sizes, device.host(costs)

    def _labels_of(self, order: Any, sizes: Any) -> np.ndarray:
        """The label of every record, whose last groups in this order have these sizes."""
        device, xp, n, k = self.device, self.device.xp, len(self.rows), self.problem.k
        ends, starts, flags = xp.full(1, n, np.int32), device.empty(1, n // k), xp.zeros(1, np.int32)
        traced = trace(device, Solved(sizes, None, None, None), ends, k)
        cut(device, traced, starts)
        labels, unknown = device.empty(1, n), xp.zeros(1, np.float64)
        label(device, starts, traced.groups, order, unknown, unknown, 0.0, labels, flags)
        verify(device, labels, traced.groups, k, xp.zeros((1, n // k), np.int32), flags)
        if device.host(flags).any():
            raise group_below(k)
        return device.host(labels[0])

    def _solved_in(self, order: Any) -> tuple[Any, Any]:
        """The sizes of last groups in each order, and what all groups cost."""
        device, (n, d), m, k = self.device, self.rows.shape, len(order), self.problem.k
        wide = -(-d // 4) * 4
        ends = min(n, max(1, self.scratch // (m * (k + 2 * wide))))
        costs, sums = (device.empty(m * ends * numbers, dtype=np.float64) for numbers in (k, 2 * wide))
        sizes, F = device.empty(m, n, dtype=size_type(k)), device.xp.full((m, 2 * k), np.inf)
        F[:, 0] = 0.0
        shared = 16 * k <= min(device.shared, 48 << 10)
        kind: dict[str, Any] = {"size": Solved(sizes, *[None] * 3).size}
        for first in range(1, n + 1, ends):
            chunk = np.int32(first), np.int32(ends)
            given = self.rows, order, np.int32(n), np.int32(d), np.int32(m), np.int32(k), *chunk, sums, costs
            device.launch("consecutive", "costs", m * ends, 128, given, **kind)
            followed = costs, np.int32(n), np.int32(k), *chunk, np.int32(shared), F, sizes, np.int64(n)
            device.launch("consecutive", "follow", 32 * m, 32, followed, 16 * k if shared else 0, **kind)
        return sizes, F[:, n % (2 * k)]
