"""The tree itself: a matrix of leaves and levels, and properties that follow from it."""

import datetime
import importlib
import itertools
import os
import pathlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from mag._lib import checks
from mag._lib.errors import InputValueError
from mag._lib.keys import as_key
from mag._lib.lazy import cached_property
from mag._lib.missing import is_missing
from mag.hierarchy import _rows, _rules
from mag.hierarchy._text import text_of


class Hierarchy:
    """A tree of categories: every value is a leaf, every level above it is more general, the root contains all.

    A node is a label on a level, so a label may span several levels.  Publishing the root is also known as suppression.
    Make one by `read`, `from_levels`, `from_parents`, `from_columns`, `flat`, `intervals`, `prefixes` or `dates`.

    Attributes
    ----------
    levels : array of int, shape (leaves, levels)
        The node of every leaf on every level, from the leaf itself to the root.
    labels : list
        The label of every node.
    loss : array of float
        For every node, the share of all leaves that are below it; 0 for a node above a single leaf.
    height : array of int
        For every node, the longest way down to a leaf, in changes of the label.
    warnings : tuple of str
        Repairs of the input, and suspicious labels.

    Examples
    --------
    >>> import mag
    >>> degrees = mag.Hierarchy.from_levels([
    ...     ["Bachelors", "college", "*"],
    ...     ["Masters", "college", "*"],
    ...     ["11th", "school", "*"],
    ...     ["12th", "school", "*"],
    ... ])
    >>> print(degrees.show())
    *
      college
        Bachelors
        Masters
      school
        11th
        12th
    >>> degrees.check(["Masters", "PhD"])
    ['PhD']
    """

    __module__ = "mag"

    def __init__(
        self,
        rows: Sequence[Sequence[Hashable]],
        warnings: Sequence[str] = (),
        locate: _rules.Locate | None = None,
    ) -> None:
        self.warnings, self._locate, self.other = tuple(warnings), locate, -1
        n_levels = _rows.check_shape("rows", rows)
        self.levels = np.empty((len(rows), n_levels), np.int64)
        self.labels: list[Hashable] = []
        for level in range(n_levels):
            number: dict[Hashable, int] = {}
            first = len(self.labels)
            for i, row in enumerate(rows):
                self.levels[i, level] = number.setdefault(row[level], first + len(number))
            self.labels += number
        self.root = int(self.levels[0, -1])
        self._check_tree()
        below = np.zeros(len(self.labels), np.int64)
        for level in range(n_levels):
            np.add.at(below, self.levels[:, level], 1)
        self.loss = np.where(below > 1, below / len(rows), 0.0)
        self.height = np.zeros(len(self.labels), np.int64)
        for level in range(1, n_levels):
            child, parent = self.levels[:, level - 1], self.levels[:, level]
            longer = [self.labels[c] != self.labels[p] for c, p in zip(child.tolist(), parent.tolist(), strict=True)]
            np.maximum.at(self.height, parent, self.height[child] + np.array(longer))

    def _check_tree(self) -> None:
        """Check every new tree: without a root, or with two parents of a node, published labels would be false."""
        levels = self.levels
        if (levels[:, -1] != self.root).any():
            raise InputValueError("rows must have one label on the highest level; got several.")
        if (np.bincount(levels[:, 0]) > 1).any():
            raise InputValueError("rows must have every value once; some repeat one.")
        for level in range(levels.shape[1] - 1):
            first = np.empty(len(self.labels), np.int64)
            first[levels[:, level]] = levels[:, level + 1]
            if (first[levels[:, level]] != levels[:, level + 1]).any():
                raise InputValueError(
                    f"rows must have one parent for every label; some of level {level} have several on level "
                    f"{level + 1}."
                )

    # ---- constructors

    @classmethod
    def read(cls, path: str | os.PathLike[str], separator: str | None = None) -> "Hierarchy":
        """From a file of ARX: a line for every value, from the value itself to the most general label; no header.

        Parameters
        ----------
        path : path
            UTF-8, with or without a byte order mark.
        separator : str, optional
            The separator of labels; by default ``;``, or ``,`` or a tab where the first line has no ``;``.
        """
        name = pathlib.Path(path).name
        return cls(*_rows.check_levels(repr(name), _rows.read_lines(path, separator), "line"))

    @classmethod
    def from_levels(cls, rows: Iterable[Sequence[Hashable]]) -> "Hierarchy":
        """From a row for every value: the value, then ever more general labels."""
        return cls(*_rows.check_levels("rows", rows, "row"))

    @classmethod
    def from_parents(cls, parents: Mapping[Hashable, Hashable]) -> "Hierarchy":
        """From the parent of every category; a root may be its own parent, and leaves may be of any depth.

        Examples
        --------
        >>> import mag
        >>> mag.Hierarchy.from_parents({"flu": "lung", "cough": "lung", "lung": "any", "ulcer": "any"})
        <Hierarchy: 3 values, 3 levels>
        """
        return cls(_rows.rows_of_parents("parents", parents))

    @classmethod
    def from_columns(cls, table: Any, columns: Sequence[Hashable]) -> "Hierarchy":
        """From columns of a table, the most exact first, e.g. ``["city", "county", "state"]``.

        The table is a frame of pandas, polars or pyarrow, or a dictionary of lists.
        """
        return cls(*_rows.check_levels("columns", _rows.rows_of_columns(table, columns), "row"))

    @classmethod
    def flat(cls, values: Iterable[Hashable], root: str = "*") -> "Hierarchy":
        """All values below one root."""
        rows = [[value, root] for value in dict.fromkeys(values)]
        return cls(*_rows.check_levels("values", rows, "row"))

    @classmethod
    def intervals(
        cls,
        low: float | Fraction,
        high: float | Fraction,
        widths: Sequence[float | Fraction],
        labels: Callable[[float, float], str] | None = None,
    ) -> "Hierarchy":
        """For numbers from `low` to below `high`: intervals of these widths, each a multiple of the one before.

        The narrowest intervals are the leaves: a number is never published more exactly.

        Parameters
        ----------
        low, high : float
        widths : sequence of float
        labels : callable, optional
            The label of the interval from a up to, but not including, b; ``[a, b)`` by default.

        Examples
        --------
        >>> import mag
        >>> print(mag.Hierarchy.intervals(0, 20, [5, 10]).show())
        [0, 20)
          [0, 10)
            [0, 5)
            [5, 10)
          [10, 20)
            [10, 15)
            [15, 20)
        """
        rows, locate = _rules.intervals(low, high, widths, labels)
        return cls(rows, locate=locate)

    @classmethod
    def prefixes(cls, values: Iterable[Any], keep: Sequence[int], mark: str = "*") -> "Hierarchy":
        """For codes such as postal codes: each level keeps as many first characters as `keep` lists, the most first.

        Examples
        --------
        >>> import mag
        >>> print(mag.Hierarchy.prefixes(["23552", "23558", "23701"], keep=[4, 2]).show())
        *
          23***
            2355*
              23552
              23558
            2370*
              23701
        """
        return cls(*_rows.check_levels("values", _rules.prefixes(values, keep, mark), "row"))

    @classmethod
    def dates(
        cls, values: Iterable[datetime.date | str], levels: Sequence[str] = ("month", "quarter", "year")
    ) -> "Hierarchy":
        """For dates, or text such as 2026-11-17: the day, then some of month, quarter, year and decade.

        Examples
        --------
        >>> import mag
        >>> mag.Hierarchy.dates(["2026-11-17", "2026-12-24"], ["month", "year"]).to_levels()[0]
        ['2026-11-17', '2026-11', '2026', '*']
        """
        return cls(*_rows.check_levels("values", _rules.dates(values, levels), "row"))

    def with_other(self) -> "Hierarchy":
        """The same tree with one more leaf below the root, with the root's label, for every other value.

        Such a value is never published: its label is the root's, which counts as a complete loss.  A tree of intervals
        gets the root ``*``, because other values are not between its ends.

        Examples
        --------
        >>> import mag
        >>> degrees = mag.Hierarchy.flat(["BSc", "MSc"])
        >>> degrees.check(["MSc", "PhD"]), degrees.with_other().check(["MSc", "PhD"])
        (['PhD'], [])
        """
        if self.other >= 0:
            return self
        rows = self.to_levels()
        if self._locate is not None:
            rows = [[*row, _rows.ROOT] for row in rows]
        root = rows[0][-1]
        if any(label == root != above for row in rows for label, above in itertools.pairwise(row)):
            raise InputValueError(
                "a hierarchy that takes other values must not have the label of its root below another label."
            )
        if root not in self._numbers:
            rows.append([root] * len(rows[0]))
        tree = Hierarchy(rows, self.warnings, self._locate)
        tree.other = tree._numbers[root]
        tree.loss = tree._shares(np.delete(np.arange(len(rows)), tree.other))
        tree.loss[tree.root] = 1.0
        return tree

    # ---- properties

    def __repr__(self) -> str:
        leaves, levels = self.levels.shape
        return f"<Hierarchy: {leaves} value{'s' * (leaves != 1)}, {levels} level{'s' * (levels != 1)}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hierarchy) and self.to_levels() == other.to_levels()

    __hash__ = None  # type: ignore[assignment]

    def check(self, values: Iterable[Any]) -> list[Any]:
        """The distinct values that have no leaf, missing ones left out."""
        cells = getattr(values, "to_pylist", getattr(values, "tolist", lambda: values))()
        listed = list({as_key(value): value for value in cells if not is_missing(value)}.values())
        found = self.find(listed)
        return [value for value, leaf in zip(listed, found.tolist(), strict=True) if leaf < 0]

    def show(self) -> str:
        """The tree as indented lines, labels that stay over levels once."""
        return "\n".join("  " * depth + text_of(self.labels[node]) for depth, node in self.walk())

    def walk(self) -> Iterator[tuple[int, int]]:
        """The depth and the number of every node, those above before those below, labels that stay over levels once.

        Examples
        --------
        >>> import mag
        >>> tree = mag.Hierarchy.from_levels([["cook", "food", "*"], ["baker", "food", "*"], ["nurse", "nurse", "*"]])
        >>> [(depth, tree.labels[node], float(tree.loss[node].round(2))) for depth, node in tree.walk()]
        [(0, '*', 1.0), (1, 'food', 0.67), (2, 'cook', 0.0), (2, 'baker', 0.0), (1, 'nurse', 0.0)]
        """

        def below(members: np.ndarray, level: int, depth: int, above: Hashable) -> Iterator[tuple[int, int]]:
            nodes = self.levels[members, level]
            for node in dict.fromkeys(nodes.tolist()):
                label = self.labels[node]
                shown = depth == 0 or label != above
                if shown:
                    yield depth, node
                if level:
                    yield from below(members[nodes == node], level - 1, depth + shown, label)

        yield from below(np.arange(len(self.levels)), self.levels.shape[1] - 1, 0, None)

    def to_levels(self) -> list[list[Hashable]]:
        """A row for every value: the value, then ever more general labels."""
        return [[self.labels[node] for node in row] for row in self.levels.tolist()]

    def to_frame(self, library: str = "pandas") -> Any:
        """A row for every value as a frame: columns ``level 0``, the value, to the most general label.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}
            Which must be installed.

        Examples
        --------
        >>> import mag
        >>> mag.Hierarchy.flat(["BSc", "MSc"]).to_frame()
          level 0 level 1
        0     BSc       *
        1     MSc       *
        """
        name = checks.one_of("library", library, ["pandas", "polars", "pyarrow"])
        rows = self.to_levels()
        columns = {f"level {level}": [row[level] for row in rows] for level in range(self.levels.shape[1])}
        module = importlib.import_module(name)
        return module.table(columns) if name == "pyarrow" else module.DataFrame(columns)

    def to_arx(self, path: str | os.PathLike[str], separator: str = ";", overwrite: bool = False) -> None:
        """Write a file for ARX, or for `read`; with `overwrite` also in place of a file that exists."""
        rows = [[text_of(label) for label in row] for row in self.to_levels()]
        _rows.write_lines(path, rows, separator, overwrite)

    @property
    def edges(self) -> tuple[Fraction, ...] | None:
        """The ends of the narrowest intervals, one more than intervals; None for a tree of other values."""
        return None if self._locate is None else self._locate.edges

    # ---- for groups

    @cached_property
    def _numbers(self) -> dict[Hashable, int]:
        return {self.labels[leaf]: leaf for leaf in range(len(self.levels))}

    def find(self, values: list[Any]) -> np.ndarray:
        """The leaf of every value, -1 if it has none; values that are not text are also looked up as text."""
        if self._locate is not None:
            found = self._locate(values)
            return np.where(found < 0, self.other, found)
        known = self._numbers

        def leaf(value: Any) -> int:
            value = as_key(value)  # a nested cell has no leaf, unless a label is a tuple
            place = known.get(value, self.other)
            return known.get(text_of(value), place) if place == self.other and not isinstance(value, str) else place

        return np.fromiter(map(leaf, values), np.int64, len(values))

    def find_nodes(self, cells: list[Any]) -> np.ndarray:
        """The node that every published cell is a label of, or the leaf of a value; -1 where it is neither.

        A label that stays over levels is its lowest node.
        """
        nodes: dict[str, int] = {}
        for node, label in enumerate(self.labels):
            nodes.setdefault(text_of(label), node)
        found = np.array([nodes.get(text_of(cell), -1) for cell in cells], np.int64)
        rest = np.flatnonzero(found < 0)
        found[rest] = self.find([cells[place] for place in rest.tolist()])
        return found

    def leaf_of(self, option: str, values: np.ndarray) -> np.ndarray:
        """The leaf of every value; raise if a value has no leaf."""
        listed = values.tolist()
        leaves = self.find(listed)
        if missing := len({value for value, leaf in zip(listed, leaves.tolist(), strict=True) if leaf < 0}):
            raise InputValueError(f"{option} must have a leaf for every value; {missing} distinct values have no leaf.")
        return leaves

    def common_ancestors(self, leaves: np.ndarray, groups: np.ndarray) -> np.ndarray:
        """The closest common ancestor of the leaves of every group: groups are numbers 0, 1, … without gaps."""
        order = np.argsort(groups, kind="stable")
        starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
        ancestors = np.full(starts.size, self.root)
        for level in range(self.levels.shape[1] - 2, -1, -1):
            here = self.levels[leaves[order], level]
            lowest, highest = np.minimum.reduceat(here, starts), np.maximum.reduceat(here, starts)
            ancestors = np.where(lowest == highest, lowest, ancestors)
        return ancestors

    @cached_property
    def published_loss(self) -> np.ndarray:
        """The loss if a node is published: its own loss, or a complete loss for values without a leaf."""
        return self._all_of_other(self.loss.copy())

    def used_loss(self, leaves: np.ndarray) -> np.ndarray:
        """The same by those leaves alone that occur here; 0 for a node above a single one."""
        used = np.unique(leaves)
        return self._all_of_other(self._shares(used[used != self.other]))

    def _shares(self, leaves: np.ndarray) -> np.ndarray:
        """For every node, the share of these leaves that is below it; 0 for a node above a single one."""
        below = np.bincount(self.levels[leaves].ravel(), minlength=len(self.labels))
        return np.where(below > 1, below / max(len(leaves), 1), 0.0)

    def _all_of_other(self, loss: np.ndarray) -> np.ndarray:
        if self.other >= 0:
            loss[self.levels[self.other]] = 1.0
        return loss

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """The nodes below every inner node, from the level above the leaves on up."""
        below: dict[int, dict[int, None]] = {}
        for level in range(1, self.levels.shape[1]):
            for child, parent in self.levels[:, [level - 1, level]].tolist():
                below.setdefault(parent, {})[child] = None
        return {parent: list(nodes) for parent, nodes in below.items()}
