"""Facts about groups: sizes, groups of one value, groups that one record dominates."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mag.report._columns import standardize_column

DOMINATED = 0.8  # share of a group's squared error that would go with one record
FAR_DEVIATIONS = 1.0  # standard deviations between that record and its group's mean


class Count(NamedTuple):
    """Groups, and records in them."""

    groups: int
    records: int


def sizes(labels: np.ndarray) -> np.ndarray:
    """The number of records of each group; a negative label means no group."""
    counts = np.bincount(labels[labels >= 0])
    return counts[counts > 0]


def histogram(counts: np.ndarray, most: int = 30) -> list[tuple[int, int, int]]:
    """The number of groups by size: first size, last size, groups."""
    low, high = int(counts.min()), int(counts.max())
    step = -(-(high - low + 1) // most)
    heights = np.bincount((counts - low) // step)
    firsts = [low + place * step for place in range(heights.size)]
    return [(first, min(first + step - 1, high), int(count)) for first, count in zip(firsts, heights, strict=True)]


def of_one_value(columns: Sequence[np.ndarray], labels: np.ndarray) -> Count:
    """Groups whose records are equal in all of the columns: their original values are published.

    Missing cells equal each other; groups with missing cells only do not count.
    """
    grouped = labels >= 0
    labels = labels[grouped]
    counts = np.bincount(labels)
    valued, mixed = np.zeros((2, counts.size), dtype=bool)
    first = np.empty(counts.size)
    for column in columns:
        values = column[grouped]
        first[labels] = values  # one of the group's
        other = first[labels]
        mixed[labels[(values != other) & ~(np.isnan(values) & np.isnan(other))]] = True
        valued[labels[~np.isnan(values)]] = True
    return _count(counts, valued & ~mixed)


def dominated(columns: Sequence[np.ndarray], labels: np.ndarray) -> Count:
    """Groups whose squared error would shrink by more than 80 % if one record, far from their mean, left.

    Without record i the error of a group of m is ``SSE − m/(m−1) · e_i``, where ``e_i`` is its squared distance from
    the mean.  In a group of two that is always the whole error, so they do not count.  Columns count in standard
    deviations.
    """
    grouped = labels >= 0
    labels = labels[grouped]
    counts = np.bincount(labels)
    errors = np.zeros(labels.size)
    for column in columns:
        z = standardize_column(column[grouped])  # 0 where a cell is missing: it then is in all of the group
        means = np.bincount(labels, z) / np.maximum(counts, 1)
        errors += (z - means[labels]) ** 2
    totals = np.bincount(labels, errors)
    saved = errors * (counts / np.maximum(counts - 1, 1))[labels]
    alone = (errors > FAR_DEVIATIONS**2) & (saved > DOMINATED * totals[labels]) & (counts[labels] > 2)
    outlying = np.zeros(counts.size, dtype=bool)
    outlying[labels[alone]] = True
    return _count(counts, outlying)


def _count(counts: np.ndarray, which: np.ndarray) -> Count:
    which = which & (counts > 0)
    return Count(int(which.sum()), int(counts[which].sum()))
