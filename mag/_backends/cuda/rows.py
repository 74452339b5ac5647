"""Some of the columns that were grouped on a device: a single one, or a batch whose results need little memory."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from mag._backends.cuda.columns import Columns
from mag._backends.problem import EXACT
from mag._compiled.groups import Groups, distance

BATCH = 2**26  # bytes of a batch


def batches_of(columns: Columns) -> Iterator[slice]:
    """The rows in batches of bounded memory, at least one each."""
    cols, n = columns.X.shape
    height = max(1, BATCH // (8 * n))
    return (slice(first, min(first + height, cols)) for first in range(0, cols, height))


class Row:
    """One of the columns, as `Columns` that has no other: what it knows of all of them, it knows of this one."""

    def __init__(self, columns: Columns, row: int) -> None:
        self._columns, self._rows = columns, slice(row, row + 1)
        self.device, self.problem = columns.device, columns.problem

    def finish(self) -> bool:
        """As that of all columns: values that are not finite are looked for in all."""
        return self._columns.finish()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._columns, name)[self._rows]

    @property
    def masked(self) -> Any:
        """The data with each record replaced."""
        return self._columns.masked_rows(self._rows)

    @property
    def shares(self) -> Any:
        """SSE / SST."""
        return shares_of_rows(self._columns, self._rows)


def shares_of_rows(columns: Columns, rows: slice) -> Any:
    """SSE / SST of some rows, on the device; integers whose sums float64 would round are left to the CPU."""
    device, cost = columns.device, columns.problem.cost
    xp, (cols, n) = device.xp, columns.X[rows].shape
    ordered = xp.take_along_axis(columns.X[rows], columns.order[rows].astype(np.int64), axis=1)
    real = ordered.dtype.kind == "f"
    values = ordered.astype(np.float64) if real else distance(ordered, ordered[:, :1]).astype(np.float64)
    origins = ordered[:, 0].astype(np.int64) if ordered.dtype.kind == "i" else xp.zeros(cols, np.int64)
    inexact = [] if real else np.flatnonzero(device.host(values[:, -1]) * n >= EXACT).tolist()
    values[inexact] = 0.0
    starts, groups = columns.starts[rows], columns.n_groups[rows]
    within, shares = device.empty(cols, n, dtype=np.float64), device.empty(cols, dtype=np.float64)
    most, shape = starts.shape[1], (np.int32(n), np.int32(cols))
    given = values, starts, np.int64(most), groups, origins, *shape, within
    device.launch("shares", "deviations", cols * most, 128, given, cost=cost.name)
    device.launch("shares", "share", cols, 64, (values, within, *shape, shares), cost=cost.name)
    for row in inexact:
        own = Groups(device.host(ordered[row]), device.host(starts[row])[: int(groups[row])].astype(np.int64))
        whole = Groups(own.values, np.zeros(1, np.int64))
        shares[row] = own.information_loss(cost.centers(own), whole)[0]
    return shares
