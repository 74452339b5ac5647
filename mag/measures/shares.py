"""Loss as the change of the distribution of a column."""

from typing import Any

import numpy as np

from mag._lib.checks import integer
from mag.measures.numbers import read_two_tables

BINS, MAX_BINS = 20, 1000  # of equal counts
VISIBLE_CHANGE = 0.5 / BINS  # of all records: half of a bin of equal counts


def share_change(original: Any, masked: Any, *, bins: int = BINS) -> float:
    """Largest change of the share of the records that lie in a bin of a column.

    Every column is divided into bins with equal numbers of original values; fewer bins where values are tied.  A method
    that cuts a column at its median, for example, leaves almost no masked values in the bins next to the median.

    Parameters
    ----------
    original, masked : array of numbers, shape (n, d) or (n,)
        Row i of both is the same record.
    bins : int
        The number of bins, from 2 to 1000.

    Returns
    -------
    float
        From 0 to 1; the largest over all bins and columns.

    Examples
    --------
    >>> import mag
    >>> mag.metrics.share_change([1.0, 2.0, 3.0, 4.0], [2.0, 2.0, 3.5, 3.5], bins=4)
    0.25
    """
    X, Y = read_two_tables(original, masked)
    return max(share_changes(X, Y, integer("bins", bins, 2, MAX_BINS, "most")))


def share_changes(X: np.ndarray, Y: np.ndarray, bins: int = BINS) -> list[float]:
    """The largest change of a share in every column."""
    return [_largest_change(x, y, bins) for x, y in zip(X.T, Y.T, strict=True)]


def _largest_change(before: np.ndarray, after: np.ndarray, bins: int) -> float:
    values = np.sort(before)
    edges = np.unique(values[np.arange(1, bins) * values.size // bins])  # a bin begins at an edge
    counts = [np.bincount(np.searchsorted(edges, x, "right"), minlength=edges.size + 1) for x in (before, after)]
    return float(np.abs(counts[0] - counts[1]).max() / before.size)
