"""Record linkage by distance."""

from typing import Any, Literal

from mag._lib.checks import flag
from mag._lib.floats import scaled, standardized
from mag._lib.pairs import pair
from mag.hierarchy.mixed import is_plain, read_scales
from mag.privacy._linkage import Linkage, link, link_scales


def distance_linkage(
    original: Any,
    masked: Any,
    *,
    standardize: bool | Literal["range"] = True,
    hierarchies: Any = None,
    order: Any = None,
) -> Linkage:
    """Share of records that an intruder who knows the original values links, taking the nearest masked record.

    Record i is linked if ``d(x_i, y_i) = min_j d(x_i, y_j)`` with the Euclidean distance d; c records j at that
    distance make it a correct link with probability 1/c.  In a k-anonymous table no link succeeds with more than 1/k.

    The squared distance of two records is a sum over columns, as in Gower's coefficient: of numbers the squared
    difference, of ordered categories that of their ranks from 0 to 1, of categories with a tree the loss of their
    closest common ancestor, of others 0 or 1.  A published ancestor is a node of the tree as any other.  The difference
    of a number or rank from a published range such as ``[20, 39]`` is the width of the smallest range around both.

    Parameters
    ----------
    original, masked : array, shape (n, d) or (n,), or frame
        Row i of both is the same record, without missing cells.
    standardize : bool or "range"
        Measure every column in standard deviations of the original: the root of half of the mean squared distance of
        two of its values.  "range" measures numbers in their range, and categories as they are.
    hierarchies : dict, optional
        For categorical columns, by their name or place: a `mag.Hierarchy`, a file of one, or a dict from every category
        to its parent, up to one root.
    order : dict, optional
        For ordered columns, by their name or place: the categories in order.

    Returns
    -------
    Linkage
        Shares of all records: `expected`, `possible` and `certain` links.

    References
    ----------
    D. Pagliuca & G. Seri, *Some results of individual ranking method on the system of enterprise accounts annual
    survey*, 1999; J. Domingo-Ferrer & V. Torra, *A quantitative comparison of disclosure control methods for
    microdata*, 2001; J. C. Gower, *A general coefficient of similarity and some of its properties*, 1971.

    Examples
    --------
    >>> import mag
    >>> mag.privacy.distance_linkage([1.0, 2.0, 7.0, 9.0], [1.5, 1.5, 8.0, 8.0])
    Linkage(expected=0.5, possible=1.0, certain=0.0)
    >>> mag.privacy.distance_linkage({"sex": ["f", "m", "f"], "age": [31, 33, 60]},
    ...                              {"sex": ["f", "f", "f"], "age": ["[31, 33]", "[31, 33]", "60"]})
    Linkage(expected=0.6666666666666666, possible=1.0, certain=0.3333333333333333)
    """
    by_range = standardize == "range" and isinstance(standardize, str)
    by_deviation = not by_range and flag("standardize", standardize)
    if hierarchies is None and order is None and not by_range and is_plain(original, masked):
        X, Y = pair(original, masked)
        return link(*(standardized(X, Y) if by_deviation else scaled(X, Y, each=False)))
    scales = read_scales(original, masked, hierarchies, order)
    return link_scales(scales, [scale.unit("range" if by_range else by_deviation) for scale in scales])
