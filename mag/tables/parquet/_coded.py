"""A Parquet file in which codes of some columns are missing cells, as `mag mask --null` declares them."""

import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mag.files import Layout, blank_codes
from mag.tables.parquet._source import ParquetSource


class CodedFile(ParquetSource):
    """The file with the layout's codes of these columns as null.

    Its manifest holds `text`, the options that say so.
    """

    def __init__(self, path: pathlib.Path, layout: Layout, columns: Sequence[str], text: Mapping[str, Any]) -> None:
        super().__init__(path)
        self.layout, self.text = layout, text
        self.coded = [name for name in columns if layout.codes(name)]
        for name in self.coded:
            place = self.schema.get_field_index(name)
            self.schema = self.schema.set(place, self.schema.field(place).with_nullable(True))

    def _stored_tables(self, names: Sequence[str]) -> Iterator[Any]:
        for table in super()._stored_tables(names):
            for name in [name for name in names if name in self.coded]:
                place = table.schema.get_field_index(name)
                cells = _blank(table.column(place), name, self.layout)
                table = table.set_column(place, table.schema.field(place), cells)
            yield table


def _blank(column: Any, name: str, layout: Layout) -> Any:
    """The column with its codes as null, in its own type."""
    import polars as pl
    import pyarrow as pa
    import pyarrow.compute as pc

    blanked = blank_codes(pl.Series(name, column), layout)
    return pc.if_else(blanked.is_null().to_arrow(), pa.scalar(None, column.type), column)
