"""Programs with one fault each; `python -m tests.emulator.faults MODE` prints what the emulator reports of them."""

import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tests import emulator

MODES = {
    "eager": {},
    "lazy": {"EMULATOR_LAZY": "1"},
    "two devices": {"EMULATOR_DEVICES": "2", "EMULATOR_PEERS": "0"},
}
STORE = 'extern "C" __global__ void f(double* x, int i) { x[i] = 1; }'
LOAD = 'extern "C" __global__ void f(double* x, int i) { x[0] = x[i]; }'
SHARED = 'extern "C" __global__ void f(double* x, int i) { extern __shared__ double s[]; s[i] = 1; x[0] = s[i]; }'
SMALL = 'extern "C" __global__ void __launch_bounds__(64) f(double* x, int i) { x[i] = 1; }'
BARRIER = """extern "C" __global__ void f(double* x, int i) {
    if (threadIdx.x < 3) __syncthreads(); else { x[i] = 1; __syncthreads(); } }"""
SKIPPED = """extern "C" __global__ void f(double* x, int i) {
    if (threadIdx.x < 3) x[i] = __shfl_sync(~0u, i, 0); else { __syncthreads(); x[i] = 0; } }"""
LANES = """extern "C" __global__ void f(double* x, int i) { x[i] = __shfl_sync(2u, i, 0); }"""
TRAP = """extern "C" __global__ void f(double* x, int i) { asm("trap;"); }"""
UNSET = """extern "C" __global__ void f(double* x, int i) { __shared__ double s[4]; x[1] = s[i]; }"""


def launch(code: str, *, i: int = 0, threads: Any = 1, grid: Any = 1, shared: int = 0, x: Any = None) -> Any:
    """Run a kernel on five zeros of an allocation of their own, or on x; the first two numbers that it leaves there."""
    import cupy

    given = cupy.zeros(5) if x is None else x
    grid, threads = ((size,) if isinstance(size, int) else size for size in (grid, threads))
    cupy.RawKernel(code, "f")(grid, threads, (given, np.int32(i)), shared_mem=shared)
    cupy.cuda.runtime.deviceSynchronize()
    return None if x is not None else given.get()[:2].tolist()


def copy_beyond() -> None:
    """Copy more than an allocation holds."""
    import cupy

    x = cupy.zeros(5)
    cupy.cuda.runtime.memcpy(x.data.ptr, np.zeros(6).ctypes.data, 48, cupy.cuda.runtime.memcpyHostToDevice)


def free_twice() -> None:
    """Free one allocation twice."""
    import cupy

    address = cupy.cuda.runtime.malloc(8)
    for _ in range(2):
        cupy.cuda.runtime.free(address)


def use_freed_memory() -> None:
    """Store to an array that was freed."""
    import cupy

    address = cupy.cuda.runtime.malloc(64)
    cupy.cuda.runtime.free(address)
    launch(STORE, x=np.uint64(address))


def store_misaligned() -> None:
    """Store eight bytes to an address that four divide."""
    import cupy

    x = cupy.zeros(5)
    launch(STORE, x=np.uint64(x.data.ptr + 4))


def read_unset_memory() -> Any:
    """Read an array that nothing was written to."""
    import cupy

    return (cupy.empty(2) * 1.0).get().tolist()


def take_too_much() -> None:
    """Allocate more than the device has."""
    import cupy

    cupy.empty(2**40)


def on_two_streams(ordered: bool) -> Any:
    """Add on one stream and read on another one, which waits for an event or does not."""
    import cupy

    a = cupy.zeros(1)
    cupy.cuda.runtime.deviceSynchronize()
    first, second = (cupy.cuda.Stream(non_blocking=True) for _ in range(2))
    with first:
        a += 1
    if ordered:
        second.wait_event(first.record())
    with second:
        return (a * 1.0).get().tolist()


def to_pinned_memory(waits: bool) -> Any:
    """Read a copy in pinned memory before or after it was waited for."""
    import cupy

    pinned = np.frombuffer(cupy.cuda.alloc_pinned_memory(8), np.float64, 1)
    pinned[:] = 0
    with cupy.cuda.Stream(non_blocking=True) as stream:
        ones = cupy.ones(1)  # kept: freeing it would wait
        ones.get(stream=stream, out=pinned, blocking=False)
        if waits:
            stream.synchronize()
        return pinned.tolist()


def read_other_device() -> None:
    """Run a kernel of one device on memory of the other."""
    import cupy

    x = cupy.zeros(5)
    with cupy.cuda.Device(1):
        launch(STORE, x=np.uint64(x.data.ptr))


def use_stream_of_other_device() -> None:
    """Launch on a stream of the other device."""
    import cupy

    x = cupy.zeros(5)
    with cupy.cuda.Device(1):
        stream = cupy.cuda.Stream()
    cupy.RawKernel(STORE, "f")((1,), (1,), (x, np.int32(0)), stream=stream)


def record_event_of_other_device() -> None:
    """Record an event of one device on a stream of the other."""
    import cupy

    event = cupy.cuda.Event()
    with cupy.cuda.Device(1):
        event.record(cupy.cuda.Stream())


FAULTS: dict[str, dict[str, Callable[[], Any]]] = {
    "eager": {
        "store behind an array": lambda: launch(STORE, i=5),
        "store before an array": lambda: launch(STORE, i=-1),
        "load behind an array": lambda: launch(LOAD, i=5),
        "memory of the host": lambda: launch(STORE, x=np.uint64(np.zeros(5).ctypes.data)),
        "freed memory": use_freed_memory,
        "misaligned address": store_misaligned,
        "shared memory that was not asked for": lambda: launch(SHARED),
        "behind shared memory": lambda: launch(SHARED, i=1, shared=8),
        "shared memory beyond 48 KB": lambda: launch(SHARED, shared=60_000),
        "too many threads": lambda: launch(STORE, threads=2048),
        "more threads than launch bounds": lambda: launch(SMALL, threads=65),
        "too many blocks": lambda: launch(STORE, grid=(1, 65_536)),
        "divergent barrier": lambda: launch(BARRIER, threads=8),
        "barrier that some threads never reach": lambda: launch(SKIPPED, threads=8),
        "lane outside of its mask": lambda: launch(LANES),
        "trap": lambda: launch(TRAP),
        "copy beyond an allocation": copy_beyond,
        "free twice": free_twice,
        "more memory than there is": take_too_much,
        "unset memory": read_unset_memory,
        "unset shared memory": lambda: launch(UNSET),
        "nothing": lambda: launch(STORE, i=1),
    },
    "lazy": {
        "no event": lambda: on_two_streams(False),
        "an event": lambda: on_two_streams(True),
        "no wait": lambda: to_pinned_memory(False),
        "a wait": lambda: to_pinned_memory(True),
    },
    "two devices": {
        "memory of the other device": read_other_device,
        "stream of the other device": use_stream_of_other_device,
        "event of the other device": record_event_of_other_device,
        "nothing": lambda: launch(STORE, i=1),
    },
}


def main(mode: str) -> None:
    """Print what each fault of a mode came to: the name of an error and what the driver says of it, or numbers."""
    driver = emulator.activate()
    import cupy

    cupy.cuda.set_allocator(None)  # every array is an allocation of its own
    reports = {}
    for name, run in FAULTS[mode].items():
        try:
            reports[name] = run()
        except Exception as error:
            reports[name] = f"{type(error).__name__}: {error} {driver.emulator_error().decode()}"
        driver.emulator_forget()
    print(json.dumps(reports))


if __name__ == "__main__":
    main(sys.argv[1])
