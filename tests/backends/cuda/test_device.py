"""What only a device has: streams, memory that ends, buffers that are used again; and a wrong order, on the host."""

import numpy as np
import pytest

import mag
from mag._backends import cuda
from mag._backends.cuda import columns as pipeline
from mag._backends.cuda.columns import SPARE, ColumnBatch, bytes_per_column
from tests.cuda.host import HostModule
from tests.cuda.runs import HOST, problem

K, N = 3, 6000
ROUNDED = 512  # bytes that CuPy's pool allots at least


@pytest.fixture
def batches(monkeypatch):
    """The rows of each batch that went through."""
    done, run = [], ColumnBatch._group

    def recorded(columns, rows):
        run(columns, rows)
        done.append((rows.start, rows.stop))

    monkeypatch.setattr(ColumnBatch, "_group", recorded)
    return done


@pytest.fixture
def pool(device):
    """CuPy's pool, without memory that was freed before."""
    pool = device.get_default_memory_pool()
    pool.free_all_blocks()
    yield pool
    pool.set_limit(size=0)
    device.cuda.set_allocator(pool.malloc)


def results_of(cols, n, k):
    """Bytes of labels, order, starts, counts, flags and numbers of groups."""
    return cols * (8 * n + 8 * max(1, n // k) + 8) + 6 * ROUNDED


def same_labels(columns, X, k):
    assert columns.finish()
    return all(np.array_equal(columns.labels[row].get(), mag.univariate(x, k).labels) for row, x in enumerate(X))


@pytest.mark.gpu
def test_results_have_their_memory_before_batches_do(device, pool, batches):
    X = np.random.default_rng(0).random((7, N))
    given = device.asarray(X)
    pool.set_limit(size=pool.used_bytes() + results_of(7, N, K) + int(3.5 * bytes_per_column(N, K) / SPARE))
    assert same_labels(ColumnBatch.compute(cuda.current(), given, problem("sse", K)), X, K)
    assert batches == [(0, 3), (3, 6), (6, 9)]


@pytest.mark.gpu
def test_memory_that_others_have_is_not_planned_with(emulated, device, pool, batches):
    X = np.random.default_rng(0).random((7, N))
    given = device.asarray(X)
    left = results_of(7, N, K) + int(3.5 * bytes_per_column(N, K) / SPARE)
    others = device.cuda.runtime.malloc(device.cuda.runtime.memGetInfo()[0] - left)
    try:
        assert same_labels(ColumnBatch.compute(cuda.current(), given, problem("sse", K)), X, K)
    finally:
        device.cuda.runtime.free(others)
    assert batches[0] == (0, 3)


@pytest.mark.gpu
def test_an_allocator_that_tells_nothing_is_tried_with_less_and_less(device, pool, batches):
    X = np.random.default_rng(0).random((4, N))
    given, other = device.asarray(X), device.cuda.MemoryPool()
    device.cuda.set_allocator(other.malloc)
    other.set_limit(size=results_of(4, N, K) + int(1.5 * bytes_per_column(N, K)))
    assert cuda.current().free_bytes() is None
    assert same_labels(ColumnBatch.compute(cuda.current(), given, problem("sse", K)), X, K)
    assert batches == [(0, 1), (1, 2), (2, 3), (3, 4)]
    other.free_all_blocks()
    other.set_limit(size=results_of(4, N, K))
    with pytest.raises(MemoryError):
        ColumnBatch.compute(cuda.current(), given, problem("sse", K))


@pytest.mark.gpu
@pytest.mark.parametrize("k", [2, 5, 40, 100])
def test_a_value_takes_at_most_36_bytes_while_it_is_grouped(device, pool, k):
    class Peak(device.cuda.MemoryHook):
        now = most = 0

        def malloc_postprocess(self, **given):
            self.now += given["mem_size"]
            self.most = max(self.most, self.now)

        def free_postprocess(self, **given):
            self.now -= given["mem_size"]

    X = device.asarray(np.random.default_rng(0).random((3, 12_000)))
    with Peak() as peak:
        columns = ColumnBatch.compute(cuda.current(), X, problem("sse", k))
        assert columns.finish()
    assert peak.most - results_of(3, 12_000, k) <= 36 * X.size
    assert peak.most - results_of(3, 12_000, k) <= 3 * bytes_per_column(12_000, k) + 40 * ROUNDED


@pytest.mark.gpu
@pytest.mark.parametrize("solved_by_host", [False, True])
@pytest.mark.parametrize("k", [3, 13])
def test_a_buffer_that_is_used_again_changes_no_labels(cupy, monkeypatch, k, solved_by_host):
    monkeypatch.setattr(pipeline, "host_is_sooner", lambda *given: solved_by_host)
    for X in (np.random.default_rng(0).random((300, 2)), np.random.default_rng(0).integers(-9, 900, (300, 2))):
        given = cupy.asarray(X)
        found = mag.columns(given, k)
        given[:] = given[::-1].copy()
        assert np.array_equal(found.labels.get(), mag.columns(X, k).labels)


@pytest.mark.gpu
def test_data_that_change_before_the_cpu_reads_them_are_noticed(device):
    X = device.arange(100)[None, :] * 2**54
    columns = ColumnBatch.compute(cuda.current(), X, problem("sse", 3))
    X[:] = X[:, ::-1].copy()
    with pytest.raises(RuntimeError, match=r"^The data changed between the call and the first access to its result"):
        columns.finish()


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["labels", "masked", "representatives", "information_loss"])
def test_memory_that_another_stream_reads_is_not_used_again(device, name):
    """Shows where work is lazy: one stream computes, another one reads, the first one writes to all that is free."""
    X = np.random.default_rng(0).random((300, 2))
    given = device.asarray(X)
    device.cuda.runtime.deviceSynchronize()
    one, two = (device.cuda.Stream(non_blocking=True) for _ in range(2))
    with one:
        found = mag.columns(given, 3)
    with two:
        result = getattr(found, name)
        later = result + 0
    del found, result
    with one:
        again = [device.empty(size, np.uint8) for size in range(512, 8192, 512) for _ in range(20)]
        for array in again:
            array.fill(0x7F)
        one.synchronize()
    with two:
        assert later.get().tobytes() == getattr(mag.columns(X, 3), name).tobytes()


@pytest.mark.parametrize("hybrid", [False, True])
def test_nothing_is_grouped_by_an_order_that_is_none(hybrid):
    class Wrong(HostModule):
        def __init__(self, *, code, options=()):
            super().__init__(code=code.replace("tile_records[place];", "n + tile_records[place];"), options=options)

    class Used(type(HOST)):
        """Memory that was used before: what nobody writes is not a number."""

        def empty(self, *shape, dtype=np.int32):
            made = super().empty(*shape, dtype=dtype)
            made.view(np.uint8)[...] = 0xFF
            return made

    columns = ColumnBatch.compute(
        Used(np, Wrong, hybrid=hybrid), np.random.default_rng(0).random((1, 300)), problem("sse", 3)
    )
    with pytest.raises(RuntimeError, match=r"^The device's sort returned no permutation"):
        columns.finish()
