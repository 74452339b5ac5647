"""How far a method is, and whether it should stop: one object for progress, time limits and Ctrl-C."""

import sys
import time

from mag._lib.interrupt import stop_if_left

WIDTH = 40  # characters of the bar
PAUSE = 0.1  # seconds between two reports


class Watch:
    """Reports progress and keeps the time.

    A method calls `step(fraction)` every few milliseconds, and returns the best grouping that it has when that says
    True.  It may ask for `left()` seconds before it starts something long.
    """

    def __init__(self, progress=None, time_limit=None):
        self._began = time.monotonic()
        self._limit = time_limit
        self._report = _bar if progress is True else progress or None
        self._reported = self._began - PAUSE
        self._low, self._high, self._done = 0.0, 1.0, 0.0
        self.stopped = False

    def part(self, low, high):
        """What follows is this part of the work: its fractions are those of the part."""
        self._low, self._high = low, high
        return self

    def share(self, low, high):
        """A watch of its own for this part of the work, with its share of the time that is left."""
        time_left = None if self._limit is None else max(self.left(), 0.0) * (high - low) / (1.0 - low)
        return Watch(lambda fraction: self.part(low, high).step(fraction), time_left)

    def step(self, fraction):
        """Note that this fraction of the work is done; True where the time is up."""
        stop_if_left()
        now = time.monotonic()
        if self._report is not None and now - self._reported >= PAUSE:
            self._reported = now
            done = self._low + (self._high - self._low) * float(fraction)
            self._done = min(max(done, self._done), 1.0)  # never back
            self._report(self._done)
        if self._limit is not None and now - self._began >= self._limit:
            self.stopped = True
        return self.stopped

    def left(self):
        """Seconds until the time is up; infinity without a limit."""
        stop_if_left()
        return float("inf") if self._limit is None else self._limit - (time.monotonic() - self._began)

    def done(self):
        """The work is finished, or as much of it as there was time for."""
        if self._report is not None:
            self._report(1.0)
            if self._report is _bar:
                sys.stderr.write("\n")


def _bar(fraction):
    filled = round(fraction * WIDTH)
    sys.stderr.write(f"\r[{'#' * filled}{'.' * (WIDTH - filled)}] {fraction:4.0%}")
    sys.stderr.flush()
