"""Memory that a thread keeps for its next call: page faults of fresh memory can cost as much as the work itself."""

import os
import threading
import weakref
from typing import Any

import numpy as np

KEPT = 2**28  # largest number of bytes of a kept loan; larger ones are returned at once


class _Loans(dict[tuple[str, Any], Any]):
    """Memory kept by one thread; a plain dictionary could not be an element of `_all`."""

    __hash__ = object.__hash__  # type: ignore[assignment]


_all: "weakref.WeakSet[_Loans]" = weakref.WeakSet()


class _ThreadLoans(threading.local):
    def __init__(self) -> None:
        self.loans = _Loans()
        with _adding:
            _all.add(self.loans)


_adding = threading.Lock()
_mine = _ThreadLoans()


def _forget() -> None:
    """Reset after a fork: the holder of the lock is not part of the child process."""
    global _adding
    _adding = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def borrow(name: str, size: int, dtype: Any) -> np.ndarray:
    """An array that belongs to this thread until it borrows that type under the same name again."""
    memory = _mine.loans.get((name, dtype))
    if memory is None or memory.size < size:
        memory = np.empty(size, dtype)
        if memory.nbytes <= KEPT:
            _mine.loans[name, dtype] = memory
    return memory[:size]


def release() -> None:
    """Release the memory that all threads keep; threads at work keep their current loans."""
    with _adding:
        threads = list(_all)
    for loans in threads:
        loans.clear()
