"""A column of a frame: pandas, polars and pyarrow through narwhals, and what each does its own way."""

import sys
from typing import Any

import narwhals
import numpy as np

from mag._lib import arrays
from mag._lib.errors import ValueMistake
from mag._lib.fresh import fresh_column
from mag.frames.cells import (
    SECONDS,
    ArrayColumn,
    Objects,
    Refused,
    Units,
    bit_codes,
    narrowed,
    object_codes,
    placed,
    refusal,
    scaled,
    some,
    unscaled,
    widened,
)


class SeriesColumn:
    """A column of a frame, through narwhals."""

    def __init__(self, series: Any, nullable: bool = True) -> None:
        self.series, self.native, self.nullable = series, series.to_native(), nullable
        self.library = _LIBRARIES[_kind(series.implementation)]

    def __len__(self) -> int:
        return len(self.series)

    @property
    def kind(self) -> str:
        """What it holds, as far as masking cares."""
        nw, dtype = narwhals, self.series.dtype
        kinds = {nw.Date: "date", nw.Datetime: "datetime", nw.Decimal: "decimal", nw.Duration: "duration"}
        kinds |= {nw.Object: "object", nw.Boolean: "booleans", nw.String: "strings", nw.Binary: "bytes"}
        kinds |= {nw.Categorical: "categories", nw.Enum: "categories"}
        known = next((name for kind, name in kinds.items() if dtype == kind), None)
        found = "integer" if dtype.is_integer() else "float" if dtype.is_float() else known
        return found or self.library.kind(self.native) or str(getattr(self.native, "dtype", None) or self.native.type)

    def units(self) -> Units:
        """Exact numbers, or `Refused`."""
        kind = self.kind
        if kind == "object":
            return self._objects.units()
        if kind not in ("integer", "float", "decimal", "date", "datetime", "duration"):
            raise Refused(refusal(kind))
        gone = self.series.is_null()
        if kind == "float":
            gone = gone | self.series.is_nan().fill_null(True)
        missing = some(np.asarray(gone.to_numpy(), bool))
        present = self.series if missing is None else self.series.filter(~gone)
        if kind == "decimal":
            scale = self.library.scale(self.native)
            return Units(placed(self.library.unscaled(present, scale), missing), missing, "number", 10.0**-scale)
        if kind in ("date", "datetime", "duration"):
            unit = "D" if kind == "date" else self.series.dtype.time_unit
            counts = self.library.counts(present.to_native())
            return Units(placed(counts, missing), missing, "datetime" if kind == "date" else kind, SECONDS[unit])
        wide = self.series.dtype in (narwhals.Int128, narwhals.UInt128)
        numbers = np.array([*present.to_list(), None], object)[:-1] if wide else present.to_numpy()
        return Units(
            placed(narrowed(numbers.tolist()) if numbers.dtype == object else widened(numbers), missing),
            missing,
            "number",
        )

    @property
    def _objects(self) -> Objects:
        return Objects(self.series.to_list())

    def publish(self, representatives: np.ndarray, labels: np.ndarray, missing: np.ndarray | None) -> Any:
        """Every record's representative, in the column's dtype."""
        kind = self.kind
        if kind == "object":
            return self._objects.published(representatives, labels, missing)
        short: Any = representatives
        if kind == "decimal":
            scale = self.library.scale(self.native)
            short = [scaled(number, scale) for number in representatives.tolist()]
        elif representatives.dtype == object:
            short = representatives.tolist()
        return self.library.publish(self, short, labels, missing)

    def take(self, rows: np.ndarray | None, blank: np.ndarray | None = None) -> Any:
        """Some records' cells, blank ones missing."""
        if blank is not None and not self.nullable:
            raise Refused(f"{self.series.dtype} and not nullable")
        if isinstance(getattr(self.native, "dtype", None), np.dtype):
            return ArrayColumn(self.native.to_numpy()).take(rows, blank)
        return fresh_column(self.native.array if self.library is _Pandas else self.native, rows, blank)

    def wrapped(self, cells: Any, rows: np.ndarray | None, reset: bool) -> Any:
        """What stands for the column in a dictionary; `reset` numbers the index of a pandas series anew."""
        return self.library.wrapped(self.native, cells, rows, reset)

    def cells(self) -> list[Any]:
        """Python's own objects."""
        return self.series.to_list()

    def codes(self) -> np.ndarray:
        """Equal cells share a number."""
        kind = self.kind
        if isinstance(self.native.dtype if hasattr(self.native, "dtype") else None, np.dtype) and kind != "object":
            return ArrayColumn(self.native.to_numpy()).codes()  # pandas: NaN by its bits
        if kind == "float":
            null = np.asarray(self.series.is_null().to_numpy(), bool)
            numbers = np.asarray(self.series.fill_null(0.0).to_numpy())
            return np.where(null, 0, 1 + bit_codes(numbers))
        if kind in ("integer", "date", "datetime", "duration"):
            units = self.units()
            codes = 1 + np.unique(units.values, return_inverse=True)[1].astype(np.int64)
            return codes if units.missing is None else np.where(units.missing, 0, codes)
        found = self.library.codes(self.native)
        return object_codes(self.library.counted(self.native)) if found is None else found


def _kind(library: Any) -> str:
    if library.is_pandas_like():
        return "pandas"
    return "polars" if library.is_polars() else "pyarrow"


def _counted(present: Any, scale: int) -> np.ndarray:
    return narrowed([unscaled(cell, scale) for cell in present.to_list()])


class _Pandas:
    """What pandas does its own way."""

    @staticmethod
    def wrapped(native: Any, cells: Any, rows: np.ndarray | None, reset: bool) -> Any:
        """A series of these cells."""
        index = None if reset else fresh_column(native.index, rows)
        return sys.modules["pandas"].Series(cells, index, cells.dtype, native.name)

    unscaled = staticmethod(_counted)

    @staticmethod
    def kind(native: Any) -> str | None:
        return _Arrow.kind_of(native.dtype.pyarrow_dtype) if hasattr(native.dtype, "pyarrow_dtype") else None

    @staticmethod
    def scale(native: Any) -> int:
        return native.dtype.pyarrow_dtype.scale

    @staticmethod
    def counts(native: Any) -> np.ndarray:
        """Dates and times as integers."""
        if hasattr(native.dtype, "pyarrow_dtype"):
            return _Arrow.counts(native.array.__arrow_array__())
        return native.astype(np.int64).to_numpy()

    @staticmethod
    def publish(column: SeriesColumn, short: Any, labels: np.ndarray, missing: np.ndarray | None) -> Any:
        pandas = sys.modules["pandas"]
        dtype = column.native.dtype
        if isinstance(dtype, np.dtype):
            cells = ArrayColumn(np.empty(0, dtype))
            return cells.publish(short, labels, missing)
        if hasattr(dtype, "pyarrow_dtype"):
            taken = _Arrow.short(short, dtype.pyarrow_dtype)
            index = sys.modules["pyarrow"].array(labels, mask=missing)
            return pandas.arrays.ArrowExtensionArray(taken.take(index))
        made = pandas.Series(short).astype(dtype).array
        return fresh_column(made, labels, missing)

    @staticmethod
    def counted(native: Any) -> list[Any]:
        """Python objects without a loss: dates and times as integers, since Python knows no nanoseconds."""
        if hasattr(native.dtype, "pyarrow_dtype"):
            return _Arrow.counted(sys.modules["pyarrow"].chunked_array(native.array.__arrow_array__()))
        return native.tolist()

    @staticmethod
    def codes(native: Any) -> np.ndarray | None:
        pandas = sys.modules["pandas"]
        if native.dtype == object and pandas.api.types.infer_dtype(native, skipna=False) != "string":
            return None
        if hasattr(native.dtype, "pyarrow_dtype"):
            return _Arrow.codes(sys.modules["pyarrow"].chunked_array(native.array.__arrow_array__()))
        return pandas.factorize(native)[0].astype(np.int64) + 1


class _Polars:
    """What polars does its own way."""

    @staticmethod
    def wrapped(native: Any, cells: Any, rows: np.ndarray | None, reset: bool) -> Any:
        """A series of these cells."""
        return cells

    @staticmethod
    def kind(native: Any) -> str | None:
        return None

    @staticmethod
    def scale(native: Any) -> int:
        return native.dtype.scale

    @staticmethod
    def counts(native: Any) -> np.ndarray:
        """Dates and times as integers."""
        return native.to_physical().cast(sys.modules["polars"].Int64).to_numpy()

    @staticmethod
    def unscaled(present: Any, scale: int) -> np.ndarray:
        """Decimals as integers."""
        polars, physical = sys.modules["polars"], present.to_native().to_physical()
        if physical.is_between(-(2**63), 2**63 - 1).all():
            return physical.cast(polars.Int64).to_numpy()
        return narrowed(physical.to_list())

    @staticmethod
    def publish(column: SeriesColumn, short: Any, labels: np.ndarray, missing: np.ndarray | None) -> Any:
        polars = sys.modules["polars"]
        dtype = column.native.dtype
        if isinstance(short, list):
            made = polars.Series(column.native.name, short, dtype=dtype)
        else:
            made = polars.Series(column.native.name, short).cast(dtype)
        if missing is not None and column.series.dtype.is_float() and not column.native.has_nulls():
            made, labels, missing = (
                made.append(polars.Series([np.nan], dtype=dtype)),
                _last(labels, missing, len(made)),
                None,
            )
        return fresh_column(made, labels, missing)

    @staticmethod
    def counted(native: Any) -> list[Any]:
        """Python objects without a loss."""
        return native.to_list() if native.dtype == sys.modules["polars"].Object else native.to_physical().to_list()

    @staticmethod
    def codes(native: Any) -> np.ndarray | None:
        polars = sys.modules["polars"]
        if native.dtype == polars.String:
            native = native.cast(polars.Categorical)
        if isinstance(native.dtype, (polars.Categorical, polars.Enum)) or native.dtype == polars.Boolean:
            found = native.to_physical().cast(polars.Int64).fill_null(-1).to_numpy()
            return found + 1
        return None


def _last(labels: np.ndarray, missing: np.ndarray, count: int) -> np.ndarray:
    return np.where(missing, count - 1, labels)


class _Arrow:
    """What pyarrow does its own way."""

    @staticmethod
    def wrapped(native: Any, cells: Any, rows: np.ndarray | None, reset: bool) -> Any:
        """A chunked array of these cells."""
        pyarrow = sys.modules["pyarrow"]
        return cells if isinstance(cells, pyarrow.ChunkedArray) else pyarrow.chunked_array([cells])

    unscaled = staticmethod(_counted)

    @staticmethod
    def kind(native: Any) -> str | None:
        return _Arrow.kind_of(native.type)

    @staticmethod
    def kind_of(dtype: Any) -> str | None:
        """Types that narwhals does not name."""
        types = sys.modules["pyarrow"].types
        return "decimal" if types.is_decimal(dtype) else "date" if types.is_date(dtype) else None

    @staticmethod
    def scale(native: Any) -> int:
        return native.type.scale

    @staticmethod
    def counts(native: Any) -> np.ndarray:
        """Dates and times as integers; dates of any width in days."""
        pyarrow = sys.modules["pyarrow"]
        if pyarrow.types.is_date(native.type):
            native = native.cast(pyarrow.date32()).cast(pyarrow.int32())
        return native.cast(pyarrow.int64()).to_numpy()

    @staticmethod
    def short(values: Any, kind: Any) -> Any:
        pyarrow = sys.modules["pyarrow"]
        if isinstance(values, list):
            return pyarrow.array(values, type=kind)
        if pyarrow.types.is_date(kind):
            return pyarrow.array(values.astype(np.int32)).cast(pyarrow.date32()).cast(kind)
        if pyarrow.types.is_floating(kind):
            values = values.astype(kind.to_pandas_dtype())
        return pyarrow.array(values).cast(kind)

    @staticmethod
    def publish(column: SeriesColumn, short: Any, labels: np.ndarray, missing: np.ndarray | None) -> Any:
        pyarrow = sys.modules["pyarrow"]
        made = _Arrow.short(short, column.native.type)
        if missing is not None and column.series.dtype.is_float() and not column.native.null_count:
            made = pyarrow.concat_arrays([made, pyarrow.array([np.nan], type=made.type)])
            labels, missing = _last(labels, missing, len(made)), None
        return made.take(pyarrow.array(labels, mask=missing))

    @staticmethod
    def counted(native: Any) -> list[Any]:
        """Python objects without a loss."""
        return native.cast(_Arrow.countable(native.type)).to_pylist()

    @staticmethod
    def countable(dtype: Any) -> Any:
        """The type with integers for dates and times, within lists and structures too."""
        pyarrow = sys.modules["pyarrow"]
        types, of = pyarrow.types, _Arrow.countable
        if types.is_struct(dtype):
            return pyarrow.struct([(dtype.field(i).name, of(dtype.field(i).type)) for i in range(dtype.num_fields)])
        if types.is_fixed_size_list(dtype):
            return pyarrow.list_(of(dtype.value_type), dtype.list_size)
        if types.is_list(dtype) or types.is_large_list(dtype):
            return (pyarrow.list_ if types.is_list(dtype) else pyarrow.large_list)(of(dtype.value_type))
        if types.is_dictionary(dtype):
            return of(dtype.value_type)
        if types.is_timestamp(dtype) or types.is_duration(dtype) or types.is_time(dtype) or types.is_date(dtype):
            return pyarrow.int64() if dtype.bit_width == 64 else pyarrow.int32()
        return dtype

    @staticmethod
    def codes(native: Any) -> np.ndarray | None:
        pyarrow = sys.modules["pyarrow"]
        types = pyarrow.types
        if isinstance(native.type, pyarrow.BaseExtensionType):
            chunks = [chunk.storage for chunk in native.chunks]
            return _Arrow.codes(pyarrow.chunked_array(chunks, native.type.storage_type))
        if types.is_dictionary(native.type):
            native = native.cast(native.type.value_type)
        narrow = types.is_decimal(native.type) and native.type.bit_width < 128  # which Arrow cannot encode
        if types.is_nested(native.type) or types.is_null(native.type) or narrow:
            return None
        native = native.combine_chunks()
        encoded = native.dictionary_encode(null_encoding="encode")
        if isinstance(encoded, pyarrow.ChunkedArray):
            encoded = encoded.combine_chunks()
        return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)


_LIBRARIES: dict[str, Any] = {"pandas": _Pandas, "polars": _Polars, "pyarrow": _Arrow}


def column_of(option: str, cells: Any) -> ArrayColumn | SeriesColumn:
    """A column of a dictionary: a series of a frame library, or an array."""
    if narwhals.dependencies.is_into_series(cells):
        return SeriesColumn(narwhals.from_native(cells, series_only=True))
    array, home = arrays.read(option, cells)
    if array.ndim != 1:
        raise ValueMistake(f"{option} must have one dimension; got an array of shape {array.shape}.")
    return ArrayColumn(array, home)
