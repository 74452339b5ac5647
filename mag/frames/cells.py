"""One column of a table: in as exact numbers, out in its own dtype.

Integers, dates, times and decimals become integers that count the column's own unit (a day, a microsecond, a cent), so
nothing is rounded on the way in, and what goes out is the column's own dtype again.  A masked column is a short column
of representatives, made once, from which every record takes its group's: equal records get equal bytes.
"""

import datetime
import decimal
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from mag._lib.errors import TypeMistake, ValueMistake
from mag._lib.fresh import blanked, fresh_column

EPOCH = datetime.date(1970, 1, 1).toordinal()
SECONDS = {"D": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
ALLOWED = "integers, floats, decimals, dates, datetimes or durations"


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


class Refused(TypeMistake):
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


def placed(present: np.ndarray, missing: np.ndarray | None) -> np.ndarray:
    """Present values where they belong, 0 elsewhere."""
    if missing is None:
        return present
    values = np.zeros(missing.size, present.dtype)
    values[~missing] = present
    return values


def some(missing: np.ndarray) -> np.ndarray | None:
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


def _marker(value: Any) -> Any:
    """The same kind of missing, without the bits that a NaN may carry."""
    if isinstance(value, (float, decimal.Decimal)):
        return type(value)("nan")
    return value


class Objects:
    """Decimals, dates or integers of Python."""

    def __init__(self, cells: list[Any]) -> None:
        missing = np.fromiter(map(is_missing, cells), bool, len(cells))
        self.missing = some(missing)
        self.blank = _marker(cells[int(np.argmax(missing))]) if missing.any() else None  # one for all that is missing
        self.present = [cell for cell, gone in zip(cells, missing.tolist(), strict=True) if not gone]
        kinds = {type(cell) for cell in self.present}
        if len(kinds) != 1 or not kinds <= {decimal.Decimal, datetime.date, int}:
            listed = ", ".join(sorted(kind.__name__ for kind in kinds)) or "nothing"
            raise Refused(f"Python objects ({listed}), where {ALLOWED} are allowed; convert them first")
        (self.kind,) = kinds
        self.scale = 0
        if self.kind is decimal.Decimal:
            if not all(cell.is_finite() for cell in self.present):
                count = sum(not cell.is_finite() for cell in self.present)
                raise ValueMistake(f"{count} infinite decimals; drop or replace them first.")
            self.scale = max(-int(cell.as_tuple().exponent) for cell in self.present)

    def units(self) -> Units:
        if self.kind is datetime.date:
            days = narrowed([cell.toordinal() - EPOCH for cell in self.present])
            return Units(placed(days, self.missing), self.missing, "datetime", SECONDS["D"])
        if self.kind is int:
            return Units(placed(narrowed(self.present), self.missing), self.missing, "number")
        numbers = narrowed([unscaled(cell, self.scale) for cell in self.present])
        return Units(placed(numbers, self.missing), self.missing, "number", 10.0**-self.scale)

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
            missing = some(np.isnan(array))
            return Units(widened(array if missing is None else np.where(missing, 0, array)), missing, "number")
        if array.dtype.kind in "Mm":
            unit, many = np.datetime_data(array.dtype)
            if unit in SECONDS:
                missing = some(np.isnat(array))
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
        if blank is not None and self.array.dtype.kind not in "fMmO":
            raise Refused(f"{self.array.dtype.name}, which cannot hold missing values")
        return self.out(fresh_column(self.array, rows, blank))

    def wrapped(self, cells: Any, rows: np.ndarray | None, reset: bool) -> Any:
        """What stands for the column in a dictionary."""
        return cells

    def cells(self) -> list[Any]:
        """Python's own objects."""
        return self.array.tolist()

    def codes(self) -> np.ndarray:
        """Equal cells share a number."""
        if self.is_object:
            return object_codes(self.array.tolist())
        if self.array.dtype.kind in "TV":
            return object_codes(self.array.tolist())
        if self.array.dtype.kind in "US":
            return np.unique(self.array, return_inverse=True)[1].astype(np.int64)
        return bit_codes(self.array)


def _advice(names: dict[str, str], dtype: Any) -> str:
    what = names.get(dtype.kind, str(dtype))
    return refusal(what)


def refusal(what: str) -> str:
    """Why a column of this kind cannot be masked."""
    if what == "booleans":
        return "booleans, whose mean is no boolean; cast the column to integers or floats, or put it into by="
    return f"{what}, where {ALLOWED} are allowed; put it into by=, keep= or drop="


def object_codes(cells: list[Any]) -> np.ndarray:
    """Python objects of one type and value share a number."""
    if set(map(type, cells)) <= {str}:
        numbers = {cell: number for number, cell in enumerate(dict.fromkeys(cells))}
        return np.array([numbers[cell] for cell in cells], np.int64)
    codes, count = np.empty(len(cells), np.int64), 0
    printed: dict[Any, list[tuple[Any, int]]] = {}  # what prints alike may differ in what is not printed
    for place, cell in enumerate(cells):
        alike = printed.setdefault((type(cell), repr(cell)), [])
        code = next((code for other, code in alike if _same(cell, other)), count)
        if code == count:
            alike.append((cell, count))
            count += 1
        codes[place] = code
    return codes


def _same(one: Any, other: Any) -> bool:
    """Whether two objects that print alike are equal, to the last bit."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict):
        return _same(list(one.items()), list(other.items()))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    if isinstance(one, float):
        return struct.pack("d", one) == struct.pack("d", other)
    return bool(one == other) or (is_missing(one) and is_missing(other))


def bit_codes(array: np.ndarray) -> np.ndarray:
    """Numbers of equal bits share a number: −0.0 is not 0.0, and one NaN may not be another."""
    size = array.dtype.itemsize
    if array.dtype.kind == "c":  # no integer is as wide
        parts = np.ascontiguousarray(array).view(f"u{size // 2}").reshape(array.size, 2)
        return np.unique(parts, axis=0, return_inverse=True)[1].ravel().astype(np.int64)
    bits = np.ascontiguousarray(array).view(f"u{size}")
    return np.unique(bits, return_inverse=True)[1].astype(np.int64)
