"""Trees of categories: each value is a leaf, each inner node a more general value."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from mag._lib import checks
from mag._lib.errors import TypeMistake, ValueMistake


class Hierarchy:
    """From a parent of every node but the root (Thaeter, definition 3.5); a root may be its own parent."""

    def __init__(self, option: str, parents: Mapping[Hashable, Hashable]) -> None:
        if not isinstance(parents, Mapping) or not parents:
            raise TypeMistake(f"{option} must map every category to its parent; got {checks.describe(parents)}.")
        self._option = option
        up = {child: parent for child, parent in parents.items() if child != parent}
        nodes = list(dict.fromkeys([*parents, *parents.values()]))
        roots = [node for node in nodes if node not in up]
        if len(roots) != 1:
            raise ValueMistake(f"{option} must have exactly one root; got {len(roots)}.")
        self.number = {node: i for i, node in enumerate(nodes)}
        self.children: dict[int, list[int]] = {}
        for child, parent in up.items():
            self.children.setdefault(self.number[parent], []).append(self.number[child])
        self.leaves = [i for i in range(len(nodes)) if i not in self.children]
        # from the leaves up: height is the longest way down, size the number of leaves below (0 for a leaf itself)
        self.height, self.size = np.zeros(len(nodes), np.int64), np.zeros(len(nodes), np.int64)
        self.paths: dict[int, list[int]] = {}
        above = {self.number[child]: self.number[parent] for child, parent in up.items()}
        for leaf in self.leaves:
            path = [leaf]
            while path[-1] in above and len(path) <= len(nodes):
                path.append(above[path[-1]])
                self.height[path[-1]] = max(self.height[path[-1]], len(path) - 1)
                self.size[path[-1]] += 1
            self.paths[leaf] = path[::-1]
        if max(map(len, self.paths.values()), default=0) > len(nodes) or (self.size + self.height == 0).sum() > len(
            self.leaves
        ):
            raise ValueMistake(f"{option} must be a tree; got a cycle.")
        self.root = self.number[roots[0]]

    def leaf_of(self, values: np.ndarray) -> np.ndarray:
        """The leaf of every value."""
        known = {node: i for node, i in self.number.items() if i not in self.children}
        leaves = [known.get(value, -1) for value in values.tolist()]
        if missing := len({value for value, i in zip(values.tolist(), leaves, strict=True) if i < 0}):
            raise ValueMistake(f"{self._option} must have every value as a leaf; {missing} distinct values are none.")
        return np.array(leaves)

    def common_ancestors(self, leaves: np.ndarray, groups: np.ndarray) -> np.ndarray:
        """The closest common ancestor of the leaves of every group."""
        order = np.argsort(groups, kind="stable")
        starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
        depth = max(map(len, self.paths.values()))
        ancestors = np.full(starts.size, self.root)
        ways = np.full((len(self.number), depth), -1)
        for leaf, path in self.paths.items():
            ways[leaf] = path + [leaf] * (depth - len(path))
        for level in range(depth):
            here = ways[leaves[order], level]
            lowest, highest = np.minimum.reduceat(here, starts), np.maximum.reduceat(here, starts)
            ancestors = np.where(lowest == highest, lowest, ancestors)
        return ancestors


def read_hierarchies(hierarchies: Any, d: int) -> dict[int, Hierarchy]:
    """One tree for each of some columns."""
    if hierarchies is None:
        return {}
    if not isinstance(hierarchies, Mapping):
        raise TypeMistake(f"hierarchies must map columns to trees; got {checks.describe(hierarchies)}.")
    return {
        checks.integer("a key of hierarchies", column, 0, d - 1, "d-1"): Hierarchy(f"hierarchies[{column}]", tree)
        for column, tree in hierarchies.items()
    }
