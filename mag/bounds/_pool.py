# mypy: allow-untyped-defs, no-check-untyped-defs
"""The groups found so far, and the payments that come closest to them.

Payments y are *fair* to a set of groups if no group of it costs less than its records pay.  Then every grouping made of
them costs at least Σ y.  For any y,  y[i] + min over groups G of i of (SSE(G) - y(G)) / |G|  is fair: summed over a
group, the minima are at most its excess.  The sum of these is concave in y, and is raised by subgradients.
"""

from collections import namedtuple

import numpy as np

from mag._compiled.jit import called, jit
from mag._lib.progress import Progress

# groups per record: above the first number, only the tightest are kept
MAX_GROUPS_PER_RECORD, KEPT_GROUPS_PER_RECORD = 40, 15
MEMBERS_PER_CALL = 2**24  # members of groups that are looked at in one call
BEST_SLOT, WAITS_SLOT, STEP_SLOT = 0, 1, 2  # where the ascent keeps its numbers

# Payments; the best so far, and the largest fair ones below them; the direction of the next step; see `BEST_SLOT`.
Ascent = namedtuple("Ascent", "y start fair direction numbers")


class Pool:
    """Groups of k records, without duplicates."""

    def __init__(self, distance: np.ndarray, k: int, safe: np.ndarray) -> None:
        self.distance, self.safe = distance, safe
        self.seen: set[bytes] = set()
        self.groups, self.costs = np.empty((0, k), np.int64), np.empty(0)

    def add(self, groups: np.ndarray) -> int:
        """Take groups in; returns how many are new."""
        groups = np.sort(groups, axis=1)
        new = []
        for g, name in enumerate(map(bytes, groups)):
            if name not in self.seen:
                self.seen.add(name)
                new.append(g)
        self.groups = np.concatenate([self.groups, groups[new]])
        self.costs = np.concatenate([self.costs, _costs(groups[new], self.distance)])
        return len(new)

    def trim(self, y: np.ndarray) -> None:
        """Drop the groups with the most excess, if there are many."""
        n = len(self.distance)
        if len(self.costs) > MAX_GROUPS_PER_RECORD * n:
            excess = self.costs - y[self.groups].sum(axis=1)
            cheapest = np.sort(np.argsort(excess, kind="stable")[: KEPT_GROUPS_PER_RECORD * n])
            self.groups, self.costs = self.groups[cheapest], self.costs[cheapest]
            self.seen = set(map(bytes, self.groups))

    def ascend(
        self, y: np.ndarray, target: float, step: float, rounds: int, progress: Progress
    ) -> tuple[np.ndarray, float]:
        """Payments fair to the pool, starting from y, and their sum, made large; `target` cannot be exceeded."""
        ascent = Ascent(y.copy(), y.copy(), y.copy(), np.zeros_like(y), np.array([-np.inf, 0.0, step]))
        at_once = max(1, MEMBERS_PER_CALL // max(self.groups.size, 1))
        for first in range(0, rounds, at_once):
            some = min(at_once, rounds - first)
            if _ascend(ascent, self.safe, self.groups, self.costs, target, some):
                break
            if progress.step(0.0):
                break
        return ascent.fair, ascent.numbers[BEST_SLOT]


@jit
def _costs(groups, distance):
    costs, k = np.zeros(len(groups)), groups.shape[1]
    for g in range(len(groups)):
        for a in range(k):
            for b in range(a):
                costs[g] += distance[groups[g, a], groups[g, b]]
        costs[g] /= k
    return costs


@called
def _corrections(y, groups, costs, correction, tightest):
    """For every record the least excess per record of its groups, and the group; returns the sum of fair payments."""
    correction[:] = np.inf
    k = groups.shape[1]
    for g in range(len(groups)):
        excess = costs[g]
        for a in range(k):
            excess -= y[groups[g, a]]
        excess /= k
        for a in range(k):
            i = groups[g, a]
            if excess < correction[i]:
                correction[i], tightest[i] = excess, g
    total = 0.0
    for i in range(len(y)):
        total += y[i] + correction[i]
    return total


@jit
def _ascend(ascent, safe, groups, costs, target, rounds):
    """Subgradients, smoothed, with Polyak's step to the target; back to the best and shorter when that is too far.

    Runs `rounds` rounds, which change the ascent; True if further rounds are useless.
    """
    y, start, fair, direction, numbers = ascent
    n, k, best, waits, step = len(y), groups.shape[1], numbers[BEST_SLOT], numbers[WAITS_SLOT], numbers[STEP_SLOT]
    scale = safe + (1e-3 * safe.mean() + 1e-300)  # records that are far from others pay more
    correction, tightest, slope = np.empty(n), np.empty(n, np.int64), np.empty(n)
    done = False
    for _ in range(rounds):
        total = _corrections(y, groups, costs, correction, tightest)
        waits = 0.0 if best == -np.inf or total > best + 1e-8 * abs(best) else waits + 1.0
        if total > best:
            best = total
            start[:], fair[:] = y, y + correction
        if waits >= 20:
            waits, step = 0.0, 0.7 * step
            if step < 1e-5:
                done = True
                break
            y[:], direction[:] = start, 0.0
            total = _corrections(y, groups, costs, correction, tightest)
        slope[:] = 1.0
        for i in range(n):
            for j in groups[tightest[i]]:
                slope[j] -= 1.0 / k
        length = 0.0
        for i in range(n):
            direction[i] = 0.8 * direction[i] + 0.2 * slope[i]
            length += direction[i] * direction[i] * scale[i]
        if length == 0.0 or total >= target:
            done = True
            break
        for i in range(n):
            y[i] += step * (target - total) / length * direction[i] * scale[i]
    numbers[BEST_SLOT], numbers[WAITS_SLOT], numbers[STEP_SLOT] = best, waits, step
    return done
