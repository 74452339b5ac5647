"""Copies between devices: the only place that makes any.

CuPy queues such a copy on the current stream of the target alone.  It may run before the source has computed the
array, and after the source has reused the memory; an event before the copy and one after it prevent both.
"""

from typing import Any

from mag._backends.cuda.launch import Device
from mag._lib.interrupt import surely


def copy_to_device(target: Device, source: Device, array: Any) -> Any:
    """An array of the source in memory of the target, in turn with the current streams of both."""
    if target.number == source.number:
        return array
    with source.active():
        array = source.xp.ascontiguousarray(array)  # others would take another copy, which nothing waits for
        computed = source.record_event()
    with target.active():
        target.wait_for(computed)
        copy = target.empty(*array.shape, dtype=array.dtype)
        try:
            target.xp.copyto(copy, array)
        finally:  # Ctrl-C does not stop a copy that is queued
            surely(lambda: _wait(source, target))
    return copy


def _wait(one: Device, other: Device) -> None:
    """Let the current stream of one device wait for that of the other, which is the current device."""
    copied = other.record_event()
    with one.active():
        one.wait_for(copied)
