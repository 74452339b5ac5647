"""Loss as the width of groups, column by column."""

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from mag._lib import checks
from mag._lib.arrays import read
from mag._lib.checks import flag, one_of
from mag._lib.errors import InputValueError
from mag.hierarchy import Hierarchy, ranks_of, read_hierarchies
from mag.measures.equal import classes_of, codes, columns
from mag.measures.numbers import numeric, scale_tables
from mag.measures.scales import as_numbers, names_of, read_orders


def penalties(
    original: Any,
    groups: Any,
    hierarchies: Any,
    order: Any,
    category: Callable[[Hierarchy, np.ndarray, np.ndarray], np.ndarray],
) -> tuple[int, np.ndarray]:
    """The number of records, and of every column: Σ over groups of size · share, in [0, n].

    The share of a group is its range by the range of all for numbers and ranks, what `category` says of the closest
    common ancestor and the leaves for a column with a tree, and whether values differ for other categories.
    """
    table = columns("original", original)
    n, d = table[0].size, len(table)
    labels = classes_of("groups", groups, "original", n)
    names = names_of(original, d)
    trees, orders = read_hierarchies(hierarchies, d, names), read_orders(order, names)
    sizes = np.bincount(labels)
    by_group = np.argsort(labels, kind="stable")
    starts = np.cumsum(sizes) - sizes
    shares = np.zeros((sizes.size, d))
    for j, name in enumerate(names):
        if j in trees:
            leaves = trees[j].leaf_of(f"hierarchies[{name!r}]", table[j])
            shares[:, j] = category(trees[j], trees[j].common_ancestors(leaves, labels), leaves)
            continue
        values, width = _places(name, table[j], orders.get(name))
        values = values[by_group]
        spans = np.maximum.reduceat(values, starts) - np.minimum.reduceat(values, starts)
        shares[:, j] = spans / width if width > 0 else spans > 0
    return n, sizes @ shares


def _places(name: Hashable, column: np.ndarray, order: list[Any] | None) -> tuple[np.ndarray, float]:
    """Numbers, ranks or codes of a column, and their range; 0 where only equality counts."""
    if order is not None:
        ranks = ranks_of(f"order[{name!r}]", order, column.tolist())
        if unknown := len({cell for cell, rank in zip(column.tolist(), ranks.tolist(), strict=True) if rank < 0}):
            raise InputValueError(
                f"order[{name!r}] must hold every value of the column; {unknown} distinct values are not in it."
            )
        return ranks.astype(np.float64), float(max(len(order) - 1, 1))
    numbers = as_numbers(column)
    if numbers is None:
        return codes("original", column).astype(np.float64), 0.0
    (values,) = scale_tables(numeric(f"column {name!r} of original", numbers))
    return values[:, 0], float(values.max() - values.min())


def column_weights(weights: Any, d: int) -> np.ndarray:
    """One weight for each column; 1 unless told otherwise."""
    return np.ones(d) if weights is None else checks.weights_for(read("weights", weights)[0], d, "column, d")


def ncp(
    original: Any,
    groups: Any,
    *,
    weights: Any = None,
    hierarchies: Any = None,
    order: Any = None,
    leaves: str = "all",
    normalized: bool = False,
) -> float:
    """Width of the groups, relative to the width of the whole table.

    ``NCP = Σ_i Σ_j w_j · (max_j C(x_i) − min_j C(x_i)) / (max_j X − min_j X)``; for a column with a tree the fraction
    is the number of leaves below the closest common ancestor of the group by the number of all leaves, and 0 for a
    group of one category.  Ranks of ordered categories count as numbers; other categories lose 1 where a group has
    several.

    Parameters
    ----------
    original : array, shape (n, d) or (n,), or frame
    groups : array, shape (n,) or (n, ·)
        The group of every record; or the published records, of which equal ones form a group.
    weights : array of numbers, shape (d,), optional
        One per column; 1 by default.
    hierarchies : dict, optional
        For categorical columns, by their name or place: a `mag.Hierarchy`, a file of one, or a dict from every
        category to its parent, up to one root.
    order : dict, optional
        For ordered columns, by their name or place: the categories in order.
    leaves : {"all", "used"}
        Whether leaves that no record has count, too.
    normalized : bool
        Divide by ``n Σ_j w_j``, so that 1 is the worst.

    Returns
    -------
    float

    References
    ----------
    J. Xu et al., *Utility-based anonymization using local recoding*, KDD 2006; F. Thaeter, *k-anonymous
    microaggregation*, thesis, Lübeck 2021, definition 3.8.

    Examples
    --------
    >>> import mag
    >>> mag.metrics.ncp([1.0, 3.0, 5.0, 9.0], [0, 0, 1, 1])  # 2 · 2/8 + 2 · 4/8
    1.5
    >>> tree = {"flu": "lung", "cough": "lung", "ulcer": "any", "lung": "any"}
    >>> mag.metrics.ncp(["flu", "cough", "ulcer", "ulcer"], [0, 0, 1, 1], hierarchies={0: tree}, normalized=True)
    0.3333333333333333
    """
    used = one_of("leaves", leaves, ["all", "used"]) == "used"
    n, penalty = penalties(
        original,
        groups,
        hierarchies,
        order,
        lambda tree, nodes, own: (tree.used_loss(own) if used else tree.published_loss)[nodes],
    )
    w = column_weights(weights, penalty.size)
    return float(w @ penalty / (n * w.sum() if flag("normalized", normalized) else 1))


def total_il(original: Any, groups: Any, *, hierarchies: Any = None, order: Any = None) -> float:
    """Width of the groups, where categories count by the height of their tree.

    ``Total-IL = Σ_C |C| · (Σ_j (max_j C − min_j C) / (max_j X − min_j X) + Σ_j H(Λ_j(C)) / H(T_j))`` with Λ the subtree
    below the closest common ancestor of the group and H the height of a tree.

    Parameters
    ----------
    original : array, shape (n, d) or (n,), or frame
    groups : array, shape (n,) or (n, ·)
        The group of every record; or the published records, of which equal ones form a group.
    hierarchies : dict, optional
        For categorical columns, by their name or place: a `mag.Hierarchy`, a file of one, or a dict from every
        category to its parent, up to one root.
    order : dict, optional
        For ordered columns, by their name or place: the categories in order.

    Returns
    -------
    float
        Between 0 and n d.

    References
    ----------
    J.-W. Byun, A. Kamra, E. Bertino & N. Li, *Efficient k-anonymization using clustering techniques*, DASFAA 2007.

    Examples
    --------
    >>> import mag
    >>> tree = {"flu": "lung", "cough": "lung", "ulcer": "any", "lung": "any"}
    >>> mag.metrics.total_il(["flu", "cough", "ulcer", "ulcer"], [0, 0, 1, 1], hierarchies={0: tree})  # 2 · 1/2 + 2 · 0
    1.0
    """
    _, penalty = penalties(
        original, groups, hierarchies, order, lambda tree, node, _: tree.height[node] / max(tree.height[tree.root], 1)
    )
    return float(penalty.sum())
