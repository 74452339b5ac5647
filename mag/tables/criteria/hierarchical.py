"""t-closeness where values are as far apart as their closest common ancestor is high (Li et al. 2007, section 4.2)."""

from dataclasses import dataclass

import numpy as np

from mag.hierarchy import Hierarchy
from mag.tables.criteria._transport import Transport, excess


@dataclass(frozen=True, eq=False)
class Hierarchical(Transport):
    """Every inner node moves mass from children with a surplus to children with a deficit; the rest goes up.

    `leaves` are the leaves of the values, -1 for a missing value, whose only ancestor is the root.
    """

    tree: Hierarchy
    leaves: np.ndarray

    def unit(self, totals: np.ndarray | None = None) -> int:
        """The height of the root."""
        return max(int(self.tree.height[self.tree.root]), 1)

    def work(self, counts: np.ndarray, totals: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
        """The sum of mass moved between the children of every node, times the height of that node."""
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
            height = self.unit() if node == tree.root else int(tree.height[node])
            work += height * moved
            extra[:, node] = below.sum(axis=1)
        return work, sizes, n
