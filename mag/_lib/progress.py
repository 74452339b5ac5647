"""How far a method is, and whether it should stop: one object for progress, time limits and Ctrl-C."""

import sys
import time
from collections.abc import Callable

from mag._lib.interrupt import stop_if_left

WIDTH = 40  # characters of the bar
PAUSE = 0.1  # seconds between two reports


class Progress:
    """Reports progress and keeps the time.

    A method calls `step(fraction)` every few milliseconds, and returns the best grouping that it has when that says
    True.  It may ask for `left()` seconds before it starts something long.

    `span`, `silent` and `limited` return views for a part of the work and leave this one as it is.
    """

    def __init__(self, report: Callable[[float], object] | bool | None = None, time_limit: float | None = None) -> None:
        report = _bar if report is True else report or None
        self._clock, self._reporter = _Clock(time_limit), None if report is None else _Reporter(report)
        self._low, self._high = 0.0, 1.0

    def span(self, low: float, high: float) -> "Progress":
        """From `low` to `high` of this work: the fractions of the view are those of that part."""
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
        seconds = max(self.left(), 0.0) * (high - low) / (1.0 - low)
        part = self.span(low, high)
        return part.limited(seconds)

    def _view(self, clock: "_Clock", reporter: "_Reporter | None", low: float, high: float) -> "Progress":
        view = Progress()
        view._clock, view._reporter, view._low, view._high = clock, reporter, low, high
        return view

    def step(self, fraction: float) -> bool:
        """Note that this fraction of the work is done; True where the time is up."""
        stop_if_left()
        if self._reporter is not None:
            self._reporter.note(self._low + (self._high - self._low) * float(fraction))
        if self._clock.left() <= 0:
            self.stop()
        return self.stopped

    def left(self) -> float:
        """Seconds until the time is up; infinity without a limit."""
        stop_if_left()
        return self._clock.left()

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


class _Clock:
    """The time of some work, which may be limited."""

    def __init__(self, limit: float | None) -> None:
        self._end = float("inf") if limit is None else time.monotonic() + limit
        self.stopped = False

    def left(self) -> float:
        return self._end - time.monotonic()


class _Reporter:
    """Tells the user, now and then, how much is done."""

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
        if self._report is _bar:
            sys.stderr.write("\n")


def _bar(fraction: float) -> None:
    filled = round(fraction * WIDTH)
    sys.stderr.write(f"\r[{'#' * filled}{'.' * (WIDTH - filled)}] {fraction:4.0%}")
    sys.stderr.flush()
