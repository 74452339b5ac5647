"""Record linkage by distance."""

from typing import Any

from mag._lib.checks import flag
from mag._lib.floats import scaled, standardized
from mag._lib.pairs import pair
from mag.privacy._linkage import Linkage, link


def distance_linkage(original: Any, masked: Any, *, standardize: bool = True) -> Linkage:
    """Share of records that an intruder who knows the original values links, taking the nearest masked record.

    Record i is linked if ``d(x_i, y_i) = min_j d(x_i, y_j)`` with the Euclidean distance d; c records j at that
    distance make it a correct link with probability 1/c.  In a k-anonymous table no link succeeds with more than 1/k.

    Parameters
    ----------
    original, masked : array of numbers, shape (n, d) or (n,)
        Row i of both is the same record.
    standardize : bool
        Measure every column in standard deviations of the original.

    Returns
    -------
    Linkage
        Shares of all records: `expected`, `possible` and `certain` links.

    References
    ----------
    D. Pagliuca & G. Seri, *Some results of individual ranking method on the system of enterprise accounts annual
    survey*, 1999; J. Domingo-Ferrer & V. Torra, *A quantitative comparison of disclosure control methods for
    microdata*, 2001.

    Examples
    --------
    >>> import mag
    >>> mag.privacy.distance_linkage([1.0, 2.0, 7.0, 9.0], [1.5, 1.5, 8.0, 8.0])
    Linkage(expected=0.5, possible=1.0, certain=0.0)
    """
    X, Y = pair(original, masked)
    return link(*(standardized(X, Y) if flag("standardize", standardize) else scaled(X, Y, each=False)))
