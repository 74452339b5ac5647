"""One line on a terminal or in a notebook while code is compiled for more than a second.

Long computations name themselves (`working_on`); compilation reports itself (`compiling`).  Nothing is written to pipes
and files, nor with MAG_QUIET=1 or `progress=False`; and a progress bar shows it itself.
"""

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from mag._lib.terminal import in_notebook

NOTICE_AFTER_SECONDS = 1.0  # seconds of compiling before a notice
SECONDS = {"anneal": 15, "bound": 5, "columns": 5, "ona_local": 13, "ona_star": 10, "univariate": 3}  # usually, in all
SECONDS_OF_OTHER_METHODS = 8  # seconds of methods that are not listed


_work: ContextVar[tuple[str | None, bool]] = ContextVar("mag_work", default=(None, False))  # its name; to be quiet
_spent: dict[str, float] = {}
_said: set[str] = set()


@contextmanager
def working_on(name: str | None = None, quiet: bool = False) -> Iterator[None]:
    """Code compiled meanwhile is attributed to this name, or to the one set by the caller."""
    outer, silent = _work.get()
    token = _work.set((outer or name, silent or quiet))
    try:
        yield
    finally:
        _work.reset(token)


@contextmanager
def compiling(module: str) -> Iterator[None]:
    """A function of this module is compiled meanwhile."""
    name, quiet = _work.get()
    name = name or _part_of(module)
    if quiet or name in _said or not _visible():
        yield
        return
    began = time.monotonic()
    timer = threading.Timer(max(NOTICE_AFTER_SECONDS - _spent.get(name, 0.0), 0.0), _say, [name])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        _spent[name] = _spent.get(name, 0.0) + time.monotonic() - began


def _say(name: str) -> None:
    if name not in _said:
        _said.add(name)
        sys.stderr.write(f"mag: compiling {name} (once, about {SECONDS.get(name, SECONDS_OF_OTHER_METHODS)} s) …\n")
        sys.stderr.flush()


def _visible() -> bool:
    if os.environ.get("MAG_QUIET", "0") not in ("", "0"):
        return False
    return in_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def _part_of(module: str) -> str:
    """The public name of the part of the library that a module belongs to."""
    _, _, inside = module.partition(".")
    if inside.startswith("bounds"):
        return "bound"
    if inside.startswith("methods."):
        return inside.split(".")[1]
    return "columns" if inside.endswith("batch") else "univariate"
