"""Mistakes against CuPy's interface, streams and devices, which some test must notice.

`pytest -v -m mutation -p tests.emulator.plugin` on this file prints their list.
"""

import json
import pathlib
from importlib import util

import pytest

from tests.cuda import emulated

MODES = {"lazy": 1, "devices": 2, "peers": 0}
TESTS = [
    f"tests/backends/cuda/test_cupy_{name}.py" for name in ("streams", "arrays", "memory", "process", "interrupts")
]

# (the mistake, module of mag._backends.cuda, text there, text of the mistake)
EDITS = [
    # an event or a wait is missing, or on the wrong stream
    ("an event is not recorded", "launch", "        event.record()\n        return event", "        return event"),
    ("a stream does not wait for an event", "launch", "get_current_stream().wait_event(event)", "get_current_stream()"),
    (
        "memory is used again before another stream has read it",
        "launch",
        "            stream.wait_event(self.record_event())",
        "            pass",
    ),
    ("a copy between devices does not wait for the source", "transfer", "        target.wait_for(computed)\n", ""),
    (
        "the source does not wait for a copy from its memory",
        "transfer",
        "        one.wait_for(copied)\n",
        "        pass\n",
    ),
    ("a strided array crosses to another device", "transfer", "source.xp.ascontiguousarray(array)", "array"),
    ("two threads finish one result at once", "columns", "with self._finishing:", "if True:"),
    (
        "both events of a copy between devices precede it",
        "transfer",
        "            target.xp.copyto(copy, array)\n"
        "        finally:  # Ctrl-C does not stop a copy that is queued\n"
        "            surely(lambda: _wait(source, target))\n",
        "            _wait(source, target)\n        finally:\n            target.xp.copyto(copy, array)\n",
    ),
    (
        "another stream waits for a copy between devices",
        "transfer",
        "    with one.active():\n        one.wait_for(copied)",
        "    other.wait_for(copied)",
    ),
    (
        "flags are read before the call has computed them",
        "columns",
        "            self.device.wait_for(self._queued)  # first",
        "            # first",
    ),
    ("what a call queued last is not recorded", "columns", "        columns._record_queued()\n", ""),
    (
        "a reader on another stream gets the memory of the call",
        "columns",
        "array if self.device.stream() == self._stream else array.copy()",
        "array",
    ),
    (
        "the stream of the call does not wait for readers of columns",
        "facts",
        "                surely(self.defer_reuse)\n",
        "                pass\n",
    ),
    ("a fact of one stream is given to another one", "per_stream", "if owner == stream:", "if owner is not None:"),
    (
        "the stream of the call does not wait for readers of records",
        "records",
        "        self.device.defer_reuse(self._stream)",
        "        pass",
    ),
    (
        "no thread waits for a reader on a default stream of its own",
        "launch",
        "            now[0].synchronize()",
        "            pass",
    ),
    (
        "the default stream of a thread is taken for a shared one",
        "launch",
        "STREAM_PER_THREAD = 2 ",
        "STREAM_PER_THREAD = 3 ",
    ),
    ("cost blocks are copied before they are computed", "hybrid", "        self.stream.wait_event(computed)\n", ""),
    (
        "cost blocks are read before they have arrived",
        "hybrid",
        "            self.copies[slot].synchronize()",
        "            pass",
    ),
    (
        "a copy's event is recorded on the stream that computes",
        "hybrid",
        "copied.record(self.stream)",
        "copied.record()",
    ),
    (
        "cost blocks are copied on the stream that computes",
        "hybrid",
        "device.xp.cuda.Stream(non_blocking=True) if",
        "device.xp.cuda.get_current_stream() if",
    ),
    # what Ctrl-C leaves behind is not waited for, or believed
    (
        "readers that Ctrl-C ends are not waited for",
        "facts",
        "            try:\n                yield\n            finally:\n                surely(self.defer_reuse)\n",
        "            yield\n            self.defer_reuse()\n",
    ),
    (
        "a reader that Ctrl-C ends before it waits records that nothing is queued",
        "columns",
        "            self.device.wait_for(self._queued)  # first: Ctrl-C in between must leave the event of the call\n"
        "            try:\n",
        "            try:\n                self.device.wait_for(self._queued)\n",
    ),
    (
        "flags are read again after columns were labeled again",
        "columns",
        "        if self._computed_flags is None:\n",
        "        if True:\n",
    ),
    (
        "what Ctrl-C leaves queued on columns is not recorded",
        "columns",
        "                surely(self._record_queued)\n",
        "                pass\n",
    ),
    (
        "copies that Ctrl-C leaves queued are not waited for",
        "hybrid",
        "        stream.finish()\n        raise",
        "        raise",
    ),
    # a device is not the current one, or an array is on another one
    (
        "no device is made the current one",
        "launch",
        "return nullcontext() if known is None else known(self.number)",
        "return nullcontext()",
    ),
    ("an array is used on another device", "transfer", "if target.number == source.number:", "if target.number >= 0:"),
    (
        "a result stays on another device",
        "facts",
        "array = copy_to_device(self.place, self.device, self.device.xp.asarray(array))\n",
        "pass\n",
    ),
    (
        "a part of a table is read on the wrong device",
        "facts",
        "    with columns.device.active():\n        return function(columns)",
        "    return function(columns)",
    ),
    (
        "masked values are used on another device",
        "facts",
        "copy_to_device(self.device, columns.device, masked)",
        "masked",
    ),
    (
        "a call runs on the current device, not on that of its data",
        "__init__",
        "    device = device_of(x)\n    with device.active():",
        "    device = device_of(x)\n    if True:",
    ),
    (
        "columns are grouped on another device",
        "__init__",
        "            rows = copy_to_device(device, place, rows)\n",
        "",
    ),
    (
        "records use device 0",
        "records",
        "self.device, self.active = device, device.active",
        "self.device, self.active = device, Device(0, 0).active",
    ),
    # a type, a stride or the memory of an array is another one
    (
        "a copy between devices has another type",
        "transfer",
        "target.empty(*array.shape, dtype=array.dtype)",
        "target.empty(*array.shape)",
    ),
    (
        "labels have 64 bits",
        "columns",
        "self.labels, self.order = device.empty(cols, n),",
        "self.labels, self.order = device.empty(cols, n, dtype='i8'),",
    ),
    (
        "counters of records do not begin at 0",
        "columns",
        "device.xp.zeros((cols, most), np.int32)",
        "device.empty(cols, most)",
    ),
    (
        "marks of records that a sort met do not begin at 0",
        "sort",
        "xp.zeros((cols, -(-n // 32)), np.uint32)",
        "xp.empty((cols, -(-n // 32)), np.uint32)",
    ),
    (
        "sorted values have 32 bits",
        "sort",
        "device.empty(cols, n, dtype=np.float64), xp.zeros(",
        "device.empty(cols, n, dtype=np.float32), xp.zeros(",
    ),
    (
        "the last thread block is not launched",
        "launch",
        "function((-(-threads // block),)",
        "function((max(1, threads // block),)",
    ),
    (
        "shared memory beyond 48 KB is not asked for",
        "launch",
        "            function.max_dynamic_shared_size_bytes = dynamic\n",
        "            pass\n",
    ),
    ("half of the shared memory is asked for", "launch", "shared_mem=dynamic)", "shared_mem=dynamic // 2)"),
    # memory that ends, processes, what other libraries share
    ("CUDA's error of memory is not known", "launch", ' or getattr(error, "status", None) == OUT_OF_MEMORY', ""),
    (
        "batches are not halved where memory ends",
        "columns",
        "if rows == 1 or not device.lacks_memory(error):",
        "if rows == 1:",
    ),
    ("a forked process does not look for devices again", "__init__", "    why_not.cache_clear()\n", ""),
    (
        "arrays are read through DLPack on the default stream",
        "mag._lib.arrays",
        "        return _cupy().from_dlpack(x)\n",
        "        with _cupy().cuda.Stream.null:\n            return _cupy().from_dlpack(x)\n",
    ),
    (
        "results are returned through DLPack on the default stream",
        "mag._lib.arrays",
        "        return self._narrowed(xp, xp.from_dlpack(array))",
        "        with _cupy().cuda.Stream.null:\n            return self._narrowed(xp, xp.from_dlpack(array))",
    ),
    (
        "arrays of a device are left there for the host",
        "mag._lib.arrays",
        "return read(option, x)[0] if far else x",
        "return x",
    ),
]

# Mistakes that a device may not show, but the host does: it checks the type of every argument of a kernel.
HOST_EDITS = [
    (
        "narrow gets a stride of 32 bits",
        "launch",
        "written = sizes, np.int64(stride), bases",
        "written = sizes, np.int32(stride), bases",
    ),
    (
        "walk gets a stride of 32 bits",
        "launch",
        "walked = (solved.sizes, np.int64(stride),",
        "walked = (solved.sizes, np.int32(stride),",
    ),
]


def run_edited(*edit, arguments=("-m", "gpu", "-k", "not little_memory and not number", *TESTS)):
    variables = {"MAG_EDIT": json.dumps(edit)} if edit else {}
    return emulated.run_tests("-p", "tests.cuda.edited", "-x", *arguments, variables=variables, **MODES)


def module_of(edit):
    return edit[0] if "." in edit[0] else "mag._backends.cuda" + f".{edit[0]}" * (edit[0] != "__init__")


def check_that_tests_fail(edit, **options):
    done = run_edited(module_of(edit), *edit[1:], **options)
    assert done.returncode == 1, done.stdout[-2000:] + done.stderr[-2000:]
    assert "failed" in done.stdout, done.stdout[-2000:]


def named(edits):
    return pytest.mark.parametrize("edit", [pytest.param(edit, id=name) for name, *edit in edits])


@named(EDITS + HOST_EDITS)
def test_a_mistake_can_still_be_made(edit):
    """In every run of tests: code that moves must not leave a mistake behind."""
    _, text, mistake = edit
    assert pathlib.Path(util.find_spec(module_of(edit)).origin).read_text().count(text) == 1
    assert text != mistake


@pytest.mark.mutation  # and not gpu: `-m gpu` is for tests that a device runs
def test_there_are_tests_that_pass(cupy):
    emulated.need()
    done = run_edited()
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.mutation
@named(EDITS)
def test_a_mistake_is_noticed(cupy, edit):
    emulated.need()
    check_that_tests_fail(edit)


@pytest.mark.mutation
@named(HOST_EDITS)
def test_a_mistake_is_noticed_on_the_host(cupy, edit):
    emulated.need()
    check_that_tests_fail(edit, arguments=["tests/backends/cuda/test_columns.py"])
