"""The discernibility metric."""

from typing import Any

import numpy as np

from mag._lib.checks import integer
from mag._lib.equal import classes


def discernibility(table: Any, *, k: int = 1) -> int:
    """Sum of squared class sizes: each record costs the number of records that it cannot be distinguished from.

    ``C_DM = Σ_{|C| ≥ k} |C|² + Σ_{|C| < k} n |C|``

    Parameters
    ----------
    table : array, shape (n, d) or (n,)
        The published records, of which equal ones form a class; or the group of every record.
    k : int
        Records of smaller classes count as suppressed and cost n each.  With 1, none does.

    Returns
    -------
    int

    References
    ----------
    R. J. Bayardo & R. Agrawal, *Data privacy through optimal k-anonymization*, ICDE 2005; F. Thaeter, *k-anonymous
    microaggregation*, thesis, Lübeck 2021, definition 3.7.

    Examples
    --------
    >>> import mag
    >>> mag.metrics.discernibility([2.0, 2.0, 7.0, 7.0, 7.0, 9.0])
    14
    >>> mag.metrics.discernibility([2.0, 2.0, 7.0, 7.0, 7.0, 9.0], k=2)
    19
    """
    sizes = np.bincount(classes("table", table))
    n = int(sizes.sum())
    k = integer("k", k, 1, n, "n")
    return int(np.where(sizes >= k, sizes, n) @ sizes)
