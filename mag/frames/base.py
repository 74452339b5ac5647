"""Interfaces of a frame and a column, and the code that all libraries share, through narwhals.

A masked column takes every record's cell from a short column of representatives, built once: equal records get equal
bytes.
"""

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from typing import Any

import narwhals as nw
import numpy as np

from mag._lib.dtypes import describe_dtype
from mag._lib.foreign import refused_as
from mag._lib.fresh import fresh_column
from mag._lib.lazy import cached_property
from mag.frames.objects import Objects, count_units, object_codes, to_decimal
from mag.frames.units import (
    SECONDS_PER_UNIT,
    RefusedColumnError,
    Units,
    bit_codes,
    fill_present,
    largest_of,
    none_if_all_false,
    refusal,
    to_64_bit,
    to_integers,
)

READS = ("units", "publish", "take", "cells", "codes")  # methods that ask the library for cells


def _in_our_words(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method; where the library fails, one sentence names the column and its type."""

    @functools.wraps(method)
    def read(self: "Column", *options: Any, **named: Any) -> Any:
        with refused_as(self._refusal):
            return method(self, *options, **named)

    return read


class Column(ABC):
    """One column of a table: in as exact numbers, out in its own dtype."""

    name: Hashable = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for method in READS:
            if method in cls.__dict__:
                setattr(cls, method, _in_our_words(cls.__dict__[method]))

    @property
    @abstractmethod
    def dtype(self) -> Any:
        """The library's own."""

    def _refusal(self) -> str:
        kind = describe_dtype(self.dtype)
        return f"column {self.name!r} holds {kind}, or cells, that its library cannot read; convert it."

    @property
    def index(self) -> Any:
        """The row names, as in pandas; None if there are no row names."""
        return None

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def units(self) -> Units:
        """Exact numbers, or `RefusedColumnError`."""

    @abstractmethod
    def to_column(self, representatives: np.ndarray, labels: np.ndarray, missing: np.ndarray | None) -> Any:
        """Every record's representative, in the column's dtype."""

    @abstractmethod
    def take(self, rows: np.ndarray | None, blank: np.ndarray | None = None) -> Any:
        """Some records' cells, blank ones missing."""

    def take_nullable(self, rows: np.ndarray | None, blank: np.ndarray) -> Any:
        """The same, in a dtype that can hold missing cells where the column's own cannot."""
        return self.take(rows, blank)

    @abstractmethod
    def wrap(self, cells: Any, rows: np.ndarray | None, reset: bool) -> Any:
        """The value of the column in a dictionary of columns; `reset` numbers the index of a pandas series anew."""

    @abstractmethod
    def cells(self) -> list[Any]:
        """Python's own objects."""

    @abstractmethod
    def codes(self) -> np.ndarray:
        """Equal cells share a number."""


class Frame(ABC):
    """A table with named columns; `native` is the caller's.

    Of a lazy frame the columns that are `left_out` have names, and no cells in memory.
    """

    library: str
    left_out: frozenset[Hashable] = frozenset()

    def __init__(self, native: Any, names: list[Hashable], n: int) -> None:
        self.native, self.names, self.n = native, names, n

    @abstractmethod
    def column(self, name: Hashable) -> Column:
        """One column."""

    @abstractmethod
    def build(self, rows: np.ndarray | None, names: list[Hashable], masked: dict[Hashable, Any], reset: bool) -> Any:
        """A table of these columns and records in the caller's library; `masked` ones are put in as they are."""

    def cells(self, rows: np.ndarray | None, names: list[Hashable], masked: dict[Hashable, Any]) -> list[Any]:
        """The cells of these columns and records, masked where they are, else in fresh memory."""
        return [masked[name] if name in masked else self.column(name).take(rows) for name in names]

    def index_note(self, published: list[Hashable], withheld: bool) -> str | None:
        """A note for the publisher about the row names of these columns."""
        notes = [_describe_index(index, withheld) for index in self.indexes(published)]
        return next((note for note in notes if note), None)

    def indexes(self, published: list[Hashable]) -> list[Any]:
        """The row names of these columns, as in pandas."""
        return []


def _describe_index(index: Any, withheld: bool) -> str | None:
    if type(index).__name__ != "RangeIndex" or index.name is not None:
        return "The index of the table is published unchanged and is not covered by the guarantee."
    return "The index shows which records are withheld; renumber it before you publish the table." if withheld else None


class SeriesColumn(Column):
    """A column of a frame library; each library implements the methods that `Column` does not have."""

    def __init__(self, series: Any) -> None:
        self.series, self.native, self.name = series, series.to_native(), series.name

    @abstractmethod
    def decimal_scale(self) -> int:
        """The number of decimals after the point."""

    @abstractmethod
    def count_time(self, present: Any) -> np.ndarray:
        """Dates and times as integers."""

    @abstractmethod
    def publish_cells(self, short: Any, labels: np.ndarray, missing: np.ndarray | None) -> Any:
        """The cell of every record, taken from these few; an array, or a list if they are not plain numbers."""

    @abstractmethod
    def exact_cells(self) -> list[Any]:
        """Python objects without loss: dates and times as integers, since Python has no nanoseconds."""

    @abstractmethod
    def own_codes(self) -> np.ndarray | None:
        """Numbers of equal cells, if the library can compute them."""

    def own_kind(self) -> str | None:
        """Of types that narwhals does not name."""
        return None

    def count_decimals(self, present: Any, scale: int) -> np.ndarray:
        """Decimals as integers."""
        return to_integers([count_units(cell, scale) for cell in present.to_list()])

    def __len__(self) -> int:
        return len(self.series)

    @cached_property
    def kind(self) -> str:
        """The kind of its values, as far as masking is concerned."""
        dtype = self.series.dtype
        kinds = {nw.Date: "date", nw.Datetime: "datetime", nw.Decimal: "decimal", nw.Duration: "duration"}
        kinds |= {nw.Object: "object", nw.Boolean: "booleans", nw.String: "strings", nw.Binary: "bytes"}
        kinds |= {nw.Categorical: "categories", nw.Enum: "categories"}
        known = next((name for kind, name in kinds.items() if dtype == kind), None)
        common = "integer" if dtype.is_integer() else "float" if dtype.is_float() else known
        return common or self.own_kind() or describe_dtype(self.dtype)

    def units(self) -> Units:
        kind = self.kind
        if kind == "object":
            return self._objects.units()
        if kind not in ("integer", "float", "decimal", "date", "datetime", "duration"):
            raise RefusedColumnError(refusal(kind))
        absent = self.series.is_null()
        if kind == "float":
            absent = absent | self.series.is_nan().fill_null(True)
        missing = none_if_all_false(np.asarray(absent.to_numpy(), bool))
        present = self.series if missing is None else self.series.filter(~absent)
        if kind == "decimal":
            scale = self.decimal_scale()
            return Units(fill_present(self.count_decimals(present, scale), missing), missing, "number", 10.0**-scale)
        if kind in ("date", "datetime", "duration"):
            unit = "D" if kind == "date" else self.series.dtype.time_unit
            counts = self.count_time(present.to_native())
            return Units(
                fill_present(counts, missing), missing, "datetime" if kind == "date" else kind, SECONDS_PER_UNIT[unit]
            )
        wide = self.series.dtype in (nw.Int128, nw.UInt128)
        numbers = np.array([*present.to_list(), None], object)[:-1] if wide else present.to_numpy()
        exact = to_integers(numbers.tolist()) if numbers.dtype == object else to_64_bit(numbers)
        return Units(fill_present(exact, missing), missing, "number", largest=largest_of(numbers.dtype))

    @property
    def _objects(self) -> Objects:
        return Objects(self.series.to_list())

    def to_column(self, representatives: np.ndarray, labels: np.ndarray, missing: np.ndarray | None) -> Any:
        kind = self.kind
        if kind == "object":
            return self._objects.to_column(representatives, labels, missing)
        short: Any = representatives
        if kind == "decimal":
            scale = self.decimal_scale()
            short = [to_decimal(number, scale) for number in representatives.tolist()]
        elif representatives.dtype == object:
            short = representatives.tolist()
        return self.publish_cells(short, labels, missing)

    def take(self, rows: np.ndarray | None, blank: np.ndarray | None = None) -> Any:
        return fresh_column(self.native, rows, blank)

    def wrap(self, cells: Any, rows: np.ndarray | None, reset: bool) -> Any:
        return cells

    def cells(self) -> list[Any]:
        return self.series.to_list()

    def codes(self) -> np.ndarray:
        kind = self.kind
        if kind == "float":
            null = np.asarray(self.series.is_null().to_numpy(), bool)
            numbers = np.asarray(self.series.fill_null(0.0).to_numpy())
            return np.where(null, 0, 1 + bit_codes(numbers))
        if kind in ("integer", "date", "datetime", "duration"):
            units = self.units()
            codes = 1 + np.unique(units.values, return_inverse=True)[1].astype(np.int64)
            return codes if units.missing is None else np.where(units.missing, 0, codes)
        own = self.own_codes()
        return object_codes(self.exact_cells()) if own is None else own


class SeriesFrame(Frame):
    """A frame of any eager library that narwhals supports."""

    column_type: type[SeriesColumn]

    def __init__(self, native: Any, frame: Any, names: list[Hashable]) -> None:
        super().__init__(native, names, len(frame))
        self.frame = frame
        self._columns: dict[Hashable, Column] = {}

    def column(self, name: Hashable) -> Column:
        """One column, the same object for every caller."""
        if name not in self._columns:
            self._columns[name] = self.make_column(name)
        return self._columns[name]

    def make_column(self, name: Hashable) -> Column:
        """A column of this library."""
        return self.column_type(self.frame.get_column(name))


def with_nan(labels: np.ndarray, missing: np.ndarray, count: int) -> np.ndarray:
    """Labels that take the last of `count` cells, NaN, where a cell is missing."""
    return np.where(missing, count - 1, labels)
