"""Streams and devices of the real CuPy.  Devices that are lazy show what no event orders: `.ci/gpu` has such a mode."""

import contextlib
import itertools
import os
import threading

import numpy as np
import pytest

import mag
from mag._backends import cuda
from mag._backends.cuda import columns as pipeline
from mag._backends.cuda import hybrid
from mag._backends.cuda.transfer import copy_to_device
from tests.cuda.runs import staggered

pytestmark = pytest.mark.gpu

COLUMNS = ("labels", "n_groups", "sizes", "cost", "representatives", "masked", "information_loss")
COLUMN = ("labels", "sizes", "representatives", "masked", "small_groups")
X = np.random.default_rng(0).normal(size=(300, 5))
K = 4


@pytest.fixture(autouse=True, params=[False, True], ids=["device solves", "host solves"])
def solved_by(request, monkeypatch):
    """Small columns go to the host by default."""
    if not request.param:
        monkeypatch.setattr(pipeline, "host_is_sooner", lambda *shape: False)


@pytest.fixture
def two(cupy):
    if cupy.cuda.runtime.getDeviceCount() < 2:
        pytest.skip("needs two devices")
    return cupy


def stream(cupy):
    return cupy.cuda.Stream(non_blocking=True)


def spoil(cupy, owner):
    """Write over all memory that a stream may use again."""
    with owner:
        again = [cupy.empty(size, np.uint8) for size in range(512, 16384, 512) for _ in range(10)]
        for array in again:
            array.fill(0x7F)
        owner.synchronize()


CALLS = {
    "univariate": (lambda x: mag.univariate(x[:, 0], K), COLUMN),
    "columns": (lambda x: mag.columns(x, K), COLUMNS),
    "column": (lambda x: mag.columns(x, K)[2], COLUMN),
    "records": (
        lambda x: mag.multivariate(x, K, method="projection", n_projections=3),
        ("labels", "sizes", "representatives", "masked", "small_groups"),
    ),
}


@pytest.mark.parametrize("call", CALLS)
def test_memory_that_another_stream_reads_is_not_used_again(cupy, call):
    function, names = CALLS[call]
    expected = function(X)
    for name in names:
        first, second = stream(cupy), stream(cupy)
        with first:
            found = function(cupy.asarray(X))
        with second:
            array = getattr(found, name)
            later = array + 0
        del found, array
        spoil(cupy, first)
        with second:
            assert np.array_equal(later.get(), getattr(expected, name)), name


@pytest.mark.parametrize("spoiled", [False, True])
@pytest.mark.parametrize("call", CALLS)
def test_what_one_stream_has_read_another_may_read(cupy, call, spoiled):
    function, names = CALLS[call]
    expected = function(X)
    for name in names:
        first, second, third = (stream(cupy) for _ in range(3))
        with first:
            found = function(cupy.asarray(X) * 1.0)
        with second:
            before = getattr(found, name)
        with third:
            later = getattr(found, name) + 0
        if spoiled:
            del found, before
            spoil(cupy, second)
        with third:
            assert np.array_equal(later.get(), getattr(expected, name)), name


def test_parts_of_results_are_not_shared_by_streams(cupy):
    """Representatives and costs are computed together, and so are what both streams keep of them."""
    expected = mag.columns(X, K)
    for names in itertools.permutations(("cost", "representatives", "masked"), 2):
        first, second, third = (stream(cupy) for _ in range(3))
        with first:
            found = mag.columns(cupy.asarray(X), K)
        with second:
            before = getattr(found, names[0])
        with third:
            later = getattr(found, names[1]) + 0
        with second:
            assert np.array_equal(before.get(), getattr(expected, names[0])), names
        del found, before
        spoil(cupy, second)
        with third:
            assert np.array_equal(later.get(), getattr(expected, names[1])), names


def test_data_that_a_stream_is_still_computing(cupy):
    given = np.random.default_rng(1).integers(-9, 99, (300, 5))
    with stream(cupy):
        found = mag.columns(cupy.asarray(given) * 3, K)
        single = mag.univariate(cupy.asarray(given[:, 1]) * 3, K, weights=np.arange(1.0, 301.0))
        for name in COLUMNS:
            assert np.array_equal(getattr(found, name).get(), getattr(mag.columns(given * 3, K), name)), name
        expected = mag.univariate(given[:, 1] * 3, K, weights=np.arange(1.0, 301.0))
        assert np.array_equal(single.labels.get(), expected.labels)
        assert single.cost == expected.cost


def test_cost_blocks_go_to_the_host_in_turn(cupy, monkeypatch):
    """Two batches are under way; costs that have not arrived may look like a cost of 0, which the CPU solves again."""
    x, by_blocks, real = np.random.default_rng(2).normal(size=4000), [], pipeline.starts_by_blocks
    monkeypatch.setattr(hybrid, "ENTRIES", 8 * 60**2)
    monkeypatch.setattr(pipeline, "starts_by_blocks", lambda *given: by_blocks.append(real(*given)) or by_blocks[-1])
    expected = mag.univariate(x, 60, solver="staggered")
    with stream(cupy):
        found = mag.univariate(cupy.asarray(x) * 1.0, 60, solver="staggered", backend="cuda")
        assert np.array_equal(found.labels.get(), expected.labels)
    (starts,) = by_blocks
    assert starts is not None
    assert np.array_equal(starts, np.cumsum(expected.sizes) - expected.sizes)


def test_cost_blocks_are_copied_on_a_stream_of_their_own(cupy):
    """Else the device would not compute the next blocks while these cross the bus."""
    if os.environ.get("EMULATOR_LAZY") != "1":
        pytest.skip("needs emulated devices that are lazy")
    blocks = hybrid.BlockStream(cuda.current(), cupy.asarray(np.sort(X[:, 0])), 0, "sse", K)
    blocks.begin(0)
    cupy.cuda.get_current_stream().synchronize()
    assert not blocks.copies[0].done
    blocks.wait(0)
    assert blocks.copies[0].done


def test_an_interrupt_waits_for_copies_of_cost_blocks(cupy, monkeypatch):
    """Else they would write to memory of the host that was given away."""
    if os.environ.get("EMULATOR_LAZY") != "1":
        pytest.skip("needs emulated devices that are lazy")
    begun, begin = [], hybrid.BlockStream.begin

    def interrupt(*blocks):
        raise KeyboardInterrupt

    monkeypatch.setattr(hybrid, "ENTRIES", 4 * K**2)  # several batches: the second one is under way
    monkeypatch.setattr(hybrid, "search", interrupt)
    monkeypatch.setattr(hybrid.BlockStream, "begin", lambda blocks, t: begun.append(blocks) or begin(blocks, t))
    with pytest.raises(KeyboardInterrupt):
        hybrid.starts_by_blocks(cuda.current(), cupy.asarray(np.sort(X[:, 0])), staggered("sse", K))
    assert len(begun) == 2
    assert all(copy.done for copy in begun[0].copies)


@pytest.mark.parametrize("method", ["projection", "mdav", "mondrian"])
def test_records_on_a_stream(cupy, method):
    expected = mag.multivariate(X, K, method=method)
    with stream(cupy):
        found = mag.multivariate(cupy.asarray(X) * 1.0, K, method=method)
        assert np.array_equal(found.labels.get(), expected.labels)
        assert np.array_equal(found.masked.get(), expected.masked)
        assert found.information_loss == expected.information_loss


def test_threads_read_one_result_on_streams_of_their_own(cupy):
    expected = mag.columns(X, K)
    with stream(cupy):
        found = mag.columns(cupy.asarray(X) * 1.0, K)
    wrong = []

    def read(name):
        with stream(cupy):
            if not np.array_equal(getattr(found, name).get(), getattr(expected, name)):
                wrong.append(name)

    threads = [threading.Thread(target=read, args=(name,)) for name in COLUMNS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_threads_that_read_one_result_together_label_its_columns_once(cupy, monkeypatch):
    """Labels are counted in place: two threads at once would count a column twice, or find groups below k."""
    monkeypatch.setattr(pipeline, "host_is_sooner", lambda *shape: True)
    label_again, together, labeled = pipeline.ColumnBatch._label_again, threading.Barrier(2), []

    def label(self, row, starts):
        labeled.append(row.start)
        with contextlib.suppress(threading.BrokenBarrierError):
            together.wait(timeout=1)  # for the other thread, if it comes here, too
        label_again(self, row, starts)

    monkeypatch.setattr(pipeline.ColumnBatch, "_label_again", label)
    found = mag.columns(cupy.asarray(X), K)
    threads = [threading.Thread(target=lambda: found.labels) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert labeled == list(range(X.shape[1]))


def test_a_thread_reads_and_drops_what_the_default_stream_of_another_computed(cupy):
    """No thread can name the default stream of another: the reader waits instead."""
    expected = mag.univariate(X[:, 0], K)
    own, later, read_all = cupy.cuda.Stream.ptds, [], cupy.cuda.Event()

    def read():
        with own:
            later.append(found.masked + 0)
            read_all.record()

    with own:
        found = mag.univariate(cupy.asarray(X[:, 0]) * 1.0, K)
        thread = threading.Thread(target=read)
        thread.start()
        thread.join()
        found = None
        spoil(cupy, own)
        own.wait_event(read_all)
        assert np.array_equal(later[0].get(), expected.masked)


# ---- two devices


@pytest.mark.parametrize("other", [False, True], ids=["its default stream", "a stream of its own"])
@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize("name", COLUMNS)
def test_columns_are_dealt_out_to_two_devices(two, name, at, other):
    expected = getattr(mag.columns(X, K), name)
    with two.cuda.Device(1 - at):
        kept = stream(two) if other else two.cuda.Stream.null
        kept.use()
    try:
        with two.cuda.Device(at), stream(two):
            found = getattr(mag.columns(two.asarray(X) * 1.0, K, devices=[0, 1]), name)
            assert found.device.id == at
            assert np.array_equal(found.get(), expected)
    finally:
        with two.cuda.Device(1 - at):
            two.cuda.Stream.null.use()


@pytest.mark.parametrize("devices", [[0, 1], [1, 0], [1]])
def test_one_column_of_another_device_comes_back(two, devices):
    expected = mag.columns(X, K)
    with stream(two):
        found = mag.columns(two.asarray(X) * 1.0, K, devices=devices)
        for j in range(5):
            for name in COLUMN:
                array = getattr(found[j], name)
                assert array.device.id == 0
                assert np.array_equal(array.get(), getattr(expected[j], name)), (j, name)
            assert found[j].cost == expected[j].cost
            assert found[j].information_loss == expected[j].information_loss


def test_memory_of_a_device_waits_for_copies_to_the_other(two):
    """What is copied from one device is dropped, and its memory written over, before the copy runs."""
    expected = mag.columns(X, K)
    for name in COLUMNS:
        first, second = stream(two), stream(two)
        with two.cuda.Device(1):
            there = stream(two)
            there.use()
        try:
            with first:
                found = mag.columns(two.asarray(X) * 1.0, K, devices=[1])
                spoil(two, first)
            with second:
                later = getattr(found, name) + 0
            del found
            spoil(two, first)
            with two.cuda.Device(1):
                spoil(two, there)
            with second:
                assert np.array_equal(later.get(), getattr(expected, name)), name
        finally:
            with two.cuda.Device(1):
                two.cuda.Stream.null.use()


@pytest.mark.parametrize("view", [lambda a: a, lambda a: a.T, lambda a: a[::2, 1:], lambda a: a[0]])
def test_any_array_is_copied_to_the_other_device(two, view):
    here, there = cuda._device_by_number(0), cuda._device_by_number(1)
    first = stream(two)
    with there.active():
        second = stream(two)
        second.use()
    try:
        with first:
            array = view(two.asarray(X) * 3.0)
            copy = copy_to_device(there, here, array)
            del array
            spoil(two, first)
        assert copy.device.id == 1
        assert copy.flags.c_contiguous
        with there.active():
            assert np.array_equal(copy.get(), view(X * 3.0))
    finally:
        with there.active():
            two.cuda.Stream.null.use()


@pytest.mark.parametrize("view", [lambda a: a.T, lambda a: a[::2, 1:]])
def test_what_crosses_to_the_other_device_is_contiguous(two, monkeypatch, view):
    """CuPy would make a contiguous copy itself, which no event orders."""
    crossed, copyto = [], two.copyto
    monkeypatch.setattr(two, "copyto", lambda copy, array: (crossed.append(array.flags), copyto(copy, array)))
    copy_to_device(cuda._device_by_number(1), cuda._device_by_number(0), view(two.asarray(X)))
    assert [flags.c_contiguous for flags in crossed] == [True]


def test_a_table_of_the_host_is_dealt_out(two):
    with stream(two):
        found, expected = mag.columns(X, K, devices=[0, 1]), mag.columns(X, K)
    for name in COLUMNS:
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name


@pytest.mark.parametrize("call", CALLS)
def test_data_decide_the_device(two, call):
    function, names = CALLS[call]
    expected = function(X)
    with two.cuda.Device(1), stream(two):
        given = two.asarray(X) * 1.0
        two.cuda.get_current_stream().synchronize()
    found = function(given)  # while the other device is the current one
    for name in names:
        array = getattr(found, name)
        assert array.device.id == 1, name
        assert np.array_equal(array.get(), getattr(expected, name)), name
    assert two.cuda.runtime.getDevice() == 0


def test_nothing_else_copies_between_devices(two, monkeypatch):
    """CuPy's functions copy what is on another device without a word, and without an event."""

    def checked(function):
        def call(*args, **options):
            arrays = [arg for arg in args if isinstance(arg, two.ndarray)]
            assert {array.device.id for array in arrays} <= {two.cuda.runtime.getDevice()}, function.__name__
            return function(*args, **options)

        return call

    class Watched:
        def __getattr__(self, name):
            value = getattr(two, name)
            is_function = callable(value) and not isinstance(value, type) and name != "copyto"
            return checked(value) if is_function else value

    devices = [cuda._device_by_number(number) for number in range(2)]
    devices = [type(one)(Watched(), *[getattr(one, name) for name in list(one.__dict__)[1:]]) for one in devices]
    monkeypatch.setattr(cuda, "_device_by_number", devices.__getitem__)
    expected = mag.columns(X, K)
    for at in (0, 1):
        with two.cuda.Device(at):
            found = mag.columns(two.asarray(X), K, devices=[0, 1])
            for name in COLUMNS:
                assert np.array_equal(getattr(found, name).get(), getattr(expected, name)), name
            for name in COLUMN:
                assert np.array_equal(getattr(found[1 - at], name).get(), getattr(expected[1 - at], name)), name
