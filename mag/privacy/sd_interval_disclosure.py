"""Interval disclosure by standard deviations."""

from typing import Any

from mag._lib.checks import positive
from mag._lib.floats import deviations, scaled
from mag._lib.pairs import pair
from mag.privacy._interval import IntervalDisclosure, disclosed


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
    X, Y = scaled(*pair(original, masked))
    half = positive("width", width) * deviations(Y, ddof=1)
    return disclosed(X, Y - half, Y + half, outside)
