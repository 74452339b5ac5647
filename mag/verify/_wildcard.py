"""Records that equal each other where a missing cell equals every value: counted between patterns of missing cells."""

from collections.abc import Sequence
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


def least_equal(table: np.ndarray) -> int:
    """The least number of records that equal a record, itself included; 0 for a table without records."""
    rows, counts = np.unique(table, axis=0, return_counts=True)
    if not rows.size:
        return 0
    absent = rows == NOTHING
    patterns, pattern_of = np.unique(absent, axis=0, return_inverse=True)
    members = [np.flatnonzero(pattern_of.ravel() == p) for p in range(len(patterns))]
    equal = np.zeros(len(rows), np.int64)
    for asking, own in zip(patterns, members, strict=True):
        for answering, others in zip(patterns, members, strict=True):
            there = ~(asking | answering)
            kinds = _number_rows(rows[np.concatenate([own, others])][:, there])
            totals = np.bincount(kinds[own.size :], counts[others], int(kinds.max()) + 1)
            equal[own] += totals[kinds[: own.size]].astype(np.int64)
    return int(equal.min())


def _number_rows(rows: np.ndarray) -> np.ndarray:
    """Equal rows of integers have one number."""
    numbers = np.zeros(len(rows), np.int64)
    for column in rows.T:
        _, own = np.unique(column, return_inverse=True)
        _, numbers = np.unique(numbers * (own.max() + 1) + own, return_inverse=True)
    return numbers
