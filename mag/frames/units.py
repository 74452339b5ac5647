"""The numbers of a column: integers that count its own unit, or float64.

Integers, dates, times and decimals become integers that count the column's own unit (a day, a microsecond, a cent), so
no value is rounded when it is read, and published columns have the original dtype.
"""

from dataclasses import dataclass

import numpy as np

from mag._lib.errors import InputTypeError

SECONDS_PER_UNIT = {"D": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
LARGEST = float(np.finfo(np.float64).max)
PRECISION = {float(np.finfo(narrow).max): float(np.finfo(narrow).eps) / 2 for narrow in (np.float16, np.float32)}
ALLOWED_TYPES = "integers, floats, decimals, dates, datetimes or durations"


@dataclass(frozen=True)
class Units:
    """The numbers of a column: float64, 64-bit integers or Python integers; `step` is the value of 1 in the user's
    unit.

    `largest` is the largest finite number that a column of floats can hold.
    """

    values: np.ndarray  # 0 where missing
    missing: np.ndarray | None
    kind: str  # "number", "datetime" or "duration"
    step: float = 1.0
    largest: float = LARGEST

    @property
    def is_integer(self) -> bool:
        """Whether only integers can be published."""
        return self.values.dtype.kind != "f"

    @property
    def precision(self) -> float:
        """The largest relative error of a float that a column of this type holds."""
        return PRECISION.get(self.largest, 2.0**-53)

    def floats(self) -> np.ndarray:
        """The values in the user's unit, as float64; NaN where missing."""
        numbers = self.values.astype(np.float64)
        if self.step != 1.0:
            numbers *= self.step
        if self.missing is not None:
            numbers[self.missing] = np.nan
        return numbers

    def select(self, rows: np.ndarray) -> "Units":
        """The same for some records."""
        missing = None if self.missing is None else none_if_all_false(self.missing[rows])
        return Units(self.values[rows], missing, self.kind, self.step, self.largest)


class RefusedColumnError(InputTypeError):
    """A column whose values cannot be averaged."""


def to_integers(numbers: list[int]) -> np.ndarray:
    """Python's integers in 64 bits if they fit."""
    low, high = min(numbers, default=0), max(numbers, default=0)
    if low >= -(2**63) and high < 2**63:
        return np.array(numbers, np.int64)
    if low >= 0 and high < 2**64:
        return np.array(numbers, np.uint64)
    return np.array([*numbers, None], object)[:-1]  # never looked at by NumPy


def to_64_bit(values: np.ndarray) -> np.ndarray:
    """Convert numbers to one of the few dtypes that the arithmetic supports."""
    if values.dtype.kind == "f":
        return values.astype(np.float64, copy=False)
    return values.astype(np.uint64 if values.dtype.kind == "u" else np.int64, copy=False)


def largest_of(dtype: np.dtype) -> float:
    """The largest finite number of floats of this dtype."""
    return float(np.finfo(dtype).max) if dtype.kind == "f" else LARGEST


def fill_present(present: np.ndarray, missing: np.ndarray | None) -> np.ndarray:
    """Present values where they belong, 0 elsewhere."""
    if missing is None:
        return present
    values = np.zeros(missing.size, present.dtype)
    values[~missing] = present
    return values


def none_if_all_false(missing: np.ndarray) -> np.ndarray | None:
    return missing if missing.any() else None


def refusal(what: str) -> str:
    """The reason why a column of this kind cannot be masked."""
    if what == "booleans":
        return "booleans, whose mean is not a boolean; cast the column to integers or floats, or put it into by="
    return f"{what}, where {ALLOWED_TYPES} are allowed; put it into by=, keep= or drop="


def bit_codes(array: np.ndarray) -> np.ndarray:
    """Numbers of equal bits share a number: −0.0 is not 0.0, and one NaN may not be another."""
    size = array.dtype.itemsize
    if array.dtype.kind == "c":  # no integer is as wide
        parts = np.ascontiguousarray(array).view(f"u{size // 2}").reshape(array.size, 2)
        return np.unique(parts, axis=0, return_inverse=True)[1].ravel().astype(np.int64)
    bits = np.ascontiguousarray(array).view(f"u{size}")
    return np.unique(bits, return_inverse=True)[1].astype(np.int64)
