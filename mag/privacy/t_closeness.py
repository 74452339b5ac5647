"""Closeness of every class to the whole table."""

from typing import Any

from mag._lib.equal import classes
from mag.privacy._emd import read_sensitive


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
