"""How many records of the sample, and persons of the population, share the quasi-identifiers of a record."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mag._lib.number import find_first_rows, number_rows

NONE_MISSING = -1  # the code of missing cells of a column that misses none


class Frequencies(NamedTuple):
    """The class of every record, and the sample and population frequency of every class, f and F."""

    classes: np.ndarray
    sample: np.ndarray
    population: np.ndarray


def count_classes(
    codes: Sequence[np.ndarray], weights: np.ndarray | None = None, units: np.ndarray | None = None
) -> Frequencies:
    """Classes of equal records: ``f = |C|`` and ``F = Σ w``, or F = f without weights.

    With units f counts the distinct ones of a class, and each adds the mean weight of its records in the class to F.

    Examples
    --------
    >>> import numpy as np
    >>> from mag.risk.frequencies import count_classes
    >>> count_classes([np.array([0, 0, 1])], weights=np.array([10.0, 30.0, 5.0])).population
    array([40.,  5.])
    """
    classes = number_rows(codes)
    mine = np.arange(classes.size) if units is None else number_rows([classes, units])
    first = find_first_rows(mine)
    sample = np.bincount(classes[first])
    if weights is None:
        return Frequencies(classes, sample, sample)
    means = np.bincount(mine, weights) / np.bincount(mine)
    return Frequencies(classes, sample, np.bincount(classes[first], means))


def count_matches(
    codes: Sequence[np.ndarray], missing: Sequence[int], weights: np.ndarray | None = None, alpha: float = 1.0
) -> Frequencies:
    """Classes of equal records, where a missing cell matches every value.

    Of the records that match one, those count `alpha` each that match it by a missing cell where it has a value.

    Examples
    --------
    >>> import numpy as np
    >>> from mag.risk.frequencies import count_matches
    >>> count_matches([np.array([0, 0, 1, 2])], missing=[2]).sample      # the last cell is missing
    array([3., 2., 4.])
    """
    classes = number_rows(codes)
    first = find_first_rows(classes)
    kinds = [column[first] for column in codes]
    blank = np.stack([kind == code for kind, code in zip(kinds, missing, strict=True)], axis=1)
    counts = np.bincount(classes).astype(np.float64)
    totals = counts if weights is None else np.bincount(classes, weights)
    sums = match_kinds(kinds, blank, np.stack([counts, totals], axis=1), alpha)
    return Frequencies(classes, sums[:, 0], sums[:, 1])


def match_kinds(kinds: Sequence[np.ndarray], blank: np.ndarray, sums: np.ndarray, alpha: float) -> np.ndarray:
    """For every combination of values, the `sums` of all that match it.

    Combinations that miss the same cells are compared at once with all those that agree on the cells to ignore.
    """
    patterns, pattern = np.unique(blank, axis=0, return_inverse=True)
    pattern = pattern.ravel()
    matched = np.zeros(sums.shape)
    for number, missing in enumerate(patterns):
        own = np.flatnonzero(pattern == number)
        ignored, union = np.unique(patterns | missing, axis=0, return_inverse=True)
        for group, ignore in enumerate(ignored):
            others = np.flatnonzero((union.ravel() == group)[pattern])
            both = np.concatenate([own, others])
            compared = [kind[both] for kind, skip in zip(kinds, ignore, strict=True) if not skip]
            label = number_rows(compared) if compared else np.zeros(both.size, np.int64)
            weight = 1.0 if (ignore == missing).all() else alpha
            for figure in range(sums.shape[1]):
                total = np.bincount(label[own.size :], sums[others, figure], int(label.max()) + 1)
                matched[own, figure] += weight * total[label[: own.size]]
    return matched
