"""Relative change of the values."""

from typing import Any

import numpy as np

from mag._lib.checks import flag
from mag._lib.errors import ValueMistake
from mag._lib.pairs import pair


def il1(original: Any, masked: Any, *, normalized: bool = True) -> float:
    """Mean relative change of a value.

    ``IL1 = 1/(n d) · Σ_i Σ_j |x_ij − y_ij| / |x_ij|``

    A zero that changed has no relative change and is left out, also of the mean; a zero that did not change counts as
    unchanged.

    Parameters
    ----------
    original, masked : array of numbers, shape (n, d) or (n,)
        Row i of both is the same record.
    normalized : bool
        False gives the sum of the changes in percent, as sdcMicro's ``dUtility(method = "IL1")`` does.

    Returns
    -------
    float

    References
    ----------
    J. M. Mateo-Sanz, F. Sebé & J. Domingo-Ferrer, *Outlier protection in continuous microdata masking*, PSD 2004;
    sdcMicro, ``dUtility``.

    Examples
    --------
    >>> import mag
    >>> mag.metrics.il1([1.0, 4.0], [2.0, 2.0])
    0.75
    >>> mag.metrics.il1([1.0, 4.0], [2.0, 2.0], normalized=False)
    150.0
    """
    X, Y = pair(original, masked)
    defined = (X != 0) | (Y == 0)
    if not defined.any():
        raise ValueMistake("original must hold a value other than zero where masked differs; got only zeros.")
    with np.errstate(over="ignore"):
        changes = np.abs(X - Y)[defined] / np.where(X == 0, 1.0, np.abs(X))[defined]
    return float(changes.mean() if flag("normalized", normalized) else 100 * changes.sum())
