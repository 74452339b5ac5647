"""Python's own objects in a column: decimals, dates and integers as exact numbers, and any objects as codes."""

import datetime
import decimal
import struct
from typing import Any

import numpy as np

from mag._lib.errors import InputValueError
from mag._lib.missing import is_missing
from mag.frames.units import (
    ALLOWED_TYPES,
    SECONDS_PER_UNIT,
    RefusedColumnError,
    Units,
    fill_present,
    none_if_all_false,
    to_integers,
)

MAX_DIGITS = 300  # of decimals, before and after the point: float64 can represent these powers of ten
MAX_BITS = 1023  # of integers: float64 can represent them, and differences of two of them
EPOCH = datetime.date(1970, 1, 1).toordinal()


def _marker(value: Any) -> Any:
    """The same kind of missing, without the bits that a NaN may carry."""
    if isinstance(value, (float, decimal.Decimal)):
        return type(value)("nan")
    return value


class Objects:
    """Decimals, dates or integers of Python."""

    def __init__(self, cells: list[Any]) -> None:
        missing = np.fromiter(map(is_missing, cells), bool, len(cells))
        self.missing = none_if_all_false(missing)
        self.blank = _marker(cells[int(np.argmax(missing))]) if missing.any() else None  # one for every kind
        self.present = [cell for cell, absent in zip(cells, missing.tolist(), strict=True) if not absent]
        kinds = {type(cell) for cell in self.present}
        if len(kinds) != 1 or not kinds <= {decimal.Decimal, datetime.date, int}:
            listed = ", ".join(sorted(kind.__name__ for kind in kinds)) or "nothing"
            raise RefusedColumnError(
                f"Python objects ({listed}), where {ALLOWED_TYPES} are allowed; convert them first"
            )
        (self.kind,) = kinds
        self.scale = 0
        if self.kind is decimal.Decimal:
            if not all(cell.is_finite() for cell in self.present):
                count = sum(not cell.is_finite() for cell in self.present)
                raise InputValueError(f"{count} infinite decimals; drop or replace them first.")
            self.scale = max(-int(cell.as_tuple().exponent) for cell in self.present)
            long = sum(bool(cell) and cell.adjusted() > MAX_DIGITS for cell in self.present)
            if long or self.scale > MAX_DIGITS:
                long += sum(-int(cell.as_tuple().exponent) > MAX_DIGITS for cell in self.present)
                raise InputValueError(f"{long} decimals of more than {MAX_DIGITS} digits before or after the point.")
        if self.kind is int and (long := sum(cell.bit_length() > MAX_BITS for cell in self.present)):
            raise InputValueError(f"{long} integers beyond the range of floats, 1.8e308; drop or replace them first.")

    def units(self) -> Units:
        if self.kind is datetime.date:
            days = to_integers([cell.toordinal() - EPOCH for cell in self.present])
            return Units(fill_present(days, self.missing), self.missing, "datetime", SECONDS_PER_UNIT["D"])
        if self.kind is int:
            return Units(fill_present(to_integers(self.present), self.missing), self.missing, "number")
        numbers = to_integers([count_units(cell, self.scale) for cell in self.present])
        return Units(fill_present(numbers, self.missing), self.missing, "number", 10.0**-self.scale)

    def to_column(self, representatives: np.ndarray, labels: np.ndarray, missing: np.ndarray | None) -> np.ndarray:
        """Objects of these units, one for each record."""
        numbers = representatives.tolist()
        if self.kind is datetime.date:
            numbers = [datetime.date.fromordinal(number + EPOCH) for number in numbers]
        elif self.kind is decimal.Decimal:
            numbers = [to_decimal(number, self.scale) for number in numbers]
        cells = np.array([*numbers, None], object)[labels]
        if missing is not None:
            cells[missing] = self.blank
        return cells


def count_units(value: decimal.Decimal, scale: int) -> int:
    """The integer `value` · 10**scale."""
    sign, digits, exponent = value.as_tuple()
    if not value:  # for any exponent
        return 0
    number = int("".join(map(str, digits)) or "0") * 10 ** (int(exponent) + scale)
    return -number if sign else number


def to_decimal(number: int, scale: int) -> decimal.Decimal:
    """`number` / 10**scale, exactly, with `scale` digits after the point."""
    return decimal.Decimal((int(number < 0), tuple(map(int, str(abs(number)))), -scale))


def object_codes(cells: list[Any]) -> np.ndarray:
    """Python objects of one type and value share a number."""
    if set(map(type, cells)) <= {str}:
        numbers = {cell: number for number, cell in enumerate(dict.fromkeys(cells))}
        return np.array([numbers[cell] for cell in cells], np.int64)
    codes, count = np.empty(len(cells), np.int64), 0
    printed: dict[Any, list[tuple[Any, int]]] = {}  # objects that print alike may still differ
    for row, cell in enumerate(cells):
        alike = printed.setdefault((type(cell), _print(cell)), [])
        code = next((code for other, code in alike if _same(cell, other)), count)
        if code == count:
            alike.append((cell, count))
            count += 1
        codes[row] = code
    return codes


def _print(cell: Any) -> Any:
    """The printed form of a cell, or the cell itself where that is equivalent."""
    if type(cell) is int:
        return cell
    try:
        return repr(cell)
    except ValueError:  # it holds an integer of more digits than Python prints
        return None


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
    return (is_missing(one) and is_missing(other)) or bool(one == other)
