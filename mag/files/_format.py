"""What every format of a file can do."""

import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mag.files._counts import Histogram, of_frame
from mag.files._layout import Layout

if TYPE_CHECKING:
    import polars as pl

Meta = dict[str, Any]  # what a file holds besides cells, for a file that can hold it, too: labels, line ends


class Format:
    """A format by the endings of its files; a subclass says how to read and to write them."""

    text = False  # whether cells are text, and the options of `Layout` matter
    broken = "cannot be read: it is damaged, or of another format than its name says."

    def refused(self, error: Exception) -> str:
        """Why a table cannot be written; the words of libraries may quote cells."""
        return f"{self.endings[0]} cannot hold a column, or so many records"

    def __init__(self, *endings: str):
        self.endings = endings

    def schema(self, path: pathlib.Path) -> "dict[str, pl.DataType]":
        """The columns, in order, and how they are stored."""
        raise NotImplementedError

    def columns(self, path: pathlib.Path, wanted: Sequence[str]) -> "pl.DataFrame":
        """The wanted columns, as they are stored."""
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
        """The columns `numbers`, which are to be computed with, and the `others`, which are not, in their order."""
        wanted = {*numbers, *others}
        return self.columns(path, [name for name in self.names(path, layout) if name in wanted]), {}

    def write(
        self, frame: "pl.DataFrame", path: pathlib.Path, masked: Sequence[str], meta: Meta, layout: Layout
    ) -> None:
        """Write a frame whose columns `masked` were computed."""
        raise NotImplementedError

    def counts(self, path: pathlib.Path, sets: Sequence[Sequence[str]], layout: Layout) -> list[Histogram]:
        """For each set of columns, how many classes of records alike there are of each size, in the file as it is."""
        frame = self.columns(path, list(dict.fromkeys(name for columns in sets for name in columns)))
        return [of_frame(frame, columns) for columns in sets]
