"""How much wider than a point groups are, column by column."""

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from mag._lib import checks
from mag._lib.arrays import read
from mag._lib.equal import classes_of, columns
from mag._lib.errors import TypeMistake
from mag._lib.floats import scaled
from mag._lib.pairs import numeric
from mag.hierarchy import Hierarchy, read_hierarchies


def penalties(
    original: Any, groups: Any, hierarchies: Any, category: Callable[[Hierarchy, np.ndarray], np.ndarray]
) -> tuple[int, np.ndarray]:
    """The number of records, and of every column: Σ over groups of size · share, in [0, n].

    The share of a group is its range by the range of all for numbers, and what `category` says of the closest common
    ancestor for a column with a tree.
    """
    table = columns("original", original)
    n, d = table[0].size, len(table)
    labels = classes_of("groups", groups, "original", n)
    trees = read_hierarchies(hierarchies, d)
    sizes = np.bincount(labels)
    order = np.argsort(labels, kind="stable")
    starts = np.cumsum(sizes) - sizes
    shares = np.zeros((sizes.size, d))
    for j in range(d):
        if j in trees:
            leaves = trees[j].leaf_of(f"hierarchies[{j}]", table[j])
            shares[:, j] = category(trees[j], trees[j].common_ancestors(leaves, labels))
            continue
        (values,) = scaled(numeric(f"column {j} of original", _numbers(j, table[j])))
        width = values.max() - values.min()
        values = values[order, 0]
        if width > 0:
            shares[:, j] = (np.maximum.reduceat(values, starts) - np.minimum.reduceat(values, starts)) / width
    return n, sizes @ shares


def _numbers(j: int, column: np.ndarray) -> np.ndarray:
    """A column of a mixed table."""
    if column.dtype.kind != "O":
        return column
    if not all(isinstance(value, Real) for value in column.tolist()):
        raise TypeMistake(
            f"column {j} of original must hold real numbers or have a tree in hierarchies; got other values."
        )
    return column.astype(np.float64)


def column_weights(weights: Any, d: int) -> np.ndarray:
    """One weight for each column; 1 unless told otherwise."""
    return np.ones(d) if weights is None else checks.weights_for(read("weights", weights)[0], d, "column, d")
