"""ONA* whose time grows like n log n: groups exchange records with near groups only.

A table is divided into parts of some hundred groups, and ONA* polishes each part by itself, parts side by side on all
threads.  Every round divides the groups by their centroids along other directions, so that groups at a border of one
round lie inside a part of another one: groups may straddle every cut.  A group that stays the same in some rounds is
not visited again until it gets a record.
"""

from typing import Any

import numpy as np

from mag._backends import cpu
from mag._backends.protocol import Backend
from mag._compiled.work import work_for
from mag._lib.progress import Progress
from mag._lib.threads import each_in_time
from mag.methods._split import split_large
from mag.methods.anneal.recombine import numbered
from mag.methods.distances.hierarchies import CategoryColumns, select
from mag.methods.distances.metric import metric_of
from mag.methods.mdav import mdav_plus
from mag.methods.mdav.centroids import CENTROID
from mag.methods.mdav.run import run_steps
from mag.methods.mdav.star import star
from mag.methods.mondrian.halving import RULE_VARIANCE, labels_of, parts_of
from mag.methods.ona.phases import polish_part, rounds_at

RECORDS_PER_START = 1 << 17  # records that MDAV* groups at once, at most
RECORDS_PER_PART, GROUPS_PER_PART = 4096, 64  # of a round, at least
MAX_ROUNDS = 24  # rounds of parts
PHASES_PER_ROUND = 2  # of ONA*, at most: another division gains more than a third one
QUIET_ROUNDS = 3  # rounds without a change after which a group is not visited
SETTLED = 0.002  # of the records: gains vanish when fewer move in a round
STARTING = 0.5  # of the progress
SLOWER = 0.7  # of what is left to do, this much is left after a round: a guess for the progress bar
START_SEED, DIRECTIONS_SEED = 0, 1  # the directions are the same for every table


def group(
    X: np.ndarray,
    k: int,
    *,
    engine: Backend = cpu,
    trees: CategoryColumns | None = None,
    threads: int,
    progress: Progress,
) -> np.ndarray:
    """The groups of MDAV*, polished by ONA* in parts until few records move."""
    labels = _start(X, k, engine, trees, threads, progress.span(0.0, STARTING))
    labels = split_large(X, k, labels, mdav_plus, threads, progress)
    rounds = _Rounds(X, k, labels, trees, threads)
    for turn in range(MAX_ROUNDS):
        if progress.step(1.0 - (1.0 - STARTING) * SLOWER**turn) or rounds.run(progress) < SETTLED * len(X):
            break
    return rounds.labels


def _start(
    X: np.ndarray, k: int, engine: Backend, trees: CategoryColumns | None, threads: int, progress: Progress
) -> np.ndarray:
    """The groups of MDAV* in halves of halves of a large table; labels 0, 1, …

    Halves are cut in oblique directions: cuts along the columns would leave gaps in their distributions.
    """
    limit = max(RECORDS_PER_START, 2 * k)
    turned = _turn(X, np.random.default_rng(START_SEED)) if len(X) > limit else X
    order, starts = parts_of(turned, k, limit, RULE_VARIANCE, threads, progress.span(0.0, 0.0))
    labels, used = np.empty(len(X), np.int64), 0
    for p, members in enumerate(np.split(order, starts[1:])):
        members.sort()
        points, own = X[members], None
        if trees is not None:
            points, own = trees.select(members).expand(points)
        part = progress.span(p / starts.size, (p + 1) / starts.size)
        found = run_steps(
            star, points, k, CENTROID, 1.0, False, engine=engine, trees=own, threads=threads, progress=part
        )
        labels[members] = used + found
        used += int(found.max()) + 1
    return labels


class _Rounds:
    """Groups that are polished in parts, divided anew in every round; `age` counts a group's rounds without change."""

    def __init__(self, X: np.ndarray, k: int, labels: np.ndarray, trees: CategoryColumns | None, threads: int) -> None:
        self._X, self._k, self._threads = X, k, threads
        self._sparse = trees if trees is not None and trees.is_sparse else None
        self._records = X if trees is None or self._sparse else trees.records(X)
        self._random = np.random.default_rng(DIRECTIONS_SEED)
        self.labels, self._age = labels, np.zeros(labels.max() + 1, np.int64)

    def run(self, progress: Progress) -> int:
        """One round; returns how many records moved.  When the time is up, parts stay as they are."""
        quiet = self._age >= QUIET_ROUNDS
        order = np.argsort(quiet, kind="stable")  # groups to visit come first
        number = np.empty_like(order)
        number[order] = np.arange(order.size)
        old, ages, n_active = number[self.labels], self._age[order], order.size - int(quiet.sum())
        parts = self._divide(old, progress.silent())
        new, counts = np.empty_like(old), np.zeros(len(parts), np.int64)
        moves = each_in_time(
            lambda p: self._polish(parts[p], old, new, n_active),
            range(len(parts)),
            self._threads,
            lambda: progress.seconds_left() <= 0,
        )
        for p, members in enumerate(parts):
            if p >= len(moves):
                new[members] = numbered(old[members])
            counts[p] = new[members].max() + 1
        for first, members in zip(np.cumsum(counts) - counts, parts, strict=True):
            new[members] += first
        self._age = _ages(old, new, ages)
        self.labels = new
        return sum(moves)

    def _polish(self, members: np.ndarray, old: np.ndarray, new: np.ndarray, n_active: int) -> int:
        """Polish one part: labels 0, 1, … within it."""
        before, own = np.unique(old[members], return_inverse=True)
        active, moved = int(np.searchsorted(before, n_active)), 0
        if active and before.size > 1:
            records = self._select(members)
            work = work_for(rounds_at, metric_of(records), self._k)
            moved = polish_part(work, records, self._k, PHASES_PER_ROUND, active, own)
            own = numbered(own)
        new[members] = own
        return moved

    def _select(self, members: np.ndarray) -> Any:
        if self._sparse is None:
            return select(self._records, members)
        points, trees = self._sparse.select(members).expand(self._X[members])
        return trees.records(points)

    def _divide(self, labels: np.ndarray, progress: Progress) -> list[np.ndarray]:
        """The members of each part: groups are halved by their means, seen from random directions."""
        sizes = np.bincount(labels)
        means = np.stack([np.bincount(labels, x) / sizes for x in self._X.T], axis=1)
        turned = _turn(means, self._random)
        limit = max(RECORDS_PER_PART * sizes.size // labels.size, GROUPS_PER_PART)
        part = labels_of(*parts_of(turned, 1, limit, RULE_VARIANCE, self._threads, progress))[labels]
        return np.split(np.argsort(part, kind="stable"), np.cumsum(np.bincount(part))[:-1])


def _turn(points: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Points seen from random directions: reflections, whose product has the same bits on every machine."""
    d = points.shape[1]
    turn = np.eye(d)
    for v in random.standard_normal((d, d)):
        turn -= np.multiply.outer((turn * v).sum(axis=1), v) * (2.0 / np.square(v).sum())
    return np.einsum("ij,jk->ik", points, turn)


def _ages(old: np.ndarray, new: np.ndarray, ages: np.ndarray) -> np.ndarray:
    """Rounds without change of every new group: one more than before if it has the same records, otherwise none."""
    sizes, before = np.bincount(new), np.empty(new.max() + 1, np.int64)
    before[new] = old  # the old group of one of its records
    same = np.bincount(new[old == before[new]], minlength=sizes.size) == sizes
    same &= sizes == np.bincount(old)[before]
    return np.where(same, ages[before] + 1, 0)
