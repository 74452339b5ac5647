"""Records that equal each other where a missing cell equals every value: counted between patterns of missing cells.

Units of a record's equals are counted between patterns, too, which gives limits, and exactly where these are not one.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mag._lib.errors import InputTypeError
from mag.verify._sensitive import Absent, value_of

NOTHING = -1  # the number of a missing cell


def number_values(columns: Sequence[Sequence[Any]]) -> np.ndarray:
    """Records × columns: equal values of one type have one number, missing cells `NOTHING`."""
    table = np.empty((len(columns[0]), len(columns)), np.int64)
    for j, cells in enumerate(columns):
        numbers: dict[Any, int] = {}
        try:
            table[:, j] = [
                NOTHING
                if (value := value_of(cell)) is Absent
                else numbers.setdefault((type(cell), value), len(numbers))
                for cell in cells
            ]
        except TypeError:
            raise InputTypeError("columns must hold values that can be hashed; got lists or similar.") from None
    return table


def least_equal(table: np.ndarray, stratum: np.ndarray) -> int:
    """The least number of records of its stratum that equal a record, itself included; 0 without records."""
    rows, counts = np.unique(np.column_stack([stratum, table]), axis=0, return_counts=True)
    equal = np.zeros(len(rows), np.int64)
    for own, others, kinds_of_own, kinds_of_others in _pairs_of_patterns(rows):
        totals = np.bincount(kinds_of_others, counts[others], int(kinds_of_own.max()) + 1)
        equal[own] += totals[kinds_of_own].astype(np.int64)
    return int(equal.min()) if rows.size else 0


def least_units(table: np.ndarray, stratum: np.ndarray, units: np.ndarray) -> int:
    """The least number of units, among the records of its stratum that equal a record; 0 without records.

    A record equals at least the units that it equals in one pattern.  Those for which this is less than the least
    number so far are compared with all others.
    """
    rows, row_of = np.unique(np.column_stack([stratum, table]), axis=0, return_inverse=True)
    pairs = np.unique(np.column_stack([row_of.ravel(), units]), axis=0)
    known = np.zeros(len(rows), np.int64)
    for own, others, kinds_of_own, kinds_of_others in _pairs_of_patterns(rows):
        kind_of_row = np.full(len(rows), -1)
        kind_of_row[others] = kinds_of_others
        there = kind_of_row[pairs[:, 0]] >= 0
        found = np.unique(np.column_stack([kind_of_row[pairs[there, 0]], pairs[there, 1]]), axis=0)
        totals = np.bincount(found[:, 0], minlength=int(kinds_of_own.max()) + 1)
        known[own] = np.maximum(known[own], totals[kinds_of_own])
    least = int(units.size)
    for row in np.argsort(known, kind="stable").tolist():
        if known[row] >= least:
            break
        equal = ((rows == rows[row]) | (rows == NOTHING) | (rows[row] == NOTHING)).all(axis=1)
        least = min(least, np.unique(pairs[equal[pairs[:, 0]], 1]).size)
    return least


def _pairs_of_patterns(rows: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """For every two patterns of missing cells their rows, and kinds of rows that are equal in what both have.

    The numbers of kinds are below the largest one of the first rows; others are left out.
    """
    patterns, pattern_of = np.unique(rows == NOTHING, axis=0, return_inverse=True)
    members = [np.flatnonzero(pattern_of.ravel() == p) for p in range(len(patterns))]
    for asking, own in zip(patterns, members, strict=True):
        for answering, others in zip(patterns, members, strict=True):
            kinds = _number_rows(rows[np.concatenate([own, others])][:, ~(asking | answering)])
            of_own, of_others = kinds[: own.size], kinds[own.size :]
            asked = np.isin(of_others, of_own)
            yield own, others[asked], of_own, of_others[asked]


def _number_rows(rows: np.ndarray) -> np.ndarray:
    """Equal rows of integers have one number."""
    numbers = np.zeros(len(rows), np.int64)
    for column in rows.T:
        _, own = np.unique(column, return_inverse=True)
        _, numbers = np.unique(numbers * (own.max() + 1) + own, return_inverse=True)
    return numbers
