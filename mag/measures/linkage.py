"""Risk that the nearest masked record is the right one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from mag._lib.checks import flag
from mag._lib.errors import InputValueError
from mag.measures.equal import classes
from mag.measures.numbers import read_two_tables, scale_tables, standardize_tables
from mag.measures.scales import IntervalScale, Scale, is_plain, read_scales


@dataclass(frozen=True)
class Linkage:
    """How many records an intruder links by taking the nearest masked record of every original one.

    Attributes
    ----------
    expected : float
        The share of correct links if the intruder draws among equally near records.
    possible : float
        The share of records whose true counterpart is among the nearest.
    certain : float
        The share of records whose true counterpart is the only nearest.
    """

    expected: float
    possible: float
    certain: float


def link(X: np.ndarray, Y: np.ndarray) -> Linkage:
    """By the squared Euclidean distances of all records to all distinct masked ones."""
    columns = [IntervalScale(j, x, y, y, 0.0, 0) for j, (x, y) in enumerate(zip(X.T, Y.T, strict=True))]
    return link_scales(columns, [1.0] * len(columns))


def link_scales(scales: Sequence[Scale], units: Sequence[float]) -> Linkage:
    """By the distances of every column, each divided by its unit, squared and added up.

    Equal masked records are one, with their number.  No distance above that of a record from its own masked one is of
    interest, so a k-d tree leaves most of the others out.
    """
    from mag.measures._nearest import count_nearest, cut_into_boxes

    cells = {place: scale.after for place, scale in enumerate(scales)}
    cells |= {-1 - place: scale.high for place, scale in enumerate(scales) if isinstance(scale, IntervalScale)}
    labels = classes("masked", cells)
    _, first, counts = np.unique(labels, return_index=True, return_counts=True)
    # records that are equal before and after are measured once
    pairs = classes("original", dict(enumerate([*(scale.before for scale in scales), labels])))
    _, rows, times = np.unique(pairs, return_index=True, return_counts=True)
    n = rows.size
    x, low, high, squares_of_units = [np.empty((n, 0))], [np.empty((first.size, 0))], [np.empty((first.size, 0))], []
    leaves, losses, paths = [np.empty((n, 0), np.int64)], [np.empty((n, 0))], [np.empty((first.size, 0), np.int64)]
    widths, roots, keys = list[int](), list[float](), list[np.ndarray]()
    for scale, unit in zip(scales, units, strict=True):
        if isinstance(scale, IntervalScale):
            x.append(scale.before[rows, None])
            low.append(scale.after[first, None])
            high.append(scale.high[first, None])
            squares_of_units.append(unit**2)
            keys.append((scale.after[first] / 2 + scale.high[first] / 2) / unit)
        else:
            below, loss, published, root = scale.levels()
            leaves.append(below[rows])
            losses.append(loss[rows] / unit**2)
            paths.append(published[first])
            widths.append(below.shape[1])
            roots.append(root / unit**2)
            # from 0 to the distance of different categories, those with a common ancestor side by side
            place = np.unique(paths[-1][:, ::-1], axis=0, return_inverse=True)[1].reshape(-1)
            keys.append(place / max(int(place.max()), 1) * np.sqrt(roots[-1]))
    ends = (np.hstack(low), np.hstack(high), np.hstack(paths))
    order, tree = cut_into_boxes(*ends, np.column_stack(keys))
    place_in_tree = np.empty_like(order)
    place_in_tree[order] = np.arange(order.size)
    starts = np.cumsum([0, *widths])
    original = (
        np.hstack(x), np.array(squares_of_units, np.float64), np.hstack(leaves), np.hstack(losses), starts,
        np.array(roots, np.float64),
    )  # fmt: skip
    masked = tuple(part[order] for part in ends)
    candidates = count_nearest(original, masked, counts[order], tree, place_in_tree[labels[rows]])
    right = candidates > 0
    expected, possible = (times[right] / candidates[right]).sum(), times[right].sum()
    return Linkage(*(float(found / labels.size) for found in (expected, possible, times[candidates == 1].sum())))


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
        X, Y = read_two_tables(original, masked)
        return link(*(standardize_tables(X, Y) if by_deviation else scale_tables(X, Y, each=False)))
    scales = read_scales(original, masked, hierarchies, order)
    return link_scales(scales, [scale.unit("range" if by_range else by_deviation) for scale in scales])


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
        X, Y = read_two_tables(original, masked)
        return link(_ranks(X), _ranks(Y))
    scales = read_scales(original, masked, order=order)
    ordered = [scale for scale in scales if isinstance(scale, IntervalScale) and scale.exact]
    if wrong := [repr(scale.name) for scale in scales if scale not in ordered]:
        raise InputValueError(f"original and masked must hold values that have an order; got {', '.join(wrong)}.")
    return link(
        *(_ranks(np.column_stack(cells)) for cells in zip(*((s.before, s.after) for s in ordered), strict=True))
    )


def _ranks(X: np.ndarray) -> np.ndarray:
    ranks = np.empty_like(X)
    for j in range(X.shape[1]):
        _, place, counts = np.unique(X[:, j], return_inverse=True, return_counts=True)
        ranks[:, j] = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return ranks
