"""A text file in blocks of whole lines, so that it never lies in memory as a whole."""

import codecs
import collections
import csv
import io
import pathlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from mag._lib.errors import InputValueError
from mag.files._layout import Layout

BLOCK_BYTES = 2**23  # bytes of a block; larger ones are not faster
HEAD_BYTES = 2**18  # bytes of a block where only the first records matter
BOM = codecs.BOM_UTF8


def header(path: pathlib.Path, layout: Layout, delimiter: str) -> list[str]:
    """The names of the columns; a name that occurs twice is an error."""
    first = next(pieces(path, layout, HEAD_BYTES), b"")
    try:
        names = next(csv.reader(io.StringIO(first.decode(), newline=""), delimiter=delimiter), [])
    except csv.Error:
        most = csv.field_size_limit()
        raise InputValueError(f"{path.name!r} must have column names of at most {most} characters.") from None
    if not names:
        if first:
            raise InputValueError(f"{path.name!r} begins with an empty line; its first line must name the columns.")
        raise InputValueError(f"{path.name!r} is empty; its first line must name the columns.")
    twice = sorted(name for name, count in collections.Counter(names).items() if count > 1)
    if twice:
        raise InputValueError(
            f"{path.name!r} has more than one column named {', '.join(map(repr, twice))}; rename them."
        )
    return names


def find_long_line(path: pathlib.Path, layout: Layout, delimiter: str) -> tuple[int, int] | None:
    """The first line with more cells than the header has, and how many they are."""
    text = (line for piece in pieces(path, layout) for line in io.StringIO(piece.decode(), newline=""))
    rows = csv.reader(text, delimiter=delimiter)
    try:
        most = len(next(rows, []))
        line = rows.line_num + 1
        for row in rows:
            if len(row) > most:
                return line, len(row)
            line = rows.line_num + 1
    except (csv.Error, UnicodeError):
        return None
    return None


def line_end(path: pathlib.Path, layout: Layout) -> str:
    """How the first line ends."""
    return "\r\n" if next(pieces(path, layout, HEAD_BYTES), b"").endswith(b"\r\n") else "\n"


def has_bom(path: pathlib.Path) -> bool:
    """Whether the file begins with the mark of UTF-8."""
    with path.open("rb") as file:
        return file.read(len(BOM)) == BOM


def mapped(step: Callable[[bytes], Any], pieces: Iterable[bytes]) -> Iterator[Any]:
    """Apply the step to each piece, in order; to a few pieces at a time, one per processor."""
    from mag._lib.checks import thread_count

    ahead: collections.deque[Future[Any]] = collections.deque()
    threads = thread_count("threads", None)
    with ThreadPoolExecutor(threads) as pool:
        for piece in pieces:
            ahead.append(pool.submit(step, piece))
            if len(ahead) > threads:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()


def blocks(path: pathlib.Path, layout: Layout, size: int | None = None) -> Iterator[bytes]:
    """The records after the header, in UTF-8."""
    every = pieces(path, layout, size)
    next(every, None)
    return every


def pieces(path: pathlib.Path, layout: Layout, size: int | None = None) -> Iterator[bytes]:
    """First the header, then blocks of whole lines, of about `BLOCK_BYTES` bytes or fewer.

    A line end between quotes belongs to a cell: a block may end after a line only if the number of quotes up to it is
    even.  polars finds lines by the same rule.
    """
    rest, first = b"", True
    for piece in _utf8(path, layout, min(BLOCK_BYTES, size or BLOCK_BYTES)):
        block = rest + piece
        if first:
            cut = _first_line(block)
            if cut:
                yield block[:cut]
                block, first = block[cut:], False
        cut = 0 if first else _last_line(block)
        if cut:
            yield block[:cut]
        rest = block[cut:]
    if rest:
        yield rest


def _utf8(path: pathlib.Path, layout: Layout, size: int) -> Iterator[bytes]:
    decoder = None if layout.utf8 else codecs.getincrementaldecoder(layout.encoding)()
    with path.open("rb") as file:
        start = file.read(len(BOM))
        if decoder is not None or start != BOM:
            file.seek(0)
        while piece := file.read(size):
            yield piece if decoder is None else decoder.decode(piece).encode()
        if decoder is not None:
            decoder.decode(b"", final=True)


def _first_line(block: bytes) -> int:
    """Where the first line ends; 0 where it does not."""
    cut = block.find(b"\n") + 1
    while cut and block.count(b'"', 0, cut) % 2:
        cut = block.find(b"\n", cut) + 1
    return cut


def _last_line(block: bytes) -> int:
    """The end of the last complete line; 0 without a complete line."""
    cut = block.rfind(b"\n") + 1
    odd = b'"' in block and block.count(b'"', 0, cut) % 2  # finding a quote is several times as fast as counting them
    while cut and odd:  # inside of quotes that opened at the last quote
        before = block.rfind(b"\n", 0, block.rfind(b'"', 0, cut)) + 1
        odd ^= block.count(b'"', before, cut) % 2
        cut = before
    return cut
