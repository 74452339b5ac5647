"""Counts of equal records."""

from typing import Any

import numpy as np

from mag._lib.equal import classes


def class_sizes(table: Any) -> np.ndarray:
    """For every record, the number of records that equal it, itself included.

    ``f_i = |{j : y_j = y_i}|``.  −0.0 equals 0.0, and a missing value equals a missing value of the same kind.

    Parameters
    ----------
    table : array, shape (n, d) or (n,)
        The published quasi-identifiers: numbers, strings, dates or objects.

    Returns
    -------
    array of int, shape (n,)

    References
    ----------
    sdcMicro, ``freqCalc``: its ``fk``, except that a missing value there equals every value.

    Examples
    --------
    >>> import mag
    >>> mag.privacy.class_sizes([[1.0, 0.0], [1.0, -0.0], [2.0, 0.0]])
    array([2, 2, 1])
    """
    labels = classes("table", table)
    return np.bincount(labels)[labels]
