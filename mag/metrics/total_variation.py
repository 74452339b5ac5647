"""Change of the frequencies of categories."""

from typing import Any

import numpy as np

from mag._lib.errors import ValueMistake
from mag.hierarchy.mixed import Interval, Nominal, Scale, Tree, read_scales


def total_variation(original: Any, masked: Any, *, hierarchies: Any = None, order: Any = None) -> float:
    """Distance of the frequency tables of categories before and after, from 0 to 1; the mean over columns.

    ``½ Σ_v |p_v − q_v|`` with the shares p before and q after.  A published ancestor counts evenly for the leaves below
    it, a range of ordered categories evenly for all that it spans: what an analyst would make of them.

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
        raise ValueMistake("original must hold a column of categories; got numbers only.")
    return float(np.mean(changes))


def _change(scale: Scale) -> float:
    """Of one column; -1 for numbers."""
    if isinstance(scale, Nominal):
        shares = [
            np.bincount(codes, minlength=int(max(scale.before.max(), scale.after.max())) + 1)
            for codes in (scale.before, scale.after)
        ]
        return float(np.abs(shares[0] - shares[1]).sum()) / 2 / scale.before.size
    if isinstance(scale, Tree):
        levels, n = scale.tree.levels, len(scale.tree.labels)
        cells = np.bincount(scale.after, minlength=n) / np.maximum(np.bincount(levels.ravel(), minlength=n), 1)
        after = cells[levels].sum(axis=1)
        return float(np.abs(np.bincount(scale.before, minlength=len(levels)) - after).sum()) / 2 / scale.before.size
    assert isinstance(scale, Interval)
    if not scale.ranks:
        return -1.0
    last = max(scale.ranks - 1, 1)
    before, low, high = (np.rint(ends * last).astype(np.int64) for ends in (scale.before, scale.after, scale.high))
    steps = np.zeros(scale.ranks + 1)
    np.add.at(steps, low, 1 / (high - low + 1))
    np.add.at(steps, high + 1, -1 / (high - low + 1))
    after = np.cumsum(steps)[:-1]
    return float(np.abs(np.bincount(before, minlength=scale.ranks) - after).sum()) / 2 / scale.before.size
