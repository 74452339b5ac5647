"""NumPy in the place of CuPy: with streams, events, a memory pool that can be full, and a count of the bus."""

import contextlib
import weakref
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from mag._backends.cuda.launch import Device
from tests.cuda.host import HostModule


class StandIn:
    """Has the names of NumPy, and those of CuPy that the backend uses; `has` bytes of memory, or any number.

    `log` lists what happens on streams: ("record" or "wait", stream); `held` the streams that wait for another.
    `limit` is that of the pool, and `own_allocator` takes memory where the pool cannot see it.  `up` and `down` count
    bytes that go to the device and come back.
    """

    def __init__(self, *, has=None, limit=0, own_allocator=False):
        self.has, self.used, self.most, self.log, self.stream = has, 0, 0, [], "first"
        self.limit, self.down, self.up, self.held = limit, 0, 0, []
        pool = SimpleNamespace(
            malloc=object(), free_bytes=lambda: 0, used_bytes=lambda: self.used, get_limit=lambda: self.limit
        )
        self.get_default_memory_pool = lambda: pool
        self.cuda = SimpleNamespace(
            Event=lambda disable_timing: Event(self),
            get_current_stream=lambda: Stream(self, self.stream),
            get_allocator=lambda: "another" if own_allocator else pool.malloc,
            runtime=SimpleNamespace(memGetInfo=lambda: (2**60 if self.has is None else self.has - self.used, 0)),
        )

    def asarray(self, array, dtype=None):
        if not isinstance(array, There):
            self.up += np.asarray(array).nbytes
        return np.asarray(array, dtype)

    def __getattr__(self, name):
        return getattr(np, name)

    def empty(self, shape, dtype=float):
        array = There(shape, dtype)
        room = min(self.limit or 2**60, 2**60 if self.has is None else self.has)
        if self.used + array.nbytes > room:
            raise MemoryError(f"{array.nbytes} bytes of {room - self.used}")
        self.used += array.nbytes
        self.most = max(self.most, self.used)
        weakref.finalize(array, self._release, array.nbytes)
        return array

    def zeros(self, shape, dtype=float):
        array = self.empty(shape, dtype)
        array[...] = 0
        return array

    def _release(self, bytes_):
        self.used -= bytes_

    @contextlib.contextmanager
    def on_stream(self, name):
        before, self.stream = self.stream, name
        yield
        self.stream = before


class There(np.ndarray):
    """An array on the device."""


@dataclass
class Stream:
    """One of the streams, by its name."""

    xp: StandIn
    name: str

    def wait_event(self, event):
        self.xp.log.append(("wait", event.stream))
        self.xp.held.append((self.name, event.stream))


class Event:
    def __init__(self, xp):
        self.xp, self.stream = xp, None

    def record(self):
        self.stream = self.xp.stream
        self.xp.log.append(("record", self.stream))


class Counted(Device):
    """A device that counts what it sends to the host."""

    def host(self, array):
        self.xp.down += array.nbytes
        return np.asarray(array)


def stand_in(order="forward", *, device=None, **options):
    """A device whose arrays are NumPy's and whose kernels run on the host."""
    module = type("Ordered", (HostModule,), {"order": order})
    return Counted(StandIn(**options), module, shared=100 << 10, **(device or {}))
