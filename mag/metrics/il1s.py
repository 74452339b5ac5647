"""Change of the values in standard deviations."""

from typing import Any

import numpy as np

from mag._lib.checks import flag
from mag._lib.floats import deviations, scaled
from mag._lib.pairs import pair


def il1s(original: Any, masked: Any, *, normalized: bool = True) -> float:
    """Mean change of a value, in units of the standard deviation of its column times √2.

    ``IL1s = 1/(n d) · Σ_i Σ_j |x_ij − y_ij| / (√2 s_j)``, where ``s_j`` has the denominator n − 1.

    Parameters
    ----------
    original, masked : array of numbers, shape (n, d) or (n,)
        Row i of both is the same record.
    normalized : bool
        False gives the sum over all values, as sdcMicro's ``dUtility(method = "IL1s")`` does.

    Returns
    -------
    float
        Infinite if a constant column of the original changed.

    Notes
    -----
    Versions of sdcMicro before the option "IL1s" multiplied by √2 instead of dividing by it.

    References
    ----------
    J. M. Mateo-Sanz, F. Sebé & J. Domingo-Ferrer, *Outlier protection in continuous microdata masking*, PSD 2004;
    sdcMicro, ``dUtility``.

    Examples
    --------
    >>> import mag
    >>> round(mag.metrics.il1s([0.0, 2.0], [1.0, 1.0]), 6)
    0.5
    """
    X, Y = scaled(*pair(original, masked))
    change, unit = np.abs(X - Y), np.sqrt(2) * deviations(X, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        changes = np.where(change == 0, 0.0, change / unit)
    return float(changes.mean() if flag("normalized", normalized) else changes.sum())
