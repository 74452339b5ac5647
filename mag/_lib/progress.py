"""How far a method is, and whether it should stop: one object for progress, time limits and Ctrl-C."""

import html
import sys
import time
from collections.abc import Callable
from typing import Any

from mag._lib.interrupt import raise_if_abandoned
from mag._lib.terminal import in_notebook, printable

BAR_CHARACTERS = 30  # characters of the bar
PAUSE = 0.1  # seconds between two reports
EARLY = 0.02  # share of the work below which its pace does not predict the rest


class Progress:
    """Reports progress and keeps the time.

    A method calls `step(fraction)` every few milliseconds, and returns its best grouping so far when that returns True.
    It may call `seconds_left()` for the remaining seconds before it starts a long step.

    `span`, `silent` and `limited` return views for a part of the work and leave this one as it is.
    """

    def __init__(self, report: Callable[[float], object] | bool | None = None, time_limit: float | None = None) -> None:
        shown = bar_of(report)
        self.quiet = is_quiet(shown)  # nothing else may be written
        self._clock, self._reporter = _Clock(time_limit), _Reporter(shown) if shown else None
        self._low, self._high = 0.0, 1.0

    def span(self, low: float, high: float) -> "Progress":
        """The part from `low` to `high` of this work: fractions of the view are those of that part."""
        width = self._high - self._low
        return self._view(self._clock, self._reporter, self._low + low * width, self._low + high * width)

    def silent(self) -> "Progress":
        """The same clock without reports: for runs on other threads."""
        return self._view(self._clock, None, self._low, self._high)

    def limited(self, seconds: float) -> "Progress":
        """The same reports with a time limit of their own; that it `stopped` is not noted here."""
        return self._view(_Clock(seconds), self._reporter, self._low, self._high)

    def share(self, low: float, high: float) -> "Progress":
        """A `span` with its share of the time that is left, if that is limited."""
        seconds = max(self.seconds_left(), 0.0) * (high - low) / (1.0 - low)
        part = self.span(low, high)
        return part.limited(seconds)

    def _view(self, clock: "_Clock", reporter: "_Reporter | None", low: float, high: float) -> "Progress":
        view = Progress()
        view._clock, view._reporter, view._low, view._high, view.quiet = clock, reporter, low, high, self.quiet
        return view

    def step(self, fraction: float) -> bool:
        """Note that this fraction of the work is done; True where the time is up."""
        raise_if_abandoned()
        if self._reporter is not None:
            self._reporter.note(self._low + (self._high - self._low) * float(fraction))
        if self._clock.seconds_left() <= 0:
            self.stop()
        return self.stopped

    def seconds_left(self) -> float:
        """Seconds until the time is up; infinity without a limit."""
        raise_if_abandoned()
        return self._clock.seconds_left()

    @property
    def stopped(self) -> bool:
        """Whether the work was cut short."""
        return self._clock.stopped

    def stop(self) -> None:
        """Note that the work is cut short."""
        self._clock.stopped = True

    def finish(self) -> None:
        """Report that the work is done, or as much of it as there was time for."""
        if self._reporter is not None:
            self._reporter.finish()


class ProgressBar:
    """How much is done, drawn in one place over and over: a line of a terminal, or a display of a notebook.

    It can be called with fractions from 0 to 1.  Before the first, code is compiled or loaded.
    """

    def __init__(self, label: str = "", leave: bool = True) -> None:
        self._label, self._leave, self._begin = printable(label), leave, time.monotonic()
        self._screen: _Notebook | _Line | None = _Notebook() if in_notebook() else _Line()
        self._screen.draw(self._label, 0.0, "compiling or loading code")

    def __call__(self, fraction: float) -> None:
        if self._screen is not None:
            self._screen.draw(self._label, fraction, self._time_left(fraction))

    def _time_left(self, fraction: float) -> str:
        if not EARLY <= fraction < 1.0:
            return ""
        left = round((time.monotonic() - self._begin) * (1.0 - fraction) / fraction)
        return f"{left // 60}:{left % 60:02d} left"

    def close(self) -> None:
        """The work is over: leave the bar as it is, or take it away."""
        if self._screen is not None:
            self._screen.close(self._leave)
            self._screen = None


def bar_of(report: Any) -> Any:
    """The receiver of reports: a bar if progress is True."""
    return ProgressBar() if report is True else report


def is_quiet(report: Any) -> bool:
    """Whether to write nothing about compiling: it is unwanted, or a bar shows it."""
    return report is False or isinstance(report, ProgressBar)


class _Line:
    """The line of a terminal that the cursor is in."""

    def __init__(self) -> None:
        self._length = 0

    def draw(self, label: str, fraction: float, note: str) -> None:
        filled = round(fraction * BAR_CHARACTERS)
        line = f"{label} [{'#' * filled}{'.' * (BAR_CHARACTERS - filled)}] {fraction:4.0%} {note}".strip()
        sys.stderr.write("\r" + line.ljust(self._length))
        sys.stderr.flush()
        self._length = len(line)

    def close(self, leave: bool) -> None:
        sys.stderr.write("\n" if leave else "\r" + " " * self._length + "\r")
        sys.stderr.flush()


class _Notebook:
    """A display below the cell, updated through IPython."""

    def __init__(self) -> None:
        self._handle: Any = None

    def draw(self, label: str, fraction: float, note: str) -> None:
        bar = f'<progress value="{fraction:.3f}" max="1" style="width:20em"></progress>'
        self._show(f"<div>{html.escape(label)} {bar} {fraction:.0%} {html.escape(note)}</div>")

    def _show(self, text: str) -> None:
        from IPython.display import HTML, display

        if self._handle is None:
            self._handle = display(HTML(text), display_id=True)
        else:
            self._handle.update(HTML(text))

    def close(self, leave: bool) -> None:
        if not leave:
            self._show("")


class _Clock:
    """The time of some work, with an optional limit."""

    def __init__(self, limit: float | None) -> None:
        self._end = float("inf") if limit is None else time.monotonic() + limit
        self.stopped = False

    def seconds_left(self) -> float:
        return self._end - time.monotonic()


class _Reporter:
    """Reports to the user, now and then, how much is done."""

    def __init__(self, report: Callable[[float], object]) -> None:
        self._report = report
        self._reported, self._done = time.monotonic() - PAUSE, 0.0

    def note(self, done: float) -> None:
        now = time.monotonic()
        if now - self._reported >= PAUSE:
            self._reported = now
            self._done = min(max(done, self._done), 1.0)  # never back
            self._report(self._done)

    def finish(self) -> None:
        self._report(1.0)
        if isinstance(self._report, ProgressBar):
            self._report.close()
