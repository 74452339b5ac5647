"""SSE / SST."""

from typing import Any

import numpy as np

from mag._lib.checks import flag
from mag._lib.floats import centered, scaled, standardized
from mag._lib.pairs import pair


def information_loss(original: Any, masked: Any, *, standardize: bool = True) -> float:
    """Share of the variance of the original that the release has lost.

    ``IL = SSE / SST``, on standardized data by default.  Between 0 and 1 for groups replaced by their means;
    the literature often prints ``100 · IL``.

    Parameters
    ----------
    original, masked : array of numbers, shape (n, d) or (n,)
        Row i of both is the same record.
    standardize : bool
        Give every column the same weight, by its standard deviation in the original.

    Returns
    -------
    float
        0.0 if nothing changed; infinite if a constant original did.

    References
    ----------
    F. Thaeter, *k-anonymous microaggregation*, thesis, Lübeck 2021, definition 2.23.

    Examples
    --------
    >>> import mag
    >>> round(mag.metrics.information_loss([1.0, 3.0, 10.0, 14.0], [2.0, 2.0, 12.0, 12.0]), 6)
    0.090909
    """
    X, Y = pair(original, masked)
    X, Y = standardized(X, Y) if flag("standardize", standardize) else scaled(X, Y, each=False)
    error, total = np.square(X - Y).sum(), np.square(centered(X)).sum()
    if error == 0:
        return 0.0
    return float(error / total) if total > 0 else np.inf
