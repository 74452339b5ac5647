"""Group columns on an NVIDIA GPU, by CuPy and the kernels in kernels/: the same labels as on the CPU, bit by bit."""

from functools import cache

import numpy as np

from mag.backends import cpu
from mag.backends._device import Columns
from mag.backends._launch import LARGEST, Device

PROBE = 'extern "C" __global__ void probe(int* x) { x[threadIdx.x] = 3 * threadIdx.x + 1; }'
THREADS = 256  # per multiprocessor, which keep it busy


@cache
def status() -> str | None:
    """Why this cannot be used, in one sentence, or None if it can: a kernel was compiled and run."""
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
    return None if right else "A GPU was found, but a kernel did not compute what it should."


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0].rstrip('.')}."


@cache
def _on(number: int) -> Device:
    import cupy

    properties = cupy.cuda.runtime.getDeviceProperties(number)
    lanes = THREADS * properties["multiProcessorCount"]
    return Device(cupy, cupy.RawModule, number, properties["sharedMemPerBlockOptin"], lanes)


def current() -> Device:
    """The device that CuPy works on now."""
    import cupy

    return _on(cupy.cuda.runtime.getDevice())


def free(device: Device) -> int | None:
    """Bytes that may be taken: what the device has and what CuPy's pool holds in reserve."""
    if not hasattr(device.xp, "get_default_memory_pool"):
        return None
    return device.xp.cuda.runtime.memGetInfo()[0] + device.xp.get_default_memory_pool().free_bytes()


def grouped(X, problem, device=None) -> Columns:
    """The rows of X, on the device, each grouped by itself; nothing waits for the device before `finish`."""
    device = current() if device is None else device
    return Columns(device, X, problem, free(device))


def group(x, weights, problem, assume_sorted, threads):
    """As `cpu.group`; the values are moved to the device and the result is brought back."""
    if (reason := refusal(problem, weights)) is not None:
        raise ValueError(reason)
    if not takes(x.size, problem):
        return cpu.group(x, weights, problem, assume_sorted, threads)
    device = current()
    columns = grouped(device.xp.asarray(x)[None, :], problem, device)
    columns.finish()
    starts = device.host(columns.starts[0])[: int(columns.n_groups[0])].astype(np.int64)
    order = None if assume_sorted else device.host(columns.order[0])
    return order, starts, device.host(columns.labels[0])


def group_columns(X, jobs, threads):
    """As `cpu.group_columns`; the table is moved to the device and the labels are brought back."""
    n, m = X.shape
    device = current()
    labels = np.empty((m, n), np.int32)
    n_groups, least = np.empty(m, np.int64), np.empty(m, np.int64)
    for problem, which in jobs:
        if (reason := refusal(problem, None)) is not None:
            raise ValueError(reason)
        if not takes(n, problem):
            found = cpu.group_columns(X[:, which], [(problem, np.arange(which.size))], threads)
            if found is None:
                return None
            labels[which], n_groups[which], least[which] = found
            continue
        columns = grouped(device.xp.asarray(np.ascontiguousarray(X[:, which].T)), problem, device)
        if not columns.finish():
            return None
        labels[which], n_groups[which] = device.host(columns.labels), device.host(columns.n_groups)
        least[which] = device.host(columns.least)
    return labels, n_groups, least


def takes(n: int, problem) -> bool:
    """Whether the kernels can do it; else the CPU does."""
    return n < 2**31 - 2**20 and problem.k <= LARGEST


def refusal(problem, weights) -> str | None:
    """Why the problem is for the CPU alone, in one sentence."""
    if weights is not None or not problem.plain:
        return "backend 'cuda' takes neither weights nor group_penalty, max_groups or soft; use backend 'cpu'."
    if not problem.cost.built_in:
        return f"backend 'cuda' takes the costs of the table only; got cost {problem.cost.name!r}, use backend 'cpu'."
    if "block" not in problem.solvers:
        (name,) = problem.solvers
        return f"solver must be 'auto' or 'block' with backend 'cuda'; got {name!r}."
    return None
