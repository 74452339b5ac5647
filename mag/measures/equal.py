"""Which records of a table are equal, as measures see them: by value, where `mag.verify` compares bits."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from mag._lib import checks
from mag._lib.arrays import read
from mag._lib.errors import InputTypeError, InputValueError
from mag._lib.missing import is_missing
from mag._lib.number import number_rows

_NAN = object()


def columns(option: str, x: Any) -> list[np.ndarray]:
    """The columns of a table of anything that can be equal; one dimension is one column.

    Frames and dictionaries are read column by column: one array for all would round integers to floats.
    """
    pieces = next((list(getattr(x, way)()) for way in ("iter_columns", "itercolumns") if hasattr(x, way)), None)
    if pieces is None and (isinstance(x, Mapping) or (getattr(x, "ndim", 0) == 2 and hasattr(x, "items"))):
        pieces = [column for _, column in x.items()]
    if pieces is None:
        return list(checks.comparable(option, read(option, x)[0]).T)
    arrays = [checks.comparable(option, read(option, column)[0])[:, 0] for column in pieces]
    if not arrays:
        raise InputValueError(f"{option} must hold at least one row and one column; got no column.")
    for column in arrays:
        checks.same_rows(f"every column of {option}", column.size, "the first", arrays[0].size)
    return arrays


def classes(option: str, x: Any) -> np.ndarray:
    """The class of every record: equal records share a number, from 0 on.  −0.0 equals 0.0, and missing is a value.

    Measures compare values, so these classes can be larger than those of `mag.verify.recount`, which compares bits.
    """
    first, *others = columns(option, x)
    labels = codes(option, first)
    for values in others:
        if labels.max() == labels.size - 1:  # all records differ already
            break
        column = codes(option, values)
        labels = number_rows([labels, column])
    return labels


def classes_of(option: str, x: Any, other: str, n: int) -> np.ndarray:
    """The class of every record of a table that belongs to another one."""
    labels = classes(option, x)
    checks.same_rows(option, labels.size, other, n)
    return labels


def codes(option: str, column: np.ndarray) -> np.ndarray:
    """Equal values share a number, from 0 on; ascending where values have an order."""
    if column.dtype.kind not in "OT":
        return np.unique(column, return_inverse=True)[1]
    seen: dict[Any, int] = {}
    try:
        return np.array([seen.setdefault(_key(value), len(seen)) for value in column.tolist()])
    except TypeError as error:
        raise InputTypeError(f"{option} must hold values that can be hashed; got lists or similar.") from error


def _key(value: Any) -> Any:
    """The lookup key of a value: NaN differs from itself, and True is published differently from 1."""
    if isinstance(value, bool):
        return bool, value
    if not is_missing(value):
        return value
    return _NAN if isinstance(value, float) else type(value)
