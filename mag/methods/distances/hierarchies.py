"""Columns of categories beside the coordinates that stand for them: what methods need that look at trees themselves."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mag._lib.lazy import cached_property
from mag.methods.distances.leaves import Records

SLOWER = 4  # times as long as for numbers: ONA* on Adult (benchmarks/categories.py)


@dataclass(frozen=True)
class TreeColumn:
    """A column of categories.

    `codes` : the category of every record; `levels` : the node of each category on each level, (m, levels), from
    itself to the root; `loss` : that of every node; `places` : the coordinates of each category, (m, c), which are
    columns `first` to `first + c` of the records but for an offset, and 0 for nodes that the category is not below;
    `scale` : squared distances are so many times the loss of the closest common ancestor; `importance` : what the loss
    counts.

    Missing cells are category `missing`, None if there are none.  A record that misses a cell never meets one that
    does not, so that their distance does not matter.
    """

    codes: np.ndarray
    levels: np.ndarray
    loss: np.ndarray
    places: np.ndarray
    first: int
    scale: float
    importance: float = 1.0
    missing: int | None = None

    @cached_property
    def apart(self) -> np.ndarray:
        """The squared distance of every two categories: equal losses are equal numbers."""
        levels = self.levels
        apart = np.full((len(levels), len(levels)), self.loss[levels[0, -1]])
        for nodes in levels[:, -2::-1].T:
            apart = np.where(nodes[:, None] == nodes, self.loss[nodes], apart)
        return apart * self.scale

    @cached_property
    def positions(self) -> np.ndarray:
        """The categories along a line, those of a node side by side, as far apart as neighbors are."""
        order = np.lexsort(self.levels.T)
        steps = np.sqrt(self.apart[order[:-1], order[1:]])
        positions = np.empty(order.size)
        positions[order] = np.append(0.0, np.cumsum(steps))
        return positions


@dataclass(frozen=True)
class Trees:
    """The columns of a table of which some are categories.

    `numbers` are the coordinates that are columns as well, and `importance` what the ranges of these count.
    """

    numbers: np.ndarray
    columns: list[TreeColumn]
    importance: np.ndarray

    @property
    def effort(self) -> int:
        """How many columns of numbers take as much time."""
        return SLOWER * (len(self.numbers) + len(self.columns))

    def select(self, members: Any) -> "Trees":
        """The same of some records."""
        return replace(self, columns=[replace(column, codes=column.codes[members]) for column in self.columns])

    def records(self, X: np.ndarray) -> Records:
        """These records for compiled functions."""
        n, a = len(X), len(self.numbers)
        numbers, codes = np.ascontiguousarray(X[:, self.numbers]), np.empty((n, len(self.columns)), np.int64)
        keys, origin = np.empty((n, a + len(self.columns))), np.zeros(X.shape[1])
        keys[:, :a] = numbers
        trees, leaves, apart, axes, steps, row = [], [], [], [], [], a
        from_apart = from_steps = 0
        for c, column in enumerate(self.columns):
            (m, width), first = column.places.shape, column.first
            codes[:, c] = column.codes + row
            keys[:, a + c] = _along(column)
            some = 0 if column.missing is None else int(np.argmax(column.codes != column.missing))
            origin[first : first + width] = X[some, first : first + width] - column.places[column.codes[some]]
            trees.append([row, m, first, width])
            leaf, axis = np.nonzero(column.places)
            counts = np.bincount(leaf, minlength=m)
            starts = np.cumsum(counts) - counts + from_steps
            if column.missing is not None:
                counts[column.missing] = -1
            leaves.append(np.stack([from_apart + m * np.arange(m), starts, counts], axis=1))
            apart.append(column.apart.ravel())
            axes.append(first + axis)
            steps.append(column.places[leaf, axis])
            row, from_apart, from_steps = row + m, from_apart + m * m, from_steps + leaf.size
        return Records(
            shape=X.shape,
            points=X,
            numbers=numbers,
            codes=codes,
            keys=keys,
            twins=_first_equal(numbers, codes),
            coordinate=self.numbers,
            trees=np.array(trees),
            leaves=np.concatenate(leaves),
            apart=np.concatenate(apart),
            axes=np.concatenate(axes),
            steps=np.concatenate(steps),
            origin=origin,
            n_numbers=a,
            n_trees=len(self.columns),
            n_leaves=row - a,
        )


def select(records: Any, members: np.ndarray) -> Any:
    """Some of these records, of an array or of `Trees.records`."""
    if not isinstance(records, Records):
        return records[members]
    _, first, place = np.unique(records.twins[members], return_index=True, return_inverse=True)
    return records._replace(
        shape=(members.size, records.shape[1]),
        points=records.points[members],
        numbers=records.numbers[members],
        codes=records.codes[members],
        keys=records.keys[members],
        twins=first[place],
    )


def _first_equal(numbers: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The first record that equals each record."""
    columns = [*codes.T, *numbers.T]
    order = np.lexsort(columns)  # stable: equal records stay in order
    new = np.ones(order.size, bool)
    new[1:] = np.logical_or.reduce([column[order[1:]] != column[order[:-1]] for column in columns])
    first = np.empty(order.size, np.int64)
    first[order] = order[np.flatnonzero(new)][np.cumsum(new) - 1]
    return first


def _along(column: TreeColumn) -> np.ndarray:
    """The positions of records on a line, with the variance of all coordinates of the column."""
    shares = np.bincount(column.codes, minlength=len(column.places)) / column.codes.size
    positions = column.positions - shares @ column.positions
    variance = float(shares @ np.square(positions))
    wanted = float(shares @ np.square(column.places - shares @ column.places).sum(axis=1))
    return (positions * np.sqrt(wanted / variance) if variance > 0 else positions)[column.codes]
