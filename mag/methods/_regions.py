"""What is annealed at once: several times the whole data, or parts of them that are divided anew in every round."""

import numpy as np

from mag.backends._threads import each
from mag.methods._chain import WIDE, cool, enter, leave, room_for_chain
from mag.methods._memory import work_for
from mag.methods._neighbours import neighbours
from mag.methods._partition import VARIANCE, parts_of

NEAR, MOST = 24, 128  # neighbours that are tried, or 2k of them
PART, FEW = 1024, 16  # records of a part, and groups at least


class Region:
    """Records whose groups are annealed by themselves, those of the largest scale first."""

    def __init__(self, X, k, near, scale, labels, seed):
        self._order = np.argsort(-scale, kind="stable")
        place = np.empty(len(X), np.int32)
        place[self._order] = np.arange(len(X))
        self.scale = scale[self._order]
        rows, near = X[self._order], place[near[self._order]]
        self._state = work_for(room_for_chain, rows, near, k), rows, near, k
        enter(*self._state, labels[self._order], seed)

    def run(self, plan, watch):
        """One round, or less if the time is up."""
        for heat, active, steps in plan.of(self.scale):
            if active > 0 and watch.left() > 0:
                cool(*self._state, heat, active, steps)

    def labels(self):
        """Of the records as they were given."""
        ordered, labels = np.empty((2, self._order.size), np.int64)
        leave(*self._state, ordered)
        labels[self._order] = ordered
        return labels


class Chains:
    """The whole data, annealed several times side by side."""

    def __init__(self, X, k, labels, restarts, random_state, threads):
        self._threads, X = threads, _padded(X)
        near = _near(X, k, threads)
        self.scale = _scale(X, k, near)
        seeds = random_state.integers(1, 2**62, size=restarts)
        self._regions = [Region(X, k, near, self.scale, labels, seed) for seed in seeds]

    def run(self, plan, watch):
        """One round of every chain."""
        each(lambda region: region.run(plan, watch), self._regions, self._threads)

    def groupings(self):
        """One per chain."""
        return [region.labels() for region in self._regions]


class Parts:
    """Records in parts of some hundreds, whole groups each, that are halved along other directions in every round."""

    def __init__(self, X, k, labels, random_state, threads):
        self._X, self._k, self._random, self._threads = _padded(X), k, random_state, threads
        self._labels, self.scale = labels, np.empty(len(X))

        def measure(members):
            rows = self._X[members]
            self.scale[members] = _scale(rows, k, _near(rows, k, 1))

        each(measure, self._parts(), threads)

    def run(self, plan, watch):
        """One round of every part."""
        labels, k = np.empty_like(self._labels), self._k
        parts = self._parts()
        firsts = np.cumsum([0] + [members.size // k + 1 for members in parts])  # a chain has a number to spare
        seeds = self._random.integers(1, 2**62, size=len(parts))

        def anneal(job):
            members, first, seed = job
            old = np.unique(self._labels[members], return_inverse=True)[1]
            if watch.left() > 0 and self.scale[members].max() >= plan.least[-1]:
                rows = self._X[members]
                region = Region(rows, k, _near(rows, k, 1), self.scale[members], old, seed)
                region.run(plan, watch)
                old = region.labels()
            labels[members] = first + old

        each(anneal, zip(parts, firsts, seeds, strict=False), self._threads)
        self._labels = labels

    def groupings(self):
        """The one there is."""
        return [self._labels]

    def _parts(self):
        """The members of each part, in their order."""
        self._labels = np.unique(self._labels, return_inverse=True)[1]
        X, sizes = self._X, np.bincount(self._labels)
        means = np.stack([np.bincount(self._labels, x) / sizes for x in X.T], axis=1)
        turned = np.einsum("ij,jk->ik", means, self._random.standard_normal((X.shape[1], X.shape[1])))
        order, starts = parts_of(turned, 1, max(PART * sizes.size // len(X), FEW), VARIANCE, self._threads, _Nobody)
        part = np.empty(sizes.size, np.int64)
        part[order] = np.repeat(np.arange(starts.size), np.diff(np.append(starts, order.size)))
        mine = part[self._labels]
        return np.split(np.argsort(mine, kind="stable"), np.cumsum(np.bincount(mine))[:-1])


class _Nobody:
    """Halving takes too short a time to watch it."""

    @staticmethod
    def step(fraction):
        return False


def _padded(X):
    n, d = X.shape
    return np.concatenate([X, np.zeros((n, -d % WIDE))], axis=1)


def _near(X, k, threads):
    return neighbours(X, min(max(NEAR, min(2 * k, MOST)), len(X) - 1), threads)


def _scale(X, k, near):
    """What each record costs at least: its share if its group were its k - 1 nearest neighbours."""
    total = np.zeros(len(X))
    for rank in range(min(k - 1, near.shape[1])):
        total += np.square(X - X[near[:, rank]]).sum(axis=1)
    return total / (2 * k)
