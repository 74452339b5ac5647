"""Every constraint, in every stratum, in the way that loses least."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mag._lib.errors import REPORT, NotAnonymousError
from mag._lib.lazy import cached_property
from mag._lib.progress import Progress
from mag.methods.distances.hierarchies import CategoryColumns
from mag.tables.criteria.enforce._constraint import Constraint
from mag.tables.criteria.enforce._loss import loss_of
from mag.tables.criteria.enforce.buckets import group_by_buckets
from mag.tables.criteria.enforce.cut import columns_of, cut_groups
from mag.tables.criteria.enforce.exchange import can_exchange, exchange_groups
from mag.tables.criteria.enforce.merge import merge_groups
from mag.tables.criteria.enforce.swap import swap_records

MAX_SEARCH_WORK = 2**31  # n·n·d / k up to which swapping and buckets take seconds
MAX_CUT_CELLS = 2**23  # cells up to which cutting takes seconds
WARMING_VALUES = 256  # sensitive values that code is compiled with


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
    threads: int = 1,
    anew: bool = False,
) -> Enforced:
    """Groups that satisfy all constraints, of the records of each stratum.

    `labels` are groups that were made without constraints; they stay where they satisfy them already.  `trees` are
    those of columns of categories.  With `anew`, "auto" cuts all records, as most of these groups fail.

    When the time of `progress` is up, "auto" takes the best grouping that it has, at least that of a whole cut unless
    the table is large; exchanges and swaps stop, groups that still fail become one, and groups are cut.
    """
    final, n_groups, ways = np.empty_like(labels), 0, set[str]()
    for rows in strata:
        inside = [constraint.select(rows) for constraint in constraints]
        own = np.unique(labels[rows], return_inverse=True)[1]
        own_trees = None if trees is None else trees.select(rows)
        stratum = _Stratum(z[rows], k, inside, own_trees, progress or Progress(), threads, anew)
        best, own_ways = stratum.find(own, how)
        final[rows] = best + n_groups
        n_groups += int(best.max()) + 1
        ways.update(own_ways)
    if (smallest := int(np.bincount(final).min())) < k:
        raise NotAnonymousError(f"A group would have {smallest} records where k={k} are promised; {REPORT}")
    return Enforced(final, n_groups, sorted(ways))


def warm_up(z: np.ndarray, k: int, constraints: Sequence[Constraint], trees: CategoryColumns | None) -> None:
    """Compile or load the code that cuts and exchanges, with a few of the records: some of every sensitive value.

    They are a table of their own, as no group of them might satisfy the constraints on the whole one.
    """
    firsts = [np.unique(constraint.codes, return_index=True)[1][:WARMING_VALUES] for constraint in constraints]
    rows = np.unique(np.concatenate([np.arange(min(2 * k, len(z))), *firsts]))
    inside = [replace(one, codes=one.codes[rows]) for one in constraints]
    inside = [replace(one, totals=np.bincount(one.codes, minlength=one.totals.size)) for one in inside]
    if not all(constraint.whole[0] for constraint in inside):
        return
    own = None if trees is None else trees.select(rows)
    few = _Stratum(z[rows], 1, inside, own, Progress(), 1, False)
    labels = cut_groups(few.z, 1, own, few.constraints, Progress())
    few.lost(labels)
    if few.is_exchangeable and few.constraints[0].whole[0]:
        exchange_groups(few.z, 1, np.arange(rows.size), own, few.constraints[0], Progress())


@dataclass(frozen=True)
class _Stratum:
    """The records of a stratum, and the requirements on their groups."""

    z: np.ndarray
    k: int
    constraints: Sequence[Constraint]
    trees: CategoryColumns | None
    progress: Progress
    threads: int
    anew: bool

    def find(self, labels: np.ndarray, how: str) -> tuple[np.ndarray, list[str]]:
        """The grouping that loses least, and the ways to it; none where all constraints hold already."""
        if all(constraint.judge_groups(labels)[0].all() for constraint in self.constraints):
            return labels, []
        if how == "auto":
            return self._find_best(labels)
        return min(self._list_candidates(labels, how), key=self.lost), [how]

    def _find_best(self, labels: np.ndarray) -> tuple[np.ndarray, list[str]]:
        """Of all ways that are affordable, each divided again by buckets; then records are exchanged."""
        best, way, least = np.zeros(labels.size, np.int64), "merge", np.inf
        affordable = self._is_search_fast()
        for how in self._list_ways():
            for groups in self._list_candidates(labels, how):
                if affordable or how == "merge":
                    groups = self._draw_inside(groups)
                if (lost := self.lost(groups)) < least:
                    best, way, least = groups, how, lost
                if self._is_late():
                    return best, [way]
        if not self.is_exchangeable or way == "exchange":
            return best, [way]
        exchanged = self._exchange(best)
        return (exchanged, [way, "exchange"]) if self.lost(exchanged) < least else (best, [way])

    def _list_ways(self) -> list[str]:
        """The ways that "auto" tries; the first of them needs the least time."""
        if self.anew:
            return ["cut"]
        ways = ["cut"] if self._is_cut_fast() else []
        affordable = self._is_search_fast()
        ways += ["exchange"] if self.is_exchangeable else []
        ways += ["merge"] if affordable or not self.is_exchangeable else []
        return [*ways, "swap", "buckets"] if affordable else ways

    def _list_candidates(self, labels: np.ndarray, how: str) -> Iterator[np.ndarray]:
        """Groupings by one way, for which all constraints hold; one group if there is nothing to draw."""
        z, k, constraints = self.z, self.k, self.constraints
        if how == "cut":
            # a cut that stops early may leave nearly all records in one group
            yield cut_groups(z, k, self.trees, constraints, Progress() if self._is_cut_fast() else self.progress)
        elif how == "merge" or (how == "exchange" and not self.is_exchangeable):
            yield self._merge(labels)
        elif how == "exchange":
            yield self._exchange(labels)
        elif how == "swap":
            yield self._merge(swap_records(z, k, labels, constraints, self.progress))
        else:
            yield np.zeros(len(z), np.int64)
            for constraint in constraints:
                for drawn in group_by_buckets(z, k, constraint):
                    yield self._merge(drawn)

    def _exchange(self, labels: np.ndarray) -> np.ndarray:
        (constraint,) = self.constraints
        exchanged = exchange_groups(self.z, self.k, labels, self.trees, constraint, self.progress, self.threads)
        return self._merge(exchanged)

    def _merge(self, labels: np.ndarray) -> np.ndarray:
        """Groups that fail merged; if no time was left for that, the one that they became is cut."""
        merged = merge_groups(self.z, labels, self.constraints, self.progress)
        if merged.max() == labels.max() or not self.progress.stopped or not self._is_cut_fast():
            return merged
        rows = np.flatnonzero(merged == np.argmax(np.bincount(merged)))
        inside, trees = [constraint.select(rows) for constraint in self.constraints], self.trees
        own = cut_groups(self.z[rows], self.k, trees and trees.select(rows), inside, Progress())
        merged[rows] = np.where(own > 0, own + merged.max(), merged[rows])
        return merged

    @cached_property
    def is_exchangeable(self) -> bool:
        """Whether groups can exchange records."""
        return can_exchange(self.z, self.constraints)

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
                best = min(parts, key=lambda labels: loss_of(z, labels, None))
            final[rows] = best + n_groups
            n_groups += int(best.max()) + 1
        return final

    def _is_search_fast(self) -> bool:
        n, d = self.z.shape
        return is_affordable(n, d, self.k)

    def _is_cut_fast(self) -> bool:
        """Whether cutting takes seconds."""
        columns = columns_of(self.z, self.trees)
        return len(self.z) * (columns.numbers.size + len(columns.columns)) <= MAX_CUT_CELLS

    def _is_late(self) -> bool:
        return self.progress.step(0.0)

    def lost(self, labels: np.ndarray) -> float:
        """The loss of a grouping."""
        return loss_of(self.z, labels, self.trees)
