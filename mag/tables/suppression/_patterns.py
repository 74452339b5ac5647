"""Patterns: which columns of a record are suppressed; and the classes that each pattern leaves."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mag._lib.number import count_distinct, find_first_rows, number_rows

MISSING = 0  # the code of a missing or suppressed cell
MAX_CLASSES = 2**25  # numbers of classes that are held at once: patterns × kinds of records


class Demand(NamedTuple):
    """At least k records in every class of some columns, which are given by their places."""

    columns: tuple[int, ...]
    k: int

    @property
    def bits(self) -> int:
        """The columns as a pattern."""
        return sum(1 << j for j in self.columns)


@dataclass(frozen=True)
class Kinds:
    """Records that are equal are of one kind.

    `codes` are the cells of a kind, `of_record` the kind of every record, and `missing` the bits of the columns that a
    kind misses; `units` are the numbers of the records' units, None where k counts records.
    """

    codes: np.ndarray
    of_record: np.ndarray
    missing: np.ndarray
    units: np.ndarray | None

    @classmethod
    def of(cls, codes: np.ndarray, units: np.ndarray | None = None) -> "Kinds":
        """Of records (rows) with codes from 0 on."""
        of_record = number_rows(list(codes.T))
        kinds = codes[find_first_rows(of_record)]
        return cls(kinds, of_record, (kinds == MISSING) @ (1 << np.arange(codes.shape[1])), units)

    def count(self, own: np.ndarray) -> np.ndarray:
        """How many units, or records, each class has; `own` is the class of every kind."""
        return count_members(own[self.of_record], self.units)


def count_members(own: np.ndarray, units: np.ndarray | None) -> np.ndarray:
    """How many units, or records where these are None, each class has; `own` is the class of every record."""
    return np.bincount(own) if units is None else count_distinct(own, units)


def list_patterns(prices: Sequence[float], kinds: Kinds) -> tuple[list[int], np.ndarray]:
    """Patterns as bits of columns and their prices, the cheapest first; all of them as far as memory suffices.

    Those that kinds have from the beginning, and the one of all columns, are always there.
    """
    m = len(prices)
    most = max(MAX_CLASSES // max(len(kinds.codes), 1), m + 1)
    every = (sum(1 << j for j in chosen) for size in range(m + 1) for chosen in itertools.combinations(range(m), size))
    patterns = {*itertools.islice(every, most), (1 << m) - 1, *np.unique(kinds.missing).tolist()}
    listed = sorted((price_of(pattern, prices), pattern.bit_count(), pattern) for pattern in patterns)
    return [pattern for _, _, pattern in listed], np.array([price for price, _, _ in listed])


def price_of(pattern: int, prices: Sequence[float]) -> float:
    """The importance of all columns of a pattern."""
    return float(sum(price for j, price in enumerate(prices) if pattern >> j & 1))


def number_classes(kinds: Kinds, pattern: int) -> np.ndarray:
    """The class of every kind where the columns of a pattern are suppressed."""
    there = [column for j, column in enumerate(kinds.codes.T) if not pattern >> j & 1]
    return number_rows(there) if there else np.zeros(len(kinds.codes), np.int64)
