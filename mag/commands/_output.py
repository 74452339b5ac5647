"""Output of commands: sentences and tables on the standard output, progress bars on the standard error stream."""

import contextlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any

from mag._lib.json_types import to_json_types
from mag._lib.notice import working_on
from mag._lib.progress import ProgressBar
from mag._lib.terminal import printable

_arguments: ContextVar[Sequence[str]] = ContextVar("arguments", default=())
_listener: ContextVar[Callable[[float], object] | None] = ContextVar("listener", default=None)


@contextlib.contextmanager
def running(arguments: Sequence[str]) -> Iterator[None]:
    """Remember the words of the command line while it runs."""
    token = _arguments.set(tuple(arguments))
    try:
        yield
    finally:
        _arguments.reset(token)


def command_line() -> Sequence[str]:
    """The words of the command line that runs."""
    return _arguments.get()


@contextlib.contextmanager
def heard_by(listener: Callable[[float], object]) -> Iterator[None]:
    """Report progress to a function, in place of a bar."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def say(text: object) -> None:
    """Print one line to stdout."""
    print(printable(text))


def warn(text: object) -> None:
    """Print a note to stderr."""
    print(f"mag: note: {printable(text)}", file=sys.stderr)


def dump(content: dict[str, Any]) -> None:
    """One JSON object."""
    print(json.dumps(to_json_types(content), indent=1, allow_nan=False).replace("\x7f", "\\u007f"))


def table(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A table; numbers to the right."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, name in enumerate(names):
        numbers = all(isinstance(row[place], (int, float)) for row in rows)
        grid.add_column(Text(printable(name)), justify="right" if numbers else "left", no_wrap=True)
    for row in rows:
        grid.add_row(*[Text(printable(number(cell))) for cell in row])
    width = None if sys.stdout.isatty() else 500
    Console(width=width, highlight=False).print(grid)


def number(cell: Any) -> str:
    """Format a number; four digits unless it is an integer."""
    if not isinstance(cell, float):
        return str(cell)
    return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else f"{cell:.4g}"


@contextlib.contextmanager
def bar(what: str, quiet: bool) -> Iterator[Callable[[float], object] | None]:
    """A bar on a terminal, or a listener, to be called with fractions from 0 to 1; None elsewhere."""
    if (listener := _listener.get()) is not None:
        with working_on(quiet=True):
            yield listener
        return
    with working_on(quiet=True):  # the bar says that code is compiled
        if quiet or not sys.stderr.isatty():
            yield None
            return
        line = ProgressBar(what, leave=False)
        try:
            yield line
        finally:
            line.close()
