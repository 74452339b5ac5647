"""One column on a device, or solved by the host between two steps of it: `python -m benchmarks.hybrid`.

The kernels are executed on the host (tests/cuda), with numbers that count what is done with them.  *Device* is all
that the solving kernels compute, warm starts and repairs included; *chain* is what follows each other: one chunk's
share, and the repairs; *hybrid* is what the host computes instead.  Bytes are those that cross the bus until labels are
final.
"""

import ctypes
import pathlib

import numpy as np

from benchmarks._measure import save, show, words
from mag._backends.cuda import launch as _launch
from mag._backends.cuda.columns import ColumnBatch
from mag._backends.problem import Problem
from mag.costs import COSTS
from mag.solvers import SOLVERS
from tests.cuda import host

LANES = 256 * 108  # an A100's
CASES = [(10_000, 3), (100_000, 3), (100_000, 10), (50_000, 20), (50_000, 100)]
SHAPES = {
    "normal": lambda n: np.sort(np.random.default_rng(0).normal(size=n)),
    "equally spaced": lambda n: np.arange(float(n)),
}
COUNTED = pathlib.Path(host.HEADER).with_name("counted.h")


class CountingModule(host.HostModule):
    """Kernels whose numbers count."""

    def __init__(self, *, code, options=()):
        super().__init__(code=COUNTED.read_text() + code, options=options)
        self._library.operations_so_far.restype = ctypes.c_longlong

    @property
    def operations(self):
        """All so far."""
        return self._library.operations_so_far()


class CountingDevice(_launch.Device):
    """Counts operations by kernel, and bytes that leave for the host."""

    def launch(self, source, kernel, threads, block, args, dynamic=0, **chosen):
        """As it is, and count."""
        module = _launch.compiled(self.module, self.number, source, _launch.macros(source, real=self.real, **chosen))
        before = module.operations
        super().launch(source, kernel, threads, block, args, dynamic, **chosen)
        SPENT[kernel] = SPENT.get(kernel, 0) + module.operations - before

    @staticmethod
    def host(array):
        """As it is, and count."""
        SPENT["bytes"] = SPENT.get("bytes", 0) + array.nbytes
        return np.asarray(array)


SPENT: dict[str, int] = {}


def operations(x, k, lanes):
    """Of all solving kernels together, and of the longest chain of them; how many chunks there were."""
    SPENT.clear()
    device = CountingDevice(np, CountingModule, shared=100 << 10, lanes=lanes, real="Counted")
    solved = _launch.solve(device, x[None, :], np.zeros(1, np.int32), "sse", k)
    units, chains = (-(-x.size // _launch.PANEL), lanes) if k <= _launch.LARGEST_K else (-(-x.size // k), lanes // 32)
    chunks = _launch.chunks_of(units, 1, max(1, chains), _launch.warm_start(k))[0]
    again = sum(count for kernel, count in SPENT.items() if kernel.endswith("repair"))
    return sum(SPENT.values()), (sum(SPENT.values()) - again) / chunks + again, chunks, int(solved.redone[0])


def bytes_over_the_bus(x, k):
    """Of a column that lives on the device and is solved by the host: there, and back."""
    SPENT.clear()
    device = CountingDevice(np, CountingModule, shared=100 << 10, lanes=1, real="Counted", hybrid=True)
    problem = Problem(COSTS["sse"], {"block": SOLVERS["block"]}, k, k)
    columns = ColumnBatch.compute(device, x[None, :], problem)
    columns.finish()
    return SPENT["bytes"] + int(columns.n_groups[0]) * columns.starts.itemsize


def main():
    """Print the table and write it as JSON."""
    _launch.REALS["Counted"] = np.float64
    rows = []
    for name, shape in SHAPES.items():
        for n, k in CASES:
            x = shape(n)
            everything, chain, chunks, redone = operations(x, k, LANES)
            alone = operations(x, k, 1)[0]
            device = _launch.Device(np, host.HostModule, lanes=LANES, hybrid=True)
            rows.append(
                {
                    "values": name,
                    "n": n,
                    "k": k,
                    "chunks": chunks,
                    "repaired": redone,
                    "device, operations/value": everything / n,
                    "chain": chain / n,
                    "hybrid": alone / n,
                    "bytes/value": bytes_over_the_bus(x, k) / n,
                    "chosen": "hybrid" if _launch.host_is_sooner(device, 1, n, k) else "device",
                }
            )
    show("One column: all on the device, or solved by the host", rows)
    save("hybrid", rows)


if __name__ == "__main__":
    words(__doc__)
    main()
