"""Mistakes against CuPy's interface, streams and devices, which some test must notice.

`pytest -m mutation -p tests.emulator.plugin`.
"""

import json

import pytest

from tests.cuda import emulated

pytestmark = pytest.mark.mutation  # and not gpu: `-m gpu` is for tests that a device runs

MODES = {"lazy": 1, "devices": 2, "peers": 0}
TESTS = [f"tests/backends/cuda/test_cupy_{name}.py" for name in ("streams", "arrays", "memory", "process")]

# (module of mag._backends.cuda, what stands there, what a mistake would put there)
EDITS = [
    # an event or a wait is missing, or on the wrong stream
    ("launch", "        event.record()\n        return event", "        return event"),
    ("launch", "get_current_stream().wait_event(event)", "get_current_stream()"),
    ("launch", "            stream.wait_event(self.record_event())", "            pass"),
    ("transfer", "        target.wait_for(computed)\n", ""),
    ("transfer", "        source.wait_for(copied)\n", "        pass\n"),
    ("transfer", "source.xp.ascontiguousarray(array)", "array"),
    ("columns", "with self._finishing:", "if True:"),
    ("transfer", "        copied = target.record_event()\n", "        copied = computed\n"),
    ("transfer", "    with source.active():\n        source.wait_for(copied)", "    target.wait_for(copied)"),
    ("columns", "        self.device.wait_for(self._queued)\n        flags", "        flags"),
    ("columns", "self._queued, self._stream = device.record_event(),", "self._queued, self._stream = None,"),
    ("columns", "array if self.device.stream() == self._stream else array.copy()", "array"),
    ("results", "            result._hold()\n", ""),
    ("per_stream", "if owner == stream:", "if owner is not None:"),
    ("records", "            self._device.defer_reuse(self._stream)", "            pass"),
    ("launch", "            now[0].synchronize()", "            pass"),
    ("launch", "STREAM_PER_THREAD = 2 ", "STREAM_PER_THREAD = 3 "),
    ("hybrid", "        self.stream.wait_event(computed)\n", ""),
    ("hybrid", "            self.copies[slot].synchronize()", "            pass"),
    ("hybrid", "copied.record(self.stream)", "copied.record()"),
    ("hybrid", "device.xp.cuda.Stream(non_blocking=True) if", "device.xp.cuda.get_current_stream() if"),
    # a device is not the current one, or an array is on another one
    ("launch", "return nullcontext() if known is None else known(self.number)", "return nullcontext()"),
    ("transfer", "if target.number == source.number:", "if target.number >= 0:"),
    ("results", "        array = copy_to_device(self._place, self._device, array)\n", ""),
    ("results", "    with columns.device.active():\n        return function(columns)", "    return function(columns)"),
    ("results", "copy_to_device(self._device, columns.device, masked)", "masked"),
    ("__init__", "    device = device_of(x)\n    with device.active():", "    device = device_of(x)\n    if True:"),
    ("__init__", "            rows = copy_to_device(device, place, rows)\n", ""),
    (
        "records",
        "self.device, self.active = device, device.active",
        "self.device, self.active = device, Device(0, 0).active",
    ),
    # a type, a stride or the memory of an array is another one
    ("transfer", "target.empty(*array.shape, dtype=array.dtype)", "target.empty(*array.shape)"),
    (
        "columns",
        "self.labels, self.order = device.empty(cols, n),",
        "self.labels, self.order = device.empty(cols, n, dtype='i8'),",
    ),
    ("columns", "device.xp.zeros((cols, most), np.int32)", "device.empty(cols, most)"),
    ("sort", "xp.zeros((cols, -(-n // 32)), np.uint32)", "xp.empty((cols, -(-n // 32)), np.uint32)"),
    (
        "sort",
        "device.empty(cols, n, dtype=np.float64), xp.zeros(",
        "device.empty(cols, n, dtype=np.float32), xp.zeros(",
    ),
    ("launch", "function((-(-threads // block),)", "function((max(1, threads // block),)"),
    ("launch", "            function.max_dynamic_shared_size_bytes = dynamic\n", "            pass\n"),
    ("launch", "shared_mem=dynamic)", "shared_mem=dynamic // 2)"),
    # memory that ends, processes, what other libraries share
    ("launch", ' or getattr(error, "status", None) == OUT_OF_MEMORY', ""),
    ("columns", "if rows == 1 or not device.lacks_memory(error):", "if rows == 1:"),
    ("__init__", "    why_not.cache_clear()\n", ""),
    (
        "mag._lib.arrays",
        "        return _cupy().from_dlpack(x)\n",
        "        with _cupy().cuda.Stream.null:\n            return _cupy().from_dlpack(x)\n",
    ),
    (
        "mag._lib.arrays",
        "        return self._narrowed(xp, xp.from_dlpack(array))",
        "        with _cupy().cuda.Stream.null:\n            return self._narrowed(xp, xp.from_dlpack(array))",
    ),
    ("mag._lib.arrays", "return read(option, x)[0] if far else x", "return x"),
]

# Mistakes that a device may not show, but the host does: it checks the type of every argument of a kernel.
HOST_EDITS = [
    ("launch", "written = sizes, np.int64(stride), bases", "written = sizes, np.int32(stride), bases"),
    ("launch", "walked = (solved.sizes, np.int64(stride),", "walked = (solved.sizes, np.int32(stride),"),
]


def run_edited(*edit, arguments=("-m", "gpu", "-k", "not little_memory", *TESTS)):
    variables = {"MAG_EDIT": json.dumps(edit)} if edit else {}
    return emulated.run_tests("-p", "tests.cuda.edited", "-x", *arguments, variables=variables, **MODES)


def check_that_tests_fail(edit, **options):
    name = edit[0] if "." in edit[0] else "mag._backends.cuda" + f".{edit[0]}" * (edit[0] != "__init__")
    done = run_edited(name, *edit[1:], **options)
    assert done.returncode == 1, done.stdout[-2000:] + done.stderr[-2000:]
    assert "failed" in done.stdout, done.stdout[-2000:]


def test_there_are_tests_that_pass(cupy):
    emulated.need()
    done = run_edited()
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: f"{edit[0]}-{EDITS.index(edit)}")
def test_a_mistake_is_noticed(cupy, edit):
    emulated.need()
    check_that_tests_fail(edit)


@pytest.mark.parametrize("edit", HOST_EDITS, ids=lambda edit: f"{edit[0]}-{HOST_EDITS.index(edit)}")
def test_a_mistake_is_noticed_on_the_host(cupy, edit):
    emulated.need()
    check_that_tests_fail(edit, arguments=["tests/backends/cuda/test_columns.py"])
