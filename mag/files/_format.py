"""The interface of a file format."""

import pathlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from mag.files._counts import Histogram, Sets, of_frame
from mag.files._exact import EVERYTHING, Holds, check_cells, check_stored
from mag.files._layout import Layout
from mag.files._understood import Strange

if TYPE_CHECKING:
    import polars as pl

Meta = dict[str, Any]  # content of a file besides cells that formats may share: labels, line ends


def columns_of(frame: Any, names: Sequence[str]) -> Any:
    """Columns of a polars frame; polars would read the names * and ^a$ as patterns."""
    import polars.selectors as cs

    return frame.select(cs.by_name(*names))


class Format:
    """A format by the endings of its files; a subclass implements reading and writing."""

    read_only = False
    text = False  # whether cells are text, and the options of `Layout` matter
    holds: Holds = EVERYTHING  # exactly
    missing_text = True  # whether missing text is another cell than empty text
    unit = "1ns"  # of moments; masked ones are rounded to it
    broken = "cannot be read: it is damaged, or of another format than its name says."

    def explain_broken(self, path: pathlib.Path, layout: Layout) -> str:
        """The reason why a table cannot be read."""
        return self.broken

    def refused(self, error: BaseException) -> str:
        """The reason why a table cannot be written; messages of libraries may quote cells."""
        return f"{self.endings[0]} cannot hold a column, or that many records."

    def __init__(self, *endings: str):
        self.endings = endings

    def schema(self, path: pathlib.Path) -> "dict[str, pl.DataType]":
        """The columns, in order, and how they are stored."""
        raise NotImplementedError

    def columns(self, path: pathlib.Path, names: Sequence[str]) -> "pl.DataFrame":
        """These columns, as they are stored."""
        raise NotImplementedError

    def names(self, path: pathlib.Path, layout: Layout) -> list[str]:
        """The columns, in order."""
        return list(self.schema(path))

    def numeric(self, path: pathlib.Path, layout: Layout) -> list[str]:
        """The columns that hold numbers."""
        return [name for name, kind in self.schema(path).items() if kind.is_numeric()]

    def read(
        self, path: pathlib.Path, numbers: Sequence[str], others: Sequence[str], layout: Layout
    ) -> "tuple[pl.DataFrame, Meta]":
        """Read the columns `numbers`, to compute with, and the columns `others`, unchanged, in their order."""
        both = {*numbers, *others}
        return self.columns(path, [name for name in self.names(path, layout) if name in both]), {}

    def blocks(
        self, path: pathlib.Path, numbers: Sequence[str], others: Sequence[str], layout: Layout
    ) -> "Iterator[pl.DataFrame]":
        """The same columns in blocks of records, one at least, all of the same types."""
        yield self.read(path, numbers, others, layout)[0]

    def understood(self, path: pathlib.Path, layout: Layout) -> "tuple[pl.DataFrame, dict[str, Strange]]":
        """All columns by type; of text files, also the cells that are not of the type of their column."""
        return self.columns(path, self.names(path, layout)), {}

    def fitted(self, frame: "pl.DataFrame", masked: Sequence[str]) -> "pl.DataFrame":
        """The table with its masked columns as the format counts them: moments in its unit, NaN as missing."""
        import polars.selectors as cs

        computed = cs.by_name(*masked, require_all=False)
        if self.unit != "1ns":
            frame = frame.with_columns((computed & cs.datetime()).dt.round(self.unit))
        if self.holds is not EVERYTHING and not self.text:
            frame = frame.with_columns((computed & cs.float()).fill_nan(None))
        return frame

    def check(self, frame: "pl.DataFrame", path: pathlib.Path, layout: Layout) -> None:
        """Refuse a table with names or cells that the format cannot hold exactly."""
        check_cells(frame, self.holds, path.name)

    def write(
        self, frame: "pl.DataFrame", path: pathlib.Path, masked: Sequence[str], meta: Meta, layout: Layout
    ) -> None:
        """Write a frame whose columns `masked` were computed."""
        raise NotImplementedError

    def counts(
        self, path: pathlib.Path, sets: Sets, layout: Layout, written: "pl.DataFrame | None" = None, name: str = ""
    ) -> list[Histogram]:
        """For each set of columns, the number of classes of equal records by size, in the file as it is.

        Cells that differ from those `written` are an error.
        """
        every = [*(column for columns in sets for column in columns), *([] if written is None else written.columns)]
        frame = self.columns(path, list(dict.fromkeys(every)))
        if written is not None and written.height == frame.height:
            check_stored(written, frame, name, self.missing_text)
        return [of_frame(frame, columns) for columns in sets]
