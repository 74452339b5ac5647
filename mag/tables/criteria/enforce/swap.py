"""Repair by swapping: a group that fails exchanges records with near groups, or takes some, until it does not.

Groups keep their sizes, or lend records down to k, so that far less is lost than by merging where few records are in
the way.  What no exchange can repair is for `merge`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mag.tables.criteria.enforce._constraint import Constraint
from mag.tables.criteria.enforce.merge import lessened

DONOR_GROUPS_TRIED = 6  # groups that records come from
TRIED = 96  # exchanges, the cheapest
SMALLEST_NORMAL = np.finfo(float).tiny


def swap_records(z: np.ndarray, k: int, labels: np.ndarray, constraints: Sequence[Constraint]) -> np.ndarray:
    """Labels of as many groups, of at least k records, of which fewer fail or none."""
    groups = _Groups(z, k, labels.copy(), constraints)
    looks = [constraint.judge_groups(labels) for constraint in constraints]
    holds = np.logical_and.reduce([held for held, _ in looks])
    worst = max(range(len(looks)), key=lambda i: int((~looks[i][0]).sum()))
    for group in np.flatnonzero(~holds)[np.argsort(-looks[worst][1][~holds], kind="stable")].tolist():
        groups.repair(group)
    return groups.labels


@dataclass
class _Exchanges:
    """Records that leave a group, -1 for none, and records that come, with what both together lose."""

    leave: np.ndarray
    come: np.ndarray
    lost: np.ndarray


class _Groups:
    """Records, their groups, and sums of the groups' records."""

    def __init__(self, z: np.ndarray, k: int, labels: np.ndarray, constraints: Sequence[Constraint]) -> None:
        self.z, self.k, self.labels, self.constraints = z, k, labels, constraints
        self.sizes = np.bincount(labels)
        self.sums = np.stack([np.bincount(labels, column) for column in z.T], axis=1)
        order = np.argsort(labels, kind="stable")
        self.members: list[np.ndarray] = np.split(order, np.cumsum(self.sizes)[:-1])

    def repair(self, group: int) -> None:
        """Exchange records until the group satisfies all constraints, or none helps."""
        for _ in range(2 * int(self.sizes[group])):
            before = [constraint.judge_lists([self.members[group]]) for constraint in self.constraints]
            if all(held[0] for held, _ in before):
                return
            exchanges = self._near_exchanges(group)
            pick = self._best(group, exchanges, before)
            if pick is None:
                return
            self._exchange(group, int(exchanges.leave[pick]), int(exchanges.come[pick]))

    def _near_exchanges(self, group: int) -> _Exchanges:
        """All exchanges with the nearest groups, the cheapest first."""
        centers = self.sums / self.sizes[:, None]
        away = np.square(centers - centers[group]).sum(axis=1)
        away[group] = np.inf
        near = np.argsort(away, kind="stable")[: min(DONOR_GROUPS_TRIED, away.size - 1)]
        own = self.members[group]
        come = np.concatenate([self.members[other] for other in near.tolist()] or [own[:0]])
        lends = come[self.sizes[self.labels[come]] > self.k]
        leave = np.concatenate([np.repeat(own, come.size), np.full(lends.size, -1)])
        come = np.concatenate([np.tile(come, own.size), lends])
        other, moves = self.labels[come], leave < 0
        gone = np.where(moves[:, None], 0.0, self.z[leave])
        here, there = self.sizes[group] + moves, self.sizes[other] - moves
        change = self.z[come] - gone
        lost = (
            np.square(self.sums[group]).sum() / self.sizes[group]
            + np.square(self.sums[other]).sum(axis=1) / self.sizes[other]
            - np.square(self.sums[group] + change).sum(axis=1) / here
            - np.square(self.sums[other] - change).sum(axis=1) / there
        )
        order = np.argsort(lost, kind="stable")[:TRIED]
        return _Exchanges(leave[order], come[order], lost[order])

    def _best(self, group: int, exchanges: _Exchanges, before: list[tuple[np.ndarray, np.ndarray]]) -> int | None:
        """The cheapest exchange after which the group satisfies all; or the one that helps most for what it loses."""
        if not exchanges.come.size:
            return None
        others = self.labels[exchanges.come].tolist()
        pairs = list(zip(others, exchanges.leave.tolist(), exchanges.come.tolist(), strict=True))
        here = [self._changed(group, leave, come) for _, leave, come in pairs]
        there = [self._changed(other, come, leave) for other, leave, come in pairs]
        different, place = np.unique(others, return_inverse=True)
        lists = [self.members[other] for other in different.tolist()]
        allowed, enough = np.ones(len(pairs), bool), np.ones(len(pairs), bool)
        gain = np.zeros(len(pairs))
        for constraint, (held, badness) in zip(self.constraints, before, strict=True):
            held_there, bad_there = (part[place] for part in constraint.judge_lists(lists))
            (holds, worse), (holds_there, worse_there) = constraint.judge_lists(here), constraint.judge_lists(there)
            allowed &= holds_there | (~held_there & (worse_there <= bad_there))
            allowed &= holds | (worse <= badness[0] if not held[0] else False)
            enough &= holds
            gain += 0.0 if held[0] else lessened(badness[0], worse)
        if (allowed & enough).any():
            return int(np.argmax(allowed & enough))
        helps = np.flatnonzero(allowed & (gain > 0))
        return (
            int(helps[np.argmax(gain[helps] / np.maximum(exchanges.lost[helps], SMALLEST_NORMAL))])
            if helps.size
            else None
        )

    def _changed(self, group: int, leave: int, come: int) -> np.ndarray:
        """The records of a group after an exchange; -1 is no record."""
        own = self.members[group]
        own = own if leave < 0 else own[own != leave]
        return own if come < 0 else np.append(own, come)

    def _exchange(self, group: int, leave: int, come: int) -> None:
        other = int(self.labels[come])
        self.members[group], self.members[other] = self._changed(group, leave, come), self._changed(other, come, leave)
        for record, source, target in ((come, other, group), (leave, group, other)):
            if record < 0:
                continue
            self.labels[record] = target
            self.sums[source] -= self.z[record]
            self.sums[target] += self.z[record]
            self.sizes[source] -= 1
            self.sizes[target] += 1
