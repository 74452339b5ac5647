"""`python -m benchmarks.gpu`: the CUDA backend on a real device; `--model` prints the model of cost, without one.

Kernels are timed with CUDA events.  Bandwidth counts what a kernel must read and write (docs/guide/gpu.md), against
the peak of the device.  The CPU backend runs on the same table.
"""

import argparse

import numpy as np

import mag
from benchmarks._measure import best, machine, save, show
from mag._backends import cuda
from mag._backends.cuda import THREADS
from mag._backends.cuda.launch import (
    ON_HOST,
    SEGMENT,
    Device,
    chunks_of,
    device_time,
    host_is_sooner,
    size_type,
    warm_start,
)
from mag.solvers._narrow import LARGEST_K, PANEL

# memory in bytes/s; additions or multiplications in float64 per second, which are not fused; multiprocessors; clock
DEVICES = {
    "A100 40 GB": {"memory": 1.555e12, "float64": 9.7e12 / 2, "processors": 108, "clock": 1.41e9},
    "RTX 4090": {"memory": 1.008e12, "float64": 1.29e12 / 2, "processors": 128, "clock": 2.52e9},
}
SEARCH = 400  # cycles of one search of four columns by one warp: loads, a join, six shuffles that wait for each other
STEP = 6  # cycles per float64 operation of a thread that hardly shares its scheduler: half of them wait, with moves
WARM = 1.25  # chunks start early, by a quarter of their length at most


def sort_bytes(width: int = 8) -> float:
    """What the sort of values of `width` bytes moves per value, every digit included: see kernels/sort.cu."""
    passes = width * (4 + 8 + 8) - 8  # words are counted, then words and records moved; the first come with the keys
    lift = 4 + 8 + 4 if width > 4 else 0
    return width + 4 + passes + lift + (4 + width + 8 + 2 / 8)  # keys, passes, the higher word, values in order


def bytes_per_value(k: int) -> dict[str, float]:
    """What every step must read and write per value, float64 in, int32 labels out."""
    size, segment, group = size_type(k)().itemsize, max(SEGMENT, 8 * k), 1.2 * k  # groups of 1.2 k on average
    restart = 8 / PANEL if k <= LARGEST_K else 8 / k
    return {
        "sort": sort_bytes(),
        "solve": 8 * (WARM if k <= LARGEST_K else 1) + size + restart,
        "walk, link": size + 2 * 8 * (2 * k - 1) / segment,
        "cut": size + 4 / group,
        "label": 4 + 4 + 4 / group,
        "count": 4 + 8 / group,
        "represent": (4 + 8 + 8) + 8 + 20 / group,  # values are put in order again
        "mask": 4 + 8 + 8 / group,
    }


def operations_per_value(k: int) -> float:
    """Additions, multiplications and comparisons in float64 per value, cost "sse"."""
    if k <= LARGEST_K:  # per size up to 2k-1: y, its square, two sums; per size from k on: a cost, a sum, a comparison
        return 4 * (2 * k - 1) + 6 * k
    return 3 * 8 + 20 * 6  # sums of rows and columns, then about twenty sizes per column


def model(cols: int, n: int) -> list[dict]:
    """Milliseconds for a table: of memory, of arithmetic, and of one thread or warp that waits for itself."""
    rows = []
    for name, device in DEVICES.items():
        for k in (3, 5, 10, 20, 100, 1000):
            moved = bytes_per_value(k)
            needed = sum(moved[step] for step in ("sort", "solve", "walk, link", "cut", "label", "count"))
            operations = operations_per_value(k) * (WARM if k <= LARGEST_K else 1)
            if k <= LARGEST_K:
                chunks = chunks_of(-(-n // PANEL), cols, THREADS * device["processors"], warm_start(k))[0]
                cycles = n / chunks * operations * STEP * max(1, cols * chunks / (THREADS * device["processors"]))
            else:
                cycles = n / 4 * SEARCH * max(1, cols / (device["processors"] * 16))
            rows.append(
                {
                    "device": name,
                    "k": k,
                    "bytes/value": needed,
                    "× input": needed / 8,
                    "with masked": sum(moved.values()),
                    "memory ms": cols * n * needed / device["memory"] * 1e3,
                    "float64 ms": cols * n * operations / device["float64"] * 1e3,
                    "latency ms": cycles / device["clock"] * 1e3,
                }
            )
    return rows


def one_column() -> list[dict]:
    """The rule that chooses the hybrid way for one column on an A100: nanoseconds per value, bytes over the bus."""
    rows, lanes = [], THREADS * DEVICES["A100 40 GB"]["processors"]
    for n, k in ((10_000, 3), (1_000_000, 3), (1_000_000, 10), (100_000, 100), (2_000_000, 20), (2_000_000, 100)):
        device = Device(np, None, lanes=lanes, hybrid=True)
        chosen = "hybrid" if host_is_sooner(device, 1, n, k) else "device"
        times = {"device, ns": device_time(device, 1, n, k), "hybrid, ns": ON_HOST}
        rows.append({"n": n, "k": k, **times, "chosen": chosen, "bus, bytes": 8 + 4 / k if chosen == "hybrid" else 0.0})
    return rows


def measured(cols: int, n: int, k: int) -> list[dict]:
    """Every kernel's time by events, and its share of the peak bandwidth."""
    import cupy

    device, spent = cuda.current(), {}
    launch = type(device).launch

    def timed(self, source, kernel, *args, **options):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        launch(self, source, kernel, *args, **options)
        end.record()
        end.synchronize()
        spent[kernel] = spent.get(kernel, 0.0) + cupy.cuda.get_elapsed_time(begin, end)

    X = np.random.default_rng(7).random((n, cols))
    given = cupy.asarray(X)
    assert np.array_equal(mag.columns(given, k).labels.get(), mag.columns(X, k).labels)
    type(device).launch = timed
    try:
        _ = mag.columns(given, k).masked
        spent.clear()
        _ = mag.columns(given, k).masked
    finally:
        type(device).launch = launch
    properties = cupy.cuda.runtime.getDeviceProperties(device.number)
    peak = 2e3 * properties["memoryClockRate"] * properties["memoryBusWidth"] / 8
    steps = {"narrow": "solve", "block": "solve", "walk": "walk, link", "tally": "count"}
    rows = []
    for kernel, milliseconds in spent.items():
        moved = bytes_per_value(k).get(steps.get(kernel, kernel))
        rate = None if moved is None else moved * n * cols / (milliseconds / 1e3)
        rows.append(
            {"k": k, "kernel": kernel, "ms": milliseconds, "GB/s": rate and rate / 1e9, "of peak": rate and rate / peak}
        )
    whole = best(lambda: mag.columns(given, k).labels.get())
    on_cpu = best(lambda: mag.columns(X, k, backend="cpu").labels)
    return [
        *rows,
        {"k": k, "kernel": f"whole call; CPU {1e3 * on_cpu:.0f} ms", "ms": 1e3 * whole, "GB/s": None, "of peak": None},
    ]


def main() -> None:
    """Print the tables and save them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=100_000, help="records (default: 100 000)")
    parser.add_argument("-m", type=int, default=500, help="columns (default: 500)")
    parser.add_argument("--model", action="store_true", help="the model of cost only")
    options = parser.parse_args()
    show(f"Model: {options.m} columns of {options.n} values, sse", model(options.m, options.n))
    show("Model: one column on an A100, per value", one_column())
    if options.model:
        return
    if (reason := cuda.why_not()) is not None:
        raise SystemExit(reason)
    print(machine())
    rows = [row for k in (3, 10, 20, 100, 1000) for row in measured(options.m, options.n, k)]
    show(f"Measured: {options.m} columns of {options.n} values, sse, uniform", rows)
    save("gpu", rows)


if __name__ == "__main__":
    main()
