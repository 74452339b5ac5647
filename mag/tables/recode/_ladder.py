"""One column on every level of its hierarchy."""

from dataclasses import dataclass, replace

import numpy as np

from mag.hierarchy import Hierarchy

NO_NODE = -1  # in place of a node


@dataclass(frozen=True)
class Ladder:
    """The nodes of a column's values on every level, numbered 0, 1, … on each.

    `numbers[level]` is the number of every value's node, with that of missing cells last, if any; `nodes[level]` the
    node of every number; `below[level]` the leaves below it, 0 for a single one; `leaves` all leaves of the tree.
    Missing cells are a node of their own up to the root, which contains them as well.  `lowest` is the level of the
    hierarchy that the first one here is.
    """

    numbers: list[np.ndarray]
    nodes: list[np.ndarray]
    below: list[np.ndarray]
    leaves: int
    lowest: int = 0

    @classmethod
    def of(cls, tree: Hierarchy, values: np.ndarray, is_missing: bool) -> "Ladder":
        """Of values that are leaves of a tree."""
        n_levels = tree.levels.shape[1]
        known = np.delete(tree.levels, tree.other, axis=0) if tree.other >= 0 else tree.levels
        leaves = max(len(known), 1)
        numbers, nodes, below = [], [], []
        for level in range(n_levels):
            own, place = np.unique(tree.levels[values, level], return_inverse=True)
            if not own.size:  # no cell but missing ones
                own = np.array([tree.root]) if level == n_levels - 1 else own
            counts = np.bincount(known[:, level], minlength=tree.root + 1)[own]
            if is_missing:
                is_root = level == n_levels - 1
                place = np.append(place, 0 if is_root else own.size)
                own, counts = (own, counts) if is_root else (np.append(own, NO_NODE), np.append(counts, 0))
            numbers.append(place)
            nodes.append(own)
            below.append(np.where(counts > 1, counts, 0))
            if tree.other >= 0:  # values without a leaf show the root, and lose all
                below[-1][own == tree.levels[tree.other, level]] = leaves
        return cls(numbers, nodes, below, leaves)

    def between(self, low: int, high: int) -> "Ladder":
        """The same on some of the levels only."""
        some = slice(low, high + 1)
        return replace(self, numbers=self.numbers[some], nodes=self.nodes[some], below=self.below[some], lowest=low)

    @property
    def n_levels(self) -> int:
        """The number of levels."""
        return len(self.nodes)

    def lift(self, level: int) -> np.ndarray:
        """The number on the next level of every number on this one."""
        up = np.empty(self.nodes[level].size, np.int64)
        up[self.numbers[level]] = self.numbers[level + 1]
        return up
