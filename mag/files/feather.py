"""Feather, Arrow's file format, through polars."""

import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mag.files._arrow import Arrow
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

    def write(
        self, frame: "pl.DataFrame", path: pathlib.Path, masked: Sequence[str], meta: Meta, layout: Layout
    ) -> None:
        import polars as pl

        frame.write_ipc(path, compat_level=pl.CompatLevel.oldest())


FORMAT = Feather(".arrow", ".feather", ".ipc")
