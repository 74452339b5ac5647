"""Every constraint, in every stratum, in the way that loses least."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mag._lib.errors import REPORT, NotAnonymousError
from mag._lib.progress import Progress
from mag.methods.distances.hierarchies import CategoryColumns
from mag.methods.mondrian.cutting import total_loss
from mag.tables.criteria.enforce._constraint import Constraint
from mag.tables.criteria.enforce.buckets import group_by_buckets
from mag.tables.criteria.enforce.cut import columns_of, cut_groups
from mag.tables.criteria.enforce.merge import merge_groups
from mag.tables.criteria.enforce.swap import swap_records

MAX_SEARCH_WORK = 2**31  # n·n·d / k up to which swapping and buckets take seconds
MAX_CUT_CELLS = 2**23  # cells up to which cutting takes seconds


@dataclass(frozen=True)
class Enforced:
    """Groups for which all constraints hold, and the ways by which they were made, in the order of ENFORCE."""

    labels: np.ndarray
    n_groups: int
    ways: list[str]


def is_affordable(n: int, d: int, k: int) -> bool:
    """Whether swapping and buckets take seconds."""
    return n * n * d <= MAX_SEARCH_WORK * k


def enforce(
    z: np.ndarray,
    k: int,
    labels: np.ndarray,
    strata: Sequence[np.ndarray],
    constraints: Sequence[Constraint],
    how: str,
    trees: CategoryColumns | None = None,
    progress: Progress | None = None,
) -> Enforced:
    """Groups that satisfy all constraints, of the records of each stratum.

    `labels` are groups that were made without constraints; they stay where they satisfy them already.  `trees` are
    those of columns of categories.  When the time of `progress` is up, "auto" takes the best grouping that it has,
    at least that of a whole cut unless the table is large; swapping stops, and groups that fail become one.
    """
    final, n_groups, ways = np.empty_like(labels), 0, set()
    for rows in strata:
        inside = [constraint.select(rows) for constraint in constraints]
        own = np.unique(labels[rows], return_inverse=True)[1]
        own_trees = None if trees is None else trees.select(rows)
        best, way = _Stratum(z[rows], k, inside, own_trees, progress or Progress()).find(own, how)
        final[rows] = best + n_groups
        n_groups += int(best.max()) + 1
        ways.add(way)
    if (smallest := int(np.bincount(final).min())) < k:
        raise NotAnonymousError(f"A group would have {smallest} records where k={k} are promised; {REPORT}")
    return Enforced(final, n_groups, sorted(ways - {""}))


def warm_up(z: np.ndarray, constraints: Sequence[Constraint], trees: CategoryColumns | None) -> None:
    """Compile or load the code that cuts, with two of the records."""
    rows = np.arange(min(2, len(z)))
    own = columns_of(z[rows], None if trees is None else trees.select(rows))
    labels = cut_groups(z[rows], 1, own, [constraint.select(rows) for constraint in constraints], Progress())
    total_loss(z[rows], own, labels)


@dataclass(frozen=True)
class _Stratum:
    """The records of a stratum, and the requirements on their groups."""

    z: np.ndarray
    k: int
    constraints: Sequence[Constraint]
    trees: CategoryColumns | None
    progress: Progress

    def find(self, labels: np.ndarray, how: str) -> tuple[np.ndarray, str]:
        """The grouping that loses least, and the way to it; "" where all constraints hold already."""
        if all(constraint.judge_groups(labels)[0].all() for constraint in self.constraints):
            return labels, ""
        if how == "auto":
            return self._find_best(labels)
        candidates = [(groups, how) for groups in self._list_candidates(labels, how)]
        return min(candidates, key=lambda candidate: self._lost(candidate[0]))

    def _find_best(self, labels: np.ndarray) -> tuple[np.ndarray, str]:
        """Of all ways that are affordable, each divided again by buckets; the first of them needs the least time."""
        n, d = self.z.shape
        affordable = is_affordable(n, d, self.k)
        best, way, least = np.zeros(labels.size, np.int64), "merge", np.inf
        ways = ["cut"] if self._is_cut_fast() else []
        for how in [*ways, "merge", *(["swap", "buckets"] if affordable else [])]:
            for groups in self._list_candidates(labels, how):
                if affordable or how == "merge":
                    groups = self._draw_inside(groups)
                if (lost := self._lost(groups)) < least:
                    best, way, least = groups, how, lost
                if self._is_late():
                    return best, way
        return best, way

    def _list_candidates(self, labels: np.ndarray, how: str) -> Iterator[np.ndarray]:
        """Groupings by one way, for which all constraints hold; one group if there is nothing to draw."""
        z, k, constraints = self.z, self.k, self.constraints
        if how == "cut":
            # a cut that stops early may leave nearly all records in one group
            yield cut_groups(z, k, self.trees, constraints, Progress() if self._is_cut_fast() else self.progress)
        elif how == "merge":
            yield merge_groups(z, labels, constraints, self.progress)
        elif how == "swap":
            swapped = swap_records(z, k, labels, constraints, self.progress)
            yield merge_groups(z, swapped, constraints, self.progress)
        else:
            yield np.zeros(len(z), np.int64)
            for constraint in constraints:
                for drawn in group_by_buckets(z, k, constraint):
                    yield merge_groups(z, drawn, constraints, self.progress)

    def _draw_inside(self, labels: np.ndarray) -> np.ndarray:
        """The same groups, those of 2k records and more divided by `buckets` where that loses less."""
        final, n_groups, k = np.empty_like(labels), 0, self.k
        order = np.argsort(labels, kind="stable")
        for rows in np.split(order, np.cumsum(np.bincount(labels))[:-1]):
            z, inside = self.z[rows], [constraint.select(rows) for constraint in self.constraints]
            best = np.zeros(rows.size, np.int64)
            if rows.size >= 2 * k and not self._is_late():
                drawn = [parts for constraint in inside for parts in group_by_buckets(z, k, constraint)]
                parts = [best, *(merge_groups(z, labels, inside) for labels in drawn)]
                best = min(parts, key=lambda labels: _squares(z, labels))
            final[rows] = best + n_groups
            n_groups += int(best.max()) + 1
        return final

    def _is_cut_fast(self) -> bool:
        """Whether cutting takes seconds."""
        columns = columns_of(self.z, self.trees)
        return len(self.z) * (columns.numbers.size + len(columns.columns)) <= MAX_CUT_CELLS

    def _is_late(self) -> bool:
        return self.progress.step(0.0)

    def _lost(self, labels: np.ndarray) -> float:
        """The loss of a grouping: by ranges and nodes where there are categories, by squares of numbers otherwise."""
        return _squares(self.z, labels) if self.trees is None else total_loss(self.z, self.trees, labels)


def _squares(z: np.ndarray, labels: np.ndarray) -> float:
    """The loss of a grouping of numbers."""
    sizes = np.bincount(labels)
    means = np.stack([np.bincount(labels, column) / sizes for column in z.T], axis=1)
    return float(np.square(z - means[labels]).sum())
