"""Normalized average class size."""

from typing import Any

from mag._lib.checks import integer
from mag._lib.equal import classes


def c_avg(table: Any, k: int) -> float:
    """Average class size as a multiple of k: 1 is the best a k-anonymous release can do.

    ``C_AVG = (n / ℓ) / k`` with ℓ classes.

    Parameters
    ----------
    table : array, shape (n, d) or (n,)
        The published records, of which equal ones form a class; or the group of every record.
    k : int
        The requested class size, in [1, n].

    Returns
    -------
    float

    References
    ----------
    K. LeFevre, D. J. DeWitt & R. Ramakrishnan, *Mondrian multidimensional k-anonymity*, ICDE 2006; F. Thaeter,
    *k-anonymous microaggregation*, thesis, Lübeck 2021, definition 3.7.

    Examples
    --------
    >>> import mag
    >>> mag.metrics.c_avg([2.0, 2.0, 7.0, 7.0, 7.0, 7.0], k=2)
    1.5
    """
    labels = classes("table", table)
    return labels.size / (int(labels.max()) + 1) / integer("k", k, 1, labels.size, "n")
