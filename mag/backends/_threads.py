"""Two tasks at once: the caller's thread takes one, a thread that is kept takes the other."""

import os
from concurrent.futures import ThreadPoolExecutor

_pool = None


def both(first, second, threads):
    """The results of two functions that release the GIL, run side by side if there are threads for it."""
    global _pool
    if threads < 2:
        return first(), second()
    if _pool is None:
        _pool = ThreadPoolExecutor(1, "mag")
    other = _pool.submit(second)
    try:
        mine = first()
    finally:
        theirs = other.result()
    return mine, theirs


def _forget():
    """A forked process has no threads but the one that forked."""
    global _pool
    _pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
