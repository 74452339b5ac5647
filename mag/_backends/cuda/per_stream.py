"""Properties of device data: every stream that reads one has its own.

Memory of CuPy belongs to the stream that allocated it: it is given to that stream's next array as soon as nothing
refers to it, regardless of other streams.  So a stream never gets data that another one has computed.
"""

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mag._lib.lazy import cached_property

    per_stream = cached_property
else:

    class per_stream:  # noqa: N801 - takes the place of functools' cached_property
        """A method of something on a device, whose result is kept for the stream that is current."""

        def __init__(self, compute):
            self._compute, self.__doc__ = compute, compute.__doc__

        def __set_name__(self, owner, name):
            self._key = f"{name} of streams"

        def __get__(self, holder, owner=None):
            if holder is None:
                return self
            return kept(vars(holder), self._key, holder.device.stream(), lambda: self._compute(holder))


def kept(everything: dict[str, Any], key: str, stream: Hashable, compute: Callable[[], Any]) -> Any:
    """The value stored under a key for this stream; computed if there is none."""
    found: list[tuple[Any, Any]] = everything.setdefault(key, [])
    for owner, value in found:
        if owner == stream:
            return value
    found.append((stream, value := compute()))
    return value
