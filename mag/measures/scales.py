"""Tables of numbers and categories before and after masking: how far a published cell is from a value.

A published cell may be more general than a value: a node of a hierarchy, or a range such as ``[20, 39]``.  The
distance is then that of the smallest such cell that covers both: the loss of the closest common ancestor, or the width
of the range.
"""

import contextlib
import datetime
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from mag._lib import checks
from mag._lib.errors import InputTypeError, InputValueError
from mag._lib.missing import find_missing, is_missing
from mag.hierarchy import Hierarchy, ranks_of, read_hierarchies, text_of
from mag.measures.equal import columns
from mag.measures.numbers import deviations, scale_tables


@dataclass(frozen=True)
class Scale:
    """A column before and after: of every record, what its value is and what is published."""

    name: Hashable
    before: np.ndarray
    after: np.ndarray

    def squared(self, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Squared distances of the values of `rows` from the published cells of `others`."""
        raise NotImplementedError

    def levels(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """Of categories: nodes of values below the root, their losses, nodes of published cells, the loss of the root.

        The squared distance is the loss of the lowest node that both have, and that of the root if they have no other.
        """
        raise NotImplementedError

    def apart(self) -> np.ndarray:
        """Of every record, how far its published cell is from its value, from 0 to 1 within the range of the values."""
        raise NotImplementedError

    def variance(self) -> float:
        """Half of the mean squared distance of two records' values."""
        raise NotImplementedError

    def unit(self, standardize: bool | str) -> float:
        """What distances are divided by: the standard deviation, with "range" that of numbers; 1 where it is 0."""
        if standardize is True:
            return float(np.sqrt(self.variance())) or 1.0
        return (self.extent or 1.0) if standardize == "range" and isinstance(self, IntervalScale) else 1.0


@dataclass(frozen=True)
class IntervalScale(Scale):
    """Numbers, or ranks from 0 to 1: `before` are values, `after` and `high` the ends of what is published."""

    high: np.ndarray
    extent: float
    ranks: int  # 0 for numbers

    @property
    def exact(self) -> bool:
        """Whether single values are published, no ranges."""
        return self.high is self.after or bool((self.high == self.after).all())

    def squared(self, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Squared distances of the values of `rows` from the published cells of `others`."""
        x = self.before[rows, None]
        return np.square(np.maximum(x, self.high[others]) - np.minimum(x, self.after[others]))

    def apart(self) -> np.ndarray:
        """Of every record, from 0 to 1."""
        hull = np.maximum(self.before, self.high) - np.minimum(self.before, self.after)
        return np.minimum(hull / self.extent, 1.0) if self.extent > 0 else (hull > 0).astype(np.float64)

    def variance(self) -> float:
        """Of the values."""
        return float(deviations(self.before[:, None])[0] ** 2)


@dataclass(frozen=True)
class NominalScale(Scale):
    """Categories that are equal or not."""

    def squared(self, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Squared distances of the values of `rows` from the published cells of `others`."""
        return (self.before[rows, None] != self.after[others]).astype(np.float64)

    def levels(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """All categories are children of the root."""
        return self.before[:, None], np.zeros((self.before.size, 1)), self.after[:, None], 1.0

    def apart(self) -> np.ndarray:
        """Of every record, from 0 to 1."""
        return (self.before != self.after).astype(np.float64)

    def variance(self) -> float:
        """Of the values."""
        shares = np.bincount(self.before) / self.before.size
        return float(1 - shares @ shares) / 2


@dataclass(frozen=True)
class TreeScale(Scale):
    """Categories of a hierarchy: leaves before, any nodes after."""

    tree: Hierarchy
    paths: np.ndarray  # of every node from the leaves' level on up, -1 below the node itself

    def squared(self, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Squared distances of the values of `rows` from the published cells of `others`."""
        leaves, nodes = self.tree.levels[self.before[rows]], self.paths[self.after[others]]
        far = np.full((rows.size, others.size), self.tree.loss[self.tree.root])
        for level in range(leaves.shape[1] - 2, -1, -1):
            here = leaves[:, level]
            np.copyto(far, self.tree.loss[here][:, None], where=here[:, None] == nodes[:, level])
        return far

    def levels(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """Those of the tree."""
        leaves = self.tree.levels[self.before][:, :-1]
        return leaves, self.tree.loss[leaves], self.paths[self.after][:, :-1], float(self.tree.loss[self.tree.root])

    def apart(self) -> np.ndarray:
        """Of every record, from 0 to 1."""
        leaves, nodes = self.tree.levels[self.before], self.paths[self.after]
        loss = self.tree.published_loss
        far = np.full(self.before.size, loss[self.tree.root])
        for level in range(leaves.shape[1] - 2, -1, -1):
            far = np.where(leaves[:, level] == nodes[:, level], loss[leaves[:, level]], far)
        return far

    def variance(self) -> float:
        """Of the values."""
        total, loss = 0.0, self.tree.loss
        for level in range(self.tree.levels.shape[1] - 1):
            here, above = self.tree.levels[self.before, level], self.tree.levels[self.before, level + 1]
            nodes, first, counts = np.unique(here, return_index=True, return_counts=True)
            shares = counts / here.size
            total += float((loss[above[first]] - loss[nodes]) @ (shares * (1 - shares))) / 2
        return total


# ---- from tables


def names_of(table: Any, d: int) -> list[Hashable]:
    """The columns of a frame or dictionary by their names, those of an array by their places."""
    if isinstance(table, Mapping):
        return list(table)
    names = getattr(table, "column_names", None)
    names = getattr(table, "columns", None) if names is None else names
    return list(range(d)) if names is None else list(names)


def is_plain(*tables: Any) -> bool:
    """Whether tables are arrays of numbers: no frames with columns of their own, no text."""
    from mag._lib.arrays import read

    for table in tables:
        if isinstance(table, Mapping) or hasattr(table, "items"):
            return False
        if hasattr(table, "columns") or hasattr(table, "iter_columns"):
            return False
        if read("table", table)[0].dtype.kind not in "biuf":
            return False
    return True


def read_scales(
    original: Any, masked: Any, hierarchies: Any = None, order: Any = None, *, paired: bool = True
) -> list[Scale]:
    """Every column before and after, on the scale that its values and the options say.

    Where they are not `paired`, the records of both are others.
    """
    X, Y = columns("original", original), columns("masked", masked)
    if paired:
        checks.same_rows("masked", Y[0].size, "original", X[0].size)
    checks.same_columns("masked", len(Y), "original", len(X))
    names = names_of(original, len(X))
    trees = read_hierarchies(hierarchies, len(X), names)
    orders = read_orders(order, names)
    scales: list[Scale] = []
    for j, (name, x, y) in enumerate(zip(names, X, Y, strict=True)):
        for option, cells in (("original", x), ("masked", y)):
            if absent := int(find_missing(cells).sum()):
                raise InputValueError(f"{option} contains {absent} missing values in column {name!r}; drop them first.")
        if j in trees:
            scales.append(_on_tree(name, x, y, trees[j]))
        elif name in orders:
            scales.append(_on_ranks(name, x, y, orders[name]))
        elif (numbers := as_numbers(x)) is not None:
            scales.append(_on_numbers(name, numbers, y))
        else:
            places: dict[Any, int] = {}
            before, after = ([places.setdefault(cell, len(places)) for cell in cells.tolist()] for cells in (x, y))
            scales.append(NominalScale(name, np.array(before), np.array(after)))
    return scales


def read_orders(order: Any, names: Sequence[Hashable]) -> dict[Hashable, list[Any]]:
    """The categories of some columns in order."""
    if order is None:
        return {}
    if not isinstance(order, Mapping):
        raise InputTypeError(f"order must map columns to lists of categories; got {checks.describe(order)}.")
    if unknown := [repr(name) for name in order if name not in names]:
        raise InputValueError(f"order must name columns of original; got {', '.join(unknown)}.")
    return {name: list(listed) for name, listed in order.items()}


def as_numbers(cells: np.ndarray) -> np.ndarray | None:
    """Numbers, or moments and durations in seconds, as float64; None for anything else."""
    if cells.dtype.kind in "mM":
        unit = np.dtype(f"{cells.dtype.kind}8[us]")
        return cells.astype(unit).astype(np.int64) / 1e6
    if cells.dtype.kind in "biuf":
        return cells.astype(np.float64)
    if cells.dtype.kind == "O" and all(isinstance(cell, Real) for cell in cells.tolist()):
        return cells.astype(np.float64)
    return None


# ---- one column each


def _on_numbers(name: Hashable, x: np.ndarray, y: np.ndarray) -> IntervalScale:
    numbers = as_numbers(y)
    if numbers is not None:
        low = high = numbers
    else:
        low, high = _ends(y, _point, f"column {name!r} of masked must hold numbers or ranges such as [20, 39]")
    for option, cells in (("original", x), ("masked", low), ("masked", high)):
        checks.finite(f"column {name!r} of {option}", cells)
    x, low, high = (column[:, 0] for column in scale_tables(x[:, None], low[:, None], high[:, None], each=False))
    x, low, high = x - x[0], low - x[0], high - x[0]
    return IntervalScale(name, x, low, high, float(x.max() - x.min()), 0)


def _on_ranks(name: Hashable, x: np.ndarray, y: np.ndarray, order: list[Any]) -> IntervalScale:
    ranks = ranks_of(f"order[{name!r}]", order, x.tolist())
    if unknown := len({cell for cell, rank in zip(x.tolist(), ranks.tolist(), strict=True) if rank < 0}):
        raise InputValueError(
            f"order[{name!r}] must hold every value of the column; {unknown} distinct values are not in it."
        )
    low, high = _ends(
        y,
        lambda cell: _rank(order, cell),
        f"column {name!r} of masked must hold categories of order[{name!r}] or ranges of them",
    )
    last = max(len(order) - 1, 1)
    return IntervalScale(name, ranks / last, low / last, high / last, 1.0, len(order))


def _ends(cells: np.ndarray, read: Callable[[Any], float | None], what: str) -> tuple[np.ndarray, np.ndarray]:
    """Where published cells begin and end: a value, or the text [a, b]."""
    listed = cells.tolist()
    known: dict[Any, tuple[float, float] | None] = {}
    for cell in dict.fromkeys(listed):
        point = read(cell)
        known[cell] = (point, point) if point is not None else _range(cell, read)
    if wrong := sum(ends is None for ends in known.values()):
        raise InputValueError(f"{what}; {wrong} distinct values are neither.")
    both = np.array([known[cell] for cell in listed], np.float64)
    return both[:, 0], both[:, 1]


def _range(cell: Any, read: Callable[[Any], float | None]) -> tuple[float, float] | None:
    """The ends of [a, b] or [a, b), whatever commas a and b hold."""
    if not isinstance(cell, str) or cell[:1] != "[" or cell[-1:] not in ("]", ")"):
        return None
    parts = cell[1:-1].split(", ")
    for cut in range(1, len(parts)):
        low, high = read(", ".join(parts[:cut])), read(", ".join(parts[cut:]))
        if low is not None and high is not None:
            return low, high
    return None


def _point(cell: Any) -> float | None:
    """A number, or a date as seconds since 1970."""
    with contextlib.suppress(TypeError, ValueError):
        return float(cell)
    with contextlib.suppress(TypeError, ValueError):
        moment = datetime.datetime.fromisoformat(cell)
        return moment.replace(tzinfo=moment.tzinfo or datetime.UTC).timestamp()
    return None


def middles(cells: np.ndarray) -> np.ndarray:
    """The middles of published ranges of numbers or dates, NaN where they are missing."""
    there = ~find_missing(cells)
    found = np.full(cells.size, np.nan)
    if there.any():
        low, high = _ends(cells[there], _point, "published cells must be numbers or ranges such as [20, 39]")
        found[there] = low / 2 + high / 2
    return found


def labels_in_order(tree: Hierarchy | None, order: Sequence[Any], cells: Sequence[Any]) -> list[str]:
    """The labels of published cells: siblings of a tree side by side and their parent after them, or by rank."""
    distinct = [cell for cell in dict.fromkeys(cells) if not is_missing(cell)]
    if tree is not None and (nodes := tree.find_nodes(distinct)).size and (nodes >= 0).all():
        paths = [[node for node in path if node >= 0][::-1] for path in _paths(tree)[nodes].tolist()]
        keys: list[Any] = [(*path, len(tree.labels)) for path in paths]
    elif order:
        ends = _ends(
            np.array(distinct, object), lambda cell: _rank(order, cell), "cells must be categories of the order"
        )
        keys = list(zip(*(side.tolist() for side in ends), strict=True))
    else:
        counts = Counter(cells)
        keys = [-counts[cell] for cell in distinct]
    return [text_of(distinct[place]) for place in sorted(range(len(distinct)), key=keys.__getitem__)]


def _rank(order: Sequence[Any], cell: Any) -> float | None:
    place = int(ranks_of("order", list(order), [cell])[0])
    return None if place < 0 else float(place)


def _on_tree(name: Hashable, x: np.ndarray, y: np.ndarray, tree: Hierarchy) -> TreeScale:
    leaves = tree.leaf_of(f"hierarchies[{name!r}]", x)
    listed = y.tolist()
    distinct = list(dict.fromkeys(listed))
    nodes = dict(zip(distinct, tree.find_nodes(distinct).tolist(), strict=True))
    if wrong := sum(node < 0 for node in nodes.values()):
        raise InputValueError(
            f"column {name!r} of masked must hold labels of hierarchies[{name!r}]; {wrong} distinct values are none."
        )
    return TreeScale(name, leaves, np.array([nodes[cell] for cell in listed], np.int64), tree, _paths(tree))


def _paths(tree: Hierarchy) -> np.ndarray:
    paths = np.full((len(tree.labels), tree.levels.shape[1]), -1, np.int64)
    for level in range(tree.levels.shape[1]):
        paths[tree.levels[:, level], level:] = tree.levels[:, level:]
    return paths


DISTANCES_PER_BLOCK = 2**20  # of a block of distances


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
    for rows in np.array_split(np.arange(cells[0].size), max(1, cells[0].size * every.size // DISTANCES_PER_BLOCK)):
        far = np.zeros((rows.size, every.size))
        for scale in scales:
            far += scale.squared(rows, every) / units[scale.name] ** 2 * seen[scale.name][rows, None]
        nearest[rows] = far.argmin(axis=1)
    return nearest
