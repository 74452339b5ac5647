"""Classes of records that are equal on a node of the lattice, and the coarser classes that follow from them."""

from dataclasses import dataclass

import numpy as np

from mag._lib.number import find_first_rows, number_rows


@dataclass(frozen=True)
class ValueCounts:
    """How many records of a class have a sensitive value, class by class; `n_values` are in the table."""

    classes: np.ndarray
    values: np.ndarray
    counts: np.ndarray
    n_values: int

    def merge(self, place: np.ndarray) -> "ValueCounts":
        """The same of coarser classes: `place` is the new class of every class."""
        where = number_rows([place[self.classes], self.values], [place.size, self.n_values])
        first = find_first_rows(where)
        counts = np.bincount(where, self.counts, first.size).astype(np.int64)  # exact: sums of records, below 2**53
        return ValueCounts(place[self.classes][first], self.values[first], counts, self.n_values)

    def table(self, chosen: np.ndarray) -> np.ndarray:
        """Counts of some classes, classes × values."""
        row = np.full(int(self.classes.max()) + 1, -1)
        row[chosen] = np.arange(chosen.size)
        inside = row[self.classes] >= 0
        counts = np.zeros((chosen.size, self.n_values), np.int64)
        counts[row[self.classes[inside]], self.values[inside]] = self.counts[inside]
        return counts

    def renumbered(self) -> "ValueCounts":
        """The same with values 0, 1, … in every class, for criteria that depend on frequencies only."""
        values = np.arange(self.classes.size) - np.searchsorted(self.classes, self.classes)
        return ValueCounts(self.classes, values, self.counts, int(values.max()) + 1)

    def totals(self, groups: np.ndarray, n_groups: int) -> np.ndarray:
        """Counts of groups of classes, groups × values; classes of group -1 are left out."""
        own = groups[self.classes]
        inside = own >= 0
        counts = np.zeros((n_groups, self.n_values), np.int64)
        np.add.at(counts, (own[inside], self.values[inside]), self.counts[inside])
        return counts


@dataclass(frozen=True)
class NodeClasses:
    """Classes: the number of every column's node (classes × columns), their stratum, and how many records they have."""

    codes: np.ndarray
    stratum: np.ndarray
    counts: np.ndarray
    pairs: list[ValueCounts]

    def merge(self, codes: np.ndarray, sizes: list[int]) -> tuple["NodeClasses", np.ndarray]:
        """Classes of equal `codes`, of which a column has as many as `sizes` says; and the new class of every class."""
        place = number_rows([self.stratum, *codes.T], [int(self.stratum.max()) + 1, *sizes])
        first = find_first_rows(place)
        if first.size == place.size:
            return NodeClasses(codes, self.stratum, self.counts, self.pairs), np.arange(place.size)
        counts = np.bincount(place, self.counts, first.size).astype(np.int64)
        return NodeClasses(codes[first], self.stratum[first], counts, [own.merge(place) for own in self.pairs]), place
