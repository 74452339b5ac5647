"""Total sum of squares."""

from typing import Any

import numpy as np

from mag._lib.checks import flag
from mag._lib.records import centered, exponents, numeric, scaled, standardized


def sst(original: Any, *, standardize: bool = False) -> float:
    """Sum of squared distances of the records from their mean: what the coarsest release would lose.

    ``SST = Σ_i Σ_j (x_ij − x̄_j)²``

    Parameters
    ----------
    original : array of numbers, shape (n, d) or (n,)
    standardize : bool
        Measure every column in its standard deviation (of n, not n − 1); the result is then n times the number of
        columns that are not constant.

    Returns
    -------
    float

    References
    ----------
    F. Thaeter, *k-anonymous microaggregation*, thesis, Lübeck 2021, definition 2.23 ("diversity").

    Examples
    --------
    >>> import mag
    >>> mag.metrics.sst([1.0, 3.0, 10.0, 14.0])
    110.0
    """
    X = numeric("original", original)
    if flag("standardize", standardize):
        (X,) = standardized(X)
    (small,) = scaled(X, each=False)
    with np.errstate(over="ignore"):
        return float(np.ldexp(np.square(centered(small)).sum(), 2 * exponents([X], False)))
