"""`python -m benchmarks.gpu --model`: what the CUDA backend should cost, beside the CPU of this machine.

`--measure` runs it on a device: kernels are timed with CUDA events, their bandwidth counts what they must read and
write, as counted by `--profile`, against the device's peak, and the CPU backend runs on the same data.  It writes
benchmarks/results/gpu.json.

`--profile` needs no device: kernels run emulated, and are counted (benchmarks/_gpu_profile.py).  It keeps the counts in
benchmarks/_gpu_counts.json, which the model reads.
"""

import argparse
import time
from collections.abc import Callable
from unittest import mock

import numpy as np

import mag
from benchmarks import _gpu_model, _gpu_profile
from benchmarks._gpu_model import bytes_per_value
from benchmarks._measure import best, machine, save, show
from mag._backends import cuda
from mag._lib.progress import Progress
from mag.methods.mdav import run as mdav_run
from mag.methods.mondrian.halving import RULE_VARIANCE, parts_of
from mag.methods.orders.consecutive import best_in_orders

COUNTED = 20_000  # records of which MDAV's lists are counted


def core_time(function: Callable[[], object]) -> float:
    """Seconds that one core works, whoever else is working beside it: the least of three calls."""
    least = float("inf")
    for _ in range(3):
        began = time.process_time()
        function()
        least = min(least, time.process_time() - began)
    return least


def columns_on_cpu(n: int) -> dict[int, float]:
    """Nanoseconds per value of one core, by k."""
    X, found = np.random.default_rng(7).random((n, 4)), {}
    for k in (3, 5, 20, 100, 1000):  # which the emulator has counted
        mag.columns(X[:, :1], k, threads=1)
        found[k] = 1e9 * core_time(lambda k=k: mag.columns(X, k, threads=1)) / X.size
    return found


def projections_on_cpu(n: int, d: int, k: int) -> float:
    """Nanoseconds per direction and record of one core."""
    X = np.random.default_rng(7).normal(size=(n, d))

    def run(m: int) -> Callable[[], object]:
        return lambda: mag.multivariate(
            X, k, method="projection", directions=np.random.default_rng(0).random((d, m)), ordered=False, threads=1
        )

    run(1)()
    return 1e9 * (core_time(run(9)) - core_time(run(1))) / (8 * n)


def orders_on_cpu(n: int, d: int, k: int) -> float:
    """Nanoseconds per order and record of one core."""
    X = np.random.default_rng(7).normal(size=(n, d))
    order = np.argsort(X[:, 0])
    best_in_orders(X[:50], [np.arange(50)], k, None)
    return 1e9 * core_time(lambda: best_in_orders(X, [order], k, None)) / n


def mdav_on_cpu(n: int, d: int, k: int) -> tuple[dict[str, float], float]:
    """Lists, launches and waits per record, and seconds of one core per n²."""
    X, counts = np.random.default_rng(7).normal(size=(n, d)), {"near": 0, "far": 0, "launches": 0, "waits": 0}
    near, far = mdav_run._reserve_nearest, mdav_run.reserve_farthest

    def counting(kind: str, reserve: Callable[..., int]) -> Callable[..., int]:
        def count(*args: object) -> int:
            wanted = reserve(*args)
            counts[kind] += wanted
            counts["launches"] += (wanted > 0) + (kind == "near")  # and one for the records that were assigned
            counts["waits"] += wanted > 0
            return wanted

        return count

    mag.multivariate(X[:500], k, method="mdav")
    took = core_time(lambda: mag.multivariate(X, k, method="mdav", threads=1))
    with (
        mock.patch.object(mdav_run, "_reserve_nearest", counting("near", near)),
        mock.patch.object(mdav_run, "reserve_farthest", counting("far", far)),
    ):
        mag.multivariate(X, k, method="mdav", threads=1)
    return {name: count / n for name, count in counts.items()}, took / n**2


def halving_on_cpu(n: int, d: int, k: int) -> float:
    """Nanoseconds per record and level of one core."""
    X = np.random.default_rng(7).normal(size=(n, d))
    mag.multivariate(X[:500], k, method="mondrian_v")
    took = core_time(lambda: parts_of(X, k, 2 * k, RULE_VARIANCE, 1, Progress()))
    return 1e9 * took / (n * (n // (2 * k)).bit_length())


def model(cols: int, n: int) -> None:
    """Print what the model predicts, beside 16 cores like those of this machine."""
    print(_gpu_model.__doc__)
    print("CPU:", machine()["processor"], "one core, its own time, divided by 16")
    show(f"Bytes per value by step, k = 5: {cols} columns of {n} values", [bytes_per_value(5)])
    show(f"Model: {cols} columns of {n} values, sse", _gpu_model.model(cols, n, columns_on_cpu(n)))
    show("Model: one column on an A100, per value", _gpu_model.one_column())
    on_cpu = projections_on_cpu(n, 20, 5)
    show(f"Model: 500 directions of {n} × 20 records, k = 5", _gpu_model.projections(500, n, 20, 5, on_cpu))
    rows = _gpu_model.orders(8, n, 20, 5, orders_on_cpu(n, 20, 5))
    show(f"Model: the orders of 8 lines, {n} × 20 records, k = 5", rows)
    counted, seconds = mdav_on_cpu(COUNTED, 10, 10)
    rows = [row for many in (10**4, 10**5, 10**6) for row in _gpu_model.lists(many, 10, 10, counted, seconds)]
    show(f"Model: MDAV, n × 10 records, k = 10, lists counted at n = {COUNTED}", rows)
    on_cpu = halving_on_cpu(n, 10, 10)
    rows = [row for many in (10**3, 10**4, 10**5, 10**6) for row in _gpu_model.halving(many, 10, 10, on_cpu)]
    show("Model: Mondrian by variances, n × 10 records, k = 10", rows)


def profile(cols: int, n: int, only: str) -> None:
    """Count what kernels do on an emulated device, and keep the counts for the model."""
    print(_gpu_profile.__doc__)
    for case, kernels in _gpu_profile.counted(cols, n, only):
        show(f"Counted: {case}; bytes, instructions, atomics a value; barriers a block", _gpu_profile.rows(kernels))
        show(f"Counted: {case}; instructions of warps by class per 32 values", _gpu_profile.by_class(kernels))
        _gpu_profile.save(case, kernels, machine()["date"])


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
        kernel = _gpu_model.STEPS.get(kernel, kernel)
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
    rows = []
    for kernel, milliseconds in spent.items():
        moved = bytes_per_value(k).get(kernel)
        rate = None if moved is None else moved * n * cols / (milliseconds / 1e3)
        rows.append(
            {"k": k, "kernel": kernel, "ms": milliseconds, "GB/s": rate and rate / 1e9, "of peak": rate and rate / peak}
        )
    whole = best(lambda: mag.columns(given, k).labels.get())
    on_cpu = best(lambda: mag.columns(X, k, backend="cpu").labels)
    return [*rows, _beside(k, "columns, whole call", whole, on_cpu)]


def measured_records(n: int) -> list[dict]:
    """Whole calls of the methods for records, on the device and on the CPU."""
    X, rows = np.random.default_rng(7).normal(size=(n, 20)), []
    for method, options in (("projection", {"n_projections": 500, "ordered": False}), ("mdav", {}), ("ona_star", {})):
        table = X if method == "projection" else X[:, :10]
        labels = [
            mag.multivariate(table, 5, method=method, backend=backend, **options).labels for backend in ("cpu", "cuda")
        ]
        assert np.array_equal(*labels), method
        took = [
            best(lambda b=b, m=method, t=table, o=options: mag.multivariate(t, 5, method=m, backend=b, **o), 3)
            for b in ("cuda", "cpu")
        ]
        rows.append(_beside(5, f"{method}, {n} × {table.shape[1]}", *took))
    return rows


def _beside(k: int, what: str, device: float, on_cpu: float) -> dict:
    return {"k": k, "kernel": f"{what}; CPU {1e3 * on_cpu:.0f} ms", "ms": 1e3 * device, "GB/s": None, "of peak": None}


def main() -> None:
    """Print the tables; save what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=100_000, help="records (default: 100 000)")
    parser.add_argument("-m", type=int, default=500, help="columns (default: 500)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--model", action="store_true", help="the model of cost (the default)")
    what.add_argument("--measure", action="store_true", help="on a device; writes benchmarks/results/gpu.json")
    what.add_argument(
        "--profile", nargs="?", const="", metavar="CASE", help="count kernels, some minutes; those of CASE only"
    )
    options = parser.parse_args()
    if options.profile is not None:
        profile(options.m, options.n, options.profile)
        return
    if not options.measure:
        model(options.m, options.n)
        return
    if (reason := cuda.why_not()) is not None:
        raise SystemExit(reason)
    print(machine())
    rows = [row for k in (3, 5, 20, 100, 1000) for row in measured(options.m, options.n, k)]
    rows += measured_records(min(options.n, 50_000))
    show(f"Measured: {options.m} columns of {options.n} values, sse, uniform; records", rows)
    save("gpu", rows)


if __name__ == "__main__":
    main()
