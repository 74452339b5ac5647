"""How much wider than a point groups are, column by column."""

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from mag._lib import checks
from mag._lib.arrays import read
from mag._lib.equal import classes_of, codes, columns
from mag._lib.errors import ValueMistake
from mag._lib.floats import scaled
from mag._lib.pairs import numeric
from mag.hierarchy import Hierarchy, ranks_of, read_hierarchies
from mag.hierarchy.mixed import as_numbers, names_of, read_orders


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
            raise ValueMistake(
                f"order[{name!r}] must hold every value of the column; {unknown} distinct values are not in it."
            )
        return ranks.astype(np.float64), float(max(len(order) - 1, 1))
    numbers = as_numbers(column)
    if numbers is None:
        return codes("original", column).astype(np.float64), 0.0
    (values,) = scaled(numeric(f"column {name!r} of original", numbers))
    return values[:, 0], float(values.max() - values.min())


def column_weights(weights: Any, d: int) -> np.ndarray:
    """One weight for each column; 1 unless told otherwise."""
    return np.ones(d) if weights is None else checks.weights_for(read("weights", weights)[0], d, "column, d")
