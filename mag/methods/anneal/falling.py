"""One fall of heat over a large table: rounds of parts, each a little colder than the one before.

Near records are looked for once.  Every round divides the groups along other directions, and a record exchanges groups
with those of its near records that are in its part: larger parts separate fewer of them, smaller ones fit into a cache.
The heat of a part is relative to its cost, so that dense and thin regions freeze at the same time.
"""

import time
from collections.abc import Iterator

import numpy as np

from mag._lib.progress import Progress
from mag._lib.threads import each
from mag.methods._best_of import sum_of_squares
from mag.methods.anneal.recombine import numbered
from mag.methods.anneal.regions import PART_NEIGHBORS, ROUNDING_COST, Region, count_of_neighbors, pad_columns
from mag.methods.anneal.schedule import falling_plan
from mag.methods.distances.near import near_records, own_lists
from mag.methods.mondrian.regions import divide_groups, rotation

RECORDS_PER_PART, MIN_GROUPS_PER_PART = 1 << 14, 16  # records of a part, and groups at least
STEPS_PER_ROUND, MAX_ROUNDS = 30, 100  # steps per record of a round; rounds
STEPS_PER_SHORT_ROUND, MAX_SHORT_ROUNDS = 10, 6  # if time is short
OVERHEAD_STEPS = 12  # steps per record that take as long as dividing the records for a round
SECONDS_PER_STEP = 1e-7  # of one record on one thread, until a round has been timed
SEARCH = 0.15  # of the progress is for near records


def fall(
    X: np.ndarray,
    k: int,
    labels: np.ndarray,
    steps: float,
    random_state: np.random.Generator,
    threads: int,
    progress: Progress,
) -> tuple[np.ndarray, bool]:
    """Groups after that many steps per record, or as many as there is time for, and whether there was for all.

    The given groups if these cost less.
    """
    first = sum_of_squares(X, labels)
    if first < ROUNDING_COST * len(X) or labels.max() == 0:
        return labels, True
    near = near_records(X, count_of_neighbors(len(X), k, PART_NEIGHBORS), threads, progress.span(0.0, SEARCH))
    if near is None:
        return labels, False
    pace, table = _Pace(len(X), steps, threads, progress), _Table(X, k, near[0], random_state, threads)
    now, later = labels, progress.span(SEARCH, 1.0)
    for begin, end, many in pace.rounds():
        if later.step(begin):
            return (now if sum_of_squares(X, now) < first else labels), False
        now = table.run(now, begin, end, many, later.silent())
    return (now if sum_of_squares(X, now) < first else labels), pace.complete


class _Pace:
    """How many rounds there are, and how many steps per record in each of them: fewer if time is short."""

    def __init__(self, n: int, steps: float, threads: int, progress: Progress) -> None:
        self._n, self._progress, self._seconds = n, progress, SECONDS_PER_STEP / threads
        self._wanted = int(min(np.ceil(steps / STEPS_PER_ROUND), MAX_ROUNDS))
        self._asked = steps / max(self._wanted, 1)
        self.complete = True

    def rounds(self) -> Iterator[tuple[float, float, float]]:
        """Of each round, the fractions of the fall that it begins and ends at, and the steps per record."""
        end, turn = 0.0, 0
        if self._wanted and self._possible() < STEPS_PER_SHORT_ROUND + OVERHEAD_STEPS:
            self.complete = False
            return
        while turn < self._wanted and end < 1.0:
            left, possible = self._wanted - turn, self._possible()
            short = min(possible // (STEPS_PER_SHORT_ROUND + OVERHEAD_STEPS), MAX_SHORT_ROUNDS)
            left = int(min(left, max(possible // (STEPS_PER_ROUND + OVERHEAD_STEPS), short, 1)))
            steps = max(min(self._asked, possible / left - OVERHEAD_STEPS), 1.0)
            self.complete = self.complete and steps == self._asked and left == self._wanted - turn
            begin, end, turn, now = end, 1.0 if left == 1 else end + (1.0 - end) / left, turn + 1, time.monotonic()
            yield begin, end, steps
            self._seconds = (time.monotonic() - now) / (self._n * (steps + OVERHEAD_STEPS))

    def _possible(self) -> float:
        """Steps per record for which there is time."""
        return max(self._progress.seconds_left(), 0.0) / (self._n * self._seconds)


class _Table:
    """Records, and the near ones of each."""

    def __init__(
        self, X: np.ndarray, k: int, near: np.ndarray, random_state: np.random.Generator, threads: int
    ) -> None:
        self._X, self._k, self._near, self._random, self._threads = X, k, near, random_state, threads
        self._rows = pad_columns(X)

    def run(self, labels: np.ndarray, begin: float, end: float, steps: float, progress: Progress) -> np.ndarray:
        """One round from one fraction of the fall to another one; when the time is up, parts stay as they are."""
        n, d = self._X.shape
        directions, threads = rotation(d, self._random), self._threads
        parts = divide_groups(
            self._X, labels, directions, RECORDS_PER_PART, MIN_GROUPS_PER_PART, threads, progress.silent()
        )
        seeds = self._random.integers(1, 2**62, size=len(parts))
        part_of, place, found, used = np.empty(n, np.int32), np.empty(n, np.int32), np.empty_like(labels), 0
        for number, members in enumerate(parts):
            part_of[members], place[members] = number, np.arange(members.size)

        def anneal(number: int) -> np.ndarray:
            members = parts[number]
            rows, old = self._rows[members], numbered(labels[members])
            mean = sum_of_squares(rows, old) / members.size
            if progress.seconds_left() <= 0 or mean < ROUNDING_COST or old.max() == 0:
                return old
            own = np.empty((members.size, self._near.shape[1]), np.int32)
            own_lists(self._near, part_of, place, members, number, own)
            region = Region(rows, self._k, own, np.zeros(members.size), old, seeds[number])
            region.run(falling_plan(mean, begin, end, steps), progress)
            return numbered(region.labels())

        for members, new in zip(parts, each(anneal, range(len(parts)), threads), strict=True):
            found[members] = used + new
            used += int(new.max()) + 1
        return found
