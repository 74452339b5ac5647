# mypy: allow-untyped-defs, no-check-untyped-defs
"""The linear program of groups, from below  (set partitioning; Thaeter 2021, section 9.3; Aloise et al. 2014).

Choose groups, each to a fraction, so that every record is in one group altogether, at the least sum of squares: at most
the cost of any grouping.  Groups of k records are enough: let G have s > k records whose pairs are S apart altogether.
All groups of k records of G, each to the same fraction, so that every record is in one altogether, cost
S·(k-1) / (k·(s-1)), which is no more than S/s, the cost of G.

The dual lets record i pay y[i] so that no group costs less than its records pay; Σ y is then a lower bound.  There are
far too many groups to list, so payments are made fair to those found so far (`_pool`), and groups that they are unfair
to are added.  Such payments prove nothing yet.  What does is a search for the least excess, min(0, SSE(G) - y(G)), of
the groups whose first record is i, for each i (`_price`): if i pays that too, payments are fair to all groups.  What a
search that ends early has not looked at has a lower bound as well.  Where that is too low, payments nearer to those of
the neighbor bound, which are easily proven, give more.
"""

import math

import numpy as np

from mag._compiled.jit import jit
from mag._lib.progress import Progress
from mag._lib.threads import each
from mag.bounds import neighbor
from mag.bounds._pool import Pool
from mag.bounds._price import FoundGroups, Records, grow, search, tree
from mag.methods.distances.neighbors import neighbors

CLOSE = 2e-4  # the bound is at most this part below what the groups found so far allow
MAX_COLUMN_ROUNDS, MAX_PROOFS = 80, 12  # how often groups are looked for, and how often all are searched
MAX_ASCENT_STEPS = 300  # of a search
CHUNK = 64  # records between two looks at the clock


def bound(X: np.ndarray, k: int, cost: float, threads: int, progress: Progress) -> float:
    """What any grouping costs at least; `cost` is that of one."""
    task = _Task(X, k, threads, progress)
    best, safe = neighbor.bound(X, k, cost, threads, progress), task.records.near[:, : k - 1].sum(axis=1) / (2 * k)
    y, pool, proofs = safe, Pool(task.records.distance, k, safe), 0
    for attempt in range(MAX_COLUMN_ROUNDS):
        groups, excess = task.grown(y)
        new = pool.add(groups[(excess < 0) | (attempt == 0)])  # every record is in one
        settled = new < 0.05 * len(X) or attempt == MAX_COLUMN_ROUNDS - 1
        y, allowed = pool.ascend(y, cost, 0.2 if attempt < 10 else 0.05, 20_000 if settled else 300, progress)
        if settled:  # from the first payments on it may come farther
            y, allowed = max((y, allowed), pool.ascend(safe, cost, 0.2, 20_000, progress), key=lambda pair: pair[1])
        if progress.step(attempt / MAX_COLUMN_ROUNDS):
            break
        if settled:
            proven, groups, unfinished = task.proven(y)
            best, proofs = max(best, proven), proofs + 1
            if unfinished > allowed - proven - unfinished or proofs == MAX_PROOFS:
                break  # what is missing was not searched, rather than found
            if best >= (1 - CLOSE) * allowed or progress.stopped:
                return best
            pool.add(groups)
        pool.trim(y)
    last = -np.inf
    for tenths in range(1, 10):  # the bound rises, and falls where more is paid than can be proven
        proven = -np.inf if progress.stopped else task.proven(safe + tenths / 10 * (y - safe))[0]
        if proven < last:
            break
        best, last = max(best, proven), proven
    return best


class _Task:
    """The records, and what is looked for among them on several threads."""

    def __init__(self, X: np.ndarray, k: int, threads: int, progress: Progress) -> None:
        (n, d), self.threads, self.progress = X.shape, threads, progress
        distance = np.empty((n, n))
        each(lambda rows: measure(X, rows, distance), self._chunks(np.arange(n)), threads)
        others = neighbors(X, min(n - 1, max(4 * k, 32)), threads)
        self.k, self.records = k, Records(distance, others, np.take_along_axis(distance, others, axis=1))
        self.margin = 2 * (d + 6 * k + 32) * k * neighbor.EPSILON

    def _chunks(self, records: np.ndarray) -> list[np.ndarray]:
        return [records[first : first + CHUNK] for first in range(0, len(records), CHUNK)]

    def grown(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For every record a group with little excess, and the excess."""
        n = len(y)
        groups, excess = np.empty((n, self.k), np.int64), np.empty(n)
        each(lambda part: grow(self.records, y, part, groups, excess), self._chunks(np.arange(n)), self.threads)
        return groups, excess

    def proven(self, y: np.ndarray) -> tuple[float, np.ndarray, float]:
        """A lower bound, groups that y is unfair to, and how much the bound lacks because searches ended early.

        The rounding errors of a search stay below `margin` / k, relative to what the records of a group pay, and these
        pay at most k times what the first one does.
        """
        n = len(y)
        order = np.argsort(-y, kind="stable")
        rank = np.empty(n, np.int64)
        rank[order] = np.arange(n)
        groups, least, improves, best = np.empty((n, self.k), np.int64), np.empty(n), np.empty(n, np.bool_), np.empty(n)

        def price_part(part: np.ndarray) -> None:
            steps = 0 if self.progress.step(0) else MAX_ASCENT_STEPS
            search(self.records, y, rank, steps, part, tree(n, self.k), FoundGroups(groups, least, improves, best))

        each(price_part, self._chunks(order), self.threads)
        total = math.fsum(y) + math.fsum(least) - self.margin * math.fsum(np.maximum(y, 0))
        return total, groups[improves], math.fsum(best - least)


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
