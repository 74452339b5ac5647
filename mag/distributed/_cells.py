"""The cells of a partition as integers that are equal if the stored cells are equal, within and across partitions.

As in `mag.verify`, missing is a value, and floats are their bits: −0.0 is not 0.0, and one NaN may not be another.
"""

import datetime
import decimal
import hashlib
import uuid
from typing import Any

import numpy as np

from mag._lib.cells import IncomparableError, words_of_arrow
from mag._lib.dtypes import describe_dtype
from mag._lib.errors import InputTypeError
from mag._lib.rowhash import add_cells, new_hashes

PRINTABLE_TYPES = {
    bool, bytes, complex, float, int, str, datetime.date, datetime.datetime, datetime.time, datetime.timedelta,
    decimal.Decimal, uuid.UUID, np.bool_, np.datetime64, np.timedelta64, type(None),
}  # fmt: skip
FLOAT_TYPES = (complex, float, np.complex64, np.float16, np.float32)  # print all but the bits of NaN
KEYS = ("mag: first hash.", "mag: second hash")

Words = list[tuple[np.ndarray, ...]]  # of the value, one or one for each word of a hash, and of its kind or missingness


def hash_records(block: Any) -> tuple[np.ndarray, np.ndarray]:
    """The hashes of the records of a NumPy table or a pandas frame."""
    hashes = new_hashes(len(block))
    for j in range(block.shape[1]):
        frame = not isinstance(block, np.ndarray)
        for words in cell_words(block.iloc[:, j], block.columns[j]) if frame else cell_words(block[:, j]):
            add_cells(hashes, *words)
    return hashes


def cell_words(column: Any, name: Any = None) -> Words:
    """The words of a NumPy array or a pandas series; `name` is for messages."""
    if isinstance(column, np.ndarray):
        if column.dtype.kind not in "biufmM" or column.dtype.itemsize > 8:
            raise InputTypeError(
                f"X must hold numbers or dates up to 64 bits; got dtype {describe_dtype(column.dtype)}."
            )
        return _numbers(column)
    dtype, missing = column.dtype, np.asarray(column.isna(), bool)
    if hasattr(dtype, "pyarrow_dtype"):
        return _of_arrow(column, name)
    if hasattr(dtype, "tz"):
        return _numbers(column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy())
    plain = getattr(dtype, "numpy_dtype", dtype)
    if not isinstance(plain, np.dtype) or plain.kind not in "biufmM" or hasattr(dtype, "storage"):
        return _texts(column, np.zeros_like(missing) if plain is dtype else missing, name)
    if plain.itemsize > 8:
        raise _inexact(name, describe_dtype(dtype))
    if dtype is plain:
        return _numbers(column.to_numpy())
    return _numbers(column.to_numpy(dtype=plain, na_value=np.zeros(1, plain)[0]), missing)


def _kind_word(kind: str) -> np.uint64:
    """Of a kind of cells; 0 is that of missing ones."""
    return np.uint64(int.from_bytes(hashlib.sha256(kind.encode()).digest()[:8]) | 1)


def _numbers(values: np.ndarray, missing: np.ndarray | None = None, kind: str | None = None) -> Words:
    """Numbers and dates have their bits; integers are equal in all widths."""
    code = values.dtype.kind
    wide = values.astype(np.uint64 if code == "u" else np.int64) if code in "biu" else values
    words = wide.view(f"u{wide.dtype.itemsize}")
    word = _kind_word(kind or (code if code in "biu" else values.dtype.str[1:]))
    if missing is None:
        return [(words,), (np.full(values.size, word),)]
    return [(np.where(missing, words.dtype.type(0), words),), (np.where(missing, np.uint64(0), word),)]


def _of_arrow(column: Any, name: Any) -> Words:
    import pyarrow as pa

    stored = pa.chunked_array(column.array.__arrow_array__())
    kind, missing = stored.type, np.asarray(stored.is_null().to_numpy(), bool)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        return _numbers(stored.fill_null(False if pa.types.is_boolean(kind) else 0).to_numpy(), missing)
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        counts = stored.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
        return _numbers(counts.fill_null(0).to_numpy(), missing, str(kind))
    try:
        return [(words,) for words in words_of_arrow(stored)]
    except IncomparableError:
        raise _inexact(name, describe_dtype(kind)) from None


def _texts(column: Any, missing: np.ndarray, name: Any) -> Words:
    """Python objects by their type and printed form, for types whose printed form is complete."""
    import pandas as pd

    listed = column.astype(object).where(~missing, "").tolist()
    kinds = {type(cell) for cell in listed}
    exact = PRINTABLE_TYPES | {pd.Interval, pd.Period, pd.Timedelta, pd.Timestamp, type(pd.NA), type(pd.NaT)}
    if wrong := sorted(kind.__name__ for kind in kinds - exact if not issubclass(kind, np.number)):
        raise _inexact(name, ", ".join(wrong))
    words = {kind: _kind_word(f"object {kind.__module__}.{kind.__qualname__}") for kind in kinds}
    texts = np.array([_text(cell) for cell in listed], object)
    kind = np.array([words[type(cell)] for cell in listed], np.uint64)
    first, second = (pd.util.hash_array(texts, hash_key=key) for key in KEYS)
    return [(first, second), (np.where(missing, np.uint64(0), kind),)]


def _text(cell: Any) -> str:
    if type(cell) is str:
        return cell
    return np.array(cell).tobytes().hex() if isinstance(cell, FLOAT_TYPES) else repr(cell)


def _inexact(name: Any, kind: Any) -> InputTypeError:
    return InputTypeError(
        f"columns that are compared must hold numbers, moments or texts; {name!r} holds {kind}, which cannot be "
        "compared exactly: convert it to text, or name other columns."
    )
