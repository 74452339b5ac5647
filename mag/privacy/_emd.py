"""The earth mover's distance between distributions of a sensitive attribute (Li et al. 2007, section 4)."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mag._lib import checks
from mag._lib.arrays import read
from mag._lib.equal import codes
from mag._lib.errors import TypeMistake, ValueMistake
from mag.hierarchy import Hierarchy, hierarchy_of

CELLS = 2**20  # of a block of distributions
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
        far, block = [], max(1, CELLS // m)
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
            raise TypeMistake(
                "sensitive must hold numbers or dates that follow the order with ground 'ordered'; got other values."
            )
        checks.finite("sensitive", values)
        if values.dtype.kind in "Mm" and (missing := int(np.isnat(values).sum())):
            raise ValueMistake(f"sensitive contains {missing} missing dates; drop them, or choose ground 'equal'.")
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
