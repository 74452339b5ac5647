"""Memory of the real CuPy: its allocators, how they say that it ends, and devices that have little."""

import contextlib

import numpy as np
import pytest

import mag
from mag._backends.cuda import columns as pipeline
from mag._backends.cuda.columns import ColumnBatch
from tests.cuda import emulated

pytestmark = pytest.mark.gpu

X = np.random.default_rng(0).normal(size=(3000, 20))
K = 5


@pytest.fixture(autouse=True)
def on_the_device(monkeypatch):
    """Small columns go to the host by default."""
    monkeypatch.setattr(pipeline, "host_is_sooner", lambda *shape: False)


@pytest.fixture
def batches(monkeypatch):
    """How many rows each batch had that went through."""
    done, run = [], ColumnBatch._group

    def recorded(columns, rows):
        run(columns, rows)
        done.append(min(rows.stop, len(columns.X)) - rows.start)

    monkeypatch.setattr(ColumnBatch, "_group", recorded)
    return done


class Rmm:
    """An allocator other than CuPy's, such as RMM's: it raises Python's MemoryError beyond a limit."""

    def __init__(self, cupy, limit):
        self.cupy, self.limit, self.used, self.most = cupy, limit, 0, 0

    def __call__(self, size):
        if self.used + size > self.limit:
            raise MemoryError("std::bad_alloc: out_of_memory: CUDA error")
        pointer = self.cupy.cuda.runtime.malloc(max(size, 1))
        self.used += size
        self.most = max(self.most, self.used)
        memory = self.cupy.cuda.UnownedMemory(pointer, size, self._Owner(self, pointer, size))
        return self.cupy.cuda.MemoryPointer(memory, 0)

    class _Owner:
        def __init__(self, allocator, pointer, size):
            self.allocator, self.pointer, self.size = allocator, pointer, size

        def __del__(self):
            with contextlib.suppress(Exception):
                self.allocator.cupy.cuda.runtime.free(self.pointer)
                self.allocator.used -= self.size


class Raw(Rmm):
    """Memory from CUDA itself, whose error is CUDA's: what `set_allocator(None)` gives on a small device."""

    def __call__(self, size):
        if self.used + size > self.limit:
            raise self.cupy.cuda.runtime.CUDARuntimeError(2)
        return super().__call__(size)


@pytest.mark.parametrize("kind", [Rmm, Raw])
def test_batches_are_halved_where_an_allocator_says_that_memory_ends(cupy, batches, kind):
    given, expected = cupy.asarray(X), mag.columns(X, K)
    before, plenty = cupy.cuda.get_allocator(), kind(cupy, 2**40)
    try:
        cupy.cuda.set_allocator(plenty)
        assert np.array_equal(mag.columns(given, K).n_groups.get(), expected.n_groups)
        assert batches == [20]
        batches.clear()
        cupy.cuda.set_allocator(kind(cupy, 3 * plenty.most // 4))
        found = mag.columns(given, K)
    finally:
        cupy.cuda.set_allocator(before)
    assert len(batches) > 1
    assert sum(batches) == 20
    assert np.array_equal(found.labels.get(), expected.labels)


def test_memory_that_is_not_enough_for_one_column_is_an_error(cupy):
    given = cupy.asarray(X)
    before = cupy.cuda.get_allocator()
    for kind in (Rmm, Raw):
        try:
            cupy.cuda.set_allocator(kind(cupy, 20 * 9 * 3000))
            with pytest.raises((MemoryError, cupy.cuda.runtime.CUDARuntimeError), match=r"out.of.memory"):
                mag.columns(given, K)
        finally:
            cupy.cuda.set_allocator(before)


def test_errors_that_are_not_about_memory_are_raised(cupy, monkeypatch):
    tried = []

    def wrong(columns, rows):
        tried.append(rows)
        raise cupy.cuda.runtime.CUDARuntimeError(1)

    monkeypatch.setattr(ColumnBatch, "_group", wrong)
    with pytest.raises(RuntimeError, match="InvalidValue"):
        mag.columns(cupy.asarray(X), K)
    assert len(tried) == 1


SMALL_DEVICE = """
import cupy, numpy as np, mag
from mag._backends.cuda import columns
columns.host_is_sooner = lambda *shape: False
X = np.random.default_rng(0).normal(size=(3000, 20))
given, expected = cupy.asarray(X), mag.columns(X, 5)
pool = cupy.get_default_memory_pool()
for allocator in (pool.malloc, None, cupy.cuda.malloc_managed, cupy.cuda.malloc_async):
    pool.free_all_blocks()
    cupy.cuda.set_allocator(allocator)
    for name in {names}:
        found = getattr(mag.columns(given, 5), name).get()
        assert np.array_equal(found, getattr(expected, name)), (allocator, name)
"""


@pytest.mark.parametrize(
    ("memory", "names"),
    [(2_000_000, ["labels"]), (5_000_000, ["labels", "masked", "cost", "information_loss", "sizes"])],
)
def test_a_device_with_little_memory(cupy, memory, names):
    """Room for the data in rows, labels and some columns at a time; or for masked values besides."""
    emulated.need()
    emulated.run(SMALL_DEVICE.format(names=names), memory=memory)
