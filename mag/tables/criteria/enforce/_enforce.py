"""Every constraint, in every stratum, in the way that loses least."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mag._lib.errors import REPORT, NotAnonymousError
from mag.tables.criteria.enforce._constraint import Constraint
from mag.tables.criteria.enforce.buckets import group_by_buckets
from mag.tables.criteria.enforce.merge import merge_groups
from mag.tables.criteria.enforce.swap import swap_records

MAX_SEARCH_WORK = 2**31  # n·n·d / k up to which swapping and buckets take seconds


@dataclass(frozen=True)
class Enforced:
    """Groups for which all constraints hold, and the ways that they were made in, in the order of ENFORCE."""

    labels: np.ndarray
    n_groups: int
    ways: list[str]


def enforce(
    z: np.ndarray,
    k: int,
    labels: np.ndarray,
    strata: Sequence[np.ndarray],
    constraints: Sequence[Constraint],
    how: str,
) -> Enforced:
    """Groups that satisfy all constraints, of the records of each stratum.

    `labels` are groups that were made without constraints; they stay where they satisfy them already.
    """
    final, n_groups, ways = np.empty_like(labels), 0, set()
    for rows in strata:
        inside = [constraint.select(rows) for constraint in constraints]
        own = np.unique(labels[rows], return_inverse=True)[1]
        best, way = _best(z[rows], k, own, inside, how)
        final[rows] = best + n_groups
        n_groups += int(best.max()) + 1
        ways.add(way)
    if (smallest := int(np.bincount(final).min())) < k:
        raise NotAnonymousError(f"A group would have {smallest} records where k={k} are promised; {REPORT}")
    return Enforced(final, n_groups, sorted(ways - {""}))


def _best(
    z: np.ndarray, k: int, labels: np.ndarray, constraints: Sequence[Constraint], how: str
) -> tuple[np.ndarray, str]:
    """The grouping of the records of a stratum that loses least, and the way to it; "" where all hold already."""
    if all(constraint.judge_groups(labels)[0].all() for constraint in constraints):
        return labels, ""
    candidates = []
    if how in ("auto", "merge"):
        candidates.append((merge_groups(z, labels, constraints), "merge"))
    affordable = how == "auto" and len(z) ** 2 * z.shape[1] <= MAX_SEARCH_WORK * k
    if how == "swap" or affordable:
        candidates.append((merge_groups(z, swap_records(z, k, labels, constraints), constraints), "swap"))
    if how == "buckets" or affordable:
        for constraint in constraints:
            for drawn in group_by_buckets(z, k, constraint):
                candidates.append((merge_groups(z, drawn, constraints), "buckets"))
    if not candidates:  # nothing to draw: one group
        candidates.append((np.zeros(len(z), np.int64), "buckets"))
    if how == "auto":
        candidates = [(_draw_inside(z, k, groups, constraints), way) for groups, way in candidates]
    return min(candidates, key=lambda candidate: _squares(z, candidate[0]))


def _draw_inside(z: np.ndarray, k: int, labels: np.ndarray, constraints: Sequence[Constraint]) -> np.ndarray:
    """The same groups, those of 2k records and more divided by `buckets` where that loses less."""
    final, n_groups = np.empty_like(labels), 0
    order = np.argsort(labels, kind="stable")
    for rows in np.split(order, np.cumsum(np.bincount(labels))[:-1]):
        inside, best = [constraint.select(rows) for constraint in constraints], np.zeros(rows.size, np.int64)
        if rows.size >= 2 * k:
            drawn = [parts for constraint in inside for parts in group_by_buckets(z[rows], k, constraint)]
            parts = [best, *(merge_groups(z[rows], labels, inside) for labels in drawn)]
            best = min(parts, key=lambda labels: _squares(z[rows], labels))
        final[rows] = best + n_groups
        n_groups += int(best.max()) + 1
    return final


def _squares(z: np.ndarray, labels: np.ndarray) -> float:
    """What a grouping loses."""
    sizes = np.bincount(labels)
    means = np.stack([np.bincount(labels, column) / sizes for column in z.T], axis=1)
    return float(np.square(z - means[labels]).sum())
