"""Special uniques: scores of records by the subsets of the quasi-identifiers that make them unique.

A *minimal sample unique* (MSU) of a record is a subset of the m columns on which it is unique, while it is unique on no
part of the subset.  Small ones are the easiest to find in another table, and count most.
"""

import math

import numpy as np

MAX_DIS_COLUMNS = 27  # the exponent of DIS-SUDA is positive up to these


def points_by_size(m: int) -> np.ndarray:
    """The points of an MSU of s columns, ``(m − s)!``, at place s.

    Examples
    --------
    >>> from mag.risk.suda import points_by_size
    >>> points_by_size(4)
    array([0., 6., 2., 1., 1.])
    """
    return np.array([0.0] + [float(math.factorial(m - size)) for size in range(1, m + 1)])


def dis_scores(scores: np.ndarray, uniques: int, doubles: int, m: int, fraction: float) -> np.ndarray:
    """DIS-SUDA: scores as probabilities that a match with the record is correct.

    DIS, the probability that a match with any sample unique is correct, is ``U π / (U π + P (1 − π))`` for U sample
    uniques, P records in classes of two, and the sampling fraction π.  It is shared out by the scores:
    ``1 / (1 + (U / DIS − U) / (score^Q A))`` with ``Q = 1 + (8 − m) / 20`` and ``A = Σ score^−Q``.

    Examples
    --------
    >>> import numpy as np
    >>> from mag.risk.suda import dis_scores
    >>> dis_scores(np.array([0.0, 8, 6, 4, 8]), uniques=4, doubles=4, m=4, fraction=0.01).round(6)
    array([0.      , 0.014213, 0.010106, 0.006237, 0.014213])
    """
    special = scores > 0
    found = np.zeros(scores.size)
    if not special.any():
        return found
    if m > MAX_DIS_COLUMNS:
        return np.where(special, np.nan, 0.0)
    dis = uniques * fraction / (uniques * fraction + doubles * (1 - fraction))
    exponent = 1 + (8 - m) / 20
    powers = scores[special] ** exponent
    found[special] = 1 / (1 + (uniques / dis - uniques) / (powers * (1 / powers).sum()))
    return found


def share_by_column(scores: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """The share of all points that MSUs with the column have; an MSU counts in each of its columns."""
    total = scores.sum()
    return shares.sum(axis=0) / total if total else np.zeros(shares.shape[1])


def share_by_level(codes: np.ndarray, points: np.ndarray) -> np.ndarray:
    """The share that each value of a column has in the points of MSUs with the column; NaN where there are none."""
    sums = np.bincount(codes, points)
    return sums / sums.sum() if sums.sum() else np.full(sums.size, np.nan)
