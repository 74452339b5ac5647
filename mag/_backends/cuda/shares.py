"""Information loss on a device: kernels/shares.cu."""

from typing import Any

import numpy as np

from mag._backends.cuda.sort import gather
from mag._backends.safety import FLOAT64_EXACT
from mag._compiled.groups import Groups


def shares_of(columns: Any, rows: slice) -> Any:
    """SSE / SST of some rows, on the device; integers whose sums float64 would round are left to the CPU."""
    device, cost = columns.device, columns.problem.cost
    xp, X, order, (cols, n) = device.xp, columns.X[rows], columns.order[rows], columns.X[rows].shape
    real, values = X.dtype.kind == "f", gather(device, X, order)
    signed = X.dtype.kind == "i"  # the first value of each column
    origins = X[xp.arange(cols), order[:, 0]].astype(np.int64) if signed else xp.zeros(cols, np.int64)
    if columns.weights is None:
        inexact = [] if real else np.flatnonzero(device.host(values[:, -1]) * n >= FLOAT64_EXACT).tolist()
    else:  # distances are no integers there, and what float64 cannot hold was solved by the CPU
        inexact = [col - rows.start for col in columns.redone if rows.start <= col < rows.stop]
    weights = values if columns.weights is None else columns.device_weights
    values[inexact] = 0.0
    columns.warn_about_copy(len(inexact))
    starts, groups = columns.starts[rows], columns.n_groups[rows]
    within, shares = device.empty(cols, n, dtype=np.float64), device.empty(cols, dtype=np.float64)
    most, shape = starts.shape[1], (np.int32(n), np.int32(cols))
    given = values, order, weights
    cut = starts, np.int64(most), groups, origins
    device.launch("shares", "deviations", cols * most, 128, (*given, *cut, *shape, within), cost=columns.kernel)
    device.launch("shares", "share", cols, 64, (*given, within, *shape, shares), cost=columns.kernel)
    for row in inexact:
        cut = device.host(starts[row])[: int(groups[row])].astype(np.int64)
        ordered = device.host(X[row])[device.host(order[row])]
        own = Groups(ordered, cut, columns.weights_of(rows.start + row))
        whole = Groups(own.values, np.zeros(1, np.int64), own.weights)
        shares[row] = own.information_loss(cost.centers(own), whole)[0]
    return shares
