"""What only a device has, on a stand-in: streams, memory that ends, buffers that are used again, a wrong order."""

import tracemalloc

import numpy as np
import pytest

import mag
from mag._backends.cuda import columns as pipeline
from mag._backends.cuda.columns import SPARE, Columns, bytes_per_column
from tests.cuda.host import HostModule
from tests.cuda.runs import HOST, on, problem
from tests.cuda.standin import stand_in
from tests.test_cuda_records import on_stand_in


@pytest.fixture
def batches(monkeypatch):
    """The rows of each batch that went through."""
    done, run = [], pipeline._group

    def recorded(columns, rows):
        run(columns, rows)
        done.append((rows.start, rows.stop))

    monkeypatch.setattr(pipeline, "_group", recorded)
    return done


def results_of(cols, n, k):
    """Bytes of labels, order, starts, counts, flags and numbers of groups."""
    return cols * (8 * n + 8 * max(1, n // k) + 8)


def same_labels(columns, X, k):
    assert columns.finish()
    return all(np.array_equal(columns.labels[row], mag.univariate(x, k).labels) for row, x in enumerate(X))


def test_results_have_their_memory_before_batches_do(batches):
    X = np.random.default_rng(0).random((7, 900))
    has = results_of(7, 900, 3) + int(3 * bytes_per_column(900, 3) / SPARE) + 8
    assert same_labels(Columns(stand_in(has=has), X, problem("sse", 3)), X, 3)
    assert batches == [(0, 3), (3, 6), (6, 9)]


@pytest.mark.parametrize("k", [3, 40])
def test_what_a_batch_takes_is_what_was_planned(k):
    X = np.random.default_rng(0).random((4, 6000))
    device = stand_in(device={"lanes": 256})
    columns = Columns(device, X, problem("sse", k))
    assert device.xp.most - device.xp.used <= 4 * bytes_per_column(6000, k)
    assert columns.finish()


def test_the_limit_of_a_pool_is_kept(batches):
    X = np.random.default_rng(0).random((4, 900))
    limit = results_of(4, 900, 3) + int(2 * bytes_per_column(900, 3) / SPARE) + 8
    assert same_labels(Columns(stand_in(limit=limit), X, problem("sse", 3)), X, 3)
    assert batches == [(0, 2), (2, 4)]


def test_an_allocator_that_tells_nothing_is_tried_with_less_and_less(batches):
    X = np.random.default_rng(0).random((4, 900))
    device = stand_in(has=results_of(4, 900, 3) + int(0.7 * bytes_per_column(900, 3)), own_allocator=True)
    assert device.free() is None
    assert same_labels(Columns(device, X, problem("sse", 3)), X, 3)
    assert batches == [(0, 1), (1, 2), (2, 3), (3, 4)]
    with pytest.raises(MemoryError):
        Columns(stand_in(has=results_of(4, 900, 3), own_allocator=True), X, problem("sse", 3))


@pytest.mark.parametrize("k", [2, 5, 100])
def test_a_value_takes_at_most_36_bytes_while_it_is_grouped(k):
    X = np.random.default_rng(0).random((3, 12_000))
    Columns(HOST, X, problem("sse", k))  # compiled and imported
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    columns = Columns(HOST, X, problem("sse", k))
    peak = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    assert columns.finish()
    assert peak - results_of(3, 12_000, k) <= 36 * X.size


@pytest.mark.parametrize("k", [3, 13])
def test_a_buffer_that_is_used_again_changes_no_labels(k):
    device = on("forward", hybrid=True)
    for X in (np.random.default_rng(0).random((2, 300)), np.random.default_rng(0).integers(-9, 900, (2, 300))):
        given = X.copy()
        columns = [Columns(device, given[row : row + 1], problem("sse", k)) for row in range(2)]
        given[:] = given[:, ::-1].copy()
        for row in range(2):
            assert same_labels(columns[row], X[row : row + 1], k)


def test_data_that_change_before_the_cpu_reads_them_are_noticed():
    X = np.arange(100)[None, :] * 2**54
    columns = Columns(HOST, X, problem("sse", 3))
    X[:] = X[:, ::-1].copy()
    with pytest.raises(RuntimeError, match=r"^The data changed between the call and the first look at its result"):
        columns.finish()


def test_the_first_look_waits_for_the_stream_of_the_call():
    device = stand_in()
    with device.xp.on_stream("second"):
        columns = Columns(device, np.random.default_rng(0).random((2, 300)), problem("sse", 3))
    assert device.xp.log == [("record", "second")]
    with device.xp.on_stream("third"):
        assert columns.finish()
    assert device.xp.log == [("record", "second"), ("wait", "second")]
    assert columns.finish()
    assert len(device.xp.log) == 2


def test_memory_that_another_stream_reads_is_not_used_again():
    device, X = stand_in(), np.random.default_rng(0).random((300, 2))
    with on_stand_in(device):
        there = device.xp.empty(X.shape)
        there[:] = X
        with device.xp.on_stream("second"):
            found = mag.columns(there, 3)
            assert found.labels.shape == (300, 2)
            assert device.xp.held == [("second", "second")]  # the first look, on the stream of the call
            device.xp.held.clear()
        for name in ("masked", "representatives", "information_loss"):
            with device.xp.on_stream("third"):
                getattr(found, name)
            assert ("second", "third") in device.xp.held, name
            device.xp.held.clear()
        with device.xp.on_stream("second"):
            records = mag.multivariate(there, 3, method="projection", n_projections=2)
        device.xp.held.clear()
        with device.xp.on_stream("third"):
            assert records.masked.shape == (300, 2)
        assert set(device.xp.held) == {("second", "third")}


@pytest.mark.parametrize("hybrid", [False, True])
def test_nothing_is_grouped_by_an_order_that_is_none(hybrid):
    class Wrong(HostModule):
        def __init__(self, *, code, options=()):
            super().__init__(code=code.replace("tile_records[place];", "n + tile_records[place];"), options=options)

    columns = Columns(
        type(HOST)(np, Wrong, hybrid=hybrid), np.random.default_rng(0).random((1, 300)), problem("sse", 3)
    )
    with pytest.raises(RuntimeError, match=r"^The device's sort gave an order that is none"):
        columns.finish()
