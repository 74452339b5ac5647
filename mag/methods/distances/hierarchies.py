"""Columns of categories, next to the coordinates that represent them, for methods that use trees themselves."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mag._lib.lazy import cached_property
from mag.hierarchy import axes_of, embed, variance_of
from mag.methods.distances.mixed import ROUNDING, Mixed

SLOWER = 4  # times as long as for numbers: ONA* on Adult (benchmarks/categories.py)


@dataclass(frozen=True)
class CategoryColumn:
    """A column of categories.

    `codes` : the category of every record; `levels` : the node of each category on each level, (m, levels), from
    itself to the root; `loss` : that of every node; `places` : the coordinates of each category, (m, c), which are
    columns `first` to `first + c` of the records but for an offset, and 0 for nodes that the category is not below;
    a sparse column has no coordinates (c = 0), and its column `first` is a `line`, until `CategoryColumns.expand` makes
    those of records; `scale` : squared distance by the loss of the closest common ancestor; `importance` :
    the weight of the loss.

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

    @property
    def is_sparse(self) -> bool:
        """Whether categories have no places."""
        return self.places.shape[1] == 0

    @cached_property
    def apart(self) -> np.ndarray:
        """The squared distance of every two categories: equal losses are equal numbers."""
        return self._losses(self.levels[:, None], self.levels) * self.scale

    def _losses(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """The loss of the closest common ancestor of categories, given by their nodes on all levels."""
        losses = np.full(np.broadcast_shapes(one.shape, other.shape)[:-1], self.loss[self.levels[0, -1]])
        for level in range(self.levels.shape[1] - 2, -1, -1):
            nodes = other[..., level]
            losses = np.where(one[..., level] == nodes, self.loss[nodes], losses)
        return losses

    @cached_property
    def positions(self) -> np.ndarray:
        """The categories along a line, those of a node side by side, as far apart as neighbors are."""
        order = np.lexsort(self.levels.T)
        steps = np.sqrt(self._losses(self.levels[order[:-1]], self.levels[order[1:]]) * self.scale)
        positions = np.empty(order.size)
        positions[order] = np.append(0.0, np.cumsum(steps))
        return positions

    def line(self) -> np.ndarray:
        """The positions of records on a line around 0, with the variance of all coordinates of the column."""
        shares = np.bincount(self.codes, minlength=len(self.levels)) / self.codes.size
        positions = self.positions - shares @ self.positions
        variance = float(shares @ np.square(positions))
        wanted = variance_of(self.levels, self.loss, shares) * self.scale
        return (positions * np.sqrt(wanted / variance) if variance > 0 else positions)[self.codes]

    def expand(self, first: int) -> "CategoryColumn":
        """The same with the places of the categories that occur, from column `first` on."""
        used, codes = np.unique(self.codes, return_inverse=True)
        levels, missing = self.levels[used], None
        places = embed(levels, self.loss) * np.sqrt(self.scale)
        if self.missing is not None and used[-1] == self.missing:
            missing = used.size - 1
            places[missing] = 0.0
        return replace(self, codes=codes, levels=levels, places=places, first=first, missing=missing)


@dataclass(frozen=True)
class CategoryColumns:
    """The columns of a table of which some are categories.

    `numbers` are the coordinates that are columns as well, and `importance` the weights of their ranges.  `by_range` is
    True where numbers are measured in their ranges and categories by their losses, as they lose when published.
    """

    numbers: np.ndarray
    columns: list[CategoryColumn]
    importance: np.ndarray
    by_range: bool = False

    @property
    def effort(self) -> int:
        """How many columns of numbers take as much time."""
        return SLOWER * (len(self.numbers) + len(self.columns))

    def select(self, members: Any) -> "CategoryColumns":
        """The same of some records."""
        return replace(self, columns=[replace(column, codes=column.codes[members]) for column in self.columns])

    @property
    def is_sparse(self) -> bool:
        """Whether some column has no places."""
        return any(column.is_sparse for column in self.columns)

    def count_cells(self) -> int:
        """How many numbers methods keep that compare records in all places and with all categories."""
        wide = len(self.numbers)
        for column in self.columns:
            levels = column.levels[np.unique(column.codes)]
            wide += len(levels) + axes_of(levels, column.loss)[2]
        return wide * (self.columns[0].codes.size if self.columns else 0)

    def expand(self, X: np.ndarray) -> tuple[np.ndarray, "CategoryColumns"]:
        """The coordinates of these records, with all places of the categories that occur, and their trees."""
        if not self.is_sparse:
            return X, self
        sparse = {column.first: c for c, column in enumerate(self.columns) if column.is_sparse}
        columns, blocks, starts, wide = list(self.columns), [], np.empty(X.shape[1], np.int64), 0
        for j in range(X.shape[1]):
            block, starts[j] = X[:, j : j + 1], wide
            if j in sparse:
                column = columns[sparse[j]] = columns[sparse[j]].expand(wide)
                block = column.places[column.codes]
                block -= block.mean(axis=0)
            blocks.append(block)
            wide += block.shape[1]
        for c, column in enumerate(self.columns):
            columns[c] = replace(columns[c], first=int(starts[column.first]))
        return np.concatenate(blocks, axis=1), replace(self, numbers=starts[self.numbers], columns=columns)

    def expanded_records(self, X: np.ndarray, members: np.ndarray) -> Mixed:
        """Some records for compiled functions, with all places of the categories that occur among them."""
        points, own = self.select(members).expand(X[members])
        return own.records(points)

    def records(self, X: np.ndarray) -> Mixed:
        """These records for compiled functions, as their metric."""
        n, a = len(X), len(self.numbers)
        numbers, codes = np.ascontiguousarray(X[:, self.numbers]), np.empty((n, len(self.columns)), np.int64)
        keys, origin = np.empty((n, a + len(self.columns))), np.zeros(X.shape[1])
        keys[:, :a] = numbers
        trees, leaves, apart, axes, steps, row = [], [], [], [], [], a
        from_apart = from_steps = 0
        for c, column in enumerate(self.columns):
            (m, width), first = column.places.shape, column.first
            codes[:, c] = column.codes + row
            keys[:, a + c] = column.line()
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
        return Mixed(
            points=X,
            n=n,
            d=X.shape[1],
            wide=row,
            repeats=True,
            rounding=ROUNDING,
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
        )


def select(records: Any, members: np.ndarray) -> Any:
    """Some of these records, of an array or of `CategoryColumns.records`."""
    if not isinstance(records, Mixed):
        return records[members]
    _, first, place = np.unique(records.twins[members], return_index=True, return_inverse=True)
    return records._replace(
        points=records.points[members],
        n=members.size,
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
