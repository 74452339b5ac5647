"""The earth mover's distance between distributions of a sensitive attribute (Li et al. 2007, section 4)."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mag import _checks
from mag._arrays import read
from mag._hierarchy import Hierarchy
from mag._records import codes

Distance = Callable[[np.ndarray, np.ndarray], np.ndarray]


def equal(P: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """All values are 1 apart: ½ Σ |p − q|."""
    return np.abs(P - Q).sum(axis=1) / 2


def ordered(P: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """Values i and j of m are |i − j| / (m − 1) apart: Σ_i |Σ_{j ≤ i} (p_j − q_j)| / (m − 1)."""
    return np.abs(np.cumsum(P - Q, axis=1)[:, :-1]).sum(axis=1) / max(P.shape[1] - 1, 1)


def hierarchical(tree: Hierarchy, leaves: np.ndarray) -> Distance:
    """Values are as far apart as their closest common ancestor is high, by the height of the tree.

    Every inner node moves what some of its children have too much to those that have too little, and passes the rest
    on.
    """
    inner = sorted(tree.children, key=tree.height.__getitem__)

    def distance(P: np.ndarray, Q: np.ndarray) -> np.ndarray:
        extra = np.zeros((P.shape[0], len(tree.number)))
        extra[:, leaves] = P - Q
        work = np.zeros(P.shape[0])
        for node in inner:
            below = extra[:, tree.children[node]]
            moved = np.minimum(np.maximum(below, 0).sum(axis=1), np.maximum(-below, 0).sum(axis=1))
            work += moved * tree.height[node] / tree.height[tree.root]
            extra[:, node] = below.sum(axis=1)
        return work

    return distance


GROUNDS = ("auto", "equal", "hierarchical", "ordered")


def read_sensitive(sensitive: Any, n: int, ground: str, hierarchy: Any) -> tuple[np.ndarray, int, Distance]:
    """The code of every sensitive value, the number of codes, and the distance between distributions of them."""
    values = _checks.comparable("sensitive", read("sensitive", sensitive)[0])
    _checks.same_columns("sensitive", values.shape[1], "one attribute", 1)
    _checks.same_rows("sensitive", values.shape[0], "table", n)
    values = values[:, 0]
    ground = _checks.one_of("ground", ground, GROUNDS)
    if ground == "auto":
        ground = "hierarchical" if hierarchy is not None else "ordered" if values.dtype.kind in "iuf" else "equal"
    if ground == "hierarchical":
        tree = Hierarchy("hierarchy", hierarchy)
        found, labels = np.unique(tree.leaf_of(values), return_inverse=True)
        return labels, found.size, hierarchical(tree, found)
    _checks.unused("hierarchy", hierarchy, f"ground {ground!r}")
    if ground == "ordered":
        if values.dtype.kind not in "biufMm":
            raise TypeError(
                "sensitive must hold numbers that follow the order with ground 'ordered'; got other values."
            )
        _checks.finite("sensitive", values)
    labels = codes("sensitive", values)
    return labels, int(labels.max()) + 1, ordered if ground == "ordered" else equal


def distributions(groups: np.ndarray, values: np.ndarray, m: int) -> np.ndarray:
    """How often each of m values occurs in each group."""
    n_groups = int(groups.max()) + 1
    return np.bincount(groups * m + values, minlength=n_groups * m).reshape(n_groups, m)
