"""Cells as integers that are equal where what is published is, and the classes of equal rows."""

import datetime
import decimal
import enum
import fractions
import hashlib
import sys
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np

from mag._lib import arrays
from mag._lib.errors import TypeMistake
from mag._lib.rowhash import add_cells


class Incomparable(TypeMistake):
    """Cells that cannot be compared exactly."""


def classes(tokens: list[np.ndarray]) -> np.ndarray:
    """The class of every row, as a number."""
    if tokens[0].size == 0:
        return np.empty(0, np.int64)
    order, begins = neighbors(tokens)
    classes = np.empty(order.size, np.int64)
    classes[order] = np.concatenate([[0], np.cumsum(begins)])
    return classes


def neighbors(tokens: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """An order in which equal rows stand together, and whether each row but the first differs from the one before.

    Rows are sorted by a hash of theirs, and then compared: two different rows with one hash are noticed.
    """
    hashes = np.zeros(tokens[0].size, np.uint64)
    for token in tokens:
        add_cells([hashes], token)
    order = np.argsort(hashes)
    begins = _differs(tokens, order)
    hashes = hashes[order]
    if (begins & (hashes[1:] == hashes[:-1])).any():
        order = np.lexsort(tokens)
        begins = _differs(tokens, order)
    return order, begins


def _differs(tokens: list[np.ndarray], order: np.ndarray) -> np.ndarray:
    begins = np.zeros(order.size - 1, bool)
    for token in tokens:
        ordered = token[order]
        begins |= ordered[1:] != ordered[:-1]
    return begins


# ---- cells as integers


def _words(array: np.ndarray) -> list[np.ndarray]:
    """The bits of every number, in words of 64 where they are more."""
    size, array = array.dtype.itemsize, np.ascontiguousarray(array)
    if size <= 8:
        return [array.view(f"u{size}")]
    return list(np.ascontiguousarray(array.view(np.uint64).reshape(array.size, size // 8).T))


def _with_nulls(tokens: list[np.ndarray], null: Any) -> list[np.ndarray]:
    """What stands below a null does not count; that it is null does."""
    null = np.asarray(null, bool)
    if not null.any():
        return tokens
    return [*(np.where(null, token.dtype.type(0), token) for token in tokens), null.astype(np.uint8)]


def _sequences(inner: list[np.ndarray], lengths: np.ndarray) -> list[np.ndarray]:
    """Lists of cells that stand one after the other in `inner`; one of length -1 is null."""
    cells, ends = classes(inner).tobytes(), 8 * np.cumsum(np.maximum(lengths, 0))
    begins = ends - 8 * np.maximum(lengths, 0)
    numbers: dict[Any, int] = {}
    spans = zip(begins.tolist(), ends.tolist(), (lengths < 0).tolist(), strict=True)
    return [np.array([numbers.setdefault(null or cells[a:b], len(numbers)) for a, b, null in spans], np.int64)]


# Python objects

EQUAL = {bool, bytes, datetime.date, datetime.timedelta, fractions.Fraction, int, str, type(None), uuid.UUID}


def _of_objects(cells: list[Any]) -> list[np.ndarray]:
    kinds = set(map(type, cells))
    keys = cells if len(kinds) == 1 and kinds <= EQUAL else map(_key, cells)
    numbers: dict[Any, int] = {}
    return [np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)]


def _key(cell: Any) -> tuple[Any, ...]:
    """Equal for objects of one type and value, to the last bit; `Incomparable` for types of which that is not known."""
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
    raise Incomparable(f"Python objects of type {kind.__name__}")


def _of_array(column: Any) -> list[np.ndarray]:
    """Arrays of a dictionary; series among them as their own library has them."""
    for library in ("pandas", "polars", "pyarrow"):
        if type(column).__module__.partition(".")[0] == library and (library != "pandas" or hasattr(column, "iloc")):
            return READERS[library](column)
    array, _ = arrays.read("table", column)
    if array.dtype.names is not None:
        return [token for name in array.dtype.names for token in _of_array(array[name])]
    if array.dtype.kind in "US":
        return [np.unique(array, return_inverse=True)[1]]
    if array.dtype.kind in "OTV":
        return _of_objects(array.tolist())
    if array.dtype.kind not in "biufcMm" or array.dtype.char in "gG":
        raise Incomparable(str(array.dtype))
    return _words(array)


def _of_pandas(column: Any) -> list[np.ndarray]:
    pandas, dtype = sys.modules["pandas"], column.dtype
    if isinstance(dtype, np.dtype):
        strings = dtype.kind == "O" and pandas.api.types.infer_dtype(column, skipna=False) == "string"
        return [pandas.factorize(column)[0]] if strings else _of_array(column.to_numpy())
    if isinstance(dtype, pandas.DatetimeTZDtype):
        return _words(column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy())
    if isinstance(dtype, pandas.CategoricalDtype):
        return [column.cat.codes.to_numpy()]
    if hasattr(dtype, "pyarrow_dtype"):
        return of_arrow(column.array.__arrow_array__())
    if isinstance(dtype, pandas.StringDtype):
        return [pandas.factorize(column)[0]]
    if hasattr(dtype, "numpy_dtype"):
        return _with_nulls(_words(column.to_numpy(dtype.numpy_dtype, na_value=0)), column.isna())
    return _of_objects(column.tolist())


def _of_polars(column: Any) -> list[np.ndarray]:
    column = column.alias("")  # polars takes a name like ^a$ for a pattern
    polars, dtype, null = sys.modules["polars"], column.dtype, column.is_null().to_numpy()
    if dtype == polars.Null:
        return [null.astype(np.uint8)]
    if dtype in (polars.Object, polars.Binary):
        return _of_objects(column.to_list())
    if isinstance(dtype, polars.Struct):
        return _with_nulls([token for part in column.struct.unnest() for token in _of_polars(part)], null)
    if isinstance(dtype, (polars.List, polars.Array)):
        lists = column if isinstance(dtype, polars.List) else column.arr.to_list()
        lengths = lists.list.len().cast(polars.Int64).fill_null(-1).to_numpy()
        full = lists.filter(polars.Series(lengths > 0))
        return _sequences(_of_polars(full.explode()) if len(full) else [lengths[:0]], lengths)
    if dtype == polars.String:  # the first record with the same text, for few texts and for many faster than their rank
        first = polars.col("first").min().over("")
        return [column.to_frame().with_row_index("first").select(first).to_series().to_numpy()]
    physical = column.cast(polars.UInt8) if dtype == polars.Boolean else column.to_physical()
    if physical.dtype in (polars.Int128, polars.UInt128):
        return _of_objects(physical.to_list())
    if not (physical.dtype.is_integer() or physical.dtype.is_float()):
        raise Incomparable(str(dtype))
    if physical.has_nulls():  # filling would copy others too
        physical = physical.fill_null(0 if physical.dtype.is_integer() else 0.0)
    return _with_nulls(_words(physical.to_numpy()), null)


ODD = ("large_list_view", "list_view", "map", "run_end_encoded", "union")  # Arrow has several forms for equal cells


def words_of_arrow(column: Any) -> list[np.ndarray]:
    """Cells of pyarrow as words of 64 bits that are equal in every block of a column: text by its hash."""
    import pyarrow as pa

    types, dtype = pa.types, column.type
    if types.is_dictionary(dtype):
        return words_of_arrow(column.cast(dtype.value_type))
    null = column.is_null().to_numpy(zero_copy_only=False)
    if types.is_null(dtype):
        return [null.astype(np.uint64)]
    if types.is_nested(dtype) or any(getattr(types, f"is_{kind}")(dtype) for kind in ODD):
        raise Incomparable(str(dtype))
    plain = types.is_primitive(dtype) or types.is_decimal(dtype) or types.is_boolean(dtype)
    if plain or isinstance(dtype, pa.BaseExtensionType):
        words = [token.astype(np.uint64) for token in of_arrow(column)]
        return words if null.any() else [*words, null.astype(np.uint64)]  # as where some cells are null
    encoded = pa.chunked_array([column] if isinstance(column, pa.Array) else column.chunks, dtype).combine_chunks()
    encoded = encoded.dictionary_encode(null_encoding="encode")
    texts = [b"" if text is None else text for text in encoded.dictionary.cast(pa.large_binary()).to_pylist()]
    hashed = b"".join(hashlib.blake2b(text, digest_size=16).digest() for text in texts)
    words = np.frombuffer(hashed, "<u8").reshape(-1, 2)[encoded.indices.to_numpy(zero_copy_only=False)]
    return [words[:, 0], words[:, 1], null.astype(np.uint64)]


def of_arrow(column: Any) -> list[np.ndarray]:
    """Cells of pyarrow."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if any(getattr(pa.types, f"is_{kind}")(column.type) for kind in ODD):
        raise Incomparable(str(column.type))
    if isinstance(column, pa.ChunkedArray):
        simple = pa.types.is_dictionary(column.type)
        chunks = (
            [chunk.dictionary_decode() for chunk in column.chunks] if simple else column.unify_dictionaries().chunks
        )
        parts = [chunk for chunk in chunks if len(chunk)]
        column = pa.concat_arrays(parts) if parts else pa.array([], column.type)
    types, dtype = pa.types, column.type
    if isinstance(column, pa.ExtensionArray):
        return of_arrow(column.storage)
    if types.is_dictionary(dtype):
        return of_arrow(column.dictionary_decode())
    null = column.is_null().to_numpy(zero_copy_only=False)
    if types.is_null(dtype):
        return [null.astype(np.uint8)]
    if types.is_struct(dtype):
        return _with_nulls([token for part in column.flatten() for token in of_arrow(part)], null)
    if types.is_nested(dtype):
        lengths = pc.list_value_length(column).fill_null(-1).to_numpy().astype(np.int64)
        return _sequences(of_arrow(column.flatten()), lengths)
    if types.is_boolean(dtype):
        return of_arrow(column.cast(pa.uint8()))
    if not (types.is_primitive(dtype) or types.is_decimal(dtype)):  # strings and bytes
        return [column.dictionary_encode(null_encoding="encode").indices.to_numpy(zero_copy_only=False)]
    size = dtype.bit_width // 8
    stored = np.frombuffer(column.buffers()[1], f"V{size}" if size > 8 else f"u{size}", len(column) + column.offset)
    return _with_nulls(_words(stored[column.offset :]), null)


READERS: dict[str, Callable[[Any], list[np.ndarray]]] = {
    "dictionary": _of_array,
    "pandas": _of_pandas,
    "polars": _of_polars,
    "pyarrow": of_arrow,
}


# ---- cells as Python's objects


def listed(column: Any) -> list[Any]:
    """The cells of a column of any library; missing ones are None, NaN or what the library calls them."""
    for way in ("to_pylist", "to_list"):
        if hasattr(column, way):
            return getattr(column, way)()
    array, _ = arrays.read("table", column)
    if array.dtype.kind in "Mm":
        return [None if absent else count for absent, count in zip(np.isnat(array), array.view(np.int64), strict=True)]
    return array.tolist()
