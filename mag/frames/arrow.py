"""pyarrow, and pandas columns that are stored as Arrow."""

import sys
from collections.abc import Hashable
from typing import Any

import numpy as np

from mag._lib.dtypes import describe_dtype
from mag._lib.fresh import arrow_table
from mag.frames.base import Column, SeriesColumn, SeriesFrame, with_nan
from mag.frames.units import RefusedColumnError


class ArrowColumn(SeriesColumn):
    """A chunked array."""

    def __init__(self, series: Any, nullable: bool = True) -> None:
        super().__init__(series)
        self.nullable = nullable

    @property
    def dtype(self) -> Any:
        return self.native.type

    def own_kind(self) -> str | None:
        return kind_of(self.dtype)

    def decimal_scale(self) -> int:
        return self.dtype.scale

    def count_time(self, present: Any) -> np.ndarray:
        return count_time(present)

    def publish_cells(self, short: Any, labels: np.ndarray, missing: np.ndarray | None) -> Any:
        pyarrow = sys.modules["pyarrow"]
        cells = short_array(short, self.dtype)
        if missing is not None and self.series.dtype.is_float() and not self.native.null_count:
            cells = pyarrow.concat_arrays([cells, pyarrow.array([np.nan], type=cells.type)])
            labels, missing = with_nan(labels, missing, len(cells)), None
        return cells.take(pyarrow.array(labels, mask=missing))

    def take(self, rows: np.ndarray | None, blank: np.ndarray | None = None) -> Any:
        if blank is not None and not self.nullable:
            raise RefusedColumnError(f"{describe_dtype(self.dtype)} and not nullable")
        return super().take(rows, blank)

    def wrap(self, cells: Any, rows: np.ndarray | None, reset: bool) -> Any:
        pyarrow = sys.modules["pyarrow"]
        return cells if isinstance(cells, pyarrow.ChunkedArray) else pyarrow.chunked_array([cells])

    def exact_cells(self) -> list[Any]:
        return exact_cells(self.native)

    def own_codes(self) -> np.ndarray | None:
        return codes_of(self.native)


class ArrowFrame(SeriesFrame):
    """A table; fields keep whether they may be null."""

    library = "pyarrow"
    column_type = ArrowColumn

    def make_column(self, name: Hashable) -> Column:
        return ArrowColumn(self.frame.get_column(name), nullable=self.native.schema.field(name).nullable)

    def build(self, rows: np.ndarray | None, names: list[Hashable], masked: dict[Hashable, Any], reset: bool) -> Any:
        cells = self.cells(rows, names, masked)
        fields = [self.native.schema.field(name) for name in names]
        typed = [field.with_type(own.type) for field, own in zip(fields, cells, strict=True)]  # numbers may be text now
        return arrow_table(typed, cells)


def kind_of(dtype: Any) -> str | None:
    """Types that narwhals does not name."""
    types = sys.modules["pyarrow"].types
    return "decimal" if types.is_decimal(dtype) else "date" if types.is_date(dtype) else None


def count_time(array: Any) -> np.ndarray:
    """Dates and times as integers; dates of any width in days."""
    pyarrow = sys.modules["pyarrow"]
    if pyarrow.types.is_date(array.type):
        array = array.cast(pyarrow.date32()).cast(pyarrow.int32())
    return array.cast(pyarrow.int64()).to_numpy()


def short_array(values: Any, dtype: Any) -> Any:
    """A few cells of this type."""
    pyarrow = sys.modules["pyarrow"]
    if isinstance(values, list):
        return pyarrow.array(values, type=dtype)
    if pyarrow.types.is_date(dtype):
        return pyarrow.array(values.astype(np.int32)).cast(pyarrow.date32()).cast(dtype)
    if pyarrow.types.is_floating(dtype):
        values = values.astype(dtype.to_pandas_dtype())
    return pyarrow.array(values).cast(dtype)


def exact_cells(array: Any) -> list[Any]:
    """Python objects without a loss."""
    return array.cast(countable(array.type)).to_pylist()


def countable(dtype: Any) -> Any:
    """The type with integers for dates and times, within lists and structures too."""
    pyarrow = sys.modules["pyarrow"]
    types = pyarrow.types
    if types.is_struct(dtype):
        return pyarrow.struct([(dtype.field(i).name, countable(dtype.field(i).type)) for i in range(dtype.num_fields)])
    if types.is_fixed_size_list(dtype):
        return pyarrow.list_(countable(dtype.value_type), dtype.list_size)
    if types.is_list(dtype) or types.is_large_list(dtype):
        return (pyarrow.list_ if types.is_list(dtype) else pyarrow.large_list)(countable(dtype.value_type))
    if types.is_map(dtype):
        return pyarrow.list_(countable(dtype.field(0).type))
    if types.is_dictionary(dtype):
        return countable(dtype.value_type)
    if types.is_timestamp(dtype) or types.is_duration(dtype) or types.is_time(dtype) or types.is_date(dtype):
        return pyarrow.int64() if dtype.bit_width == 64 else pyarrow.int32()
    return dtype


def codes_of(array: Any) -> np.ndarray | None:
    """Number the cells, equal cells alike; None if Arrow cannot compare them."""
    pyarrow = sys.modules["pyarrow"]
    types = pyarrow.types
    if isinstance(array.type, pyarrow.BaseExtensionType):
        chunks = [chunk.storage for chunk in array.chunks]
        return codes_of(pyarrow.chunked_array(chunks, array.type.storage_type))
    if types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    narrow = types.is_decimal(array.type) and array.type.bit_width < 128  # Arrow cannot encode these
    if types.is_nested(array.type) or types.is_null(array.type) or narrow:
        return None
    encoded = array.combine_chunks().dictionary_encode(null_encoding="encode")
    if isinstance(encoded, pyarrow.ChunkedArray):
        encoded = encoded.combine_chunks()
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
