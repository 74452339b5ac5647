"""A dictionary of arrays of any library, or lists; its columns may also be series of a frame library."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from mag._lib.dtypes import describe_dtype
from mag._lib.errors import InputTypeError, InputValueError
from mag._lib.fresh import blanked, fresh_column
from mag.frames.base import Column, Frame
from mag.frames.objects import Objects, object_codes
from mag.frames.units import (
    SECONDS_PER_UNIT,
    RefusedColumnError,
    Units,
    bit_codes,
    largest_of,
    none_if_all_false,
    refusal,
    to_64_bit,
)


class DictionaryFrame(Frame):
    """Columns by name."""

    library = "dictionary"

    def __init__(self, native: Mapping[Hashable, Any], columns: dict[Hashable, Column]) -> None:
        self.columns = columns
        lengths = {len(column) for column in columns.values()}
        if len(lengths) > 1:
            listed = ", ".join(f"{name!r} {len(column)}" for name, column in columns.items())
            raise InputValueError(f"table must have columns of one length; got {listed}.")
        super().__init__(native, list(columns), lengths.pop() if lengths else 0)

    def column(self, name: Hashable) -> Column:
        return self.columns[name]

    def build(self, rows: np.ndarray | None, names: list[Hashable], masked: dict[Hashable, Any], reset: bool) -> Any:
        cells = zip(names, self.cells(rows, names, masked), strict=True)
        return {name: self.columns[name].wrap(own, rows, reset) for name, own in cells}

    def indexes(self, published: list[Hashable]) -> list[Any]:
        columns = [self.columns[name] for name in published]
        return [index for column in columns if (index := column.index) is not None]


class ArrayColumn(Column):
    """A column of a dictionary: an array of any library, or a list."""

    def __init__(self, array: np.ndarray, origin: Any = None, name: Hashable = None) -> None:
        self.array, self.origin, self.name = array, origin, name

    @property
    def dtype(self) -> Any:
        return self.array.dtype

    def __len__(self) -> int:
        return len(self.array)

    @property
    def is_object(self) -> bool:
        return self.array.dtype.kind == "O"

    def units(self) -> Units:
        array = self.array
        if self.is_object:
            return self._objects.units()
        if array.dtype.kind in "iu":
            return Units(to_64_bit(array), None, "number")
        if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
            missing = none_if_all_false(np.isnan(array))
            values = to_64_bit(array if missing is None else np.where(missing, 0, array))
            return Units(values, missing, "number", largest=largest_of(array.dtype))
        if array.dtype.kind in "Mm":
            unit, many = np.datetime_data(array.dtype)
            if unit in SECONDS_PER_UNIT:
                missing = none_if_all_false(np.isnat(array))
                counts = array.view(np.int64)
                kind = "datetime" if array.dtype.kind == "M" else "duration"
                values = counts if missing is None else np.where(missing, 0, counts)
                return Units(values, missing, kind, SECONDS_PER_UNIT[unit] * many)
        names = {"b": "booleans", "U": "strings", "S": "bytes", "T": "strings"}
        raise RefusedColumnError(refusal(names.get(array.dtype.kind, describe_dtype(array.dtype))))

    @property
    def _objects(self) -> Objects:
        return Objects(self.array.tolist())

    def to_column(self, representatives: np.ndarray, labels: np.ndarray, missing: np.ndarray | None) -> Any:
        if self.is_object:
            return self._objects.to_column(representatives, labels, missing)
        if self.array.dtype.kind in "Mm":
            short = representatives.astype(np.int64).view(self.array.dtype)
        else:
            short = representatives.astype(self.array.dtype)
        return self.out(blanked(short[labels], missing))

    def out(self, array: np.ndarray) -> Any:
        return array if self.origin is None else self.origin(array)

    def take(self, rows: np.ndarray | None, blank: np.ndarray | None = None) -> Any:
        if blank is not None and self.array.dtype.kind not in "fMmO":
            raise RefusedColumnError(f"{describe_dtype(self.array.dtype)}, which cannot hold missing values")
        return self.out(fresh_column(self.array, rows, blank))

    def take_nullable(self, rows: np.ndarray | None, blank: np.ndarray) -> Any:
        if self.array.dtype.kind not in "biuUS" or self.origin is not None:
            return self.take(rows, blank)
        cells = (self.array if rows is None else self.array[rows]).astype(object)
        cells[blank] = None
        return cells

    def wrap(self, cells: Any, rows: np.ndarray | None, reset: bool) -> Any:
        return cells

    def cells(self) -> list[Any]:
        return self.array.tolist()

    def codes(self) -> np.ndarray:
        if self.array.dtype.kind in "OTV":
            return object_codes(self.array.tolist())
        if self.array.dtype.kind in "US":
            return np.unique(self.array, return_inverse=True)[1].astype(np.int64)
        if self.array.dtype.char in "gG":  # some of their bits mean nothing
            kind = describe_dtype(self.array.dtype)
            raise InputTypeError(f"column {self.name!r} holds {kind}, which cannot be compared exactly; convert it.")
        return bit_codes(self.array)
