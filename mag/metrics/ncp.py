"""Normalized certainty penalty."""

from typing import Any

from mag._lib.checks import flag, one_of
from mag.metrics._penalty import column_weights, penalties


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
