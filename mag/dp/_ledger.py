"""The file of a budget: lines that are only ever added, under the lock of the file itself.

A hidden marker next to it holds the length and the hash of the lines after each addition.  It remains if the ledger is
lost: a ledger that was removed, replaced or shortened is an error, never a new budget.
"""

import contextlib
import hashlib
import os
import pathlib
import re
from collections.abc import Iterator

from mag._lib.atomic import Reserved, marker_of
from mag._lib.errors import InputValueError
from mag._lib.lock import holding

WAIT_SECONDS = 30.0  # seconds for another process that writes the ledger
GONE = "{!r}, the ledger of a budget, was removed; put it back: spent budget stays spent."
LEDGER_CHANGED = "{!r}, the ledger of a budget, was replaced, shortened or edited; restore the original file."
NO_LEDGER = "{!r} must be a ledger of mag.dp.Budget; one of its lines is not an entry."
NOTE = re.compile("^([0-9]+) ([0-9a-f]{64})$", re.MULTILINE)  # in a marker


class Ledger:
    """A ledger, bound to the file that its name meant first: no `chdir` and no new link leads to another one."""

    def __init__(self, file: str | os.PathLike[str]) -> None:
        self.place = pathlib.Path(os.path.realpath(file))
        self._marker = marker_of(self.place)
        self._status: os.stat_result | None = None
        self._seen = b""

    def begin(self, line: str) -> None:
        """Write the first line if there is no ledger and there never was one."""
        if self._seen or self._marker.exists() or self.place.exists():
            return
        with contextlib.suppress(FileExistsError), Reserved([self.place], overwrite=False).drafts() as [draft]:
            draft.write_text(line + "\n", encoding="utf-8")

    @contextlib.contextmanager
    def held(self) -> Iterator["LedgerLines"]:
        """The lines; nobody else can add lines meanwhile."""
        with contextlib.ExitStack() as stack:
            while True:
                handle = self._open()
                stack.callback(os.close, handle)
                stack.enter_context(holding(handle, str(self.place), WAIT_SECONDS))
                status = os.fstat(handle)
                if self._is_named(status):
                    break  # or else the file was replaced between opening and locking
                stack.pop_all().close()
            content = self._checked(handle, status)
            lines = LedgerLines(handle, content, self._marker)
            try:
                yield lines
            finally:
                self._status, self._seen = status, lines.content

    def _open(self) -> int:
        try:
            return os.open(self.place, os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0))
        except FileNotFoundError:
            if self._seen or self._marker.exists():
                raise InputValueError(GONE.format(self.place.name)) from None
            raise

    def _is_named(self, status: os.stat_result) -> bool:
        try:
            return os.path.samestat(status, os.stat(self.place))
        except FileNotFoundError:
            return False

    def _checked(self, handle: int, status: os.stat_result) -> bytes:
        """All bytes, after a check that they begin with those that this object and the marker have recorded."""
        with open(os.dup(handle), "rb") as file:
            file.seek(0)
            content = file.read()
        same = self._status is None or os.path.samestat(self._status, status)
        if not same or not content.startswith(self._seen) or not _has_marked(content, self._marker):
            raise InputValueError(LEDGER_CHANGED.format(self.place.name))
        if not content.endswith(b"\n"):
            raise InputValueError(NO_LEDGER.format(self.place.name))
        return content


class LedgerLines:
    """The lines of a ledger that is held."""

    def __init__(self, handle: int, content: bytes, marker: pathlib.Path) -> None:
        self._handle, self.content, self._marker = handle, content, marker

    def read(self) -> list[str]:
        """The lines."""
        return self.content.decode("utf-8").splitlines()

    def add(self, line: str) -> None:
        """Add a line, on the disk when this returns."""
        _append(self._handle, line)
        self.content += line.encode() + b"\n"
        self.mark()

    def mark(self) -> None:
        """Record the current content of the ledger in the marker, unless it is recorded already."""
        if _last_note(self._marker)[0] == len(self.content):
            return
        mode = os.fstat(self._handle).st_mode & 0o666
        handle = os.open(self._marker, os.O_CREAT | os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0), mode)
        try:
            _append(handle, f"\n{len(self.content)} {hashlib.sha256(self.content).hexdigest()}")
        finally:
            os.close(handle)


def _append(handle: int, line: str) -> None:
    data = line.encode() + b"\n"
    while data:
        data = data[os.write(handle, data) :]
    os.fsync(handle)


def _has_marked(content: bytes, marker: pathlib.Path) -> bool:
    """Whether a ledger matches the last note of its marker; without a marker it is older, or was moved."""
    size, digest = _last_note(marker)
    return not size or hashlib.sha256(content[:size]).hexdigest() == digest


def _last_note(marker: pathlib.Path) -> tuple[int, str]:
    """The last length and hash; a line that was cut off by a kill or a full disk does not count."""
    try:
        notes = NOTE.findall(marker.read_text(encoding="ascii", errors="replace"))
    except FileNotFoundError:
        notes = []
    return (int(notes[-1][0]), notes[-1][1]) if notes else (0, "")
