"""Records projected on lines, grouped and scored on a device: kernels/records.cu.

The records go there once.  Of every batch of directions, the scores come back; at the end, one vector of labels.
"""

from typing import Any

import numpy as np

from mag._backends.cuda.columns import Columns
from mag._backends.cuda.launch import Device
from mag._backends.problem import Problem

MOST = 2**26  # values of a batch
TAKEN = 64  # bytes that each takes: the line, its groups, and what grouping needs


class Lines:
    """Directions that the records X, (n, d), were projected on; of one of them, labels are kept."""

    def __init__(self, device: Device, X: np.ndarray, total: float, problem: Problem) -> None:
        xp = device.xp
        self.device, self.problem, self.total = device, problem, total
        self.rows = xp.asarray(X)
        self.columns = xp.ascontiguousarray(self.rows.T)
        self._batch: Any = None
        self._kept: Any = None

    @property
    def width(self) -> int:
        """How many directions should be scored at once."""
        free = self.device.free()
        return max(1, (MOST if free is None else min(MOST, free // (2 * TAKEN))) // len(self.rows))

    def score(self, directions: np.ndarray) -> np.ndarray:
        """What the groups of each direction, a row, lose by all columns."""
        device, (n, d), m = self.device, self.rows.shape, len(directions)
        lines = device.empty(m, n, dtype=np.float64)
        shape = np.int32(n), np.int32(d), np.int32(m)
        given = self.columns, device.xp.asarray(directions), *shape, lines
        device.launch("records", "project", -(-m // 8) * n, 256, given)
        self._batch = found = Columns(device, lines, self.problem)
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

    def keep(self, row: int) -> None:
        """Keep the labels of this direction of the last batch, instead of others."""
        self._kept = self._batch.labels[row].copy()

    def labels(self) -> np.ndarray:
        """The labels that were kept."""
        return self.device.host(self._kept)
