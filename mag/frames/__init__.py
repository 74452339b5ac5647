"""Tables in and out: frames through narwhals, dictionaries of arrays as they are."""

import sys
from collections.abc import Hashable, Mapping
from typing import Any

import narwhals as nw
import numpy as np

from mag._lib.errors import TypeMistake, ValueMistake
from mag._lib.fresh import arrow_table, fresh_column, pandas_frame
from mag.frames._series import SeriesColumn, column_of
from mag.frames.cells import ArrayColumn

KINDS = "a frame of pandas, polars or pyarrow, or a dictionary of arrays"


class Frame:
    """A table with named columns; `native` is the caller's."""

    library = "dictionary"

    def __init__(self, native: Any, names: list[Hashable], n: int) -> None:
        self.native, self.names, self.n = native, names, n

    def column(self, name: Hashable) -> ArrayColumn | SeriesColumn:
        """One column."""
        raise NotImplementedError

    def built(self, rows: np.ndarray | None, names: list[Hashable], masked: dict[Hashable, Any], reset: bool) -> Any:
        """A table of these columns and records in the caller's library; `masked` ones are put in as they are."""
        raise NotImplementedError

    def index_note(self, withheld: bool) -> str | None:
        """What a publisher should know about the row names."""
        return None


class Dictionary(Frame):
    """Arrays by name."""

    def __init__(self, native: Mapping[Hashable, Any]) -> None:
        self.columns = {name: column_of(f"column {name!r}", cells) for name, cells in native.items()}
        lengths = {len(column) for column in self.columns.values()}
        if len(lengths) > 1:
            listed = ", ".join(f"{name!r} {len(column)}" for name, column in self.columns.items())
            raise ValueMistake(f"table must have columns of one length; got {listed}.")
        super().__init__(native, list(native), lengths.pop() if lengths else 0)

    def column(self, name: Hashable) -> ArrayColumn | SeriesColumn:
        return self.columns[name]

    def built(self, rows: np.ndarray | None, names: list[Hashable], masked: dict[Hashable, Any], reset: bool) -> Any:
        taken = {name: masked[name] if name in masked else self.columns[name].take(rows) for name in names}
        return {name: self.columns[name].wrapped(cells, rows, reset) for name, cells in taken.items()}


class Narwhals(Frame):
    """A frame of any eager library that narwhals knows."""

    def __init__(self, native: Any, frame: Any, names: list[Hashable]) -> None:
        super().__init__(native, names, len(frame))
        self.frame = frame

    def column(self, name: Hashable) -> SeriesColumn:
        return SeriesColumn(self.frame.get_column(name))

    def _cells(self, rows: np.ndarray | None, names: list[Hashable], masked: dict[Hashable, Any]) -> list[Any]:
        return [masked[name] if name in masked else self.column(name).take(rows) for name in names]


class Pandas(Narwhals):
    """pandas: columns by position, and an index to keep."""

    library = "pandas"

    def built(self, rows: np.ndarray | None, names: list[Hashable], masked: dict[Hashable, Any], reset: bool) -> Any:
        places = np.array([self.names.index(name) for name in names])
        n = self.n if rows is None else rows.size
        index = sys.modules["pandas"].RangeIndex(n) if reset else fresh_column(self.native.index, rows)
        return pandas_frame(self._cells(rows, names, masked), fresh_column(self.native.columns, places), index)

    def index_note(self, withheld: bool) -> str | None:
        index = self.native.index
        if type(index).__name__ != "RangeIndex" or index.name is not None:
            return "The index of the table is published as it is and is not covered."
        return (
            "The index shows which records are withheld; number it anew before it is published." if withheld else None
        )


class Polars(Narwhals):
    """polars."""

    library = "polars"

    def built(self, rows: np.ndarray | None, names: list[Hashable], masked: dict[Hashable, Any], reset: bool) -> Any:
        return sys.modules["polars"].DataFrame(dict(zip(names, self._cells(rows, names, masked), strict=True)))


class Arrow(Narwhals):
    """pyarrow: fields keep whether they may be null."""

    library = "pyarrow"

    def column(self, name: Hashable) -> SeriesColumn:
        return SeriesColumn(self.frame.get_column(name), nullable=self.native.schema.field(name).nullable)

    def built(self, rows: np.ndarray | None, names: list[Hashable], masked: dict[Hashable, Any], reset: bool) -> Any:
        fields = [self.native.schema.field(name) for name in names]
        return arrow_table(fields, self._cells(rows, names, masked))


def frame_of(table: Any) -> Frame:
    """The table, whatever its library."""
    if isinstance(table, Mapping):
        return Dictionary(table)
    if nw.dependencies.is_pandas_like_dataframe(table):
        _no_duplicates(list(table.columns))
    elif nw.dependencies.is_pyarrow_table(table):
        _no_duplicates(table.column_names)
    try:
        frame = nw.from_native(table, pass_through=False)
    except TypeError as error:
        raise TypeMistake(f"table must be {KINDS}; got a {type(table).__name__}.") from error
    if not isinstance(frame, nw.DataFrame):
        raise TypeMistake(
            f"table must be {KINDS}; got a lazy {type(table).__name__}, collect it first (polars: table.collect())."
        )
    library = frame.implementation
    if library.is_pandas_like():
        return Pandas(table, frame, list(table.columns))
    return (Polars if library.is_polars() else Arrow)(frame.to_native(), frame, list(frame.columns))


def _no_duplicates(names: list[Any]) -> None:
    twice = sorted({str(name) for name in names if names.count(name) > 1})
    if twice:
        raise ValueMistake(f"table must have columns of different names; got more than one called {', '.join(twice)}.")
