"""What the kernels of whole calls do, counted by the emulator (tests/emulator/profile.h states its model of a device).

The device and the data are an A100 and the tables of the guide, both smaller: multiprocessors, second cache and columns
SHRUNK times, so that every multiprocessor has as much to do and as much of the cache as on the device.  Tables of
records, which have to stay in the second cache, and the cache with them are FEWER times smaller.
"""

import json
import os
import pathlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any
from unittest import mock

import numpy as np

from tests.emulator.profile import CLASSES

SHRUNK, FEWER = 27, 12
PROCESSORS, CACHE = 108 // SHRUNK, 40 << 20
COUNTS = pathlib.Path(__file__).with_name("_gpu_counts.json")
_LEAST = 0.005  # of a case's bytes; kernels that move less are put together


def cases(cols: int, n: int) -> Iterator[tuple[str, int, int, Callable[[], Callable[[], object]]]]:
    """What is called, the second cache, how many values or records counts are divided by, and what prepares the call.

    CuPy is emulated already.
    """
    import cupy

    import mag

    cols, fewer, lines = -(-cols // SHRUNK), -(-n // FEWER), 200
    table = cupy.asarray(np.random.default_rng(7).random((n, cols)))
    for k in (3, 5, 20, 100, 1000):
        call = partial(mag.columns, table, k, backend="cuda")
        yield f"columns, k = {k}", CACHE // SHRUNK, n * cols, lambda call=call: lambda: call().labels

    def results() -> Callable[[], object]:
        grouped = mag.columns(table, 5, backend="cuda")
        _ = grouped.labels
        return lambda: (grouped.masked, grouped.cost, grouped.information_loss)

    yield "results, k = 5", CACHE // SHRUNK, n * cols, results
    records = cupy.asarray(np.random.default_rng(7).normal(size=(fewer, 20)))
    directions = np.random.default_rng(0).normal(size=(20, lines))
    along = partial(mag.multivariate, method="projection", directions=directions, ordered=False, backend="cuda")
    yield "projection, k = 5", CACHE // FEWER, fewer * lines, lambda: lambda: along(records, 5).labels
    near = cupy.asarray(np.random.default_rng(7).normal(size=(fewer, 10)))
    for method in ("mdav", "mondrian_v"):
        call = partial(mag.multivariate, near, 10, method=method, backend="cuda")
        yield f"{method}, k = 10", CACHE // FEWER, fewer, lambda call=call: lambda: call().labels


def counted(cols: int, n: int, only: str = "") -> Iterator[tuple[str, dict[str, dict[str, float]]]]:
    """The cases whose name contains `only`; by kernel what is moved, requested, executed, per value."""
    os.environ["EMULATOR_SMS"] = str(PROCESSORS)
    from tests import emulator

    emulator.activate(counted=True)
    import cupy

    from mag._backends.cuda import columns
    from tests.emulator import profile

    with mock.patch.object(columns, "host_is_sooner", return_value=False):  # whatever threads this machine has
        for name, cache, values, prepare in cases(cols, n):
            if only in name:
                call = prepare()
                profile.start(cache)
                call()
                cupy.cuda.runtime.deviceSynchronize()
                yield name, summary(profile.launches(), values)
                profile.start(0)


def summary(launches: list[Any], values: int) -> dict[str, dict[str, float]]:
    """Launches of the same kernel put together, those that move little under one name."""
    moved = sum(launch.read + launch.written for launch in launches)
    by_kernel: dict[str, list[Any]] = {}
    for launch in launches:
        by_kernel.setdefault(launch.kernel, []).append(launch)
    chosen: dict[str, list[Any]] = {}
    for kernel, own in by_kernel.items():
        much = sum(launch.read + launch.written for launch in own) >= _LEAST * moved
        chosen.setdefault(kernel if much else "all others", []).extend(own)
    return {kernel: _row(own, values) for kernel, own in chosen.items()}


def _row(launches: list[Any], values: int) -> dict[str, float]:
    def total(name: str) -> int:
        return sum(getattr(launch, name) for launch in launches)

    of_warps = {name: 32 * sum(launch.instructions[name] for launch in launches) / values for name in CLASSES}
    asked = [launch.requested for launch in launches]
    passes = [launch.passes for launch in launches]
    sectors, used = sum(a for a, _ in asked), sum(u for _, u in asked)
    behind = total("read") + total("written")
    return {
        "launches": len(launches),
        "read": total("read") / values,
        "written": total("written") / values,
        "used %": 100 * total("used") / max(1, behind),
        "requested": sectors / values,
        "of it %": 100 * used / max(1, sectors),
        "instructions": total("executed") / values,
        "lanes %": 100 * total("executed") / max(1, 32 * total("issued")),
        "divergent %": 100 * total("divergent") / max(1, total("branches")),
        "passes": sum(p for p, _, _ in passes) / max(1, sum(least for _, least, _ in passes)),
        "ways": max(worst for _, _, worst in passes),
        "atomics": total("atomics") / values,
        "on one": max(launch.contended for launch in launches),
        "barriers": total("barriers") / max(1, total("blocks")),
    } | of_warps


def rows(found: dict[str, dict[str, float]]) -> list[dict[str, object]]:
    """As a table, with a sum; shares without decimals."""
    summed = ("launches", "read", "written", "requested", "instructions", "atomics")
    return _table(found, [name for name in next(iter(found.values())) if name not in CLASSES], summed)


def by_class(found: dict[str, dict[str, float]]) -> list[dict[str, object]]:
    """The instructions of warps as a table, with a sum."""
    return _table(found, CLASSES, CLASSES)


def _table(found: dict[str, dict[str, float]], names: Sequence[str], summed: Sequence[str]) -> list[dict[str, object]]:
    out: list[dict[str, object]] = []
    for kernel, row in found.items():
        shown = {name: f"{row[name]:.0f}" if name.endswith("%") else row[name] for name in names}
        out.append({"kernel": kernel, **shown})
    total = {name: sum(row[name] for row in found.values()) if name in summed else None for name in names}
    return [*out, {"kernel": "sum", **total}]


def save(case: str, kernels: dict[str, dict[str, float]], date: str) -> None:
    """Keep the counts of a case for the model of cost."""
    known = json.loads(COUNTS.read_text()) if COUNTS.exists() else {}
    kept = [name for name in next(iter(kernels.values())) if name not in CLASSES or name == "float64"]
    rounded = {kernel: {name: round(row[name], 3) for name in kept} for kernel, row in kernels.items()}
    known[case] = {"date": date, "kernels": rounded}
    COUNTS.write_text(json.dumps(known, indent=1) + "\n")


def load(case: str) -> dict[str, dict[str, float]]:
    """The counts of a case that were kept, by kernel."""
    kernels: dict[str, dict[str, float]] = json.loads(COUNTS.read_text())[case]["kernels"]
    return kernels
