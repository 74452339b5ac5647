"""Records as 128 bits: equal records have equal hashes, others differ but for one chance in 2**128 per pair.

As in `mag.verify`, −0.0 is not 0.0, and missing is a value: NaN, None and pandas.NA are the same.
"""

import datetime
import decimal
import hashlib
import uuid
from typing import Any, NamedTuple

import numpy as np

from mag._lib.errors import TypeMistake

EXACT = {
    bool, bytes, complex, float, int, str, datetime.date, datetime.datetime, datetime.time, datetime.timedelta,
    decimal.Decimal, uuid.UUID, np.bool_, np.datetime64, np.timedelta64,
}  # fmt: skip
KEYS = ("mag: first hash.", "mag: second hash")
ODD = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F))
MIX = (
    (np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)),  # Appleby 2011, MurmurHash3
    (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)),  # Steele, Lea & Flood 2014, SplitMix64
)


class Cells(NamedTuple):
    """Two words of every cell's value, and one of its kind, which is 0 where it is missing: no value can be that."""

    first: np.ndarray
    second: np.ndarray
    kind: np.ndarray


def mixed(words: np.ndarray, which: int = 0) -> np.ndarray:
    """Words of which every bit depends on every bit."""
    first, second = MIX[which]
    words = (words ^ (words >> np.uint64(33 - 3 * which))) * first
    words = (words ^ (words >> np.uint64(33 - 6 * which))) * second
    return words ^ (words >> np.uint64(33 - 2 * which))


def records(columns: list[Cells]) -> tuple[np.ndarray, np.ndarray]:
    """Two hashes of each record, from the words of each of its cells."""
    hashes = [np.zeros(columns[0].kind.size, np.uint64) for _ in KEYS]
    for column in columns:
        for which, words in enumerate((column.first, column.second)):
            for lane in (words, column.kind):
                hashes[which] = mixed(hashes[which] * ODD[1] + lane + ODD[0], which)
    return hashes[0], hashes[1]


def cells(column: Any, name: Any = None) -> Cells:
    """The words of a NumPy array or a pandas series, which messages call `name`."""
    if isinstance(column, np.ndarray):
        if column.dtype.kind not in "biufmM" or column.dtype.itemsize > 8:
            raise TypeMistake(f"X must hold numbers or dates up to 64 bits; got dtype {column.dtype.name}.")
        return _numbers(column)
    dtype, missing = column.dtype, np.asarray(column.isna(), bool)
    if hasattr(dtype, "pyarrow_dtype"):
        return _of_arrow(column, name)
    if hasattr(dtype, "tz"):
        return _numbers(column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy())
    plain = getattr(dtype, "numpy_dtype", dtype)
    if not isinstance(plain, np.dtype) or plain.kind not in "biufmM" or hasattr(dtype, "storage"):
        return _texts(column, missing, name)
    if plain.itemsize > 8:
        raise _inexact(name, dtype)
    if dtype is plain:
        return _numbers(column.to_numpy())
    return _numbers(column.to_numpy(dtype=plain, na_value=np.zeros(1, plain)[0]), missing)


def _word(tag: str) -> np.uint64:
    """Of a kind of cells; 0 is that of missing ones."""
    return np.uint64(int.from_bytes(hashlib.sha256(tag.encode()).digest()[:8]) | 1)


def _numbers(values: np.ndarray, missing: np.ndarray | None = None, tag: str | None = None) -> Cells:
    """Numbers and dates have their bits twice."""
    kind = values.dtype.kind
    gone = np.isnan(values) if kind == "f" else np.isnat(values) if kind in "mM" else np.zeros(values.size, bool)
    if missing is not None:
        gone |= missing
    wide = values.astype(np.float64) if kind == "f" else values.astype(np.uint64) if kind == "u" else values
    words = (wide.astype(np.int64) if kind in "bi" else wide).view(np.uint64)
    word = _word(tag or (kind if kind in "biuf" else values.dtype.str[1:]))
    words = np.where(gone, np.uint64(0), words)
    return Cells(words, words, np.where(gone, np.uint64(0), word))


def _of_arrow(column: Any, name: Any) -> Cells:
    import pyarrow as pa

    stored = pa.chunked_array(column.array.__arrow_array__())
    if pa.types.is_dictionary(stored.type):
        stored = stored.cast(stored.type.value_type)
    kind, missing = stored.type, np.asarray(stored.is_null().to_numpy(), bool)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        return _numbers(stored.fill_null(False if pa.types.is_boolean(kind) else 0).to_numpy(), missing)
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        counts = stored.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
        return _numbers(counts.fill_null(0).to_numpy(), missing, str(kind))
    texts = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    bytes_ = pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind)
    if not (texts or bytes_ or pa.types.is_decimal(kind)):
        raise _inexact(name, kind)
    return _texts(column, missing, name)


def _texts(column: Any, missing: np.ndarray, name: Any) -> Cells:
    """Python objects by their type and what they print, of types that print all that they hold."""
    import pandas as pd

    listed = column.astype(object).mask(missing, "").tolist()
    kinds = {type(cell) for cell in listed}
    exact = EXACT | {pd.Interval, pd.Period, pd.Timedelta, pd.Timestamp}
    if wrong := sorted(kind.__name__ for kind in kinds - exact if not issubclass(kind, np.number)):
        raise _inexact(name, ", ".join(wrong))
    words = {kind: _word(f"object {kind.__module__}.{kind.__qualname__}") for kind in kinds}
    texts = np.array([cell if type(cell) is str else repr(cell) for cell in listed], object)
    lane = np.array([words[type(cell)] for cell in listed], np.uint64)
    first, second = (np.where(missing, np.uint64(0), pd.util.hash_array(texts, hash_key=key)) for key in KEYS)
    return Cells(first, second, np.where(missing, np.uint64(0), lane))


def _inexact(name: Any, kind: Any) -> TypeMistake:
    return TypeMistake(
        f"columns that are compared must hold numbers, moments or texts; {name!r} holds {kind}, which cannot be "
        "compared exactly: convert it to text, or name other columns."
    )
