"""Change of the eigenvalues of the correlation matrix."""

from typing import Any

import numpy as np

from mag._lib.checks import flag
from mag._lib.pairs import pair
from mag.metrics._correlations import correlations


def eigenvalue_difference(original: Any, masked: Any, *, relative: bool = True) -> float:
    """Change of the principal components' variances.

    ``Σ_j |λ_j − λ'_j| / λ_j`` with the eigenvalues of both correlation matrices in descending order.

    Parameters
    ----------
    original, masked : array of numbers, shape (n, d) or (n,)
        Row i of both is the same record.
    relative : bool
        False gives ``1/d · Σ_j |λ_j − λ'_j|``, which does not blow up where an eigenvalue is close to 0.

    Returns
    -------
    float
        Infinite if an eigenvalue was 0, to rounding, and is no longer.

    References
    ----------
    M. Templ & B. Meindl, *Robust statistics meets SDC*, PSD 2008; sdcMicro, ``dUtility(method = "eigen")``.

    Examples
    --------
    >>> import mag
    >>> original = [[0.0, 0.0], [1.0, 1.0], [2.0, 0.0], [3.0, 1.0]]
    >>> round(mag.metrics.eigenvalue_difference(original, [[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [3.0, 1.0]]), 6)
    1.118034
    """
    X, Y = pair(original, masked)
    before, after = np.linalg.eigvalsh(correlations(X)), np.linalg.eigvalsh(correlations(Y))
    change = np.abs(before - after)
    if not flag("relative", relative):
        return float(change.mean())
    rounding = 4 * before.size**2 * np.finfo(np.float64).eps
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(before > rounding, change / before, np.where(after > rounding, np.inf, 0.0))
    return float(terms.sum())
