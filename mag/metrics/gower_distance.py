"""How far published cells are from the values."""

from typing import Any

import numpy as np

from mag.hierarchy.mixed import read_scales


def gower_distance(original: Any, masked: Any, *, hierarchies: Any = None, order: Any = None) -> float:
    """Mean distance of a published cell from its value, from 0 to 1, of numbers and categories alike.

    ``1/(n d) · Σ_i Σ_j d_j(x_ij, y_ij)``: numbers differ by their difference by the range of the column, ordered
    categories by that of their ranks, categories with a tree by the loss of their closest common ancestor, others by 0
    or 1.  A published cell may be an ancestor, or a range such as ``[20, 39]``, whose distance from a value is the
    width of the smallest range around both.

    Parameters
    ----------
    original, masked : array, shape (n, d) or (n,), or frame
        Row i of both is the same record, without missing cells.
    hierarchies : dict, optional
        For categorical columns, by their name or place: a `mag.Hierarchy`, a file of one, or a dict from every
        category to its parent, up to one root.
    order : dict, optional
        For ordered columns, by their name or place: the categories in order.

    Returns
    -------
    float

    References
    ----------
    J. C. Gower, *A general coefficient of similarity and some of its properties*, Biometrics 27(4), 1971, without trees
    and ranges.

    Examples
    --------
    >>> import mag
    >>> people = {"job": ["baker", "painter", "surgeon"], "age": [20, 30, 40]}
    >>> masked = {"job": ["crafts", "crafts", "surgeon"], "age": [25, 25, 40]}
    >>> jobs = {"baker": "crafts", "painter": "crafts", "crafts": "any", "surgeon": "any"}
    >>> round(mag.metrics.gower_distance(people, masked, hierarchies={"job": jobs}), 6)  # (4/3 + 1/2) / 6
    0.305556
    """
    return float(np.mean([scale.apart().mean() for scale in read_scales(original, masked, hierarchies, order)]))
