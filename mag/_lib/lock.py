"""One run at a time for one file: locks that the operating system drops when their process ends, however it ends.

A lock belongs to the file, not to one of its names: links of both kinds share it.
"""

import contextlib
import errno
import os
import pathlib
import time
from collections.abc import Iterator

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

BUSY_SENTENCE = "another run is writing this file; wait for it to end, or choose another name"
PAUSE_SECONDS = 0.01  # seconds between two attempts
LOCKED_BYTE = 2**30  # the byte that Windows locks: what is locked there cannot be read by others


@contextlib.contextmanager
def exclusive_lock(*targets: os.PathLike[str] | str) -> Iterator[None]:
    """Hold the locks on files that are to be written, or raise `BlockingIOError` where another run holds one.

    Two locks make one: that of the name, a hidden file beside the target, because the target may not be there yet and
    is replaced at the end; and that of the file that is there, because it may have other names.  A process that is
    killed leaves the hidden file and not the lock: the next run takes it over and removes it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mag._lib.lock import exclusive_lock
    >>> with tempfile.TemporaryDirectory() as folder, exclusive_lock(pathlib.Path(folder, "out.parquet")):
    ...     try:
    ...         with exclusive_lock(pathlib.Path(folder, "out.parquet")):
    ...             pass
    ...     except BlockingIOError as error:
    ...         print(error.strerror)
    another run is writing this file; wait for it to end, or choose another name
    """
    names = {os.path.realpath(target): target for target in targets}
    with contextlib.ExitStack() as stack:
        for place in sorted(names):  # in one order, so that of two runs one gets them all
            if not (_hold_name(pathlib.Path(place), stack) and _hold_file(place, stack)):
                raise BlockingIOError(errno.EWOULDBLOCK, BUSY_SENTENCE, str(names[place]))
        yield


@contextlib.contextmanager
def holding(handle: int, name: str, seconds: float) -> Iterator[None]:
    """Hold the lock on an open file; wait for it some seconds."""
    until = time.monotonic() + seconds
    while not _lock(handle):
        if time.monotonic() > until:
            raise BlockingIOError(errno.EWOULDBLOCK, BUSY_SENTENCE, name)
        time.sleep(PAUSE_SECONDS)
    try:
        yield
    finally:
        _unlock(handle)


def _hold_name(target: pathlib.Path, stack: contextlib.ExitStack) -> bool:
    """Hold the hidden file beside the target until the stack ends; False where another run holds it."""
    place = target.with_name(f".{target.name}.lock")
    while True:
        handle = _open(place, os.O_CREAT)
        try:
            # Between opening and locking, the run that held this file may have ended and removed it.
            held = _lock(handle)
            if not held or os.path.samestat(os.fstat(handle), os.stat(place)):
                break
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
    if held:
        stack.callback(_remove, place, handle)
    else:
        os.close(handle)
    return held


def _hold_file(target: str, stack: contextlib.ExitStack) -> bool:
    """Hold the file of that name, if there is one, until the stack ends; False where another run holds it."""
    if fcntl is None:  # an open file cannot be replaced there
        return True
    try:
        handle = _open(target)
    except OSError:  # the file is missing, or it belongs to another user
        return True
    stack.callback(os.close, handle)
    try:
        held = _lock(handle)
    except OSError:  # a file system that locks only what is open for writing
        return True
    if held:
        stack.callback(_unlock, handle)
    return held


def _open(place: os.PathLike[str] | str, flags: int = 0) -> int:
    """An open file; that of another user for reading, which is enough for a lock."""
    try:
        return os.open(place, os.O_RDWR | flags, 0o666)
    except PermissionError:
        if not os.path.exists(place):
            raise
        return os.open(place, os.O_RDONLY)


def _remove(place: pathlib.Path, handle: int) -> None:
    if fcntl is None:  # an open file cannot be removed there, and one that another run has opened will not be
        os.close(handle)
    with contextlib.suppress(OSError):
        place.unlink()
    if fcntl is not None:
        os.close(handle)


def _lock(handle: int) -> bool:
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            _lock_byte(handle, "LK_NBLCK")
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
            return False
        raise
    return True


def _unlock(handle: int) -> None:
    """At once: a process that was forked meanwhile has the file open, too."""
    if fcntl is not None:
        fcntl.flock(handle, fcntl.LOCK_UN)
    else:
        _lock_byte(handle, "LK_UNLCK")


def _lock_byte(handle: int, how: str) -> None:
    import msvcrt

    os.lseek(handle, LOCKED_BYTE, os.SEEK_SET)
    msvcrt.locking(handle, getattr(msvcrt, how), 1)  # type: ignore[attr-defined]
