"""Cells of every library as integers that are equal where what is published is."""

import datetime
import decimal
import enum
import fractions
import itertools
import sys
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np

from mag._lib import arrays
from mag._lib.cells import IncomparableError, numbers_of_arrow, sequences, with_nulls, words_of_numbers
from mag._lib.dtypes import describe_dtype

# ---- cells as integers


# Python objects

EQUAL = {bool, bytes, datetime.date, datetime.timedelta, fractions.Fraction, int, str, type(None), uuid.UUID}


def _of_objects(cells: list[Any]) -> list[np.ndarray]:
    kinds = set(map(type, cells))
    keys = cells if len(kinds) == 1 and kinds <= EQUAL else list(map(_key, cells))
    numbers = dict(zip(dict.fromkeys(keys), itertools.count()))
    return [np.fromiter(map(numbers.__getitem__, keys), np.int64, len(keys))]


def _key(cell: Any) -> tuple[Any, ...]:
    """Equal for objects of one type and value, to the last bit; `IncomparableError` for types that cannot say so."""
    kind = type(cell)
    if kind in EQUAL or isinstance(cell, enum.Enum):
        return kind, cell
    if kind is float or kind is complex:
        return kind, np.array(cell).tobytes()
    if kind is decimal.Decimal:
        return kind, cell.as_tuple()
    if kind is tuple or kind is list:
        return kind, tuple(map(_key, cell))
    if kind is dict:
        return kind, tuple((_key(name), _key(value)) for name, value in cell.items())
    if kind is set or kind is frozenset:
        return kind, frozenset(map(_key, cell))
    if kind is datetime.datetime or kind is datetime.time:
        return kind, cell.replace(tzinfo=None), cell.fold, cell.tzinfo, cell.utcoffset()
    if isinstance(cell, (np.generic, np.ndarray)) and cell.dtype.kind in "biufcSUMm" and cell.dtype.char not in "gG":
        return kind, cell.dtype.str, cell.shape, cell.tobytes()
    pandas = sys.modules.get("pandas")
    if pandas is not None:
        if cell is pandas.NA or cell is pandas.NaT:
            return (kind,)
        if kind is pandas.Timestamp:
            return kind, *_key(cell.asm8), cell.fold, cell.tzinfo, cell.utcoffset()
        if kind is pandas.Timedelta:
            return kind, *_key(cell.asm8)
        if kind is pandas.Period:
            return kind, cell.ordinal, cell.freqstr
        if kind is pandas.Interval:
            return kind, cell.closed, _key(cell.left), _key(cell.right)
    raise IncomparableError(f"Python objects of type {kind.__name__}")


def _of_array(column: Any) -> list[np.ndarray]:
    """Arrays of a dictionary; series among them as their own library has them."""
    for library in ("pandas", "polars", "pyarrow"):
        if type(column).__module__.partition(".")[0] == library and (library != "pandas" or hasattr(column, "iloc")):
            return READERS[library](column)
    array, _ = arrays.read("table", column)
    if array.dtype.names is not None:
        return [token for name in array.dtype.names for token in _of_array(array[name])]
    if array.dtype.kind in "OTUSV":
        return _of_objects(array.tolist())
    if array.dtype.kind not in "biufcMm" or array.dtype.char in "gG":
        raise IncomparableError(describe_dtype(array.dtype))
    return words_of_numbers(array)


def _of_pandas(column: Any) -> list[np.ndarray]:
    pandas, dtype = sys.modules["pandas"], column.dtype
    if isinstance(dtype, np.dtype):
        strings = dtype.kind == "O" and pandas.api.types.infer_dtype(column, skipna=False) == "string"
        return [pandas.factorize(column)[0]] if strings else _of_array(column.to_numpy())
    if isinstance(dtype, pandas.DatetimeTZDtype):
        return words_of_numbers(column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy())
    if isinstance(dtype, pandas.CategoricalDtype):
        return [column.cat.codes.to_numpy()]
    if hasattr(dtype, "pyarrow_dtype"):
        return numbers_of_arrow(column.array.__arrow_array__())
    if isinstance(dtype, pandas.StringDtype):
        return [pandas.factorize(column)[0]]
    if hasattr(dtype, "numpy_dtype"):
        return with_nulls(words_of_numbers(column.to_numpy(dtype.numpy_dtype, na_value=0)), column.isna())
    return _of_objects(column.tolist())


def _of_polars(column: Any) -> list[np.ndarray]:
    column = column.alias("")  # polars takes a name like ^a$ for a pattern
    polars, dtype, null = sys.modules["polars"], column.dtype, column.is_null().to_numpy()
    if dtype == polars.Null:
        return [null.astype(np.uint8)]
    if dtype in (polars.Object, polars.Binary):
        return _of_objects(column.to_list())
    if isinstance(dtype, polars.Struct):
        return with_nulls([token for part in column.struct.unnest() for token in _of_polars(part)], null)
    if isinstance(dtype, (polars.List, polars.Array)):
        lists = column if isinstance(dtype, polars.List) else column.arr.to_list()
        lengths = lists.list.len().cast(polars.Int64).fill_null(-1).to_numpy()
        full = lists.filter(polars.Series(lengths > 0))
        return sequences(_of_polars(full.explode()) if len(full) else [lengths[:0]], lengths)
    if dtype == polars.String:  # the first record with the same text, for few texts and for many faster than their rank
        first = polars.col("first").min().over("")
        return [column.to_frame().with_row_index("first").select(first).to_series().to_numpy()]
    physical = column.cast(polars.UInt8) if dtype == polars.Boolean else column.to_physical()
    if physical.dtype in (polars.Int128, polars.UInt128):
        return _of_objects(physical.to_list())
    if not (physical.dtype.is_integer() or physical.dtype.is_float()):
        return numbers_of_arrow(column.to_arrow(compat_level=polars.CompatLevel.newest()))
    if physical.has_nulls():  # filling would copy others too
        physical = physical.fill_null(0 if physical.dtype.is_integer() else 0.0)
    return with_nulls(words_of_numbers(physical.to_numpy()), null)


READERS: dict[str, Callable[[Any], list[np.ndarray]]] = {
    "dictionary": _of_array,
    "pandas": _of_pandas,
    "polars": _of_polars,
    "pyarrow": numbers_of_arrow,
}


# ---- cells as Python's objects


def as_list(column: Any) -> list[Any]:
    """The cells of a column of any library; missing ones are None, NaN or what the library calls them."""
    for way in ("to_pylist", "to_list"):
        if hasattr(column, way):
            return getattr(column, way)()
    array, _ = arrays.read("table", column)
    if array.dtype.kind in "Mm":
        return [None if absent else count for absent, count in zip(np.isnat(array), array.view(np.int64), strict=True)]
    return array.tolist()
