"""The columns of `mag.assess`, read as numbers: equal cells share a code."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from mag._lib.errors import InputTypeError
from mag._lib.missing import is_missing
from mag._lib.number import find_first_rows, number_by_first_row, number_rows
from mag.frames import Frame
from mag.risk import subsets
from mag.risk.frequencies import NONE_MISSING, Frequencies, count_classes, count_matches
from mag.risk.subsets import Subsets

ReadingOfMissing = Literal["value", "wildcard"]
ABSENT = object()


@dataclass(frozen=True)
class Key:
    """A column: the code of every record, a record that has each code, and the code of missing cells."""

    name: Hashable
    codes: np.ndarray
    first: np.ndarray
    missing: int

    @classmethod
    def read(cls, role: str, frame: Frame, name: Hashable) -> "Key":
        """Codes in the order of first records; equal values are one, whatever their types, as are all missing cells."""
        column = frame.column(name)
        cells = column.cells()
        codes = number_by_first_row(np.unique(column.codes(), return_inverse=True)[1])
        numbers: dict[Any, int] = {}
        try:
            rows = find_first_rows(codes).tolist()
            kinds = np.array([numbers.setdefault(_comparable(cells[row]), len(numbers)) for row in rows], np.int64)
        except TypeError:
            kind = "holds lists or similar"
            raise InputTypeError(f"{role} must hold values that can be hashed; {name!r} {kind}.") from None
        codes = kinds[codes]
        return cls(name, codes, find_first_rows(codes), numbers.get(ABSENT, NONE_MISSING))

    @property
    def n_missing(self) -> int:
        return int((self.codes == self.missing).sum())


def _comparable(cell: Any) -> Any:
    if is_missing(cell):
        return ABSENT
    return (bool, bool(cell)) if isinstance(cell, (bool, np.bool_)) else cell


@dataclass(frozen=True)
class KeyTable:
    """The quasi-identifiers of a table, who its records are, and how missing cells are read.

    `weights`, `units` and `homes` are of every record, None where they were not named; `alpha` is None where a missing
    cell is a value.
    """

    keys: list[Key]
    weights: np.ndarray | None
    units: np.ndarray | None
    homes: np.ndarray | None
    sensitive: dict[Hashable, np.ndarray]
    alpha: float | None

    @property
    def n(self) -> int:
        """The number of records."""
        return self.keys[0].codes.size

    def codes(self, places: Sequence[int]) -> list[np.ndarray]:
        """The codes of some quasi-identifiers; a constant column for none of them."""
        return [self.keys[place].codes for place in places] or [np.zeros(self.n, np.int64)]

    def count(self, places: Sequence[int]) -> Frequencies:
        """The classes of equal, or of matching, records on some quasi-identifiers."""
        codes = self.codes(places)
        if self.alpha is None:
            return count_classes(codes, self.weights, self.units)
        missing = [self.keys[place].missing for place in places] or [NONE_MISSING]
        return count_matches(codes, missing, self.weights, self.alpha)

    def search(self, max_size: int, points: np.ndarray) -> Subsets:
        """The figures of all subsets up to a size."""
        codes = [key.codes for key in self.keys]
        if self.alpha is None:
            return subsets.walk(codes, self.units, max_size, points)
        return subsets.match(codes, [key.missing for key in self.keys], self.alpha, max_size, points)

    def count_people(self, within: np.ndarray) -> np.ndarray:
        """How many records, or distinct units, have each code."""
        if self.units is None:
            return np.bincount(within)
        pairs = np.unique(np.stack([within, self.units]), axis=1)
        return np.bincount(pairs[0])

    def count_distinct(self, classes: np.ndarray, values: np.ndarray) -> np.ndarray:
        """How many distinct values each class has."""
        return np.bincount(np.unique(np.stack([classes, values]), axis=1)[0])

    def sum_over_people(self, figures: np.ndarray) -> float:
        """The sum over records; with units over units, each with its largest figure."""
        if self.units is None:
            return float(figures.sum())
        largest = np.zeros(int(self.units.max()) + 1)
        np.maximum.at(largest, number_rows([self.units]), figures)
        return float(largest.sum())
