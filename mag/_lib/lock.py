"""One run at a time for one file: a lock that the operating system drops when its process ends, however it ends."""

import contextlib
import errno
import os
import pathlib
from collections.abc import Iterator

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextlib.contextmanager
def alone(target: os.PathLike[str] | str) -> Iterator[None]:
    """Hold the lock on a file that is to be written, or raise `BlockingIOError` where another run holds it.

    The lock is a hidden file beside the target, held open.  A process that is killed leaves the file and not the lock:
    the next run takes it over and removes it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mag._lib.lock import alone
    >>> with tempfile.TemporaryDirectory() as folder, alone(pathlib.Path(folder, "out.parquet")):
    ...     try:
    ...         with alone(pathlib.Path(folder, "out.parquet")):
    ...             pass
    ...     except BlockingIOError as error:
    ...         print(error.strerror)
    another run is writing this file; wait for it to end, or choose another name
    """
    target = pathlib.Path(target)
    place = target.with_name(f".{target.name}.lock")
    handle = _hold(place)
    if handle is None:
        raise BlockingIOError(
            errno.EWOULDBLOCK,
            "another run is writing this file; wait for it to end, or choose another name",
            str(target),
        )
    try:
        yield
    finally:
        if fcntl is None:  # an open file cannot be removed there, and one that another run has opened will not be
            os.close(handle)
        with contextlib.suppress(OSError):
            place.unlink()
        if fcntl is not None:
            os.close(handle)


def _hold(place: pathlib.Path) -> int | None:
    """The open file with its lock; None where another holds it."""
    while True:
        handle = os.open(place, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            _lock(handle)
            # Between opening and locking, the run that held this file may have ended and removed it.
            if os.path.samestat(os.fstat(handle), os.stat(place)):
                return handle
        except FileNotFoundError:
            pass
        except OSError as error:
            os.close(handle)
            if error.errno in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
                return None
            raise
        os.close(handle)


def _lock(handle: int) -> None:
    if fcntl is not None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return
    import msvcrt

    msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
