"""Ctrl-C after every piece of work that is queued, and memory that ends at every allocation.

Afterwards no queued work may touch memory that was given away, the result can be read again, and so can another one.
Devices that are lazy run what is queued only then.
"""

import contextlib
import gc
import os
import signal

import numpy as np
import pytest

import mag
from mag._backends.cuda import columns as pipeline
from mag._backends.cuda import hybrid
from mag._backends.cuda.launch import Device

pytestmark = pytest.mark.gpu

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
WIDE = (rng.integers(0, 9, (60, 3)) << 58) + 1  # the CPU solves what float64 cannot represent
WEIGHTS = rng.uniform(1, 2, 60)
K = 3
COLUMN, RECORDS = ("labels", "sizes", "representatives", "masked", "cost"), ("labels", "masked", "information_loss")
COLUMNS = ("labels", "n_groups", "sizes", "cost", "representatives", "masked", "information_loss")


def on_two_devices(x):
    return mag.columns(x, K, devices=[0, 1])


# whether the host solves, the data, the call, and what is read of its result
CALLS = {
    "univariate": (False, X[:, 0], lambda x: mag.univariate(x, K), COLUMN),
    "columns": (False, X, lambda x: mag.columns(x, K), COLUMNS),
    "columns that the host solves": (True, X, lambda x: mag.columns(x, K), COLUMNS),
    "columns that the CPU solves again": (False, WIDE, lambda x: mag.columns(x, K), COLUMNS),
    "a column of several": (True, X, lambda x: mag.columns(x, K)[1], COLUMN),
    "large k": (False, X, lambda x: mag.columns(x, 13), COLUMNS),
    "weights": (False, X, lambda x: mag.columns(x, K, weights=WEIGHTS), COLUMNS),
    "staggered": (False, X, lambda x: mag.columns(x, K, solver="staggered", backend="cuda"), COLUMNS),
    "two devices": (False, X, on_two_devices, COLUMNS),
    "two devices and the host": (True, X, on_two_devices, COLUMNS),
    "projection": (False, X, lambda x: mag.multivariate(x, K, method="projection", n_projections=3), RECORDS),
    "projection, ordered": (
        False,
        X,
        lambda x: mag.multivariate(x, K, method="projection", n_projections=3, ordered=True),
        RECORDS,
    ),
    "mdav": (False, X, lambda x: mag.multivariate(x, K, method="mdav", backend="cuda"), RECORDS),
    "mondrian": (False, X, lambda x: mag.multivariate(x, K, method="mondrian", backend="cuda"), RECORDS),
}


@pytest.fixture(autouse=True)
def _only_new_objects_are_searched():
    """Garbage is collected after every interrupt, and the libraries of other tests have many objects."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(params=CALLS)
def call(request, cupy, monkeypatch):
    by_host, data, function, names = CALLS[request.param]
    if request.param.startswith("two") and cupy.cuda.runtime.getDeviceCount() < 2:
        pytest.skip("needs two devices")
    monkeypatch.setattr(pipeline, "host_is_sooner", lambda *shape: by_host)
    monkeypatch.setattr(hybrid, "ENTRIES", 4 * K * K)  # several batches of blocks
    return Call(cupy, data, function, names)


class Call:
    """A call on one stream, whose result another stream reads."""

    def __init__(self, cupy, data, function, names):
        self.cupy, self.data, self.function, self.names = cupy, data, function, names
        expected = function(data)
        self.expected = {name: getattr(expected, name) for name in names}
        self.first, self.second, self.third = (cupy.cuda.Stream(non_blocking=True) for _ in range(3))
        self.found = None

    def begin(self):
        """The call alone."""
        self.found = None
        with self.first:
            self.found = self.function(self.cupy.asarray(self.data))

    def read(self, stream):
        """Read everything on a stream, and compare."""
        with stream:
            for name in self.names:
                value = getattr(self.found, name)
                value = value.get() if hasattr(value, "get") else value
                assert np.array_equal(value, self.expected[name]), name

    def whole(self):
        """The call, and everything read on another stream."""
        self.begin()
        self.read(self.second)

    def allocated(self):
        """The sizes of all memory that the whole call takes, by device."""
        sizes = []

        class Hook(self.cupy.cuda.MemoryHook):
            def malloc_postprocess(self, device_id, size, **others):
                sizes.append((device_id, size))

        with Hook():
            self.whole()
        return sizes

    def forget(self):
        """Drop the result."""
        self.found = None
        gc.collect()


def streams_of(call):
    """Every stream that owns memory, with its device."""
    count = call.cupy.cuda.runtime.getDeviceCount()
    null = call.cupy.cuda.Stream.null
    return [(0, call.first), (0, call.second), *((number, null) for number in range(count))]


def write_over_what_is_free(call, sizes):
    """Allocate as much as the call did, write there, let all that is queued run, and look for other writes."""
    cupy, kept = call.cupy, []
    pinned = [cupy.cuda.alloc_pinned_memory(size) for size in {size for _, size in sizes} for _ in range(2)]
    for memory in pinned:
        np.frombuffer(memory, np.uint8)[:] = 0x7F
    for number, stream in streams_of(call):
        with cupy.cuda.Device(number), stream:
            arrays = [cupy.empty(size, np.uint8) for device, size in sizes if device == number]
            for array in arrays:
                array.data.memset_async(0x7F, array.nbytes, stream)
            stream.synchronize()
            kept += arrays
    for number in range(cupy.cuda.runtime.getDeviceCount()):
        with cupy.cuda.Device(number):
            cupy.cuda.runtime.deviceSynchronize()
    for array in kept:
        with array.device:
            assert (array.get() == 0x7F).all(), "queued work wrote to memory that was given away"
    for memory in pinned:
        assert (np.frombuffer(memory, np.uint8) == 0x7F).all(), "a copy went to memory of the host that was given away"


def interrupted(emulated, number, function):
    """Whether Ctrl-C after this many pieces of work ended the function."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # shells let processes behind & ignore it
    emulated.emulator_interrupt(number)
    try:
        function()
    except KeyboardInterrupt:
        return True
    finally:
        emulated.emulator_interrupt(0)
        signal.signal(signal.SIGINT, before)
    return False


def count(emulated, function):
    """How many pieces of work a function queues."""
    before = emulated.emulator_queued()
    function()
    return emulated.emulator_queued() - before


lazy = pytest.mark.skipif(os.environ.get("EMULATOR_LAZY") != "1", reason="needs emulated devices that are lazy")
SOME = 5  # of all numbers of pieces of work
EVERY = [pytest.param(False, id="some"), pytest.param(True, marks=pytest.mark.long, id="every number")]


def numbers(most, every):
    """After how many pieces of work to interrupt."""
    return range(1, most + 1) if every else sorted({*np.linspace(2, most, SOME).astype(int).tolist()})


@lazy
@pytest.mark.parametrize("every", EVERY)
def test_nothing_touches_memory_that_an_interrupt_gave_away(emulated, call, every):
    sizes, ended = call.allocated(), 0
    for number in numbers(count(emulated, call.whole), every):
        ended += interrupted(emulated, number, call.whole)
        call.forget()
        write_over_what_is_free(call, sizes)
    assert ended > 1
    call.whole()


@pytest.mark.parametrize("every", EVERY)
def test_an_interrupted_result_can_be_read_again_on_any_stream(emulated, call, every):
    call.whole()
    call.begin()
    for number in numbers(count(emulated, lambda: call.read(call.second)), every):
        call.begin()
        interrupted(emulated, number, lambda: call.read(call.second))
        call.read(call.third)
        call.read(call.second)


@lazy
def test_an_interrupt_before_a_reader_waits(cupy, monkeypatch):
    """The next reader waits for the call all the same."""
    by_host, data, function, names = CALLS["columns"]
    call, wait_for = Call(cupy, data, function, names), Device.wait_for

    def interrupt(device, event):
        monkeypatch.setattr(Device, "wait_for", wait_for)
        raise KeyboardInterrupt

    monkeypatch.setattr(pipeline, "host_is_sooner", lambda *shape: by_host)
    call.begin()
    monkeypatch.setattr(Device, "wait_for", interrupt)
    with pytest.raises(KeyboardInterrupt):
        call.read(call.second)
    call.read(call.third)


@lazy
@pytest.mark.parametrize("every", EVERY)
def test_memory_may_end_at_any_allocation(call, every):
    sizes, cupy = call.allocated(), call.cupy
    malloc, left = cupy.get_default_memory_pool().malloc, 0

    def failing(size):
        nonlocal left
        left -= 1
        if left == 0:
            raise MemoryError
        return malloc(size)

    for number in numbers(len(sizes), every):
        left = number
        cupy.cuda.set_allocator(failing)
        try:
            with contextlib.suppress(MemoryError):
                call.whole()
        finally:
            cupy.cuda.set_allocator(malloc)
        assert left < 1
        call.forget()
        write_over_what_is_free(call, sizes)
    call.whole()
