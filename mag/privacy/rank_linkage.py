"""Record linkage by ranks."""

from typing import Any

import numpy as np

from mag._lib.errors import ValueMistake
from mag._lib.pairs import pair
from mag.hierarchy.mixed import Interval, is_plain, read_scales
from mag.privacy._linkage import Linkage, link


def rank_linkage(original: Any, masked: Any, *, order: Any = None) -> Linkage:
    """Share of records that an intruder links by comparing ranks instead of values.

    As `distance_linkage`, after every value was replaced by its rank in its own column and table; equal values share
    the mean of their ranks.  Methods that keep the order, or any increasing transformation of a column, hide nothing
    here.

    Parameters
    ----------
    original, masked : array of numbers, shape (n, d) or (n,), or frame
        Row i of both is the same record.
    order : dict, optional
        For columns of categories, by their name or place: the categories in order.

    Returns
    -------
    Linkage
        Shares of all records: `expected`, `possible` and `certain` links.

    References
    ----------
    K. Muralidhar & J. Domingo-Ferrer, *Rank-based record linkage for re-identification risk assessment*, PSD 2016.

    Examples
    --------
    >>> import mag
    >>> mag.privacy.rank_linkage([1.0, 2.0, 7.0], [100.0, 400.0, 900.0])
    Linkage(expected=1.0, possible=1.0, certain=1.0)
    """
    if order is None and is_plain(original, masked):
        X, Y = pair(original, masked)
        return link(_ranks(X), _ranks(Y))
    scales = read_scales(original, masked, order=order)
    ordered = [scale for scale in scales if isinstance(scale, Interval) and scale.exact]
    if wrong := [repr(scale.name) for scale in scales if scale not in ordered]:
        raise ValueMistake(f"original and masked must hold values that have an order; {', '.join(wrong)} have none.")
    return link(
        *(_ranks(np.column_stack(cells)) for cells in zip(*((s.before, s.after) for s in ordered), strict=True))
    )


def _ranks(X: np.ndarray) -> np.ndarray:
    ranks = np.empty_like(X)
    for j in range(X.shape[1]):
        _, place, counts = np.unique(X[:, j], return_inverse=True, return_counts=True)
        ranks[:, j] = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return ranks
