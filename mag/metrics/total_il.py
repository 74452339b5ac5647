"""Total information loss of a generalization."""

from typing import Any

from mag.metrics._penalty import penalties


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
