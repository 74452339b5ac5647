"""Classes of records that are equal on a node of the lattice, and the coarser classes that follow from them."""

from dataclasses import dataclass

import numpy as np

MAX_COMBINATIONS = 2**62  # numbers of combinations that 64 bits hold
TABLE_CELLS_PER_ROW = 4  # combinations for each row that are counted in a table rather than sorted


@dataclass(frozen=True)
class ValueCounts:
    """How many records of a class have a sensitive value, class by class; `n_values` are in the table."""

    classes: np.ndarray
    values: np.ndarray
    counts: np.ndarray
    n_values: int

    def merge(self, place: np.ndarray) -> "ValueCounts":
        """The same of coarser classes: `place` is the new class of every class."""
        first, where = number_rows([place[self.classes], self.values], [place.size, self.n_values])
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
        """The same with values 0, 1, … in every class, for whom it matters how often values occur, not which."""
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
        columns = [self.stratum, *codes.T]
        first, place = number_rows(columns, [int(self.stratum.max()) + 1, *sizes])
        if first.size == place.size:
            return NodeClasses(codes, self.stratum, self.counts, self.pairs), np.arange(place.size)
        counts = np.bincount(place, self.counts, first.size).astype(np.int64)
        return NodeClasses(codes[first], self.stratum[first], counts, [own.merge(place) for own in self.pairs]), place


def number_rows(columns: list[np.ndarray], sizes: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """A row of every kind, and the kind of every row; a column holds numbers below its size."""
    key, span = columns[0].astype(np.int64), sizes[0]
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        if span > MAX_COMBINATIONS // max(size, 1):
            kinds, key = np.unique(key, return_inverse=True)
            span = kinds.size
        key, span = key * size + column, span * size
    n = key.size
    if span > max(TABLE_CELLS_PER_ROW * n, 2**10):
        _, first, place = np.unique(key, return_index=True, return_inverse=True)
        return first, place
    present = np.zeros(span, np.int64)
    present[key] = 1
    place = (np.cumsum(present) - 1)[key]
    first = np.empty(int(place.max()) + 1, np.int64)
    first[place[::-1]] = np.arange(n - 1, -1, -1)
    return first, place
