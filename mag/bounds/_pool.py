# mypy: allow-untyped-defs, no-check-untyped-defs
"""The groups found so far, and the payments that come closest to them.

Payments are *fair* to some groups if no group costs less than its records pay, less the tolls of the sets that it is in
(`lp`).  For any payments y and tolls,  y[i] + min over groups G of i of excess(G) / |G|  is fair: summed over a group,
the minima are at most its excess.  The sum of these, less the tolls of as many groups as the sets have room for, is
concave in y and the tolls, and is raised by subgradients.  The groups where the minima are, averaged over many steps,
are a solution of the linear program, nearly.

A toll is a payment below 0 of its set: record i is row i, and set c is row n + c.
"""

from collections import namedtuple
from typing import NamedTuple

import numpy as np

from mag._compiled.jit import called, jit
from mag._lib.progress import Progress
from mag.bounds._sets import sets_of

# groups per record: above the first number, only the tightest are kept
MAX_GROUPS_PER_RECORD, KEPT_GROUPS_PER_RECORD = 40, 15
MEMBERS_PER_CALL = 2**24  # members of groups that are looked at in one call
BEST_SLOT, WAITS_SLOT, STEP_SLOT, WEIGHT_SLOT = 0, 1, 2, 3  # where the ascent keeps its numbers
LEAST_TOLL = 1e-3  # relative to what records pay
MEMORY = 0.995  # weight of a step in the average, relative to that of the next one

# Payments of rows; the best so far, and the largest fair ones below them; the direction of the next step; weights of
# groups in the average; see `BEST_SLOT`.
Ascent = namedtuple("Ascent", "z start fair direction weights numbers")

# rows[g]: the sizes[g] records of group g, then the sets that it is in, widths[g] altogether
PooledGroups = namedtuple("PooledGroups", "rows sizes widths costs")


class Payments(NamedTuple):
    """What each record pays, and the toll of each set."""

    y: np.ndarray
    toll: np.ndarray

    def toward(self, safe: np.ndarray, share: float) -> "Payments":
        """Between `safe` without tolls and these."""
        return Payments(safe + share * (self.y - safe), share * self.toll)


class Pool:
    """Groups of k to 2k-1 records, without duplicates, and sets that have tolls."""

    def __init__(self, distance: np.ndarray, k: int, safe: np.ndarray) -> None:
        n = len(distance)
        self.distance, self.safe, self.k = distance, safe, k
        self.seen: set[bytes] = set()
        self.groups, self.sizes, self.costs = np.empty((0, 2 * k - 1), np.int64), np.empty(0, np.int64), np.empty(0)
        self.shares = np.empty(0)  # of the groups, in the linear program
        self.sets = sets_of(np.zeros((0, n), np.bool_), k)

    def add(self, groups: np.ndarray, sizes: np.ndarray) -> int:
        """Take groups in, each padded to 2k-1 records; returns how many are new."""
        groups = np.where(np.arange(groups.shape[1]) < sizes[:, None], groups, len(self.distance))
        groups.sort(axis=1)
        new = []
        for g, name in enumerate(map(bytes, groups)):
            if name not in self.seen:
                self.seen.add(name)
                new.append(g)
        self.groups, self.sizes = np.vstack([self.groups, groups[new]]), np.append(self.sizes, sizes[new])
        self.costs = np.append(self.costs, _costs(groups[new], sizes[new], self.distance))
        return len(new)

    def trim(self, paid: Payments) -> None:
        """Drop the groups with the most excess, if there are many."""
        n = len(self.distance)
        if len(self.costs) > MAX_GROUPS_PER_RECORD * n:
            excess = _excesses(self._listed(), np.append(paid.y, -paid.toll))
            cheapest = np.sort(np.argsort(excess, kind="stable")[: KEPT_GROUPS_PER_RECORD * n])
            self.groups, self.sizes, self.costs = self.groups[cheapest], self.sizes[cheapest], self.costs[cheapest]
            self.seen = set(map(bytes, self.groups))

    def paying(self, paid: Payments) -> np.ndarray:
        """Which sets have tolls that are not next to 0."""
        return paid.toll > LEAST_TOLL * self.safe.mean()

    def use(self, inside: np.ndarray, paid: Payments) -> Payments:
        """Put tolls on more sets, and forget those that pay next to nothing; returns payments with these tolls."""
        kept = self.paying(paid)
        self.sets = sets_of(np.vstack([self.sets.inside[kept], inside]), self.k)
        return Payments(paid.y, np.append(paid.toll[kept], np.zeros(len(inside))))

    def _listed(self) -> PooledGroups:
        crossed = _sets_of_groups(self.groups, self.sizes, self.sets, self.k)
        rows = np.hstack([self.groups, np.empty((len(self.groups), crossed[1].max(initial=0)), np.int64)])
        widths = _list_rows(rows, self.sizes, *crossed, len(self.distance))
        return PooledGroups(rows, self.sizes, widths, self.costs)

    def ascend(
        self, paid: Payments, target: float, step: float, rounds: int, progress: Progress
    ) -> tuple[Payments, float]:
        """Payments fair to the pool, starting from `paid`, and their sum, made large; `target` cannot be exceeded."""
        z, groups, n = np.append(paid.y, -paid.toll), self._listed(), len(paid.y)
        numbers = np.array([-np.inf, 0.0, step, 1.0])
        ascent = Ascent(z, z.copy(), z.copy(), np.zeros_like(z), np.zeros(len(self.costs)), numbers)
        scale = self.safe + (1e-3 * self.safe.mean() + 1e-300)  # records that are far from others pay more
        inside, size = self.sets.inside, self.sets.inside.sum(axis=1)
        scale = np.append(scale, inside @ scale / np.maximum(size, 1))
        room = np.append(np.ones(n), self.sets.room)
        at_once = max(1, MEMBERS_PER_CALL // max(int(groups.widths.sum()), 1))
        for first in range(0, rounds, at_once):
            some = min(at_once, rounds - first)
            if _ascend(ascent, scale, room, groups, n, target, some):
                break
            if progress.step(0.0):
                break
        self.shares = ascent.weights / max(ascent.weights @ self.sizes / n, 1e-300)
        return Payments(ascent.fair[:n], -ascent.fair[n:]), numbers[BEST_SLOT]


@jit
def _costs(groups, sizes, distance):
    costs = np.zeros(len(groups))
    for g in range(len(groups)):
        for a in range(sizes[g]):
            for b in range(a):
                costs[g] += distance[groups[g, a], groups[g, b]]
        costs[g] /= sizes[g]
    return costs


@jit
def _sets_of_groups(groups, sizes, sets, k):
    """The sets that each group is in, one group after the other; how many each is in."""
    found = [np.int64(0) for _ in range(0)]
    counts, within = np.zeros(len(groups), np.int64), np.zeros(len(sets.room), np.int64)
    for g in range(len(groups)):
        for a in range(sizes[g]):
            for at in range(sets.starts[groups[g, a]], sets.starts[groups[g, a] + 1]):
                c = sets.of[at]
                within[c] += 1
                if within[c] == k:
                    found.append(c)
                    counts[g] += 1
        for a in range(sizes[g]):
            for at in range(sets.starts[groups[g, a]], sets.starts[groups[g, a] + 1]):
                within[sets.of[at]] = 0
    return np.array(found), counts


@jit
def _list_rows(rows, sizes, found, counts, n):
    """Write the sets behind the records of each group; returns the widths."""
    widths, at = sizes + counts, 0
    for g in range(len(rows)):
        for a in range(sizes[g], widths[g]):
            rows[g, a] = n + found[at]
            at += 1
    return widths


@jit
def _excesses(groups, z):
    excess = groups.costs.copy()
    for g in range(len(excess)):
        for a in range(groups.widths[g]):
            excess[g] -= z[groups.rows[g, a]]
    return excess


@called
def _corrections(z, room, groups, correction, tightest):
    """For every record the least excess per record of its groups, and the group; returns the sum of fair payments."""
    rows, sizes, widths, costs = groups
    correction[:] = np.inf
    for g in range(len(sizes)):
        excess, size = costs[g], sizes[g]
        for a in range(widths[g]):
            excess -= z[rows[g, a]]
        excess /= size
        for a in range(size):
            i = rows[g, a]
            if excess < correction[i]:
                correction[i], tightest[i] = excess, g
    total, n = 0.0, len(correction)
    for i in range(n):
        total += z[i] + correction[i]
    for row in range(n, len(z)):
        total += z[row] * room[row]
    return total


@jit
def _ascend(ascent, scale, room, groups, n, target, rounds):
    """Subgradients, smoothed, with Polyak's step to the target; back to the best and shorter when that is too far.

    Runs `rounds` rounds, which change the ascent; True if further rounds are useless.
    """
    z, start, fair, direction, weights, numbers = ascent
    best, waits, step, weight = numbers[BEST_SLOT], numbers[WAITS_SLOT], numbers[STEP_SLOT], numbers[WEIGHT_SLOT]
    correction, tightest, slope = np.empty(n), np.empty(n, np.int64), np.empty(len(z))
    done = False
    for _ in range(rounds):
        total = _corrections(z, room, groups, correction, tightest)
        waits = 0.0 if best == -np.inf or total > best + 1e-8 * abs(best) else waits + 1.0
        if total > best:
            best = total
            start[:], fair[:] = z, z
            fair[:n] += correction
        if waits >= 20:
            waits, step = 0.0, 0.7 * step
            if step < 1e-5:
                done = True
                break
            z[:], direction[:] = start, 0.0
            total = _corrections(z, room, groups, correction, tightest)
        slope[:] = room
        weight /= MEMORY
        if weight > 1e100:
            weights /= weight
            weight = 1.0
        for i in range(n):
            g = tightest[i]
            share = 1.0 / groups.sizes[g]
            weights[g] += weight * share
            for a in range(groups.widths[g]):
                slope[groups.rows[g, a]] -= share
        length = 0.0
        for row in range(len(z)):
            if row >= n and z[row] == 0.0 and slope[row] > 0.0:
                slope[row] = 0.0
            direction[row] = 0.8 * direction[row] + 0.2 * slope[row]
            length += direction[row] * direction[row] * scale[row]
        if length == 0.0 or total >= target:
            done = True
            break
        for row in range(len(z)):
            z[row] += step * (target - total) / length * direction[row] * scale[row]
            if row >= n and z[row] > 0.0:
                z[row] = 0.0
    numbers[BEST_SLOT], numbers[WAITS_SLOT], numbers[STEP_SLOT], numbers[WEIGHT_SLOT] = best, waits, step, weight
    return done
