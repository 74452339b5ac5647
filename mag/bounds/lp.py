# mypy: allow-untyped-defs, no-check-untyped-defs
"""The linear program of groups, from below  (set partitioning; Thaeter 2021, section 9.3; Aloise et al. 2014).

Choose groups, each to a fraction, so that every record is in one group altogether, at the least sum of squares: at
most the cost of any grouping.  Fractions do what groups cannot: of k+1 records that are far from all others, they take
all groups of k records.  So no set C of records may have more than ⌊|C| / k⌋ groups *in* it, with k or more records of
C (`_sets`).

The dual lets record i pay y[i], and a group pay the toll t[C] ≥ 0 of every set that it is in, so that no group costs
less than its records pay, less its tolls.  Groups of 2k records or more can be divided at no cost.  So
Σ y - Σ t[C]·⌊|C| / k⌋ is a lower bound.  There are far too many groups to list, so payments are made fair to those
found so far (`_pool`), groups that they are unfair to are added (`_grow`), and tolls on sets that have too many groups.

Such payments prove nothing yet.  The proof is a search for the least excess, SSE(G) - y(G) + tolls, of the groups
whose first record is i, for each i (`_price`): where that is below 0, i pays that much less.  What a search that ends
early has not looked at has a lower bound as well.  Groups of k records, and those that a set with a toll contains, are
enough.  For let G have k < s < 2k records, of which each set contains at most s-1.  Give all groups H of k records of
G the same weight, so that every record is in one altogether.  With S the sum of the squared distances of the pairs of
G, they cost S·(k-1) / (k·(s-1)), no more than S/s, the cost of G.  If k ≤ t < s records of G are in C, the weight of
those H that are in C is (s/k)·binom(t, k) / binom(s, k) ≤ (s-k) / k < 1; if t < k, there are none: they pay no more
tolls than G.  So the excess of G is at least that of these H, by weight.  Where H with first record i has too little, i
pays that much less; the weights of the H with first record i are at most 1.

Where too much is left unsearched, payments nearer to those of the neighbor bound, which are easily proven, give more.
"""

import math
from typing import NamedTuple

import numpy as np

from mag._compiled.jit import jit
from mag._lib.progress import Progress
from mag._lib.threads import each
from mag.bounds import neighbor
from mag.bounds._bound import Bound
from mag.bounds._grow import grow
from mag.bounds._pool import Payments, Pool
from mag.bounds._price import FoundGroups, Prices, list_groups, records_of, search, tree
from mag.bounds._sets import Sets, crowded
from mag.methods.distances.neighbors import neighbors

CLOSE = 2e-4  # largest relative gap to the bound that the groups found so far allow
LEAST_GAIN = 1.5  # gain of the bound that is worth a round of tolls, relative to that gap
MAX_STALE_ROUNDS = 2  # rounds of tolls that gain less, one after the other
MAX_GROUP_ROUNDS, MAX_TOLL_ROUNDS, MAX_PROOFS = 20, 40, 12
SETS_PER_RECORD = 3  # sets with a toll that a record may be in, times the proofs before
# Steps of a search, and what it may leave to the first record of a group, relative to what that pays: a search that has
# not ended is repeated with the next numbers.
SEARCHES = ((300, 0.0), (2400, 0.0), (10_000, 0.01), (5000, 0.1), (2500, 1.0))
LISTING_STEPS = 30_000  # steps of a search that lists groups of one size
CHUNK = 64  # records between two looks at the clock


class Proof(NamedTuple):
    """A lower bound: no group costs less than its records pay, less the tolls of sets.

    Also groups that cost less than their first payments; searches that ended early lower the bound by `unsearched`.
    """

    bound: float
    paid: Payments
    sets: Sets
    groups: np.ndarray
    sizes: np.ndarray
    unsearched: float


class Relaxation(NamedTuple):
    """The best proof, the groups found, and the searches."""

    proof: Proof
    pool: Pool
    task: "Task"


def bound(X: np.ndarray, k: int, labels: np.ndarray, cost: float, threads: int, progress: Progress) -> Bound:
    """A lower bound on the cost of any grouping; `cost` is that of one grouping."""
    return Bound(relax(X, k, cost, threads, progress).proof.bound)


def relax(X: np.ndarray, k: int, cost: float, threads: int, progress: Progress, close: float = CLOSE) -> Relaxation:
    """The linear program, as close as wanted, or as time allows."""
    task = Task(X, k, threads, progress)
    program, least = _Program(task, cost, close), neighbor.least_cost(X, k, threads)
    best = Proof(least, program.paid, program.pool.sets, np.empty((0, 2 * k - 1), np.int64), np.empty(0, np.int64), 0.0)
    for proofs in range(MAX_PROOFS):
        program.raise_payments(proofs * SETS_PER_RECORD)  # the fewer sets, the faster the proof
        if progress.step(proofs / MAX_PROOFS):
            break
        proof = task.prove(program.paid, program.pool.sets)
        gained, best = proof.bound > best.bound, max(best, proof, key=_bound_of)
        if progress.stopped or (proofs and not program.omits_sets and best.bound >= (1 - close) * program.allowed):
            break
        if proofs and not gained and proof.unsearched > (program.allowed - proof.bound) / 2:
            best = best if proofs > 1 else _between(task, program, best)
            break
        program.pool.add(proof.groups, proof.sizes)
    return Relaxation(best, program.pool, task)


def _bound_of(proof: Proof) -> float:
    return proof.bound


def _between(task: "Task", program: "_Program", best: Proof) -> Proof:
    """The best proof of payments between those of neighbors, which are easily proven, and those of the program."""
    last = -np.inf
    for tenths in range(1, 10):  # the bound rises, and falls where more is paid than can be proven
        if task.progress.stopped:
            break
        proof = task.prove(program.paid.toward(program.safe, tenths / 10), program.pool.sets)
        if proof.bound < last:
            break
        best, last = max(best, proof, key=_bound_of), proof.bound
    return best


class _Program:
    """The groups and sets found so far, payments, and their sum: the linear program allows no more, nearly."""

    def __init__(self, task: "Task", cost: float, close: float) -> None:
        self.task, self.cost, self.close, self.progress = task, cost, close, task.progress
        self.safe = task.records.near[:, : task.k - 1].sum(axis=1) / (2 * task.k)
        self.pool = Pool(task.records.distance, task.k, self.safe)
        self.paid, self.allowed, self.omits_sets = Payments(self.safe, np.empty(0)), 0.0, False
        self.toll_time = self.progress.seconds_left() / 2  # what is left then is for proofs

    def raise_payments(self, sets_per_record: int) -> None:
        """Add groups, and tolls, while that pays."""
        reached, stale = 0.0, 0
        for _ in range(MAX_TOLL_ROUNDS):
            self._add_groups()
            stale = stale + 1 if self.allowed < reached * (1 + LEAST_GAIN * self.close) else 0
            reached = max(reached, self.allowed)
            if self.progress.stopped or stale == MAX_STALE_ROUNDS or not self._add_tolls(sets_per_record):
                break

    def _add_groups(self) -> None:
        """Find groups until few are new."""
        n, tolls = len(self.safe), len(self.paid.toll)
        for _ in range(MAX_GROUP_ROUNDS):
            groups, sizes, excess = self.task.grown(self.paid, self.pool.sets)
            wanted = excess < 0
            wanted[:, 0] |= len(self.pool.costs) == 0  # every record is in one
            new = self.pool.add(groups[wanted], sizes[wanted])
            if new < 0.05 * n or self._ascend(self.paid, 0.05 if tolls else 0.2, 300):
                break
            self.pool.trim(self.paid)
        self._ascend(self.paid, 0.05, 20_000)
        if not tolls:  # from the first payments on it may come farther
            paid, allowed = self.paid, self.allowed
            self._ascend(Payments(self.safe, self.paid.toll), 0.2, 20_000)
            if self.allowed < allowed:
                self.paid, self.allowed = paid, allowed

    def _add_tolls(self, sets_per_record: int) -> bool:
        """Put tolls on sets that are too full; False if there are none, or if that is useless."""
        done = self.allowed >= (1 - self.close) * self.cost or self.progress.seconds_left() < self.toll_time
        if done or not sets_per_record:
            return False
        pool = self.pool
        used = pool.sets.inside[pool.paying(self.paid)]
        full, self.omits_sets = crowded(pool.groups, pool.sizes, pool.shares, used, self.task.k, sets_per_record)
        if not len(full):
            return False
        return not self._ascend(pool.use(full, self.paid), 0.2, 1000)

    def _ascend(self, paid: Payments, step: float, rounds: int) -> bool:
        """Raise payments that are fair to the pool; returns whether the time is up."""
        self.paid, self.allowed = self.pool.ascend(paid, self.cost, step, rounds, self.progress)
        return self.progress.stopped


class Task:
    """The records, and the searches among them on several threads."""

    def __init__(self, X: np.ndarray, k: int, threads: int, progress: Progress) -> None:
        (n, d), self.threads, self.progress = X.shape, threads, progress
        distance = np.empty((n, n))
        each(lambda rows: measure(X, rows, distance), self._chunks(np.arange(n)), threads)
        others = neighbors(X, min(n - 1, max(4 * k, 32)), threads)
        self.k, self.records = k, records_of(distance, others)
        self.margin = 8 * (d + 12 * k + 64) * k * neighbor.EPSILON

    def _chunks(self, records: np.ndarray) -> list[np.ndarray]:
        return [records[first : first + CHUNK] for first in range(0, len(records), CHUNK)]

    def grown(self, paid: Payments, sets: Sets) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For every record a group of each size with little excess, the sizes, and the excess."""
        n, k = len(paid.y), self.k
        prices = Prices(paid.y, paid.toll, sets, k)
        groups, excess = np.empty((n, k, 2 * k - 1), np.int64), np.empty((n, k))

        def grow_part(part: np.ndarray) -> None:
            grow(self.records, prices, part, groups, excess)

        each(grow_part, self._chunks(np.arange(n)), self.threads)
        return groups, np.broadcast_to(np.arange(k, 2 * k), (n, k)), excess

    def prove(self, paid: Payments, sets: Sets) -> Proof:
        """Search all groups.

        The rounding errors of a search stay below `margin`, relative to what the first record pays: the records of a
        group, fewer than 2k, pay no more each, and cost and tolls are less than that if the excess is below 0.
        """
        y, toll = paid
        n, k, prices = len(y), self.k, Prices(y, toll, sets, self.k)
        order, rank = _order(y)
        groups, sizes = np.empty((n, 2 * k - 1), np.int64), np.full(n, k)
        found = FoundGroups(groups, sizes, np.empty(n), np.zeros(n, np.bool_), np.empty(n), np.array([-1]))
        known, proven, unended = np.zeros(n), np.full(n, -np.inf), order
        for limit, spare in SEARCHES:
            started = found.excess[:] = np.minimum(known, -spare * np.maximum(y, 0))

            def search_part(part: np.ndarray, limit: int = limit) -> None:
                steps = 0 if self.progress.step(0) else limit
                search(self.records, prices, rank, steps, part, tree(n, k, len(toll)), found)

            each(search_part, self._chunks(unended), self.threads)
            known = np.where(found.excess < started, found.excess, known)
            proven[unended] = np.maximum(proven[unended], found.least[unended])
            unended = unended[found.least[unended] < found.excess[unended]]
            if self.progress.stopped or not len(unended):
                break
        tolls = math.fsum(toll * sets.room) * (1 + 4 * neighbor.EPSILON)
        total = math.fsum([*y, *proven, -tolls]) - self.margin * math.fsum(np.maximum(y, 0))
        fair, unsearched = Payments(y + proven, toll), math.fsum(known - proven)
        return Proof(total, fair, sets, groups[found.improves], sizes[found.improves], unsearched)

    def listed(self, paid: Payments, sets: Sets, most: float, room: int) -> tuple[np.ndarray, np.ndarray] | None:
        """All groups of k to 2k-1 records with an excess of at most `most`, and their sizes.

        None if these are more than `room`, or if searches do not end.
        """
        y, toll = paid
        n, k, prices = len(y), self.k, Prices(y, toll, sets, self.k)
        order, rank = _order(y)
        most += self.margin * (math.fsum(np.abs(y)) + math.fsum(toll))
        counts: list[int] = []

        def list_part(part: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
            if sum(counts) > room or self.progress.step(0):
                return None
            groups, sizes, listed = (
                np.empty((room, 2 * k - 1), np.int64),
                np.empty(room, np.int64),
                np.zeros(1, np.int64),
            )
            found = FoundGroups(groups, sizes, np.empty(n), np.empty(0, np.bool_), np.full(n, most), listed)
            if not list_groups(self.records, prices, rank, LISTING_STEPS, part, tree(n, k, len(toll)), found):
                counts.append(room + 1)
                return None
            counts.append(listed[0])
            return groups[: listed[0]].copy(), sizes[: listed[0]].copy()

        parts = [part for part in each(list_part, self._chunks(order), self.threads) if part is not None]
        if sum(counts) > room or self.progress.stopped:
            return None
        groups, sizes = (np.concatenate(some) for some in zip(*parts, strict=True))
        return groups, sizes


def _order(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The records, those that pay most first, and the place of each."""
    order = np.argsort(-y, kind="stable")
    rank = np.empty(len(y), np.int64)
    rank[order] = np.arange(len(y))
    return order, rank


@jit
def measure(X, rows, distance):
    """Rows of the squared distances."""
    for i in rows:
        for j in range(len(X)):
            total = 0.0
            for c in range(X.shape[1]):
                t = X[i, c] - X[j, c]
                total += t * t
            distance[i, j] = total
