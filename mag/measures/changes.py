"""Loss as the change of single values."""

from typing import Any

import numpy as np

from mag._lib.checks import flag
from mag._lib.errors import InputValueError
from mag.measures.numbers import deviations, read_two_tables, scale_tables
from mag.measures.scales import IntervalScale, NominalScale, Scale, TreeScale, read_scales


def il1(original: Any, masked: Any, *, normalized: bool = True) -> float:
    """Mean relative change of a value.

    ``IL1 = 1/(n d) · Σ_i Σ_j |x_ij − y_ij| / |x_ij|``

    A zero that changed has no relative change and is left out, also of the mean; a zero that did not change counts as
    unchanged.

    Parameters
    ----------
    original, masked : array of numbers, shape (n, d) or (n,)
        Row i of both is the same record.
    normalized : bool
        False gives the sum of the changes in percent, as sdcMicro's ``dUtility(method = "IL1")`` does.

    Returns
    -------
    float

    References
    ----------
    J. M. Mateo-Sanz, F. Sebé & J. Domingo-Ferrer, *Outlier protection in continuous microdata masking*, PSD 2004;
    sdcMicro, ``dUtility``.

    Examples
    --------
    >>> import mag
    >>> mag.metrics.il1([1.0, 4.0], [2.0, 2.0])
    0.75
    >>> mag.metrics.il1([1.0, 4.0], [2.0, 2.0], normalized=False)
    150.0
    """
    X, Y = read_two_tables(original, masked)
    defined = (X != 0) | (Y == 0)
    if not defined.any():
        raise InputValueError("original must hold a value other than zero where masked differs; got only zeros.")
    with np.errstate(over="ignore"):
        changes = np.abs(X - Y)[defined] / np.where(X == 0, 1.0, np.abs(X))[defined]
    return float(changes.mean() if flag("normalized", normalized) else 100 * changes.sum())


def il1s(original: Any, masked: Any, *, normalized: bool = True) -> float:
    """Mean change of a value, in units of the standard deviation of its column times √2.

    ``IL1s = 1/(n d) · Σ_i Σ_j |x_ij − y_ij| / (√2 s_j)``, where ``s_j`` has the denominator n − 1.

    Parameters
    ----------
    original, masked : array of numbers, shape (n, d) or (n,)
        Row i of both is the same record.
    normalized : bool
        False gives the sum over all values, as sdcMicro's ``dUtility(method = "IL1s")`` does.

    Returns
    -------
    float
        Infinite if a constant column of the original changed.

    Notes
    -----
    Versions of sdcMicro before the option "IL1s" multiplied by √2 instead of dividing by it.

    References
    ----------
    J. M. Mateo-Sanz, F. Sebé & J. Domingo-Ferrer, *Outlier protection in continuous microdata masking*, PSD 2004;
    sdcMicro, ``dUtility``.

    Examples
    --------
    >>> import mag
    >>> round(mag.metrics.il1s([0.0, 2.0], [1.0, 1.0]), 6)
    0.5
    """
    X, Y = scale_tables(*read_two_tables(original, masked))
    change, unit = np.abs(X - Y), np.sqrt(2) * deviations(X, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        changes = np.where(change == 0, 0.0, change / unit)
    return float(changes.mean() if flag("normalized", normalized) else changes.sum())


def gower_distance(original: Any, masked: Any, *, hierarchies: Any = None, order: Any = None) -> float:
    """Mean distance of a published cell from its value, from 0 to 1, of numbers and categories alike.

    ``1/(n d) · Σ_i Σ_j d_j(x_ij, y_ij)``: for numbers, the difference divided by the range of the column; for ordered
    categories, the difference of ranks divided by the largest; for categories with a tree, the loss of their closest
    common ancestor; for others, 0 or 1.  A published cell may be an ancestor, or a range such as ``[20, 39]``, whose
    distance from a value is the width of the smallest range around both.

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


def total_variation(original: Any, masked: Any, *, hierarchies: Any = None, order: Any = None) -> float:
    """Distance of the frequency tables of categories before and after, from 0 to 1; the mean over columns.

    ``½ Σ_v |p_v − q_v|`` with the shares p before and q after.  A published ancestor counts evenly for the leaves below
    it, a range of ordered categories evenly for every category that it spans, as an analyst would count them.

    Parameters
    ----------
    original, masked : array, shape (n, d) or (n,), or frame
        Row i of both is the same record, without missing cells.  Columns of numbers are left out.
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
    D. A. Levin & Y. Peres, *Markov Chains and Mixing Times*, 2017, chapter 4, for the distance.

    Examples
    --------
    >>> import mag
    >>> mag.metrics.total_variation(["a", "a", "b", "c"], ["a", "a", "a", "c"])
    0.25
    """
    changes = [change for scale in read_scales(original, masked, hierarchies, order) if (change := _change(scale)) >= 0]
    if not changes:
        raise InputValueError("original must hold a column of categories; got numbers only.")
    return float(np.mean(changes))


def _change(scale: Scale) -> float:
    """Of one column; -1 for numbers."""
    if isinstance(scale, NominalScale):
        shares = [
            np.bincount(codes, minlength=int(max(scale.before.max(), scale.after.max())) + 1)
            for codes in (scale.before, scale.after)
        ]
        return float(np.abs(shares[0] - shares[1]).sum()) / 2 / scale.before.size
    if isinstance(scale, TreeScale):
        levels, n = scale.tree.levels, len(scale.tree.labels)
        cells = np.bincount(scale.after, minlength=n) / np.maximum(np.bincount(levels.ravel(), minlength=n), 1)
        after = cells[levels].sum(axis=1)
        return float(np.abs(np.bincount(scale.before, minlength=len(levels)) - after).sum()) / 2 / scale.before.size
    assert isinstance(scale, IntervalScale)
    if not scale.ranks:
        return -1.0
    last = max(scale.ranks - 1, 1)
    before, low, high = (np.rint(ends * last).astype(np.int64) for ends in (scale.before, scale.after, scale.high))
    steps = np.zeros(scale.ranks + 1)
    np.add.at(steps, low, 1 / (high - low + 1))
    np.add.at(steps, high + 1, -1 / (high - low + 1))
    after = np.cumsum(steps)[:-1]
    return float(np.abs(np.bincount(before, minlength=scale.ranks) - after).sum()) / 2 / scale.before.size
