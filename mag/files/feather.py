"""Feather, Arrow's file format, through polars."""

import pathlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mag.files._arrow import ROWS_PER_ARROW_BLOCK, Arrow
from mag.files._format import Meta
from mag.files._layout import Layout

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa


class Feather(Arrow):
    """Text is written cell after cell: polars' own layout would write the buffers that its views share."""

    def arrow_schema(self, path: pathlib.Path) -> "pa.Schema":
        import pyarrow as pa

        with pa.ipc.open_file(path) as file:
            return file.schema

    def stored(self, path: pathlib.Path, places: Sequence[int]) -> "pl.DataFrame":
        import polars as pl

        with path.open("rb") as file:  # a star in the name is not a pattern, and no file stays mapped
            return pl.read_ipc(file, columns=list(places))

    def batches(self, path: pathlib.Path, names: Sequence[str]) -> "Iterator[pa.Table]":
        import pyarrow as pa

        every = self.arrow_schema(path).names
        options = pa.ipc.IpcReadOptions(included_fields=[every.index(name) for name in names])
        with pa.ipc.open_file(path, options=options) as file:
            for place in range(file.num_record_batches):
                batch = pa.Table.from_batches([file.get_batch(place)])
                for first in range(0, batch.num_rows, ROWS_PER_ARROW_BLOCK):
                    yield batch.slice(first, ROWS_PER_ARROW_BLOCK)

    def write(
        self, frame: "pl.DataFrame", path: pathlib.Path, masked: Sequence[str], meta: Meta, layout: Layout
    ) -> None:
        import polars as pl

        frame.write_ipc(path, compat_level=pl.CompatLevel.oldest())


FORMAT = Feather(".arrow", ".feather", ".ipc")
