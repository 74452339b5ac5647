"""The smallest class of equal records."""

from typing import Any

import numpy as np

from mag._lib.equal import classes


def k_anonymity(table: Any) -> int:
    """Largest k for which a table is k-anonymous: the size of its smallest class of equal records.

    ``k = min_i |{j : y_j = y_i}|``.  −0.0 equals 0.0, and a missing value equals a missing value of the same kind.
    `mag.verify.recount` compares what is stored instead, bit by bit: there −0.0 is not 0.0.

    Parameters
    ----------
    table : array, shape (n, d) or (n,)
        The published quasi-identifiers: numbers, strings, dates or objects.

    Returns
    -------
    int

    References
    ----------
    L. Sweeney, *k-anonymity: a model for protecting privacy*, International Journal of Uncertainty, Fuzziness and
    Knowledge-Based Systems 10(5), 2002.

    Examples
    --------
    >>> import mag
    >>> mag.privacy.k_anonymity([["m", "30–39"], ["m", "30–39"], ["f", "30–39"], ["f", "30–39"], ["f", "30–39"]])
    2
    """
    return int(np.bincount(classes("table", table)).min())
