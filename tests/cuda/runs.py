"""The same columns on the CPU and on the host's kernels: every size, the last F and the cost, bit by bit."""

import contextlib
from unittest import mock

import numpy as np

from mag._backends import cuda
from mag._backends.cuda.launch import Device, solve
from mag._backends.problem import Problem
from mag.costs import COSTS
from mag.solvers import SOLVERS, automatic, block
from tests.cuda.host import HostModule
from tests.data.columns import SHAPES, data

HOST = Device(np, HostModule, shared=100 << 10)


class Resident(np.ndarray):
    """An array that lives on the make-believe device."""


def live(array):
    return np.ascontiguousarray(array).view(Resident)


def _resident(x):
    return (x.view(np.ndarray), live) if isinstance(x, Resident) else None


@contextlib.contextmanager
def device():
    """The host stands for a device: Resident arrays live there."""
    with (
        mock.patch.object(cuda, "why_not", return_value=None),
        mock.patch.object(cuda, "current", return_value=HOST),
        mock.patch.object(cuda, "resident", _resident),
    ):
        yield


def on(order, **options):
    """The host's device with threads in this order."""
    return Device(np, type("Ordered", (HostModule,), {"order": order}), **{"shared": 100 << 10, **options})


def solved_by_the_cpu(cost, x, k):
    """Sizes of the columns k .. n, F of the last 2k-1 columns, and the cost."""
    n, kernel = x.size, COSTS[cost].kernel
    values, sizes = block.padded(x), np.empty(n + 1 + block.PAD, block.size_type(k))
    work = np.empty(block.memory(kernel, n, k))
    total = block.solve(kernel, values, values, k, sizes, work)
    return sizes[k : n + 1].astype(int), block.ending(work, k).copy(), total


def table(cost, n, k, shapes=SHAPES):
    """A row of sorted values per shape."""
    return np.stack([data(shape, n, k, cost)[0] for shape in shapes])


def differences(device, X, cost, k, chunks=None):
    """The rows where kernels and CPU differ in any bit, and how many chunks were repaired."""
    found = solve(device, X, np.zeros(len(X), np.int32), cost, k, chunks)
    rows = []
    for row, x in enumerate(X):
        sizes, ending, total = solved_by_the_cpu(cost, x, k)
        same = np.array_equal(sizes, found.sizes[row, k - 1 : x.size])
        if not (same and ending.tobytes() == found.ending[row].tobytes() and total == found.total[row]):
            rows.append(row)
    return rows, found.redone


def problem(cost, k):
    """What `mag.univariate` makes of its arguments."""
    chosen = COSTS[cost]
    names = automatic(chosen, k, bounded=True, weighted=False)
    return Problem(chosen, {name: SOLVERS[name] for name in names}, k, k)


def staggered(cost, k):
    return Problem(COSTS[cost], {"staggered": SOLVERS["staggered"]}, k, k)
