"""Loss as sums of squares: SSE, SST, and their ratio."""

from typing import Any

import numpy as np

from mag._lib.checks import flag
from mag.measures.numbers import center_table, exponents, numeric, read_two_tables, scale_tables, standardize_tables


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
    X, Y = read_two_tables(original, masked)
    if flag("standardize", standardize):
        X, Y = standardize_tables(X, Y)
    with np.errstate(over="ignore"):
        return float(np.square(X - Y).sum())


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
        (X,) = standardize_tables(X)
    (small,) = scale_tables(X, each=False)
    with np.errstate(over="ignore"):
        return float(np.ldexp(np.square(center_table(small)).sum(), 2 * exponents([X], False)))


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
    X, Y = read_two_tables(original, masked)
    X, Y = standardize_tables(X, Y) if flag("standardize", standardize) else scale_tables(X, Y, each=False)
    error, total = np.square(X - Y).sum(), np.square(center_table(X)).sum()
    if error == 0:
        return 0.0
    return float(error / total) if total > 0 else np.inf
