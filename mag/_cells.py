"""One column of a table: in as exact numbers, out in its own dtype.

Integers, dates, times and decimals become integers that count the column's own unit (a day, a microsecond, a cent), so
nothing is rounded on the way in, and what goes out is the column's own dtype again.  A masked column is a short column
of representatives, made once, from which every record takes its group's: equal records get equal bytes.
"""

import datetime
import decimal
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from mag import _arrays

EPOCH = datetime.date(1970, 1, 1).toordinal()
SECONDS = {"D": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
ALLOWED = "integers, floats, decimals, dates, times or durations"


@dataclass(frozen=True)
class Units:
    """The numbers of a column: float64, 64-bit integers or Python's own; `step` is what 1 is worth to a reader."""

    values: np.ndarray  # 0 where missing
    missing: np.ndarray | None
    kind: str  # "number", "datetime" or "duration"
    step: float = 1.0

    @property
    def whole(self) -> bool:
        """Whether only integers can be published."""
        return self.values.dtype.kind != "f"

    def floats(self) -> np.ndarray:
        """What a reader sees, as float64; NaN where missing."""
        seen = self.values.astype(np.float64)
        if self.step != 1.0:
            seen *= self.step
        if self.missing is not None:
            seen[self.missing] = np.nan
        return seen


class Refused(TypeError):  # noqa: N818 - says what happened
    """A column of a kind that cannot be averaged."""


def narrowed(numbers: list[int]) -> np.ndarray:
    """Python's integers in 64 bits if they fit."""
    low, high = min(numbers, default=0), max(numbers, default=0)
    if low >= -(2**63) and high < 2**63:
        return np.array(numbers, np.int64)
    if low >= 0 and high < 2**64:
        return np.array(numbers, np.uint64)
    return np.array([*numbers, None], object)[:-1]  # never looked at by NumPy


def widened(values: np.ndarray) -> np.ndarray:
    """Numbers in the few dtypes that the arithmetic knows."""
    if values.dtype.kind == "f":
        return values.astype(np.float64, copy=False)
    return values.astype(np.uint64 if values.dtype.kind == "u" else np.int64, copy=False)


def _placed(present: np.ndarray, missing: np.ndarray | None) -> np.ndarray:
    """Present values where they belong, 0 elsewhere."""
    if missing is None:
        return present
    values = np.zeros(missing.size, present.dtype)
    values[~missing] = present
    return values


def _some(missing: np.ndarray) -> np.ndarray | None:
    return missing if missing.any() else None


# ---- Python objects in a column


def is_missing(value: Any) -> bool:
    """None, NaN of any kind, NaT, pandas.NA."""
    if value is None:
        return True
    if isinstance(value, decimal.Decimal):
        return value.is_nan()
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas.NA does not say
        return type(value).__name__ == "NAType"


class Objects:
    """Decimals, dates or integers of Python."""

    def __init__(self, cells: list[Any]) -> None:
        missing = np.fromiter(map(is_missing, cells), bool, len(cells))
        self.missing = _some(missing)
        self.blank = cells[int(np.argmax(missing))] if missing.any() else None  # one marker for all that is missing
        self.present = [cell for cell, gone in zip(cells, missing.tolist(), strict=True) if not gone]
        kinds = {type(cell) for cell in self.present}
        if len(kinds) != 1 or not kinds <= {decimal.Decimal, datetime.date, int}:
            listed = ", ".join(sorted(kind.__name__ for kind in kinds)) or "nothing"
            raise Refused(f"Python objects ({listed}), where {ALLOWED} are allowed; convert them first.")
        (self.kind,) = kinds
        self.scale = 0
        if self.kind is decimal.Decimal:
            if not all(cell.is_finite() for cell in self.present):
                count = sum(not cell.is_finite() for cell in self.present)
                raise ValueError(f"{count} infinite decimals; drop or replace them first.")
            self.scale = max(-int(cell.as_tuple().exponent) for cell in self.present)

    def units(self) -> Units:
        if self.kind is datetime.date:
            days = narrowed([cell.toordinal() - EPOCH for cell in self.present])
            return Units(_placed(days, self.missing), self.missing, "datetime", SECONDS["D"])
        if self.kind is int:
            return Units(_placed(narrowed(self.present), self.missing), self.missing, "number")
        numbers = narrowed([unscaled(cell, self.scale) for cell in self.present])
        return Units(_placed(numbers, self.missing), self.missing, "number", 10.0**-self.scale)

    def published(self, representatives: np.ndarray, labels: np.ndarray, missing: np.ndarray | None) -> np.ndarray:
        """Objects of these units, one for each record."""
        numbers = representatives.tolist()
        if self.kind is datetime.date:
            numbers = [datetime.date.fromordinal(number + EPOCH) for number in numbers]
        elif self.kind is decimal.Decimal:
            numbers = [scaled(number, self.scale) for number in numbers]
        cells = np.array([*numbers, None], object)[labels]
        if missing is not None:
            cells[missing] = self.blank
        return cells


def unscaled(value: decimal.Decimal, scale: int) -> int:
    """The integer `value` · 10**scale."""
    sign, digits, exponent = value.as_tuple()
    number = int("".join(map(str, digits)) or "0") * 10 ** (int(exponent) + scale)
    return -number if sign else number


def scaled(number: int, scale: int) -> decimal.Decimal:
    """`number` / 10**scale, exactly; with as many digits behind the point as scale says."""
    return decimal.Decimal((int(number < 0), tuple(map(int, str(abs(number)))), -scale))


# ---- columns


class ArrayColumn:
    """A column of a dictionary: an array of any library, or a list."""

    def __init__(self, array: np.ndarray, home: Any = None) -> None:
        self.array, self.home = array, home

    def __len__(self) -> int:
        return len(self.array)

    @property
    def is_object(self) -> bool:
        return self.array.dtype.kind == "O"

    def units(self) -> Units:
        """Exact numbers, or `Refused`."""
        array = self.array
        if self.is_object:
            return self._objects.units()
        if array.dtype.kind in "iu":
            return Units(widened(array), None, "number")
        if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
            missing = _some(np.isnan(array))
            return Units(widened(array if missing is None else np.where(missing, 0, array)), missing, "number")
        if array.dtype.kind in "Mm":
            unit, many = np.datetime_data(array.dtype)
            if unit in SECONDS:
                missing = _some(np.isnat(array))
                counts = array.view(np.int64)
                kind = "datetime" if array.dtype.kind == "M" else "duration"
                values = counts if missing is None else np.where(missing, 0, counts)
                return Units(values, missing, kind, SECONDS[unit] * many)
        raise Refused(_advice({"b": "booleans", "U": "strings", "S": "bytes", "T": "strings"}, array.dtype))

    @property
    def _objects(self) -> Objects:
        return Objects(self.array.tolist())

    def publish(self, representatives: np.ndarray, labels: np.ndarray, missing: np.ndarray | None) -> Any:
        """Every record's representative, in the column's dtype."""
        if self.is_object:
            return self._objects.published(representatives, labels, missing)
        if self.array.dtype.kind in "Mm":
            short = representatives.astype(np.int64).view(self.array.dtype)
        else:
            short = representatives.astype(self.array.dtype)
        return self.out(blanked(short[labels], missing))

    def out(self, array: np.ndarray) -> Any:
        return array if self.home is None else self.home(array)

    def take(self, rows: np.ndarray | None, blank: np.ndarray | None = None) -> Any:
        """Some records' cells, blank ones missing."""
        if blank is None:
            return self.out(self.array if rows is None else self.array[rows])
        if self.array.dtype.kind not in "fMmO":
            raise Refused(f"{self.array.dtype.name}, which cannot hold missing values")
        return self.out(blanked(self.array.copy() if rows is None else self.array[rows], blank))

    def cells(self) -> list[Any]:
        """Python's own objects."""
        return self.array.tolist()

    def codes(self) -> np.ndarray:
        """Equal cells share a number."""
        if self.is_object:
            return object_codes(self.array.tolist())
        if self.array.dtype.kind in "USTV":
            return np.unique(self.array, return_inverse=True)[1].astype(np.int64)
        return bit_codes(self.array)


def blanked(array: np.ndarray, missing: np.ndarray | None) -> np.ndarray:
    """The array itself, with nothing in missing cells."""
    if missing is not None:
        blank = {"O": None, "f": np.nan}.get(array.dtype.kind, "NaT")
        array[missing] = blank
    return array


def _advice(names: dict[str, str], dtype: Any) -> str:
    what = names.get(dtype.kind, str(dtype))
    return refusal(what)


def refusal(what: str) -> str:
    """Why a column of this kind cannot be masked."""
    if what == "booleans":
        return "booleans, whose mean is no boolean; cast the column to integers or floats, or put it into by="
    return f"{what}, where {ALLOWED} are allowed; put it into by=, keep= or drop="


def object_codes(cells: list[Any]) -> np.ndarray:
    """Python objects that print alike and are of one type share a number."""
    seen: dict[Any, int] = {}
    return np.array([seen.setdefault((type(cell), repr(cell)), len(seen)) for cell in cells], np.int64)


def bit_codes(array: np.ndarray) -> np.ndarray:
    """Numbers of equal bits share a number: −0.0 is not 0.0, and one NaN may not be another."""
    bits = np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")
    return np.unique(bits, return_inverse=True)[1].astype(np.int64)


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
        import narwhals as nw

        dtype = self.series.dtype
        kinds = {nw.Date: "date", nw.Datetime: "datetime", nw.Decimal: "decimal", nw.Duration: "duration"}
        kinds |= {nw.Object: "object", nw.Boolean: "booleans", nw.String: "strings", nw.Binary: "bytes"}
        kinds |= {nw.Categorical: "categories", nw.Enum: "categories"}
        found = "integer" if dtype.is_integer() else "float" if dtype.is_float() else kinds.get(type(dtype))
        return found or self.library.kind(self.native) or str(dtype)

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
        missing = _some(np.asarray(gone.to_numpy(), bool))
        present = self.series if missing is None else self.series.filter(~gone)
        if kind == "decimal":
            scale = self.library.scale(self.native)
            return Units(_placed(self.library.unscaled(present, scale), missing), missing, "number", 10.0**-scale)
        if kind in ("date", "datetime", "duration"):
            unit = "D" if kind == "date" else self.series.dtype.time_unit
            counts = self.library.counts(present.to_native())
            return Units(_placed(counts, missing), missing, "datetime" if kind == "date" else kind, SECONDS[unit])
        numbers = present.to_numpy()
        return Units(
            _placed(narrowed(numbers.tolist()) if numbers.dtype == object else widened(numbers), missing),
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
        return self.library.take(self.native, rows, blank)

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
        return object_codes(self.series.to_list()) if found is None else found


def _kind(library: Any) -> str:
    if library.is_pandas_like():
        return "pandas"
    return "polars" if library.is_polars() else "pyarrow"


def _blank_index(rows: np.ndarray, missing: np.ndarray | None) -> np.ndarray:
    """Where to take from; -1 takes nothing."""
    return rows if missing is None else np.where(missing, -1, rows)


def _counted(present: Any, scale: int) -> np.ndarray:
    return narrowed([unscaled(cell, scale) for cell in present.to_list()])


class _Pandas:
    """What pandas does its own way."""

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
        return made.take(_blank_index(labels, missing), allow_fill=True)

    @staticmethod
    def take(native: Any, rows: np.ndarray | None, blank: np.ndarray | None) -> Any:
        array, dtype = native.array, native.dtype
        if blank is None:
            return array if rows is None else array.take(rows)
        if isinstance(dtype, np.dtype):
            return ArrayColumn(native.to_numpy()).take(rows, blank)
        rows = np.arange(len(native)) if rows is None else rows
        return array.take(_blank_index(rows, blank), allow_fill=True)

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
        return _Polars.take(made, labels, missing)

    @staticmethod
    def take(native: Any, rows: np.ndarray | None, blank: np.ndarray | None) -> Any:
        polars = sys.modules["polars"]
        if rows is None and blank is None:
            return native
        rows = np.arange(len(native)) if rows is None else rows
        index = polars.Series(rows.astype(np.uint32 if len(native) < 2**32 else np.uint64))
        if blank is not None:
            index = index.zip_with(polars.Series(~blank), polars.Series([None], dtype=index.dtype))
        return native.gather(index)

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
    def take(native: Any, rows: np.ndarray | None, blank: np.ndarray | None) -> Any:
        pyarrow = sys.modules["pyarrow"]
        if rows is None and blank is None:
            return native
        rows = np.arange(len(native)) if rows is None else rows
        return native.take(pyarrow.array(rows, mask=blank))

    @staticmethod
    def codes(native: Any) -> np.ndarray | None:
        pyarrow = sys.modules["pyarrow"]
        if pyarrow.types.is_dictionary(native.type):
            native = native.cast(native.type.value_type)
        if pyarrow.types.is_nested(native.type) or pyarrow.types.is_null(native.type):
            return None
        native = native.combine_chunks()
        encoded = native.dictionary_encode(null_encoding="encode")
        if isinstance(encoded, pyarrow.ChunkedArray):
            encoded = encoded.combine_chunks()
        return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)


_LIBRARIES: dict[str, Any] = {"pandas": _Pandas, "polars": _Polars, "pyarrow": _Arrow}


def column_of(option: str, cells: Any) -> ArrayColumn | SeriesColumn:
    """A column of a dictionary: a series of a frame library, or an array."""
    import narwhals as nw

    if nw.dependencies.is_into_series(cells):
        return SeriesColumn(nw.from_native(cells, series_only=True))
    array, home = _arrays.read(option, cells)
    if array.ndim != 1:
        raise ValueError(f"{option} must have one dimension; got an array of shape {array.shape}.")
    return ArrayColumn(array, home)
