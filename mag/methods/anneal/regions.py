"""The data that are annealed at once: all records several times, or parts that are divided anew in every round."""

import numpy as np

from mag._compiled.work import work_for
from mag._lib.progress import Progress
from mag._lib.threads import each
from mag.methods._best_of import sum_of_squares
from mag.methods.anneal.moves import COLUMNS_PER_STEP, chain_at, cool, enter, leave
from mag.methods.anneal.recombine import best_parts, numbered
from mag.methods.anneal.schedule import LUKEWARM, HeatPlan, short_plan
from mag.methods.distances.neighbors import neighbors
from mag.methods.mondrian.regions import divide_groups

WHOLE_NEIGHBORS, PART_NEIGHBORS = (24, 128), (10, 32)  # that are tried: 2k, but no fewer and no more
RECORDS_PER_PART, MIN_GROUPS_PER_PART = 4096, 16  # records of a part, and groups at least
HOPE = 0.3  # expected gain of another heat, relative to the first one
ROUNDING_COST = 1e-290  # a mean cost that is due to rounding


class Region:
    """Records whose groups are annealed by themselves, those of the largest scale first."""

    def __init__(
        self, X: np.ndarray, k: int, near: np.ndarray, scale: np.ndarray, labels: np.ndarray, seed: int
    ) -> None:
        self._order = np.argsort(-scale, kind="stable")
        place = np.empty(len(X), np.int32)
        place[self._order] = np.arange(len(X))
        self.scale = scale[self._order]
        rows, near = X[self._order], place[near[self._order]]
        self._state = work_for(chain_at, None, None, *rows.shape, k, near.shape[1]), rows, near, k
        enter(*self._state, labels[self._order], seed)

    def run(self, plan: HeatPlan, progress: Progress) -> None:
        """One round, or less if the time is up."""
        for heat, active, steps in plan.of(self.scale):
            if active > 0 and progress.seconds_left() > 0:
                cool(*self._state, heat, active, steps)

    def labels(self) -> np.ndarray:
        """Of the records as they were given."""
        ordered, labels = np.empty((2, self._order.size), np.int64)
        leave(*self._state, ordered)
        labels[self._order] = ordered
        return labels


class Chains:
    """The whole data, annealed several times side by side."""

    def __init__(
        self, X: np.ndarray, k: int, labels: np.ndarray, restarts: int, random_state: np.random.Generator, threads: int
    ) -> None:
        self._X, self._threads, self._labels = pad_columns(X), threads, labels
        near = _nearest(self._X, k, WHOLE_NEIGHBORS, threads)
        self.scale, self.mean = _scale_of(self._X, k, near), sum_of_squares(X, labels) / len(X)
        seeds = random_state.integers(1, 2**62, size=restarts)
        self._regions = [Region(self._X, k, near, self.scale, labels, seed) for seed in seeds]

    def run(self, plan: HeatPlan, progress: Progress) -> None:
        """One round of every chain."""
        each(lambda region: region.run(plan, progress), self._regions, self._threads)

    def labels(self) -> np.ndarray:
        """The best parts of the start and of all chains."""
        return best_parts(self._X, [self._labels, *(region.labels() for region in self._regions)])


class RegionParts:
    """Records in parts, whole groups each, that are divided along other directions in every round.

    Every part is annealed by itself, for a short time, and improvements are kept.
    """

    def __init__(
        self, X: np.ndarray, k: int, labels: np.ndarray, random_state: np.random.Generator, threads: int
    ) -> None:
        self._X, self._k, self._random, self._threads = pad_columns(X), k, random_state, threads
        self.labels = labels
        self._gains: np.ndarray | None = None

    def run(self, steps: float, progress: Progress) -> float:
        """One round with this number of steps per record, from the heat that gained most when it was tried last.

        Returns how much less the groups cost.
        """
        k, labels = self._k, np.empty_like(self.labels)
        parts, choice = self._divide(progress.silent()), 0 if self._gains is None else int(np.argmax(self._gains))
        seeds = self._random.integers(1, 2**62, size=len(parts))

        def anneal(job: tuple[np.ndarray, int]) -> float:
            members, seed = job
            old = numbered(self.labels[members])
            labels[members] = old
            rows = self._X[members]
            cost = sum_of_squares(rows, old)
            if progress.seconds_left() <= 0 or cost < ROUNDING_COST * members.size or old.max() == 0:
                return 0.0
            near = _nearest(rows, k, PART_NEIGHBORS, 1)
            region = Region(rows, k, near, _scale_of(rows, k, near), old, seed)
            region.run(short_plan(cost / members.size, LUKEWARM[choice], steps), progress)
            labels[members] = new = best_parts(rows, [old, region.labels()])
            return cost - sum_of_squares(rows, new)

        gain = sum(each(anneal, zip(parts, seeds, strict=True), self._threads))
        if self._gains is None:
            self._gains = np.full(len(LUKEWARM), HOPE * gain)
        self._gains[choice] = gain
        part = np.empty_like(labels)
        for number, members in enumerate(parts):
            part[members] = number
        self.labels = numbered(part * (labels.max() + 1) + labels)
        return gain

    def _divide(self, progress: Progress) -> list[np.ndarray]:
        n, d = self._X.shape
        directions, records = self._random.standard_normal((d, d)), min(RECORDS_PER_PART, n // 4)
        return divide_groups(self._X, self.labels, directions, records, MIN_GROUPS_PER_PART, self._threads, progress)


def pad_columns(X: np.ndarray) -> np.ndarray:
    """The records with columns of zeros, as steps take several columns at once."""
    n, d = X.shape
    return np.concatenate([X, np.zeros((n, -d % COLUMNS_PER_STEP))], axis=1)


def _nearest(X: np.ndarray, k: int, limits: tuple[int, int], threads: int) -> np.ndarray:
    """The neighbors of every record that are tried."""
    return neighbors(X, count_of_neighbors(len(X), k, limits), threads)


def count_of_neighbors(n: int, k: int, limits: tuple[int, int]) -> int:
    """How many neighbors of each of n records are tried."""
    least, most = limits
    return min(max(least, min(2 * k, most)), n - 1)


def _scale_of(X: np.ndarray, k: int, near: np.ndarray) -> np.ndarray:
    """A lower bound on the cost of each record: its share if its group were its k - 1 nearest neighbors."""
    total = np.zeros(len(X))
    for rank in range(min(k - 1, near.shape[1])):
        total += np.square(X - X[near[:, rank]]).sum(axis=1)
    return total / (2 * k)
