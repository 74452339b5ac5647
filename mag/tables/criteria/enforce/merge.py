"""Repair by merging: groups that fail join others until none fails.

Any grouping, any criterion.  Every criterion that holds for two groups holds for both together, and for all records as
one group if for any grouping, so that merging ends.
"""

from collections.abc import Sequence

import numpy as np

from mag.tables.criteria.enforce._constraint import Constraint

PARTNERS_TRIED = 24  # groups that are tried as partners: those that would lose least


def merge_groups(z: np.ndarray, labels: np.ndarray, constraints: Sequence[Constraint]) -> np.ndarray:
    """Labels 0, 1, … of groups for which all constraints hold: unions of the groups that `labels` number.

    All records as one group must satisfy them.
    """
    for constraint in constraints:  # a group that satisfies those before still does as a part of a larger one
        labels = _merge_for(z, labels, constraint)
    return labels


def lessened(before: float, after: np.ndarray) -> np.ndarray:
    """How much better groups have become; a ratio may be infinite before, and after."""
    better = after < before
    return np.subtract(before, after, out=np.zeros(after.size), where=better)


def _merge_for(z: np.ndarray, labels: np.ndarray, constraint: Constraint) -> np.ndarray:
    """The worst group that fails joins another, until none fails."""
    holds, badness = constraint.judge_groups(labels)
    if holds.all():
        return labels
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    members: list[np.ndarray] = np.split(order, np.cumsum(sizes)[:-1])
    sums = np.stack([z[rows].sum(axis=0) for rows in members])
    alive = np.ones(len(members), bool)
    while (failing := np.flatnonzero(alive & ~holds)).size:  # every turn has one group less
        worst = int(failing[np.argmax(badness[failing])])
        alive[worst] = False  # no partner of itself
        others = np.flatnonzero(alive)
        away = np.square(sums[others] / sizes[others, None] - sums[worst] / sizes[worst]).sum(axis=1)
        lost = away * sizes[worst] * sizes[others] / (sizes[worst] + sizes[others])
        near = (
            np.argsort(lost, kind="stable")[:PARTNERS_TRIED]
            if others.size > PARTNERS_TRIED
            else np.argsort(lost, kind="stable")
        )
        joint = [np.concatenate([members[other], members[worst]]) for other in others[near].tolist()]
        enough, worse = constraint.judge_lists(joint)
        if enough.any():
            pick = int(np.argmax(enough))
        else:
            gain = lessened(badness[worst], worse)
            pick = int(np.argmax(gain / np.maximum(lost[near], np.finfo(float).tiny))) if gain.any() else 0
        partner = int(others[near[pick]])
        members[partner] = np.concatenate([members[partner], members[worst]])
        sums[partner] += sums[worst]
        sizes[partner] += sizes[worst]
        holds[partner], badness[partner] = enough[pick], worse[pick]
    merged = np.empty_like(labels)
    for number, group in enumerate(np.flatnonzero(alive).tolist()):
        merged[members[group]] = number
    return merged
