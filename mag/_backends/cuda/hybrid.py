"""`staggered` with cost blocks from the device: computed there, streamed to the host, searched by SMAWK on the host.

Two batches of blocks are under way: while the host searches one in pinned memory, the device computes the next and a
stream of its own copies it.  A batch has some 2**22 costs, 32 MB, for any n.
"""

import math
from typing import Any

import numpy as np

from mag._backends.cuda.launch import REALS, Device
from mag._backends.problem import Problem
from mag._backends.safety import MODERATE, UNDERFLOW_COST
from mag._compiled.starts import starts_of
from mag.costs import COSTS
from mag.solvers.extensions.diagonal import search

ENTRIES = 2**22  # costs of a batch
MAX_K_PER_BATCH = 2**11  # k up to which a block is a batch


def searches_blocks(problem: Problem) -> bool:
    """Whether the problem asks for cost blocks that the host searches; "auto" never does."""
    return next(iter(problem.solvers)) == "staggered"


def starts_by_blocks(device: Device, values: Any, problem: Problem) -> np.ndarray | None:
    """Where the groups of sorted values start, float64 on the device, n >= 2k >= 4; None if the cost is tiny.

    The operations are those of `staggered`, in its order: the same groups, bit by bit.
    """
    n, k, cost = values.size, problem.k, problem.cost
    first, last = device.host(values[:: n - 1])
    largest, exponent = math.frexp(max(-first, last))
    scale = exponent if largest and abs(exponent) > MODERATE else 0
    F, sizes = np.empty(n + 1), np.empty(n + 1, np.int32)
    F[0], spent = 0.0, 0.0
    stream = BlockStream(device, values, scale, cost.name, k)
    try:
        stream.begin(0)
        for t in range(0, stream.blocks, stream.batch):
            if t + stream.batch < stream.blocks:
                stream.begin(t + stream.batch)
            spent += search(*stream.wait(t), t, F, sizes)
    except BaseException:  # KeyboardInterrupt, too
        stream.finish()
        raise
    if not cost.integer and spent + F[n] < UNDERFLOW_COST:
        return None
    starts = np.empty(n // k + 1, np.int64)
    return starts[starts_of(sizes, k, True, starts) :]


class BlockStream:
    """The cost blocks of one column, a batch at a time: `begin` queues the one from block t on, `wait` returns it.

    There is room for two; a batch must have been searched before the next but one begins.
    """

    def __init__(self, device: Device, values: Any, scale: int, cost: str, k: int) -> None:
        self.device, self.values, self.scale, self.cost, self.k = device, values, np.int32(scale), cost, k
        self.blocks = -(-(values.size + 1 - k) // k)
        self.batch = min(self.blocks, max(1, ENTRIES // k**2))
        real = REALS[device.real]
        self.inverse = device.xp.asarray(1.0 / np.maximum(1, np.arange(2 * k)), dtype=real)
        self.sums = device.empty(max(1, self.batch * COSTS[cost].kernel.n_terms * 3 * k), dtype=real)
        length = self.batch * (k * k + 3 * k - 1)
        self.there = [device.empty(length, dtype=real) for _ in range(2)]
        self.here = [pinned(device.xp, length, real) for _ in range(2)]
        self.copies: list[Any] = [None, None]
        self.stream = device.xp.cuda.Stream(non_blocking=True) if hasattr(device.xp, "cuda") else None

    def parts(self, memory: Any) -> tuple[Any, Any, Any]:
        """Of a batch's memory: left, joint and right."""
        batch, k = self.batch, self.k
        joint, left = batch * k * k, batch * (2 * k - 1)
        shapes = (batch, 2 * k - 1), (batch, k, k), (batch, k)
        lines = memory[joint : joint + left], memory[:joint], memory[joint + left :]
        return tuple(line.reshape(shape) for line, shape in zip(lines, shapes, strict=True))

    def begin(self, t: int) -> None:
        """Compute the batch from block t on, and copy it."""
        device, slot = self.device, t // self.batch % 2
        left, joint, right = self.parts(self.there[slot])
        shape = np.int32(self.values.size), np.int32(self.k), np.int32(t), np.int32(self.batch)
        given = self.values, self.scale, self.inverse, *shape, self.sums
        device.launch("blocks", "block_sums", 2 * self.batch, 128, (*given, left, right), cost=self.cost)
        device.launch("blocks", "block_costs", joint.size, 256, (*given, joint), cost=self.cost)
        if self.stream is None:
            np.copyto(self.here[slot], self.there[slot])
            return
        computed, copied = (device.xp.cuda.Event(disable_timing=True) for _ in range(2))
        computed.record()
        self.stream.wait_event(computed)
        self.there[slot].get(stream=self.stream, out=self.here[slot], blocking=False)
        copied.record(self.stream)
        self.copies[slot] = copied

    def wait(self, t: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The batch from block t on, in the host's memory."""
        slot = t // self.batch % 2
        if self.stream is not None:
            self.copies[slot].synchronize()
        return self.parts(self.here[slot])

    def finish(self) -> None:
        """Wait for blocks and copies that are queued: memory that they read or write must not be freed before."""
        if self.stream is not None:
            self.device.xp.cuda.get_current_stream().synchronize()
            self.stream.synchronize()


def pinned(xp: Any, length: int, dtype: Any) -> np.ndarray:
    """Memory of the host that a device can copy to while the host works; plain memory if there is no device."""
    if not hasattr(xp, "cuda"):
        return np.empty(length, dtype)
    memory = xp.cuda.alloc_pinned_memory(length * np.dtype(dtype).itemsize)
    return np.frombuffer(memory, dtype, length)
