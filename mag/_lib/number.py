"""Numbers 0, 1, … for rows that are equal in all columns, and for groups in the order of their first rows."""

from collections.abc import Sequence

import numpy as np

MAX_COMBINATIONS = 2**62  # that a key of 64 bits numbers
CELLS_PER_ROW = 4  # of a table by number, which is faster than sorting up to this size


def number_rows(columns: Sequence[np.ndarray], sizes: Sequence[int] | None = None) -> np.ndarray:
    """Number the kinds of rows in ascending order; a column holds integers from 0 on, below its size.

    Examples
    --------
    >>> import numpy as np
    >>> from mag._lib.number import number_rows
    >>> number_rows([np.array([7, 0, 7, 7]), np.array([1, 5, 1, 0])]).tolist()
    [2, 0, 2, 1]
    """
    if sizes is None:
        sizes = [int(column.max(initial=0)) + 1 for column in columns]
    key, span = np.zeros(columns[0].size, np.int64), 1
    if not key.size:
        return key
    for column, size in zip(columns, map(int, sizes), strict=True):
        if span * size > MAX_COMBINATIONS or span <= _cells(key.size) < span * size:
            key, span = _rank(key, span)
        if span * size > MAX_COMBINATIONS:
            column, size = _rank(column, size)
        key, span = key * size + column, span * size
    return _rank(key, span)[0]


def find_first_rows(numbers: np.ndarray) -> np.ndarray:
    """The first row of every number; each of 0, 1, … occurs."""
    first = np.empty(int(numbers.max(initial=-1)) + 1, np.int64)
    first[numbers[::-1]] = np.arange(numbers.size - 1, -1, -1)
    return first


def number_by_first_row(numbers: np.ndarray) -> np.ndarray:
    """The same groups, numbered in the order of their first rows; each of 0, 1, … occurs."""
    first = find_first_rows(numbers)
    place = np.empty(first.size, numbers.dtype)
    place[np.argsort(first)] = np.arange(first.size)
    return place[numbers]


def count_distinct(part: np.ndarray, numbers: np.ndarray, parts: int = 0) -> np.ndarray:
    """How many different numbers each part has, of at least this many parts."""
    first = find_first_rows(number_rows([part, numbers]))
    return np.bincount(part[first], minlength=parts)


def _cells(rows: int) -> int:
    return max(CELLS_PER_ROW * rows, 2**10)


def _rank(numbers: np.ndarray, span: int) -> tuple[np.ndarray, int]:
    """Numbers below `span` without gaps, and how many there are."""
    if span > _cells(numbers.size):
        kinds, place = np.unique(numbers, return_inverse=True)
        return place, kinds.size
    present = np.zeros(span, np.int64)
    present[numbers] = 1
    place = np.cumsum(present)
    return (place - 1)[numbers], int(place[-1])
