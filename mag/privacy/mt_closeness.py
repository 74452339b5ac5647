"""Closeness of every class to a larger crowd around it."""

from typing import Any

import numpy as np

from mag._lib.checks import integer
from mag._lib.errors import ValueMistake
from mag._lib.records import classes, classes_of, numeric, standardized
from mag.privacy._emd import Distance, counts, read_sensitive, shares


def mt_closeness(
    table: Any, sensitive: Any, m: int, *, supersets: Any = None, ground: str = "auto", hierarchy: Any = None
) -> float:
    """A t for which a table is (m, t)-close: every class looks like a natural superset of at least m records.

    ``t = max_C min_S EMD(P(C), P(S))`` over the supersets S ⊇ C of at least m records that are considered.

    Parameters
    ----------
    table : array of numbers, shape (n, d) or (n,)
        The published quasi-identifiers, whose equal records are a class.
    sensitive : array, shape (n,)
        Numbers or strings.
    m : int
        The least size of a superset, in [1, n].
    supersets : array, shape (n,) or (n, ·), optional
        The superset of every record, such as the quasi-identifiers in coarser steps; every class must lie in one.  Then
        the table may hold anything, not only numbers.  By default the supersets of a class are all balls around it: the
        records that are not farther from it than some distance, in standard deviations of the table's columns.
    ground, hierarchy
        As of `t_closeness`.

    Returns
    -------
    float
        Between 0 and 1.  For m = n it is `t_closeness`.

    Notes
    -----
    The definition asks for any superset (Thaeter), or for any natural one, a region of quasi-identifiers that
    contains the class's (Li et al.).  Any superset at all would forgive a class of one sensitive value if the table
    has that value m times, so only regions are considered, and of those only balls: another region may prove a
    smaller t.  All balls around all of ℓ classes cost of the order of ℓ² times the number of sensitive values.

    References
    ----------
    N. Li, T. Li & S. Venkatasubramanian, *Closeness: a new privacy measure for data publishing*, IEEE TKDE 22(7), 2010,
    where it is (n, t)-closeness; F. Thaeter, *k-anonymous microaggregation*, thesis, Lübeck 2021, definition 3.14.

    Examples
    --------
    >>> import mag
    >>> age, disease = [1, 1, 2, 2, 8, 8, 9, 9], ["flu", "flu", "flu", "cough", "ulcer", "ulcer", "ulcer", "ulcer"]
    >>> mag.privacy.mt_closeness(age, disease, m=4)
    0.25
    >>> mag.privacy.t_closeness(age, disease)
    0.625
    """
    labels = classes("table", table)
    m = integer("m", m, 1, labels.size, "n")
    values, n_values, found = read_sensitive(sensitive, labels.size, ground, hierarchy)
    inside, distance = counts(labels, values, n_values), found.between
    if supersets is None:
        first = np.unique(labels, return_index=True)[1]
        (places,) = standardized(numeric("table", table))
        return max(_nearest(c, places[first], inside, m, distance) for c in range(len(inside)))
    outer = classes_of("supersets", supersets, "table", labels.size)
    homes = np.unique(labels * (int(outer.max()) + 1) + outer)
    if homes.size != len(inside):
        raise ValueMistake(f"supersets must hold each class as a whole; got {homes.size - len(inside)} splits.")
    around = counts(outer, values, n_values)
    if around.sum(axis=1).min() < m:
        raise ValueMistake(f"supersets must hold m={m} records each; the smallest holds {around.sum(axis=1).min()}.")
    return float(distance(shares(inside), shares(around[homes % (int(outer.max()) + 1)])).max())


def _nearest(c: int, places: np.ndarray, inside: np.ndarray, m: int, distance: Distance) -> float:
    """The least distance of a class from a ball around it."""
    far = np.square(places - places[c]).sum(axis=1)
    order = np.argsort(far, kind="stable")
    far = far[order]
    balls = np.cumsum(inside[order], axis=0)
    # equally far classes are in or out together
    whole = np.append(far[1:] > far[:-1] * (1 + 1e-12), True)
    balls = balls[whole & (balls.sum(axis=1) >= m)]
    return float(distance(shares(inside[c : c + 1]), shares(balls)).min())
