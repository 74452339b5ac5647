"""Shared by Parquet and Feather: the types of Arrow, some of which polars does not support."""

import pathlib
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from mag._lib.dtypes import describe_dtype
from mag._lib.errors import InputValueError
from mag.files._counts import Histogram, Sets, add_blocks, count_rows
from mag.files._format import Format
from mag.files._layout import Layout

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

ROWS_PER_ARROW_BLOCK = 2**18
UNSUPPORTED_TYPES = ("decimal256", "month", "day_time", "union", "sparse_union", "dense_union", "run_end")


class Arrow(Format):
    """Values are as they are stored; nothing that a file holds besides them is read."""

    def arrow_schema(self, path: pathlib.Path) -> "pa.Schema":
        """The types of the columns, as pyarrow names them."""
        raise NotImplementedError

    def schema(self, path: pathlib.Path) -> "dict[str, pl.DataType]":
        import polars as pl

        types = self._types(path)
        return dict(pl.DataFrame(types.empty_table()).schema) | dict.fromkeys(_days(types), pl.Date())

    def columns(self, path: pathlib.Path, names: Sequence[str]) -> "pl.DataFrame":
        import polars as pl

        types = self._types(path)
        frame = self.stored(path, [types.names.index(name) for name in names])
        days = [name for name in _days(types) if name in names]
        dates = frame.with_columns([frame[name].cast(pl.Date) for name in days])
        broken = [name for name in days if not frame[name].equals(dates[name].cast(frame[name].dtype))]
        if broken:
            raise InputValueError(f"{path.name!r}: {', '.join(map(repr, broken))} must hold whole days, as dates do.")
        return dates

    def stored(self, path: pathlib.Path, places: Sequence[int]) -> "pl.DataFrame":
        """The columns at these places, as polars reads them: a name like ^a$ would be a pattern to it."""
        raise NotImplementedError

    def batches(self, path: pathlib.Path, names: Sequence[str]) -> "Iterator[pa.Table]":
        """These columns, block by block."""
        raise NotImplementedError

    def blocks(
        self, path: pathlib.Path, numbers: Sequence[str], others: Sequence[str], layout: Layout
    ) -> "Iterator[pl.DataFrame]":
        import polars as pl

        types = self._types(path)
        names = [name for name in types.names if name in {*numbers, *others}]
        if any(not _is_plain(types.field(name).type) for name in names):
            yield from super().blocks(path, numbers, others, layout)
            return
        empty = types.empty_table().select(names)
        for block in chain(self.batches(path, names), [empty]):
            yield pl.DataFrame(block.select(names))

    def counts(
        self, path: pathlib.Path, sets: Sets, layout: Layout, written: "pl.DataFrame | None" = None, name: str = ""
    ) -> list[Histogram]:
        """Without a table to compare with, block by block, by hashes."""
        if written is not None:
            return super().counts(path, sets, layout, written, name)
        self._types(path)
        names = list(dict.fromkeys(column for columns in sets for column in columns))
        return add_blocks((count_rows(block, sets) for block in self.batches(path, names)), len(sets))

    def _types(self, path: pathlib.Path) -> "pa.Schema":
        types = self.arrow_schema(path)
        unknown = [
            f"{field.name!r} is {describe_dtype(field.type)}"
            for field in types
            if str(field.type).startswith(UNSUPPORTED_TYPES)
        ]
        if unknown:
            raise InputValueError(
                f"{path.name!r} has columns of types that cannot be read: {', '.join(unknown)}; write the file without "
                "them, or with another type (decimal128 for decimals)."
            )
        return types


def _is_plain(kind: "pa.DataType") -> bool:
    """Whether blocks of such a column have one type in polars: codes of categories and nested cells may not."""
    import pyarrow as pa

    kinds = pa.types
    texts = kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_string_view(kind)
    times = kinds.is_date32(kind) or kinds.is_timestamp(kind)
    numbers = kinds.is_integer(kind) or kinds.is_float32(kind) or kinds.is_float64(kind) or kinds.is_boolean(kind)
    return bool(texts or times or numbers)


def _days(types: "pa.Schema") -> list[str]:
    """The date columns; polars would read those in milliseconds as moments."""
    return [field.name for field in types if str(field.type).startswith("date")]
