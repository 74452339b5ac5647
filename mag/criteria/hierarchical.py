"""t-closeness where values are as far apart as their closest common ancestor is high (Li et al. 2007, section 4.2)."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mag.criteria._criterion import always_feasible, excess, limits
from mag.hierarchy import Hierarchy


@dataclass(frozen=True, eq=False)
class Hierarchical:
    """Every inner node moves what some children have too much to those that have too little; the rest goes up.

    `leaves` are the leaves of the values, -1 for one that stands below the root alone: a missing value.
    """

    t: Fraction
    tree: Hierarchy
    leaves: np.ndarray
    rises = False
    why_not = always_feasible

    def holds(self, counts: np.ndarray, totals: np.ndarray) -> np.ndarray:
        """Whether the distribution of each class is within t of the table's."""
        work, sizes, n = self._work(counts, totals)
        return np.asarray(work <= limits(self.t, self._height, sizes, n), bool)

    def measure(self, counts: np.ndarray, totals: np.ndarray) -> np.ndarray:
        """The distance of each class from the table."""
        work, sizes, n = self._work(counts, totals)
        return (work / (self._height * n * sizes)).astype(np.float64)

    @property
    def _height(self) -> int:
        return max(int(self.tree.height[self.tree.root]), 1)

    def _work(self, counts: np.ndarray, totals: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
        more, sizes, n = excess(counts, np.asarray(totals))
        tree, alone = self.tree, self.leaves < 0
        extra = np.zeros((len(more), len(tree.labels)), more.dtype)
        extra[:, self.leaves[~alone]] = more[:, ~alone]
        work = np.zeros(len(more), more.dtype)
        for node, children in tree.children.items():  # lower levels first
            below = extra[:, children]
            if node == tree.root:
                below = np.hstack([below, more[:, alone]])
            moved = np.minimum(np.maximum(below, 0).sum(axis=1), np.maximum(-below, 0).sum(axis=1))
            height = self._height if node == tree.root else int(tree.height[node])
            work += height * moved
            extra[:, node] = below.sum(axis=1)
        return work, sizes, n
