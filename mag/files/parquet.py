"""Apache Parquet, by polars."""

import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mag.files._arrow import Arrow
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

    def write(
        self, frame: "pl.DataFrame", path: pathlib.Path, masked: Sequence[str], meta: Meta, layout: Layout
    ) -> None:
        frame.write_parquet(path)


FORMAT = Parquet(".parquet", ".pq")
