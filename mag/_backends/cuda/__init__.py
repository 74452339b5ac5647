"""Group columns on an NVIDIA GPU, by CuPy and the kernels in kernels/: the same labels as on the CPU, bit by bit."""

import os
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from mag._backends import cpu
from mag._backends.cuda import halving, hybrid
from mag._backends.cuda import weights as weighed
from mag._backends.cuda.columns import ColumnBatch
from mag._backends.cuda.facts import DeviceColumnFacts, DeviceTableFacts
from mag._backends.cuda.launch import MAX_K_16_BIT, PER_SM, Device
from mag._backends.cuda.lines import DeviceProjections
from mag._backends.cuda.neighbors import DeviceNeighbors, fits
from mag._backends.cuda.records import DeviceArithmetic, DeviceRecordFacts
from mag._backends.cuda.transfer import copy_to_device
from mag._backends.cuda.transpose import transposed
from mag._backends.problem import Problem
from mag._backends.protocol import Boxes, Jobs, ToCaller
from mag._lib.arrays import resident as resident
from mag._lib.checks import thread_count
from mag._lib.errors import InputValueError
from mag.costs import Cost
from mag.results import ColumnGroupings, Grouping

PROBE = 'extern "C" __global__ void probe(int* x) { x[threadIdx.x] = 3 * threadIdx.x + 1; }'
on_device = True


@cache
def why_not() -> str | None:
    """The reason why this backend cannot be used, in one sentence, or None if it can: a kernel was compiled and run."""
    try:
        import cupy
    except ImportError:
        return "CuPy is not installed: pip install 'mag-sdc[cuda12]', or 'mag-sdc[cuda13]' for CUDA 13."
    except Exception as error:
        return f"CuPy is installed, but cannot be imported: {_first_line(error)}"
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except Exception as error:
        driver = "InsufficientDriver" in str(error) or "NoDevice" in str(error)
        return f"CuPy is installed, but {'no NVIDIA driver or GPU was found.' if driver else _first_line(error)}"
    if count < 1:
        return "CuPy is installed, but no NVIDIA GPU was found."
    try:
        numbers = cupy.zeros(4, np.int32)
        cupy.RawModule(code=PROBE).get_function("probe")((1,), (4,), (numbers,))
        right = numbers.get().tolist() == [1, 4, 7, 10]
    except Exception as error:
        return f"A GPU was found, but kernels cannot be compiled or run on it: {_first_line(error)}"
    try:  # CuPy compiles this by itself, with headers of the CUDA toolkit
        halves = cupy.where(numbers > 1, numbers / 2, 0.0).astype(np.float16)
        right = right and halves.max().get().tolist() == 5.0
    except Exception as error:
        return f"A GPU was found, but CuPy lacks the headers of the toolkit, 'mag-sdc[cuda12]': {_first_line(error)}"
    return None if right else "A GPU was found, but a kernel returned a wrong result."


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0].rstrip('.')}."


@cache
def _device_by_number(number: int) -> Device:
    import cupy

    properties = cupy.cuda.runtime.getDeviceProperties(number)
    lanes = PER_SM * properties["multiProcessorCount"]
    shared = properties["sharedMemPerBlockOptin"]
    return Device(cupy, cupy.RawModule, number, shared, lanes, hybrid=True, threads=thread_count("threads", None))


def _forget() -> None:
    """Forget the devices after a fork: a forked process cannot use the parent's, and may have found none."""
    why_not.cache_clear()
    _device_by_number.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def current() -> Device:
    """The device that CuPy works on now."""
    import cupy

    return _device_by_number(cupy.cuda.runtime.getDevice())


def device_of(x: Any) -> Device:
    """The device that an array of CuPy lies on."""
    number = getattr(getattr(x, "device", None), "id", None)
    return current() if number is None else _device_by_number(number)


def devices_by_number(numbers: Sequence[int] | None) -> list[Device]:
    """The devices of these numbers; the current one by default."""
    if numbers is None:
        return [current()]
    import cupy

    there = cupy.cuda.runtime.getDeviceCount()
    if not all(number < there for number in numbers):
        raise InputValueError(f"devices must be numbers of GPUs from 0 to {there - 1}; got {max(numbers)}.")
    return [_device_by_number(number) for number in numbers]


def split_columns(which: np.ndarray, devices: list[Device]) -> list[tuple[Device, np.ndarray]]:
    """Columns in equal parts, one for each device; fewer columns than devices leave some without any."""
    parts = zip(devices, np.array_split(which, len(devices)), strict=True)
    return [(device, part) for device, part in parts if part.size]


def group(
    x: np.ndarray, weights: np.ndarray | None, problem: Problem, assume_sorted: bool, threads: int
) -> tuple[np.ndarray | None, np.ndarray, np.ndarray]:
    """As `cpu.group`; the values are moved to the device and the result is brought back."""
    refuse(problem, weights)
    if not supports(x.size, problem, weights):
        return cpu.group(x, weights, problem, assume_sorted, threads)
    device = current()
    columns = ColumnBatch.compute(device, device.xp.asarray(_native(x))[None, :], problem, weights=weights)
    columns.finish()
    starts = device.host(columns.starts[0])[: int(columns.n_groups[0])].astype(np.int64)
    order = None if assume_sorted else device.host(columns.order[0])
    return order, starts, device.host(columns.labels[0])


def _native(x: np.ndarray) -> np.ndarray:
    """The same numbers in the byte order of this machine, which is that of its devices."""
    return x.astype(x.dtype.newbyteorder("="), copy=False)


def group_columns(
    X: np.ndarray,
    jobs: Jobs,
    threads: int,
    weights: np.ndarray | None = None,
    devices: Sequence[int] | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """As `cpu.group_columns`; the table is moved to the devices and the labels are brought back."""
    n, m = X.shape
    labels = np.empty((m, n), np.int32)
    n_groups, least = np.empty(m, np.int64), np.empty(m, np.int64)
    for problem, which in jobs:
        refuse(problem, weights)
        if not supports(n, problem, weights):
            found = cpu.group_columns(X[:, which], [(problem, np.arange(which.size))], threads, weights)
            if found is None:
                return None
            labels[which], n_groups[which], least[which] = found
            continue
        parts = []
        for device, part in split_columns(which, devices_by_number(devices)):  # all work before one is waited for
            with device.active():
                rows = device.xp.asarray(np.ascontiguousarray(_native(X[:, part]).T))
                parts.append((ColumnBatch.compute(device, rows, problem, weights=weights), part))
        for columns, part in parts:
            with columns.device.active():
                if not columns.finish():
                    return None
                labels[part], n_groups[part] = (
                    columns.device.host(columns.labels),
                    columns.device.host(columns.n_groups),
                )
                least[part] = columns.device.host(columns.least)
    return labels, n_groups, least


def group_resident(
    x: Any, problem: Problem, weights: np.ndarray | None, *, dtype: np.dtype, origin: ToCaller
) -> Grouping:
    """The Grouping of values that are resident on a device; it stays there as well."""
    device = device_of(x)
    with device.active():
        row = device.xp.ascontiguousarray(x)[None, :]
        columns = ColumnBatch.compute(device, row, problem, dtype=dtype, weights=weights)
    return Grouping(DeviceColumnFacts(columns, 0, x=x, origin=origin), problem.k, True, problem.cost.name)


def group_resident_columns(
    X: Any,
    jobs: Jobs,
    k: int | tuple[int, ...],
    weights: np.ndarray | None,
    *,
    dtype: np.dtype,
    costs: list[Cost],
    origin: ToCaller,
    devices: Sequence[int] | None = None,
) -> ColumnGroupings:
    """The ColumnGroupings of a table that is resident on a device; they stay there if other devices compute them."""
    place, parts = device_of(X), []
    for problem, which in jobs:
        for device, part in split_columns(which, [place] if devices is None else devices_by_number(devices)):
            with place.active():
                whole = part.size == X.shape[1]
                rows = transposed(place, X) if whole else place.xp.ascontiguousarray(X.T[place.xp.asarray(part)])
            rows = copy_to_device(device, place, rows)
            with device.active():
                parts.append((ColumnBatch.compute(device, rows, problem, dtype=dtype, weights=weights), part))
    facts = DeviceTableFacts(parts, x=X, origin=origin, device=place)
    return ColumnGroupings(facts, k, True, [cost.name for cost in costs])


def supports_lines(n: int, d: int, problem: Problem) -> bool:
    """Whether n records of d columns can be projected, grouped and scored on the device."""
    return supports(n, problem) and n * d < 2**31 - 2**20


def lines(X: Any, problem: Problem) -> DeviceProjections:
    """Records that are projected, grouped and scored on the device; on the one that they are on already."""
    return DeviceProjections(device_of(X), X, problem)


def record_context(X: Any) -> tuple[DeviceArithmetic, Callable[..., DeviceRecordFacts]]:
    """The device of resident records, and the function that makes the facts about their groups."""
    device = device_of(X)
    return DeviceArithmetic(device), partial(DeviceRecordFacts, device=device)


def supports_halving(n: int, d: int, k: int, rule: int) -> bool:
    """Whether records can be divided on the device by this rule."""
    return halving.fits(n, d, k, rule)


def halve(
    X: np.ndarray,
    rule: int,
    clearly: float,
    divisible: Callable[[np.ndarray], np.ndarray],
    step: Callable[[], Any],
) -> tuple[np.ndarray, np.ndarray]:
    """The order of the records and where parts start in it, divided on the device."""
    return halving.Halving(current(), X, rule, clearly).run(divisible, step)


def neighbors(boxes: Boxes) -> DeviceNeighbors:
    """Records whose nearest and farthest are found on the device."""
    return DeviceNeighbors(current(), boxes)


def supports_lists(n: int, d: int, length: int) -> bool:
    """Whether lists of `length` records can be made for n records of d columns."""
    return fits(current(), n, d, length)


def supports(n: int, problem: Problem, weights: np.ndarray | None = None) -> bool:
    """Whether the kernels can do it; else the CPU does."""
    plain = problem.plain and problem.cost.built_in and n < 2**31 - 2**20
    if weights is not None and not weighed.supports(problem, weights):
        return False
    solvable = "block" in problem.solvers and problem.k <= MAX_K_16_BIT
    return plain and (solvable or (hybrid.searches_blocks(problem) and problem.k <= hybrid.MAX_K_PER_BATCH))


def refuse(problem: Problem, weights: np.ndarray | None) -> None:
    """Raise one sentence where the problem is for the CPU alone."""
    if problem.extended or not problem.plain:
        raise InputValueError("backend must be 'cpu' with group_penalty, max_groups or soft; got 'cuda'.")
    if weights is not None and problem.cost.name != "sse":
        raise InputValueError(f"backend must be 'cpu' with weights and cost {problem.cost.name!r}; got 'cuda'.")
    if weights is not None and not weighed.supports(problem, weights):
        what = "solver 'block' and weights from 2**-63 to 2**63"
        raise InputValueError(f"backend must be 'cpu' with weights, unless for {what}; got 'cuda'.")
    if not problem.cost.built_in:
        raise InputValueError(f"backend must be 'cpu' with cost {problem.cost.name!r}, which is your own; got 'cuda'.")
    if hybrid.searches_blocks(problem):
        if problem.k > hybrid.MAX_K_PER_BATCH:
            limit = f"k must be at most {hybrid.MAX_K_PER_BATCH} with solver 'staggered' and backend 'cuda'"
            raise InputValueError(f"{limit}, which copies blocks of k² costs; got {problem.k}.")
    elif "block" not in problem.solvers:
        name = next(iter(problem.solvers))
        raise InputValueError(f"solver must be 'auto', 'block' or 'staggered' with backend 'cuda'; got {name!r}.")
