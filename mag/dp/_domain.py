"""The domain of a column, fixed before anyone reads the data.

A domain maps every cell to a number, each cell separately and without an error: values outside the bounds are clamped,
unknown categories get a number of their own.  A message about such a cell would reveal that a person has it.
"""

import decimal
import math
import numbers
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from mag._lib import checks
from mag._lib.errors import InputTypeError, InputValueError
from mag.hierarchy import Hierarchy, hierarchy_of

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Real = float | Fraction | decimal.Decimal
MAX_GRID_STEPS = 2**31  # so that sums of 2**32 records fit into 64 bits
POINTS = 10**6  # largest number of points to choose among
FLOAT64_EXACT = 2**53  # float64 represents all integers up to it


class Domain(ABC):
    """The public values of a column, in cells numbered from 0."""

    n_cells: int

    @abstractmethod
    def locate_cells(self, cells: npt.NDArray[Any]) -> Integers:
        """The number of every value's cell."""

    @abstractmethod
    def label(self, cell: int) -> Any:
        """The published label of a cell: true for every value in it."""

    @abstractmethod
    def center(self, cell: int) -> Any:
        """One value that replaces a cell."""

    @abstractmethod
    def describe(self) -> str:
        """A description of the domain."""


class Numbers(Domain):
    """Numbers from `low` to `high` in steps of `step`, which must divide the range.

    Smaller and larger numbers are clamped.  Cells that are missing or no numbers count as `missing`.

    Parameters
    ----------
    low, high : number
        Bounds, known without looking at the data.
    step : number
        The width of a cell, or the distance of two points of the grid.
    missing : number, optional
        The value of missing cells; default: `low`.

    Examples
    --------
    >>> import mag.dp
    >>> age = mag.dp.Numbers(0, 120, 10)
    >>> age.n_cells, age.label(3), age.center(3)
    (12, '[30, 40)', 35)
    >>> mag.dp.Numbers(0, 1, 0.3)
    Traceback (most recent call last):
    ...
    mag.InputValueError: step must divide high - low; got low=0, high=1, step=0.3.
    """

    def __init__(self, low: Real, high: Real, step: Real, missing: Real | None = None) -> None:
        self.low, self.high, self.step = exact("low", low), exact("high", high), exact("step", step)
        if self.step <= 0 or self.high <= self.low:
            raise InputValueError(
                f"low must be below high, and step positive; got low={low}, high={high}, step={step}."
            )
        steps = (self.high - self.low) / self.step
        if steps.denominator != 1:
            raise InputValueError(f"step must divide high - low; got low={low}, high={high}, step={step}.")
        self.n_cells = int(steps)
        self.n_points = self.n_cells + 1
        self.missing = self.low if missing is None else exact("missing", missing)
        if not self.low <= self.missing <= self.high:
            raise InputValueError(f"missing must be from low={low} to high={high}; got {missing}.")
        self._unit = math.lcm(self.low.denominator, self.step.denominator)
        self._start, self._stride = int(self.low * self._unit), int(self.step * self._unit)
        largest = max(abs(self._start), abs(self._start + self.n_cells * self._stride), self._unit)
        if self.n_cells > MAX_GRID_STEPS or largest > FLOAT64_EXACT:
            raise InputValueError(f"step must be larger: step={step} cuts the range into too many steps, or has digits "
                               "that are too fine for float64.")  # fmt: skip

    def __repr__(self) -> str:
        own = f"{plain(self.low)}, {plain(self.high)}, {plain(self.step)}"
        return f"Numbers({own})" if self.missing == self.low else f"Numbers({own}, missing={plain(self.missing)})"

    def point(self, place: int) -> float:
        """The value of a point of the grid."""
        return plain(self.low + place * self.step)

    def locate_cells(self, cells: npt.NDArray[Any]) -> Integers:
        """The interval of every number; the last one holds `high`, too."""
        values = self._clamp(cells)
        places = np.clip(np.floor((values - float(self.low)) / float(self.step)), 0, self.n_cells - 1).astype(np.int64)
        places -= values < self._points(places)  # the quotient was rounded
        places += values >= self._points(places + 1)
        return np.clip(places, 0, self.n_cells - 1)

    def locate_points(self, cells: npt.NDArray[Any]) -> Integers:
        """The nearest point of the grid."""
        places, values = self.locate_cells(cells), self._clamp(cells)
        return places + (values - self._points(places) >= self._points(places + 1) - values)

    def _clamp(self, cells: npt.NDArray[Any]) -> Floats:
        values = read_numbers(cells)
        return np.clip(np.where(np.isnan(values), float(self.missing), values), float(self.low), float(self.high))

    def _points(self, places: Integers) -> Floats:
        """Rounded once: the float64 nearest to the decimal number."""
        return (self._start + places * self._stride) / self._unit

    def label(self, cell: int) -> str:
        """An interval as text."""
        end = "]" if cell == self.n_cells - 1 else ")"
        return f"[{self.point(cell)}, {self.point(cell + 1)}{end}"

    def center(self, cell: int) -> float:
        """The middle of an interval."""
        return plain(self.low + (cell + Fraction(1, 2)) * self.step)

    def describe(self) -> str:
        """The bounds and the step."""
        return f"{plain(self.low)} to {plain(self.high)} in steps of {plain(self.step)}"


class Listed(Domain):
    """Cells with a name each, looked up."""

    labels: list[Any]
    lookup: "Lookup"

    def locate_cells(self, cells: npt.NDArray[Any]) -> Integers:
        """The place of every value's name."""
        return number_cells(cells, self.lookup)

    def label(self, cell: int) -> Any:
        """The name."""
        return self.labels[cell]

    def center(self, cell: int) -> Any:
        """The name."""
        return self.labels[cell]


class Categories(Listed):
    """A list of categories; unknown and missing values are `other`.

    A number matches a category that is written like it, as 1 and "1".  Where categories and `other` have different
    types, they are published as text.

    Parameters
    ----------
    categories : sequence
        The categories, known without looking at the data.
    other : optional
        The category of all other cells.

    Examples
    --------
    >>> import mag.dp
    >>> region = mag.dp.Categories(["north", "south"])
    >>> region.n_cells, region.label(0), region.label(2)
    (3, 'north', 'other')
    """

    def __init__(self, categories: Sequence[Hashable], other: Hashable = "other") -> None:
        if isinstance(categories, (str, bytes)) or not isinstance(categories, Iterable):
            raise InputTypeError(f"categories must be a list of categories; got {checks.describe(categories)}.")
        listed = list(dict.fromkeys(categories))
        if not listed:
            raise InputValueError("categories must name at least one category; got none.")
        labels = [*listed, *([] if other in listed else [other])]
        same = len({type(label) for label in labels}) == 1 and isinstance(other, (str, int, float))
        self.labels = labels if same else [str(label) for label in labels]
        self.n_cells = len(labels)
        self.lookup = Lookup(labels, range(len(labels)), labels.index(other))
        self._listed, self._other = listed, other

    def __repr__(self) -> str:
        return f"Categories({self._listed!r}, other={self._other!r})"

    def describe(self) -> str:
        """The number of categories."""
        return f"{len(self._listed)} categories and {self._other!r}"


class Levels(Listed):
    """A hierarchy at one level: every value becomes its ancestor there; unknown and missing values become the root.

    Parameters
    ----------
    tree : mag.Hierarchy, mapping, path or list of rows
        A hierarchy; or the parent of every node but the root; or a row for each value, from the value itself to the
        root, as in the files of ARX, by its path or in memory.  Several roots become children of ``*``.
    level : int
        How far up: 0 is the value itself.  Values nearer to the root than others stay themselves on lower levels.

    Examples
    --------
    >>> import mag.dp
    >>> jobs = {"baker": "crafts", "painter": "crafts", "nurse": "health", "crafts": "any", "health": "any"}
    >>> job = mag.dp.Levels(jobs, 1)
    >>> [job.label(cell) for cell in range(job.n_cells)]
    ['any', 'crafts', 'health']
    """

    def __init__(
        self, tree: Hierarchy | Mapping[Any, Any] | os.PathLike[str] | Sequence[Sequence[Hashable]], level: int
    ) -> None:
        rows = _rows_of(tree)
        self.level = checks.integer("level", level, 0, len(rows[0]) - 1, "height")
        nodes = list(dict.fromkeys([rows[0][-1], *(row[self.level] for row in rows)]))  # the root is 0
        self.labels = nodes if len({type(node) for node in nodes}) == 1 else [str(node) for node in nodes]
        self.n_cells, self._values = len(nodes), len(rows)
        self.lookup = Lookup([row[0] for row in rows], [nodes.index(row[self.level]) for row in rows], 0)

    def __repr__(self) -> str:
        return f"Levels({self._values} values, level={self.level})"

    def describe(self) -> str:
        """The level."""
        return f"level {self.level} of a hierarchy"


def _rows_of(tree: Any) -> list[list[Hashable]]:
    """From every value to the root, all of one length."""
    read = Hierarchy.from_levels(tree) if isinstance(tree, (list, tuple)) else hierarchy_of("tree", tree)
    return [[read.labels[node] for node in nodes] for nodes in read.levels.tolist()]


def check_points(option: str, domain: Any) -> None:
    """Not more points than one can be chosen among."""
    if domain.n_points > POINTS:
        raise InputValueError(f"{option} must have at most {POINTS} points to choose among; take a larger step.")


def exact(option: str, number: Any) -> Fraction:
    """The number that was written: 0.1 is a tenth."""
    if isinstance(number, (bool, np.bool_)) or not isinstance(number, (numbers.Real, decimal.Decimal)):
        raise InputTypeError(f"{option} must be a finite number; got {checks.describe(number)}.")
    if not math.isfinite(number):
        raise InputValueError(f"{option} must be a finite number; got {number}.")
    checks.written_out(option, number)
    if isinstance(number, numbers.Rational):
        return Fraction(int(number.numerator), int(number.denominator))
    return Fraction(str(number))


def plain(number: Fraction) -> float:
    """A whole number or the nearest float64."""
    return number.numerator if number.denominator == 1 else float(number)


class Lookup:
    """The place of a category, by how it is written, or else by the number that it is: "1", 1, 1.0 and "1.0" are one.

    A library may turn 1 into 1.0 or "1" because of the cell of another record; that must not change this cell.
    """

    def __init__(self, categories: Sequence[Hashable], places: Sequence[int], otherwise: int) -> None:
        pairs = list(zip(categories, places, strict=True))[::-1]  # the first of those that are written alike wins
        self._words = {_word(category): place for category, place in pairs}
        numbers = {_number(category): place for category, place in pairs}
        self._numbers = {number: place for number, place in numbers.items() if math.isfinite(number)}
        self._otherwise = otherwise

    def __call__(self, cell: Any) -> int:
        """The place of any cell."""
        if cell is None:
            return self._otherwise
        word = _word(cell)
        return self._words[word] if word in self._words else self._numbers.get(_number(cell), self._otherwise)


def number_cells(cells: npt.NDArray[Any], place: Callable[[Any], int]) -> Integers:
    """The place of every cell, looked up once for equal cells of one type; others are missing."""
    known: dict[Any, int] = {}

    def find(cell: Any) -> int:
        try:
            key = type(cell), cell
            if key not in known:
                known[key] = place(cell)
            return known[key]
        except Exception:  # of any object: not hashable, not comparable, not to be written
            return place(None)

    return np.fromiter(map(find, cells.tolist()), np.int64, len(cells))


def _word(cell: Any) -> str:
    if isinstance(cell, numbers.Integral) and not isinstance(cell, bool):
        return str(int(cell))
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def read_numbers(cells: npt.NDArray[Any]) -> Floats:
    """Every cell as float64; NaN where it is missing or no number."""
    if cells.dtype.kind in "biuf":
        with np.errstate(all="ignore"):  # a warning would reveal that a long double is large
            return cells.astype(np.float64)
    return np.fromiter(map(_number, cells.tolist()), np.float64, len(cells))


def _number(cell: Any) -> float:
    if not isinstance(cell, (str, numbers.Real, decimal.Decimal)):
        return math.nan
    try:
        return float(cell)
    except OverflowError:
        return math.inf if cell > 0 else -math.inf  # type: ignore[operator]
    except Exception:  # text that is not a number, or an error of the object itself
        return math.nan
