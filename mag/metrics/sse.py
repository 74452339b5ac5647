"""Sum of squared errors."""

from typing import Any

import numpy as np

from mag._lib.checks import flag
from mag._lib.floats import standardized
from mag._lib.pairs import pair


def sse(original: Any, masked: Any, *, standardize: bool = False) -> float:
    """Sum of squared differences between original and masked values: the distortion of a release.

    ``SSE = Σ_i Σ_j (x_ij − y_ij)²``

    Parameters
    ----------
    original, masked : array of numbers, shape (n, d) or (n,)
        Row i of both is the same record.
    standardize : bool
        Measure every column in standard deviations (of n, not n − 1) of the original; a constant column keeps its unit.

    Returns
    -------
    float

    References
    ----------
    J. Domingo-Ferrer & J. M. Mateo-Sanz, *Practical data-oriented microaggregation for statistical disclosure control*,
    IEEE TKDE 14(1), 2002.

    Examples
    --------
    >>> import mag
    >>> mag.metrics.sse([1.0, 3.0, 10.0, 14.0], [2.0, 2.0, 12.0, 12.0])
    10.0
    """
    X, Y = pair(original, masked)
    if flag("standardize", standardize):
        X, Y = standardized(X, Y)
    with np.errstate(over="ignore"):
        return float(np.square(X - Y).sum())
