"""`python -m benchmarks.stages`: where the time of one call goes, in nanoseconds per value, one thread."""

import argparse

import numpy as np

import mag
from benchmarks._measure import best, machine, save, show
from mag._backends.cpu import padded
from mag._backends.cpu.labels import at_least, label, label_sorted
from mag._compiled.sort import sort
from mag._compiled.starts import starts_of
from mag.costs import COSTS
from mag.solvers import block


def row(x: np.ndarray, k: int) -> dict:
    """Every stage of a call by itself, then the calls."""
    n, kernel, ordered = x.size, COSTS["sse"].kernel, np.sort(x)
    column, order = block.padded(ordered), sort(x)[1]
    sizes = np.empty(n + 1 + block.PAD, block.size_type(k))
    work = np.empty(block.memory(kernel, n, k))
    block.solve(kernel, column, column, k, sizes, work)
    room, labels = np.empty(n // k + 1, np.int64), np.empty(n, np.int32)
    starts = room[starts_of(sizes[: n + 1], k, True, room) :].copy()
    label(starts, 0, starts.size, order, labels)
    in_order = labels[order]
    stages = {
        "finite?": lambda: np.isfinite(x).all(),
        "ascending?": lambda: (ordered[:-1] <= ordered[1:]).all(),
        "pad": lambda: padded(ordered),
        "sort": lambda: sort(x, block.PAD),
        "solve": lambda: block.solve(kernel, column, column, k, sizes, work),
        "follow back": lambda: starts_of(sizes[: n + 1], k, True, room),
        "label, sorted": lambda: label_sorted(starts, 0, starts.size, in_order),
        "label": lambda: label(starts, 0, starts.size, order, labels),
        "sizes, sorted": lambda: at_least(k, in_order, starts.size, True),
        "sizes": lambda: at_least(k, labels, starts.size, False),
        "call, sorted": lambda: mag.univariate(ordered, k, assume_sorted=True, threads=1),
        "call": lambda: mag.univariate(x, k, threads=1),
        "np.argsort": lambda: np.argsort(x),
    }
    for stage in stages.values():
        stage()
    return {"k": k, **{name: best(stage, 21) / n * 1e9 for name, stage in stages.items()}}


def main() -> None:
    """Print the table and save it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=1_000_000, help="values (default: 1 000 000)")
    n = parser.parse_args().n
    print(machine())
    x = np.random.default_rng(7).random(n)
    rows = [row(x, k) for k in (2, 5, 10, 20, 100, 1000, 10_000, 100_000) if 2 * k <= n]
    show(f"Nanoseconds per value, sse, uniform, n = {n}, one thread", rows)
    save("stages", rows)


if __name__ == "__main__":
    main()
