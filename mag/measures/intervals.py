"""Risk that original values lie in intervals around the masked ones."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mag._lib import checks
from mag._lib.checks import positive
from mag.measures.numbers import deviations, read_two_tables, scale_tables


@dataclass(frozen=True)
class IntervalDisclosure:
    """What intervals around the masked values disclose.

    Attributes
    ----------
    values : float
        The share of original values that lie in the interval around their masked value.
    records : float
        The share of records of which all values do, or all but the allowed number.
    """

    values: float
    records: float


def disclosed(X: np.ndarray, low: np.ndarray, high: np.ndarray, outside: Any) -> IntervalDisclosure:
    """Ends belong to an interval."""
    allowed = checks.integer("outside", outside, 0, X.shape[1], "d")
    inside = (low <= X) & (high >= X)
    return IntervalDisclosure(float(inside.mean()), float(((~inside).sum(axis=1) <= allowed).mean()))


def rank_interval_disclosure(
    original: Any, masked: Any, *, width: float = 0.05, outside: int = 0
) -> IntervalDisclosure:
    """Share of original values that lie among the masked values with ranks close to that of their own masked value.

    The interval of ``y_ij`` spans the values of the masked column whose ranks differ from its rank by less than ``w
    n``.

    Parameters
    ----------
    original, masked : array of numbers, shape (n, d) or (n,)
        Row i of both is the same record.
    width : float
        w, above 0; the literature takes 0.01 to 0.1.
    outside : int
        As for `sd_interval_disclosure`.

    Returns
    -------
    IntervalDisclosure
        The shares of `values` and of `records`.

    Notes
    -----
    Equal masked values have all of their ranks: the interval reaches from the lowest of them less, to the highest of
    them plus, what the width allows.

    References
    ----------
    J. Domingo-Ferrer & V. Torra, *A quantitative comparison of disclosure control methods for microdata*, 2001; J. M.
    Mateo-Sanz, F. Sebé & J. Domingo-Ferrer, *Outlier protection in continuous microdata masking*, PSD 2004 (RID).

    Examples
    --------
    >>> import mag
    >>> mag.privacy.rank_interval_disclosure([1.0, 2.0, 7.0, 9.0], [1.5, 1.5, 8.0, 8.0], width=0.5)
    IntervalDisclosure(values=0.5, records=0.5)
    """
    X, Y = read_two_tables(original, masked)
    n = X.shape[0]
    # the largest whole difference below w·n, whatever the rounding of w
    reach = int(min(np.ceil(positive("width", width) * n - 1e-9) - 1, n))
    low, high = np.empty_like(Y), np.empty_like(Y)
    for j in range(Y.shape[1]):
        ascending = np.sort(Y[:, j])
        low[:, j] = ascending[np.maximum(np.searchsorted(ascending, Y[:, j]) - reach, 0)]
        high[:, j] = ascending[np.minimum(np.searchsorted(ascending, Y[:, j], side="right") - 1 + reach, n - 1)]
    return disclosed(X, low, high, outside)


def sd_interval_disclosure(original: Any, masked: Any, *, width: float = 0.05, outside: int = 0) -> IntervalDisclosure:
    """Share of original values that lie within a fraction of the standard deviation of their masked value.

    The interval of ``y_ij`` is ``[y_ij − w s_j, y_ij + w s_j]`` with ``s_j`` the standard deviation, of n − 1, of the
    masked column.

    Parameters
    ----------
    original, masked : array of numbers, shape (n, d) or (n,)
        Row i of both is the same record.
    width : float
        w, above 0.
    outside : int
        The number of values of a disclosed record that may lie outside their intervals.

    Returns
    -------
    IntervalDisclosure
        The shares of `values` and of `records`.

    Notes
    -----
    sdcMicro's ``dRisk`` is `records` with ``outside=1``, which discloses every record of a table of one column.

    References
    ----------
    J. M. Mateo-Sanz, F. Sebé & J. Domingo-Ferrer, *Outlier protection in continuous microdata masking*, PSD 2004
    (SDID); sdcMicro, ``dRisk``.

    Examples
    --------
    >>> import mag
    >>> mag.privacy.sd_interval_disclosure([1.0, 2.0, 7.0, 9.0], [1.0, 1.5, 8.0, 8.0], width=0.2)
    IntervalDisclosure(values=0.5, records=0.5)
    """
    X, Y = scale_tables(*read_two_tables(original, masked))
    half = positive("width", width) * deviations(Y, ddof=1)
    return disclosed(X, Y - half, Y + half, outside)
