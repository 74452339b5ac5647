"""The nearest published record of records that had no part in the publication."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from mag._lib.equal import columns
from mag.hierarchy._order import ranks_of
from mag.hierarchy._tree import Hierarchy
from mag.hierarchy.mixed import names_of, read_scales

CELLS = 2**20  # of a block of distances


def nearest_records(
    table: Any,
    published: Any,
    units: Mapping[Any, float],
    trees: Mapping[Any, Hierarchy],
    orders: Mapping[Any, list[Any]],
) -> np.ndarray:
    """For every record of the table, the place of the nearest published one, the first of equally near ones.

    A category that the hierarchy or the order does not know is equally far from all: other columns decide.
    """
    cells = columns("X", table)
    names = names_of(table, len(cells))
    known: dict[Any, np.ndarray] = {}
    seen: dict[Any, np.ndarray] = {}
    for name, column in zip(names, cells, strict=True):
        seen[name] = np.ones(column.size, bool)
        stand_in: Any = None
        if name in trees:
            seen[name] = trees[name].find(column.tolist()) >= 0
            stand_in = trees[name].labels[0]
        elif name in orders:
            seen[name] = ranks_of(f"order[{name!r}]", orders[name], column.tolist()) >= 0
            stand_in = orders[name][0]
        known[name] = column if seen[name].all() else np.where(seen[name], column.astype(object), stand_in)
    scales = read_scales(known, published, trees, orders, paired=False)
    every = np.arange(scales[0].after.size)
    nearest = np.empty(cells[0].size, np.int32)
    for rows in np.array_split(np.arange(cells[0].size), max(1, cells[0].size * every.size // CELLS)):
        far = np.zeros((rows.size, every.size))
        for scale in scales:
            far += scale.squared(rows, every) / units[scale.name] ** 2 * seen[scale.name][rows, None]
        nearest[rows] = far.argmin(axis=1)
    return nearest
