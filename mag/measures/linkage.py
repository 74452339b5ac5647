"""Risk that the nearest masked record is the right one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from mag._lib.checks import flag
from mag._lib.errors import InputValueError
from mag.measures.equal import classes
from mag.measures.numbers import pair, scaled, standardized
from mag.measures.scales import Interval, Scale, is_plain, read_scales

DISTANCES_PER_BLOCK = 2**20  # of a block of distances: no n × n matrix is ever in memory
TIE_FACTOR = 1 + 1e-9  # squared distances closer than this are equal


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

    def distances(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
        far = np.zeros((rows.size, others.size))
        for j in range(X.shape[1]):
            far += np.square(X[rows, j, None] - Y[others, j])
        return far

    return link_by(classes("masked", Y), distances)


def link_scales(scales: Sequence[Scale], units: Sequence[float]) -> Linkage:
    """By the distances of every column, each divided by its unit, squared and added up."""
    cells = {place: scale.after for place, scale in enumerate(scales)}
    cells |= {-1 - place: scale.high for place, scale in enumerate(scales) if isinstance(scale, Interval)}

    def distances(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
        far = np.zeros((rows.size, others.size))
        for scale, unit in zip(scales, units, strict=True):
            far += scale.squared(rows, others) / unit**2
        return far

    return link_by(classes("masked", cells), distances)


def link_by(labels: np.ndarray, distances: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Linkage:
    """By the distances of records to masked ones, block by block; `labels` are the classes of equal masked records."""
    n = labels.size
    _, first, counts = np.unique(labels, return_index=True, return_counts=True)
    expected, possible, certain = 0.0, 0, 0
    for rows in np.split(np.arange(n), range(0, n, max(1, DISTANCES_PER_BLOCK // counts.size)))[1:]:
        far = distances(rows, first)
        bound = far.min(axis=1) * TIE_FACTOR
        nearest = far[np.arange(rows.size), labels[rows]] <= bound
        candidates = (far <= bound[:, None]) @ counts
        expected += float((nearest / candidates).sum())
        possible += int(nearest.sum())
        certain += int((nearest & (candidates == 1)).sum())
    return Linkage(expected / n, possible / n, certain / n)


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
        raise InputValueError(f"original and masked must hold values that have an order; {', '.join(wrong)} have none.")
    return link(
        *(_ranks(np.column_stack(cells)) for cells in zip(*((s.before, s.after) for s in ordered), strict=True))
    )


def _ranks(X: np.ndarray) -> np.ndarray:
    ranks = np.empty_like(X)
    for j in range(X.shape[1]):
        _, place, counts = np.unique(X[:, j], return_inverse=True, return_counts=True)
        ranks[:, j] = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return ranks
