"""Cost blocks against solvers that compute single costs: `python -m benchmarks.blocks`.

Nanoseconds per value of one sorted column on the CPU, on one thread, all in one run.  *Search* is what the host does in
``solver="staggered", backend="cuda"``: SMAWK over blocks that are there; *fill* computes these blocks by numba, which a
device does instead; *bus* is what crosses it, and how long that takes at 25 GB/s.  *From blocks* is
`mag.Cost.from_blocks` with a function of the sum of squares, in NumPy and in PyTorch.
"""

import numpy as np

import mag
from benchmarks._measure import best, save, show, words
from mag.costs import COSTS
from mag.solvers.extensions import diagonal

CASES = [(100_000, 3), (100_000, 10), (100_000, 30), (100_000, 100), (100_000, 256), (100_000, 1000)]
BUS = 25.0  # bytes per nanosecond
BATCH = 2**22  # costs that are filled and searched at a time


def sse(sums, i, j):
    """The sum of squares, in the array API."""
    count, total, squares = (s[j] - s[i] for s in sums)
    return squares - total**2 / count


COST = mag.Cost.from_blocks(sse, powers=2, concave=True, splitting=True)


def blocks_of(x, k):
    """Functions that fill the blocks of a column, and that search them, a batch at a time."""
    kernel, n = COSTS["sse"].kernel, x.size
    blocks = -(-(n + 1 - k) // k)
    batch = min(blocks, max(1, BATCH // k**2))
    left, joint, right = np.zeros((batch, 2 * k - 1)), np.zeros((batch, k, k)), np.zeros((batch, k))
    F, sizes, work = np.zeros(n + 1), np.empty(n + 1, np.int32), np.empty(diagonal.memory(kernel, n, k))

    def fill():
        for t in range(0, blocks, batch):
            diagonal.fill(kernel, x, np.empty(0), k, t, (left, joint, right), work)

    def search():  # of one batch again and again, which takes as long
        for t in range(0, blocks, batch):
            diagonal.search(left, joint, right, t, F, sizes)

    return fill, search


def times_of(x, k):
    """Seconds of every way, by name."""
    fill, search = blocks_of(x, k)
    times = {
        "block": best(lambda: mag.univariate(x, k, assume_sorted=True, threads=1)),
        "staggered": best(lambda: mag.univariate(x, k, assume_sorted=True, solver="staggered")),
        "fill": best(fill),
        "search": best(search),
        "from blocks, NumPy": best(lambda: mag.univariate(x, k, assume_sorted=True, cost=COST)),
    }
    try:
        import torch
    except ImportError:
        return times
    torch.set_num_threads(1)
    tensor = torch.from_numpy(x)
    return times | {"from blocks, PyTorch": best(lambda: mag.univariate(tensor, k, assume_sorted=True, cost=COST))}


def main():
    """Print the table and write it as JSON."""
    rows = []
    for n, k in CASES:
        times = times_of(np.sort(np.random.default_rng(0).normal(size=n)), k)
        crossing = 8 * (k + 3 - 1 / k)
        row = {"n": n, "k": k} | {name: seconds / n * 1e9 for name, seconds in times.items()}
        rows.append(row | {"bus, bytes/value": crossing, "bus, ns/value": crossing / BUS})
    show("One sorted column: nanoseconds per value", rows)
    save("blocks", rows)


if __name__ == "__main__":
    words(__doc__)
    main()
