"""Tables in, and which of their records are equal."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mag._lib import checks
from mag._lib.arrays import read
from mag._lib.errors import TypeMistake, ValueMistake

_NAN = object()


def numeric(option: str, x: Any) -> np.ndarray:
    """Finite real numbers in rows and columns, as float64; one dimension is one column."""
    values, _ = read(option, x)
    values = checks.real_table(option, values[:, None] if values.ndim == 1 else values)
    checks.finite(option, values)
    return values.astype(np.float64)


def pair(original: Any, masked: Any) -> tuple[np.ndarray, np.ndarray]:
    """Two numeric tables of one shape: row i of both is the same record."""
    X, Y = numeric("original", original), numeric("masked", masked)
    checks.same_rows("masked", Y.shape[0], "original", X.shape[0])
    checks.same_columns("masked", Y.shape[1], "original", X.shape[1])
    return X, Y


def columns(option: str, x: Any) -> list[np.ndarray]:
    """The columns of a table of anything that can be equal; one dimension is one column.

    Frames and dictionaries are read column by column: one array for all would round integers beside floats.
    """
    parts = next((list(getattr(x, way)()) for way in ("iter_columns", "itercolumns") if hasattr(x, way)), None)
    if parts is None and (isinstance(x, Mapping) or (getattr(x, "ndim", 0) == 2 and hasattr(x, "items"))):
        parts = [column for _, column in x.items()]
    if parts is None:
        return list(checks.comparable(option, read(option, x)[0]).T)
    found = [checks.comparable(option, read(option, part)[0])[:, 0] for part in parts]
    if not found:
        raise ValueMistake(f"{option} must hold at least one row and one column; got no column.")
    for column in found:
        checks.same_rows(f"every column of {option}", column.size, "the first", found[0].size)
    return found


def classes(option: str, x: Any) -> np.ndarray:
    """The class of every record: equal records share a number, from 0 on.  −0.0 equals 0.0, and missing is a value."""
    first, *others = columns(option, x)
    labels = codes(option, first)
    for values in others:
        if labels.max() == labels.size - 1:  # all records differ already
            break
        column = codes(option, values)
        labels = np.unique(labels * (column.max() + 1) + column, return_inverse=True)[1]
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
        raise TypeMistake(f"{option} must hold values that can be hashed; got lists or the like.") from error


def _key(value: Any) -> Any:
    """What a value is looked up by: NaN differs from itself, and True is published otherwise than 1."""
    if isinstance(value, bool):
        return bool, value
    try:
        if value == value:
            return value
    except (TypeError, ValueError):  # pandas.NA, one object, does not say; an array cannot be hashed
        return value
    return _NAN if isinstance(value, float) else type(value)


def scaled(*tables: np.ndarray, each: bool = True) -> list[np.ndarray]:
    """Tables divided by a power of two, for each column or for all, so that squares neither overflow nor vanish."""
    power = exponents(tables, each)
    return [np.ldexp(table, -power) for table in tables] if power.any() else list(tables)


def exponents(tables: Sequence[np.ndarray], each: bool) -> np.ndarray:
    """The powers of two that `scaled` divides by; 0 where squares are safe as they are."""
    power = np.frexp(np.max([np.abs(table).max(axis=0 if each else None) for table in tables], axis=0))[1]
    return np.where(np.abs(power) < 400, 0, power)


def centred(X: np.ndarray) -> np.ndarray:
    """Every column minus its mean; distances from the first record do not feel an offset."""
    shifted = X - X[0]
    return shifted - shifted.mean(axis=0)


def deviations(X: np.ndarray, ddof: int = 0) -> np.ndarray:
    """The standard deviation of every column, exactly 0 where all values are equal."""
    return np.sqrt(np.square(centred(X)).sum(axis=0) / max(X.shape[0] - ddof, 1))


def standardized(*tables: np.ndarray) -> list[np.ndarray]:
    """Tables in standard deviations of the first one, from its first record; a constant column keeps its unit."""
    first, *_ = small = scaled(*tables)
    deviation = deviations(first)
    unit = np.where(deviation > 0, deviation, np.ldexp(1.0, -exponents(tables, True)))
    with np.errstate(over="ignore"):
        return [(table - first[0]) / unit for table in small]
