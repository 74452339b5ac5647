"""The independent recount: how many records of a published table are alike.

It looks at the table as its reader gets it, and at nothing that the grouping knows: cells are equal if their bits are,
missing is a value, −0.0 is not 0.0, and Python objects are equal if they print alike.
"""

import os
import sys
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from mag import _arrays
from mag._frames import Frame, frame_of

MIX = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)  # odd, of random bits


class NotAnonymous(RuntimeError):  # noqa: N818 - what is wrong, not that something is
    """A table has a record that fewer than k records are like; it was not published."""


def recount(table: Any, columns: Sequence[Hashable]) -> int:
    """Smallest number of records that are alike in these columns, on the table as it is published.

    Parameters
    ----------
    table : frame of pandas, polars or pyarrow, or dictionary of arrays
    columns : sequence of column names

    Returns
    -------
    int
        0 for a table without records.

    Examples
    --------
    >>> import mag.verify
    >>> mag.verify.recount({"age": [31, 31, 52, 52, 52], "sex": ["f", "f", "m", "m", "m"]}, ["age", "sex"])
    2
    """
    return recounts(table, [], columns)[0]


def recounts(
    table: Any, by: Sequence[Hashable], columns: Sequence[Hashable], each: bool = False
) -> tuple[int, dict[Hashable, int]]:
    """`recount` of `by` and all columns together; if `each`, also of `by` and every column alone."""
    frame = frame_of(table)
    if frame.n == 0:
        return 0, dict.fromkeys(columns if each else (), 0)
    tokens = {name: _READERS[frame.library](_column(frame, name)) for name in [*by, *columns]}
    strata = [token for name in by for token in tokens[name]]
    if len(strata) > 1:
        strata = [_classes(strata)]
    asked = [[*strata, *(token for name in columns for token in tokens[name])]]
    asked += [[*strata, *tokens[name]] for name in columns] if each and len(columns) > 1 else []
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # NumPy sorts without Python's lock
        jointly, *alone = pool.map(smallest, asked)
    return jointly, dict(zip(columns if each else (), alone or [jointly], strict=False))


def _column(frame: Frame, name: Hashable) -> Any:
    return frame.native.column(name) if frame.library == "pyarrow" else frame.native[name]


def require(smallest: int, k: int, columns: Sequence[Hashable], n: int) -> None:
    """Raise `NotAnonymous` where the smallest class has fewer than k records."""
    if smallest < k:
        raise NotAnonymous(
            f"The published table would have a class of {smallest} equal records in {', '.join(map(str, columns))} "
            f"where k={k} are promised, of {n} records: nothing is published; please report this."
        )


def smallest(tokens: list[np.ndarray]) -> int:
    """The smallest class of equal rows of integer arrays."""
    if len(tokens) == 1:
        first = np.sort(tokens[0])
        begins = first[1:] != first[:-1]
    else:
        _, begins = _neighbours(tokens)
    ends = np.flatnonzero(np.append(begins, True))
    return int(np.diff(ends, prepend=-1).min())


def _classes(tokens: list[np.ndarray]) -> np.ndarray:
    """The class of every row, as a number."""
    order, begins = _neighbours(tokens)
    classes = np.empty(order.size, np.int64)
    classes[order] = np.concatenate([[0], np.cumsum(begins)])
    return classes


def _neighbours(tokens: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """An order in which equal rows stand together, and whether each row but the first differs from the one before.

    Rows are sorted by a hash of theirs, and then compared: two different rows with one hash are noticed.
    """
    hashes = np.zeros(tokens[0].size, np.uint64)
    for token in tokens:
        mix(hashes, token)
    order = np.argsort(hashes)
    begins = _differs(tokens, order)
    hashes = hashes[order]
    if (begins & (hashes[1:] == hashes[:-1])).any():
        order = np.lexsort(tokens)
        begins = _differs(tokens, order)
    return order, begins


def mix(hashes: np.ndarray, token: np.ndarray, which: int = 0) -> None:
    """Hashes of rows, in place, with one cell more; `which` of two independent ones."""
    hashes ^= token.astype(np.uint64)
    hashes *= np.uint64(MIX[which])
    hashes ^= hashes >> np.uint64(29)


def _differs(tokens: list[np.ndarray], order: np.ndarray) -> np.ndarray:
    begins = np.zeros(order.size - 1, bool)
    for token in tokens:
        ordered = token[order]
        begins |= ordered[1:] != ordered[:-1]
    return begins


# ---- cells as integers that are equal where what is published is


def _bits(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")


def _printed(cells: list[Any]) -> np.ndarray:
    seen: dict[str, int] = {}
    return np.array([seen.setdefault(f"{type(cell).__name__} {cell!r}", len(seen)) for cell in cells], np.int64)


def _with_nulls(values: np.ndarray, null: Any) -> list[np.ndarray]:
    null = np.asarray(null, bool)
    return [values, null.astype(np.uint8)] if null.any() else [values]


def _of_array(column: Any) -> list[np.ndarray]:
    """Arrays of a dictionary; series among them as their own library has them."""
    for library in ("pandas", "polars", "pyarrow"):
        if type(column).__module__.partition(".")[0] == library:
            return _READERS[library](column)
    array, _ = _arrays.read("table", column)
    if array.dtype.kind == "O":
        return [_printed(array.tolist())]
    if array.dtype.kind in "USTV":
        return [np.unique(array, return_inverse=True)[1]]
    return [_bits(array)]


def _of_pandas(column: Any) -> list[np.ndarray]:
    pandas, dtype = sys.modules["pandas"], column.dtype
    if isinstance(dtype, np.dtype):
        strings = dtype.kind == "O" and pandas.api.types.infer_dtype(column, skipna=False) == "string"
        return [pandas.factorize(column)[0]] if strings else _of_array(column.to_numpy())
    if isinstance(dtype, pandas.DatetimeTZDtype):
        return [_bits(column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy())]
    if isinstance(dtype, pandas.CategoricalDtype):
        return [column.cat.codes.to_numpy()]
    if hasattr(dtype, "pyarrow_dtype"):
        return of_arrow(column.array.__arrow_array__())
    if isinstance(dtype, pandas.StringDtype):
        return [pandas.factorize(column)[0]]
    if hasattr(dtype, "numpy_dtype"):
        return _with_nulls(_bits(column.to_numpy(dtype.numpy_dtype, na_value=0)), column.isna())
    return [_printed(column.tolist())]


def _of_polars(column: Any) -> list[np.ndarray]:
    polars, dtype = sys.modules["polars"], column.dtype
    if dtype == polars.String:
        column = column.cast(polars.Categorical)
    if dtype.is_nested() or dtype in (polars.Binary, polars.Object, polars.Null):
        return [_printed(column.to_list())]
    null, column = column.is_null().to_numpy(), column.to_physical()
    whole = column.dtype.is_integer() and column.dtype not in (polars.Int128, polars.UInt128)
    if whole or column.dtype.is_float():
        filled = column.fill_null(0 if whole else 0.0) if column.has_nulls() else column  # which would copy
        return _with_nulls(_bits(filled.to_numpy()), null)
    return [_printed(column.to_list())]


def of_arrow(column: Any) -> list[np.ndarray]:
    """Cells of pyarrow."""
    pyarrow = sys.modules["pyarrow"]
    if isinstance(column, pyarrow.ChunkedArray):
        column = pyarrow.concat_arrays([chunk for chunk in column.unify_dictionaries().chunks if len(chunk)])
    types, dtype = pyarrow.types, column.type
    if types.is_dictionary(dtype):
        column = column.dictionary_decode()
    if types.is_nested(dtype) or types.is_null(dtype):
        return [_printed(column.to_pylist())]
    if types.is_integer(dtype) or types.is_floating(dtype) or types.is_temporal(dtype):
        integers = {8: pyarrow.int8(), 16: pyarrow.int16(), 32: pyarrow.int32(), 64: pyarrow.int64()}
        null = column.is_null().to_numpy(zero_copy_only=False)
        bits = column.view(integers[dtype.bit_width])
        return _with_nulls(_bits(bits.fill_null(0).to_numpy()), null)
    return [column.dictionary_encode(null_encoding="encode").indices.to_numpy(zero_copy_only=False)]


_READERS: dict[str, Callable[[Any], list[np.ndarray]]] = {
    "dictionary": _of_array,
    "pandas": _of_pandas,
    "polars": _of_polars,
    "pyarrow": of_arrow,
}
