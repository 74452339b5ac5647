"""Two GPUs that NumPy stands for: every array knows its device, and is only touched while that is the current one."""

import contextlib
import sys
from types import SimpleNamespace
from unittest import mock

import numpy as np

from mag._backends import cuda
from mag._backends.cuda.launch import Device
from tests.cuda.host import HostModule


class Gpus:
    """Has the names of NumPy, and those of CuPy that choose a device; `touched` are the devices of all launches."""

    def __init__(self, count=2):
        self.now, self.touched, self.moved = 0, [], 0
        runtime = SimpleNamespace(getDeviceCount=lambda: count, getDevice=lambda: self.now)
        stream = SimpleNamespace(wait_event=lambda event: None)
        event = SimpleNamespace(record=lambda: None)
        self.cuda = SimpleNamespace(
            Device=self._device,
            Event=lambda disable_timing: event,
            get_current_stream=lambda: stream,
            runtime=runtime,
        )

    @contextlib.contextmanager
    def _device(self, number):
        before, self.now = self.now, number
        try:
            yield
        finally:
            self.now = before

    def __getattr__(self, name):
        function = getattr(np, name)
        if not callable(function) or isinstance(function, type):
            return function

        def on_the_current_device(*args, **named):
            check(self, args)
            return tagged(self, function(*(plain(arg) for arg in args), **named))

        return on_the_current_device

    def asarray(self, values, dtype=None):
        """As CuPy for what is on the current device, or the host; `copyto` is for what is on another device."""
        check(self, (values,))
        if isinstance(values, Tagged) and dtype is None:
            return values
        return tagged(self, np.array(plain(values), dtype=dtype))

    def copyto(self, target, values):
        """As CuPy: from one device to another, while that of the target is the current one."""
        check(self, (target,))
        self.moved += values.nbytes
        np.copyto(plain(target), plain(values))


class Tagged(np.ndarray):
    """An array on one of the devices."""

    gpus, on = None, None

    def __array_finalize__(self, other):
        self.gpus, self.on = getattr(other, "gpus", None), getattr(other, "on", None)

    @property
    def device(self):
        return SimpleNamespace(id=self.on)

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **named):
        check(self.gpus, (*inputs, *(out or ())))
        named |= {} if out is None else {"out": tuple(map(plain, out))}
        found = getattr(ufunc, method)(*map(plain, inputs), **named)
        return out[0] if out is not None else tagged(self.gpus, found)

    def __getitem__(self, index):
        check(self.gpus, index if isinstance(index, tuple) else (index,))
        found = np.ndarray.__getitem__(self, plain_index(index))
        return tagged(self.gpus, np.asarray(found), self.on)

    def __setitem__(self, index, values):
        check(self.gpus, (self, values, *(index if isinstance(index, tuple) else (index,))))
        np.ndarray.__setitem__(plain(self), plain_index(index), plain(values))


def plain(array):
    return array.view(np.ndarray) if isinstance(array, Tagged) else array


def plain_index(index):
    return tuple(map(plain, index)) if isinstance(index, tuple) else plain(index)


def tagged(gpus, array, on=None):
    if not isinstance(array, (np.ndarray, np.generic)):
        return array
    array = np.asarray(array).view(Tagged)
    array.gpus, array.on = gpus, gpus.now if on is None else on
    return array


def check(gpus, arrays):
    """Arrays may be touched on their own device only."""
    for array in arrays:
        if isinstance(array, Tagged):
            assert array.on == gpus.now, f"an array of device {array.on} is touched on device {gpus.now}"


class CheckedDevice(Device):
    """Starts kernels with arrays of its own, while it is the current device."""

    def launch(self, source, kernel, threads, block, args, dynamic=0, **chosen):
        assert self.xp.now == self.number
        check(self.xp, args)
        self.xp.touched.append(self.number)
        super().launch(source, kernel, threads, block, tuple(plain(arg) for arg in args), dynamic, **chosen)


@contextlib.contextmanager
def two():
    """Two GPUs in the place of CuPy's; arrays that `Gpus.asarray` made are resident there."""
    gpus = Gpus()
    devices = [CheckedDevice(gpus, HostModule, number, shared=100 << 10) for number in range(2)]
    with (
        _imported(gpus),
        mock.patch.object(cuda, "why_not", return_value=None),
        mock.patch.object(cuda, "_on", devices.__getitem__),
        mock.patch.object(cuda, "resident", lambda x: (x, _stay) if isinstance(x, Tagged) else None),
    ):
        yield gpus


@contextlib.contextmanager
def _imported(cupy):
    """As the module cupy; mock.patch.dict would also forget what others import in the meantime."""
    before, sys.modules["cupy"] = sys.modules.get("cupy"), cupy
    try:
        yield
    finally:
        del sys.modules["cupy"]
        sys.modules.update({} if before is None else {"cupy": before})


def _stay(array):
    return array
