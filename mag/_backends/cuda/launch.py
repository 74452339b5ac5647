"""Launches of the CUDA kernels: which kernel, with how many threads, on which memory.

Everything a device is comes in by `Device`, so that the very same code drives CuPy on a GPU and, in tests, NumPy with
kernels that were compiled for the host.  Nothing here waits for the device.
"""

import math
import threading
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from mag._backends.cuda.sources import compiled, macros
from mag.costs import COSTS
from mag.solvers.block import COLUMNS_PER_SEARCH, LARGEST_K, PANEL, burn_in

MAX_K_16_BIT = 2**15 - 1  # largest k whose sizes fit 16 bits
SEGMENT = 1024  # values whose groups are followed back by one thread, at least
STATIC = 1024  # bytes of shared memory that kernels have besides their lines
CLOCK = 1.5  # of a device, in cycles per nanosecond
ON_HOST = 10.0  # nanoseconds per value that is solved by a thread of the host
BUS = 0.5  # nanoseconds per value on its way to the host and back
PER_SM, WARPS = 256, 16  # threads that keep a multiprocessor busy; warps that wait side by side there
WEIGHTED = "_weighted"  # the end of a cost's name, where kernels read weights
REALS = {"double": np.float64, "float": np.float32}
STREAM_PER_THREAD = 2  # the pointer of the per-thread default stream
OUT_OF_MEMORY = 2  # the status of CUDA's runtime


@dataclass(frozen=True)
class Device:
    """Arrays and kernels of one device.

    `xp` is CuPy or NumPy, `module` compiles like cupy.RawModule, `number` names the device, `shared` is the number of
    bytes of shared memory that a thread block may take, `lanes` the number of threads that keep the device busy;
    `hybrid`: whether the host may solve if that is faster, on how many `threads`.
    """

    xp: Any
    module: Any
    number: int = 0
    shared: int = 48 << 10
    lanes: int = 1
    real: str = "double"
    hybrid: bool = False
    threads: int = 1

    def free_bytes(self) -> int | None:
        """Bytes that can be allocated now: free memory of the device, and of CuPy's pool.

        None if that is unknown, because another allocator is in use, such as RMM's.
        """
        if not hasattr(self.xp, "get_default_memory_pool"):
            return None
        pool = self.xp.get_default_memory_pool()
        if self.xp.cuda.get_allocator() != pool.malloc:
            return None
        free, limit = self.xp.cuda.runtime.memGetInfo()[0] + pool.free_bytes(), pool.get_limit()
        return min(free, limit - pool.used_bytes()) if limit else free

    def record_event(self) -> Any:
        """Record an event after everything queued on the current stream."""
        if not hasattr(self.xp, "cuda"):
            return None
        event = self.xp.cuda.Event(disable_timing=True)
        event.record()
        return event

    def wait_for(self, event: Any) -> None:
        """Let the current stream wait for an event of any stream."""
        if event is not None:
            self.xp.cuda.get_current_stream().wait_event(event)

    def stream(self) -> Any:
        """The current stream, which owns newly allocated memory, and its thread if streams are per thread."""
        if not hasattr(self.xp, "cuda"):
            return None
        stream = self.xp.cuda.get_current_stream()
        return stream, threading.get_ident() if getattr(stream, "ptr", None) == STREAM_PER_THREAD else None

    def defer_reuse(self, owner: Any) -> None:
        """Let the stream that owns arrays wait for the current one, which reads them, before it reuses memory."""
        now = self.stream()
        if owner == now:
            return
        stream, thread = owner
        if thread in (None, threading.get_ident()):
            stream.wait_event(self.record_event())
        else:  # no other thread can name that stream
            now[0].synchronize()

    @staticmethod
    def lacks_memory(error: Exception) -> bool:
        """Whether the device has run out of memory: CuPy's pool raises Python's error, its other allocators CUDA's."""
        return isinstance(error, MemoryError) or getattr(error, "status", None) == OUT_OF_MEMORY

    def launch(
        self, source: str, kernel: str, threads: int, block: int, args: tuple[Any, ...], dynamic: int = 0, **chosen: Any
    ) -> None:
        """Start one kernel with at least this many threads."""
        function = compiled(self.module, self.number, source, macros(source, real=self.real, **chosen))
        function = function.get_function(kernel)
        if dynamic > 48 << 10:
            function.max_dynamic_shared_size_bytes = dynamic
        function((-(-threads // block),), (block,), args, shared_mem=dynamic)

    @staticmethod
    def host(array: Any) -> np.ndarray:
        """A NumPy copy; waits for the device."""
        return array.get() if hasattr(array, "get") else np.asarray(array)

    def empty(self, *shape: int, dtype: Any = np.int32) -> Any:
        """Memory on the device."""
        return self.xp.empty(shape, dtype)

    def active(self) -> AbstractContextManager[Any]:
        """While its memory is taken and its kernels are started: CuPy works on one device at a time."""
        known = getattr(getattr(self.xp, "cuda", None), "Device", None)
        return nullcontext() if known is None else known(self.number)


@dataclass
class Solved:
    """Sizes of last groups, [cols][stride]; F of the last 2k-1 columns; the cost; how many chunks were repaired."""

    sizes: Any
    ending: Any
    total: Any
    redone: Any

    @property
    def size(self) -> str:
        """The name of the sizes' type in the kernels."""
        return {1: "u8", 2: "u16"}[self.sizes.dtype.itemsize]


def size_type(k: int) -> type[np.unsignedinteger]:
    """The type that holds sizes below 2k."""
    return np.uint8 if k <= 128 else np.uint16


def chunks_of(units: int, cols: int, lanes: int, warm: int) -> tuple[int, int]:
    """The number of chunks and their units: as many as there are lanes for, none shorter than its warm start."""
    most = max(1, min(-(-lanes // cols), units // warm))
    length = -(-units // most)
    return -(-units // length), length


def warm_start(k: int) -> int:
    """Panels, or blocks, of a warm start; panels need four more to forget how F was rounded before."""
    return -(-burn_in(k) // PANEL) + 4 if k <= LARGEST_K else burn_in(k) // k


def device_time(device: Device, cols: int, n: int, k: int) -> float:
    """Nanoseconds per value of a thread or warp that waits for itself, as long as one chunk and its warm start take."""
    units, lanes = (-(-n // PANEL), device.lanes) if k <= LARGEST_K else (-(-n // k), device.lanes // 32)
    warm = warm_start(k)
    chunks, length = chunks_of(units, cols, max(1, lanes), warm)
    cycles = 6 * (4 * (2 * k - 1) + 6 * k) if k <= LARGEST_K else 100
    rounds = 1.0 if k <= LARGEST_K else max(1.0, cols * chunks / resident_warps(device, k))
    return cycles / CLOCK * (length + (warm if chunks > 1 else 0)) / units * rounds


def numbers_per_warp(cost: str, k: int) -> int:
    """Numbers that one warp of `block` keeps."""
    name = cost.removesuffix(WEIGHTED)
    kernel: Any = COSTS[name].kernel if name == cost else COSTS[name].weighted
    return 4 * k + kernel.n_terms * (3 * k + 16)


def resident_warps(device: Device, k: int) -> int:
    """How many warps of `block` run at once: their lines share the shared memory of a multiprocessor."""
    bytes_ = 8 * numbers_per_warp("sse", k) + STATIC
    return max(1, device.lanes // PER_SM) * min(WARPS, device.shared // bytes_ or WARPS)


def host_is_sooner(device: Device, cols: int, n: int, k: int) -> bool:
    """Whether the host solves these columns one by one sooner than the device does all: docs/guide/gpu_design.md."""
    host = max(-(-cols // device.threads) * ON_HOST, cols * BUS)
    return device.hybrid and device_time(device, cols, n, k) > host


def solve(
    device: Device,
    x: Any,
    scale: Any,
    cost: str,
    k: int,
    chunks: tuple[int, int] | None = None,
    *,
    weights: Any = None,
) -> Solved:
    """Sizes of the last groups of sorted columns x, float64 [cols][n], n >= 2k >= 4; `scale` int32 [cols].

    `chunks` is (units per chunk, units of the warm start), chosen here if None: panels of small k, else blocks.
    `weights` are those of x, for costs that read them.
    """
    given = x, x if weights is None else weights, scale
    return (_narrow if k <= LARGEST_K else _block)(device, given, cost + WEIGHTED * (weights is not None), k, chunks)


def _narrow(device: Device, given: tuple[Any, ...], cost: str, k: int, chunks: tuple[int, int] | None) -> Solved:
    cols, n = given[0].shape
    panels, window, real = -(-n // PANEL), 2 * k - 1, REALS[device.real]
    length, warm = chunks or (None, warm_start(k))
    count, length = (-(-panels // length), length) if length else chunks_of(panels, cols, device.lanes, warm)
    stride = -(-n // 4) * 4
    sizes, bases = device.empty(cols, stride, dtype=np.uint8), device.empty(cols, panels, dtype=real)
    entry, leave = (device.empty(count, window, cols, dtype=real) for _ in range(2))
    redone, ending, total = _results(device, cols, k)
    kind: dict[str, Any] = {"cost": cost, "k": k}
    shape = np.int32(n), np.int32(cols), np.int32(count)
    written = sizes, np.int64(stride), bases, entry, leave
    run = (*given, *shape, np.int32(length), np.int32(warm), *written)
    device.launch("narrow", "narrow", cols * count, 64, run, **kind)
    again = (*given, *shape, np.int32(length), *written, redone)
    device.launch("narrow", "narrow_repair", cols, 64, again, **kind)
    last = np.int64((count * window - 1) * cols)  # F of the oldest column; newer ones precede it
    ended = bases, np.int32(panels), leave, last, np.int64(1), np.int64(-cols), np.int32(window), ending, total
    device.launch("ending", "ending", 32 * cols, 32, ended)
    return Solved(sizes, ending, total, redone)


def _block(device: Device, given: tuple[Any, ...], cost: str, k: int, chunks: tuple[int, int] | None) -> Solved:
    cols, n = given[0].shape
    whole, real = k - k % COLUMNS_PER_SEARCH, REALS[device.real]
    blocks = -(-(n + 1 - k) // whole)
    length, warm = chunks or (None, warm_start(k))
    count, length = (-(-blocks // length), length) if length else chunks_of(blocks, cols, device.lanes // 32, warm)
    sizes, bases = device.empty(cols, n, dtype=size_type(k)), device.empty(cols, blocks, dtype=real)
    entry, leave = (device.empty(cols, count, 2 * k, dtype=real) for _ in range(2))
    redone, ending, total = _results(device, cols, k)
    inverse = device.xp.asarray(1.0 / np.maximum(1, np.arange(2 * k)), dtype=real)
    lines = numbers_per_warp(cost, k)
    in_shared = lines * np.dtype(real).itemsize <= device.shared - STATIC
    scratch = device.empty(1 if in_shared else cols * count * lines, dtype=real)
    kind = {"cost": cost, "size": Solved(sizes, *[None] * 3).size, "shared": in_shared}
    dynamic = lines * np.dtype(real).itemsize if in_shared else 0
    shape = np.int32(n), np.int32(k), np.int32(cols), np.int32(count)
    written = sizes, np.int64(n), bases, entry, leave, scratch, np.int64(lines)
    run = (*given, inverse, *shape, np.int32(length), np.int32(warm), *written)
    device.launch("block", "block", 32 * cols * count, 32, run, dynamic, **kind)
    again = (*given, inverse, *shape, np.int32(length), *written, redone)
    device.launch("block", "block_repair", 32 * cols, 32, again, dynamic, **kind)
    last, apart, window = np.int64((count - 1) * 2 * k), np.int64(count * 2 * k), np.int32(2 * k - 1)
    ended = bases, np.int32(blocks), leave, last, apart, np.int64(1), window, ending, total
    device.launch("ending", "ending", 32 * cols, 32, ended)
    return Solved(sizes, ending, total, redone)


def _results(device: Device, cols: int, k: int) -> tuple[Any, Any, Any]:
    ending, total = device.empty(cols, 2 * k - 1, dtype=np.float64), device.empty(cols, dtype=np.float64)
    return device.empty(cols), ending, total


@dataclass
class Traced:
    """The groups of a column: the input of `cut`, and the number of groups."""

    solved: Solved
    ends: Any
    enter: Any
    before: Any
    groups: Any
    length: int


def trace(device: Device, solved: Solved, ends: Any, k: int) -> Traced:
    """Follow the groups back from `ends`, int32 [cols], in every segment at once."""
    cols, stride = solved.sizes.shape
    length = max(SEGMENT, 8 * k)
    segments, window = -(-stride // length), 2 * k - 1
    to, count = (device.empty(cols, segments, window) for _ in range(2))
    enter, before = (device.empty(cols, segments) for _ in range(2))
    groups = device.empty(cols)
    shape = np.int32(k), np.int32(cols), np.int32(segments), np.int32(length)
    walked = (solved.sizes, np.int64(stride), ends, *shape, to, count)
    device.launch("labels", "walk", cols * segments * window, 128, walked, size=solved.size)
    width = math.isqrt(segments - 1) + 1  # segments are followed in spans, side by side
    spans = -(-segments // width)
    span_to, span_count = (device.empty(cols, spans, window) for _ in range(2))
    span_enter, span_before = (device.empty(cols, spans) for _ in range(2))
    cut_in = np.int32(spans), np.int32(width)
    composed = (to, count, ends, *shape, *cut_in, span_to, span_count)
    device.launch("labels", "compose", cols * spans * window, 128, composed, size=solved.size)
    of_spans = np.int32(k), np.int32(cols), np.int32(spans), np.int32(width * length)
    linked = (span_to, span_count, ends, *of_spans, span_enter, span_before, groups)
    device.launch("labels", "link", cols, 64, linked, size=solved.size)
    known = (to, count, ends, *shape, *cut_in, span_enter, span_before, groups, enter, before)
    device.launch("labels", "spread", cols * spans, 128, known, size=solved.size)
    return Traced(solved, ends, enter, before, groups, length)


def cut(device: Device, traced: Traced, starts: Any, mirrored: int = 0, others: Any = None) -> None:
    """Write where groups start, int32 [cols][most]; values that were `mirrored` (how many in all) follow `others`."""
    cols, segments = traced.enter.shape
    sizes = traced.solved.sizes
    shape = np.int32(cols), np.int32(segments), np.int32(traced.length), np.int32(mirrored)
    given = (sizes, np.int64(sizes.shape[1]), traced.ends, traced.enter, traced.before, *shape, traced.groups)
    others = traced.groups if others is None else others
    written = (*given, others, starts, np.int64(starts.shape[1]))
    device.launch("labels", "cut", cols * segments, 128, written, size=traced.solved.size)


def label(
    device: Device, starts: Any, groups: Any, order: Any, x: Any, total: Any, tiny: float, labels: Any, flags: Any
) -> None:
    """Write the label of every record; FOR_THE_CPU marks columns of a tiny cost whose groups are not constant."""
    cols, n = labels.shape
    most, lanes = starts.shape[1], 32 if n // starts.shape[1] >= 32 else 1
    given = starts, np.int64(most), groups, order, x, total, np.float64(tiny)
    shape = np.int32(n), np.int32(cols), np.int32(lanes)
    device.launch("labels", "label", cols * most * lanes, 128, (*given, *shape, labels, flags))


def verify(device: Device, labels: Any, groups: Any, k: int, counts: Any, flags: Any) -> None:
    """Count the records of every group from the labels alone; TOO_SMALL marks columns with a group of fewer than k."""
    cols, n = labels.shape
    most = counts.shape[1]
    given = labels, np.int32(n), np.int32(cols), np.int64(most), counts, flags
    device.launch("labels", "tally", cols * n, 256, given)
    shape = np.int32(k), np.int32(cols), np.int64(most)
    device.launch("labels", "check", cols * most, 256, (counts, groups, *shape, flags))
