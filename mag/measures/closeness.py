"""Risk from the distribution of sensitive values: the earth mover's distance (Li et al. 2007, section 4)."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mag._lib import checks
from mag._lib.arrays import read
from mag._lib.checks import integer
from mag._lib.errors import InputTypeError, InputValueError
from mag.hierarchy import Hierarchy, hierarchy_of
from mag.measures.equal import classes, classes_of, codes
from mag.measures.numbers import numeric, standardize_tables

SHARES_PER_BLOCK = 2**20  # of a block of distributions
CLASSES_IN_FIRST_BLOCK = 64  # that balls around a class grow by; every block is twice as large as the one before
ROUNDING_OF_DISTANCES = 1e-9  # two ways to compute a distance from 0 to 1 differ by less
Distance = Callable[[np.ndarray, np.ndarray], np.ndarray]


class Ground(NamedTuple):
    """What a ground distance between values makes of distributions."""

    between: Distance  # rows of P and rows of Q, or one row
    from_all: Callable[[np.ndarray, np.ndarray, int], np.ndarray]  # each class and everybody


# ---- all values are 1 apart


def equal(P: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """½ Σ |p − q|."""
    return np.abs(P - Q).sum(axis=1) / 2


def equal_from_all(classes: np.ndarray, values: np.ndarray, m: int) -> np.ndarray:
    """Values that a class does not have add their share of everybody: no matrix of classes and values is needed."""
    pairs, counts = np.unique(classes * m + values, return_counts=True)
    home, q = pairs // m, (np.bincount(values, minlength=m) / values.size)[pairs % m]
    p = counts / np.bincount(classes)[home]
    return (1 + np.bincount(home, np.abs(p - q) - q)) / 2


# ---- values i and j of m are |i − j| / (m − 1) apart


def ordered(P: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """Σ_i |Σ_{j ≤ i} (p_j − q_j)| / (m − 1)."""
    return np.abs(np.cumsum(P - Q, axis=1)[:, :-1]).sum(axis=1) / max(P.shape[1] - 1, 1)


def ordered_from_all(classes: np.ndarray, values: np.ndarray, m: int) -> np.ndarray:
    """Between two of its values the cumulated share of a class is constant, while that of everybody grows past it once.

    Prefix sums of everybody's cumulated shares give the area between both, so that no matrix is needed.
    """
    F = np.cumsum(np.bincount(values, minlength=m)) / values.size
    S = np.concatenate(([0.0], np.cumsum(F)))
    pairs, counts = np.unique(classes * m + values, return_counts=True)
    home, start = pairs // m, pairs % m
    first = np.flatnonzero(np.diff(home, prepend=-1))
    end = np.append(start[1:], m)
    end[first[1:] - 1] = m
    # the share up to each value: within its class
    level = np.cumsum(counts)
    level = (level - (level - counts)[first][home]) / np.bincount(classes)[home]
    cross = np.clip(np.searchsorted(F, level), start, end)
    area = level * (2 * cross - start - end) + S[start] + S[end] - 2 * S[cross]
    return (np.bincount(home, area) + S[start[first]]) / max(m - 1, 1)


# ---- values are as far apart as their closest common ancestor is high, by the height of the tree


def hierarchical(tree: Hierarchy, leaves: np.ndarray) -> Distance:
    """Every inner node moves what some children have too much to those that have too little, and passes the rest on."""

    def distance(P: np.ndarray, Q: np.ndarray) -> np.ndarray:
        extra = np.zeros((P.shape[0], len(tree.labels)))
        extra[:, leaves] = P - Q
        work = np.zeros(P.shape[0])
        for node in tree.children:  # lower levels first
            below = extra[:, tree.children[node]]
            mass = np.minimum(np.maximum(below, 0).sum(axis=1), np.maximum(-below, 0).sum(axis=1))
            work += mass * tree.height[node] / tree.height[tree.root]
            extra[:, node] = below.sum(axis=1)
        return work

    return distance


def in_blocks(between: Distance) -> Callable[[np.ndarray, np.ndarray, int], np.ndarray]:
    """Each class against everybody, some classes at a time."""

    def from_all(classes: np.ndarray, values: np.ndarray, m: int) -> np.ndarray:
        everybody = shares(np.bincount(values, minlength=m)[None])
        order = np.argsort(classes, kind="stable")
        classes, values = classes[order], values[order]
        far, block = [], max(1, SHARES_PER_BLOCK // m)
        for first in range(0, int(classes[-1]) + 1, block):
            here = slice(*np.searchsorted(classes, [first, first + block]))
            far.append(between(shares(counts(classes[here] - first, values[here], m)), everybody))
        return np.concatenate(far)

    return from_all


GROUNDS = ("auto", "equal", "hierarchical", "ordered")


def read_sensitive(sensitive: Any, n: int, ground: str, hierarchy: Any) -> tuple[np.ndarray, int, Ground]:
    """The code of every sensitive value, the number of codes, and what the ground distance makes of them."""
    values = checks.comparable("sensitive", read("sensitive", sensitive)[0])
    checks.same_columns("sensitive", values.shape[1], "one attribute", 1)
    checks.same_rows("sensitive", values.shape[0], "table", n)
    values = values[:, 0]
    ground = checks.one_of("ground", ground, GROUNDS)
    if ground == "auto":
        ground = "hierarchical" if hierarchy is not None else "ordered" if values.dtype.kind in "iufMm" else "equal"
    if ground == "hierarchical":
        tree = hierarchy_of("hierarchy", hierarchy)
        leaves, labels = np.unique(tree.leaf_of("hierarchy", values), return_inverse=True)
        between = hierarchical(tree, leaves)
        return labels, leaves.size, Ground(between, in_blocks(between))
    checks.unused("hierarchy", hierarchy, f"ground {ground!r}")
    if ground == "ordered":
        if values.dtype.kind not in "biufMm":
            raise InputTypeError(
                "sensitive must hold numbers or dates that follow the order with ground 'ordered'; got other values."
            )
        checks.finite("sensitive", values)
        if values.dtype.kind in "Mm" and (missing := int(np.isnat(values).sum())):
            raise InputValueError(f"sensitive contains {missing} missing dates; drop them, or choose ground 'equal'.")
    labels = codes("sensitive", values)
    distances = Ground(ordered, ordered_from_all) if ground == "ordered" else Ground(equal, equal_from_all)
    return labels, int(labels.max()) + 1, distances


def counts(groups: np.ndarray, values: np.ndarray, m: int) -> np.ndarray:
    """How often each of m values occurs in each group."""
    n_groups = int(groups.max()) + 1
    return np.bincount(groups * m + values, minlength=n_groups * m).reshape(n_groups, m)


def shares(counts: np.ndarray) -> np.ndarray:
    """Counts as distributions."""
    return counts / counts.sum(axis=1, keepdims=True)


def t_closeness(table: Any, sensitive: Any, *, ground: str = "auto", hierarchy: Any = None) -> float:
    """Smallest t for which a table is t-close: the largest distance of a class from all records, by sensitive values.

    ``t = max_C EMD(P(C), P(X))`` with the earth mover's distance over a ground distance between values.

    Parameters
    ----------
    table : array, shape (n, d) or (n,)
        The published quasi-identifiers, whose equal records are a class; or the group of every record.
    sensitive : array, shape (n,)
        Numbers or strings.
    ground : {"auto", "equal", "hierarchical", "ordered"}
        How far apart two values are.  equal: 1.  ordered: by how many of the m distinct values they differ in rank, by
        m − 1.  hierarchical: the height of their closest common ancestor, by that of the tree.  auto: hierarchical with
        a hierarchy, ordered for numbers and dates, equal otherwise.
    hierarchy : mag.Hierarchy, path or dict, optional
        A tree, a file of one, or every category's parent, up to one root.

    Returns
    -------
    float
        Between 0 and 1.

    References
    ----------
    N. Li, T. Li & S. Venkatasubramanian, *t-closeness: privacy beyond k-anonymity and l-diversity*, ICDE 2007; F.
    Thaeter, *k-anonymous microaggregation*, thesis, Lübeck 2021, definitions 3.12 and 3.13.

    Examples
    --------
    >>> import mag
    >>> classes, salary = [1, 1, 1, 2, 2, 2, 3, 3, 3], [3, 4, 5, 6, 11, 8, 7, 9, 10]
    >>> round(mag.privacy.t_closeness(classes, salary), 6)
    0.375
    """
    labels = classes("table", table)
    values, m, distance = read_sensitive(sensitive, labels.size, ground, hierarchy)
    return float(distance.from_all(labels, values, m).max())


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
    smaller t.  Classes are taken by their distance from all records, until no other can be the farthest: with ℓ classes
    the cost is at most of the order of ℓ² times the number of sensitive values, and mostly far less.

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
    values, n_values, distances = read_sensitive(sensitive, labels.size, ground, hierarchy)
    inside, distance = counts(labels, values, n_values), distances.between
    if supersets is None:
        first = np.unique(labels, return_index=True)[1]
        (places,) = standardize_tables(numeric("table", table))
        # all records are a ball: a class that is near to them cannot be the farthest, and the others come first
        from_all, t = distances.from_all(labels, values, n_values), 0.0
        for c in np.argsort(-from_all, kind="stable").tolist():
            if from_all[c] < t - ROUNDING_OF_DISTANCES:
                break
            t = max(t, _nearest(c, places[first], inside, m, distance, t))
        return t
    outer = classes_of("supersets", supersets, "table", labels.size)
    homes = np.unique(labels * (int(outer.max()) + 1) + outer)
    if homes.size != len(inside):
        raise InputValueError(f"supersets must hold each class as a whole; got {homes.size - len(inside)} splits.")
    around = counts(outer, values, n_values)
    if around.sum(axis=1).min() < m:
        raise InputValueError(f"supersets must hold m={m} records each; the smallest holds {around.sum(axis=1).min()}.")
    return float(distance(shares(inside), shares(around[homes % (int(outer.max()) + 1)])).max())


def _nearest(c: int, places: np.ndarray, inside: np.ndarray, m: int, distance: Distance, enough: float) -> float:
    """The least distance of a class from a ball around it, or one that is not above `enough`."""
    far = np.square(places - places[c]).sum(axis=1)
    order = np.argsort(far, kind="stable")
    far = far[order]
    # equally far classes are in or out together
    complete = np.append(far[1:] > far[:-1] * (1 + 1e-12), True)
    own, ball = shares(inside[c : c + 1]), np.zeros(inside.shape[1], inside.dtype)
    least, start, size = np.inf, 0, CLASSES_IN_FIRST_BLOCK
    while start < order.size and least > enough:
        block = slice(start, start + size)
        balls = ball + np.cumsum(inside[order[block]], axis=0)
        ball = balls[-1]
        balls = balls[complete[block] & (balls.sum(axis=1) >= m)]
        if len(balls):
            least = min(least, float(distance(shares(balls), own).min()))
        start, size = start + size, 2 * size
    return least
