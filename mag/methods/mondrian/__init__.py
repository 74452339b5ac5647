"""Mondrian as a way to group records (section 7.1): near linear, for millions of records."""

from typing import Any

import numpy as np

from mag._lib.progress import Progress
from mag.methods.distances.hierarchies import CategoryColumns
from mag.methods.mondrian.cutting import parts_of_trees
from mag.methods.mondrian.halving import RULE_PAIRS, RULE_RANGE, RULE_VARIANCE, labels_of, parts_of

# The thesis halves parts of 2k records too, but its tables come from parts of 2k that are left as they are.


def mondrian(
    X: np.ndarray, k: int, *, trees: CategoryColumns | None = None, engine: Any, threads: int, progress: Progress
) -> np.ndarray:
    """Halve at the median of the column with the widest range  (LeFevre et al. 2006); cut trees into children."""
    if trees is not None:
        return labels_of(*parts_of_trees(X, k, k, trees, threads, progress))
    return labels_of(*parts_of(X, k, 2 * k, RULE_RANGE, threads, progress, engine))


def mondrian_v(X: np.ndarray, k: int, *, engine: Any, threads: int, progress: Progress) -> np.ndarray:
    """Halve at the median of the column with the largest variance."""
    return labels_of(*parts_of(X, k, 2 * k, RULE_VARIANCE, threads, progress, engine))


def mondrian_v2d(X: np.ndarray, k: int, *, engine: Any, threads: int, progress: Progress) -> np.ndarray:
    """Halve at the median of the column, or of the sum or difference of two columns, with the largest variance."""
    return labels_of(*parts_of(X, k, 2 * k, RULE_PAIRS, threads, progress, engine))
