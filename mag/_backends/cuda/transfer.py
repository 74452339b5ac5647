"""Copies between devices: the only place that makes any.

CuPy queues such a copy on the current stream of the target alone.  It may run before the source has computed the
array, and after the source has used the memory again; an event before the copy and one behind it forbid both.
"""

from typing import Any

from mag._backends.cuda.launch import Device


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
        target.xp.copyto(copy, array)
        copied = target.record_event()
    with source.active():
        source.wait_for(copied)
    return copy
