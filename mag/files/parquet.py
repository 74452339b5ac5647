"""Apache Parquet, by polars."""

import pathlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mag.files._arrow import ROWS_PER_ARROW_BLOCK, Arrow
from mag.files._format import Meta
from mag.files._layout import Layout

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa


class Parquet(Arrow):
    """Values are as they are stored."""

    def arrow_schema(self, path: pathlib.Path) -> "pa.Schema":
        import pyarrow.parquet as pq

        return pq.read_schema(path)

    def stored(self, path: pathlib.Path, places: Sequence[int]) -> "pl.DataFrame":
        import polars as pl

        return pl.read_parquet(path, columns=list(places), glob=False)

    def batches(self, path: pathlib.Path, names: Sequence[str]) -> "Iterator[pa.Table]":
        import pyarrow as pa
        import pyarrow.parquet as pq

        with pq.ParquetFile(path, pre_buffer=False) as file:
            for batch in file.iter_batches(ROWS_PER_ARROW_BLOCK, columns=list(names)):
                yield pa.Table.from_batches([batch])

    def write(
        self, frame: "pl.DataFrame", path: pathlib.Path, masked: Sequence[str], meta: Meta, layout: Layout
    ) -> None:
        frame.write_parquet(path)


FORMAT = Parquet(".parquet", ".pq")
