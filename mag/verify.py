"""The independent recount: how many records of a published table are alike.

It looks at the table as its reader gets it, and at nothing that the grouping knows: cells are equal if their bits are,
missing is a value, −0.0 is not 0.0, and Python objects are equal if they print alike.
"""

import sys
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from mag._frames import frame_of

FACTORS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)  # odd, of irregular bits


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
    frame = frame_of(table)
    if frame.n == 0:
        return 0
    if frame.library == "polars":
        return _polars(frame.native, list(columns))
    if frame.library == "pyarrow":
        return smallest([token for name in columns for token in arrow_tokens(frame.native.column(name))])
    return smallest([token for name in columns for token in _tokens(frame.native[name])])


def require(smallest: int, k: int, columns: Sequence[Hashable], n: int) -> None:
    """Raise `NotAnonymous` where the smallest class has fewer than k records."""
    if smallest < k:
        raise NotAnonymous(
            f"The published table would have a class of {smallest} equal records in {', '.join(map(str, columns))} "
            f"where k={k} are promised, of {n} records: nothing is published; please report this."
        )


def mixed(hashes: np.ndarray, token: np.ndarray, factor: int) -> np.ndarray:
    """Hashes of rows with one cell more."""
    hashes = (hashes ^ token.astype(np.uint64)) * np.uint64(factor)
    return hashes ^ (hashes >> np.uint64(29))


def smallest(tokens: list[np.ndarray]) -> int:
    """The smallest class of equal rows of integer arrays: rows in the order of a hash, compared with the one before."""
    if len(tokens) == 1:
        ordered = np.sort(tokens[0])
        return _shortest(ordered[1:] == ordered[:-1])
    hashes = np.zeros(tokens[0].size, np.uint64)
    for token in tokens:
        hashes = mixed(hashes, token, FACTORS[0])
    order = np.argsort(hashes)
    hashes = hashes[order]
    same_hash = hashes[1:] == hashes[:-1]
    del hashes
    same = _like_the_last(tokens, order)
    if (same_hash & ~same).any():  # two different rows with one hash: sort by the rows themselves
        same = _like_the_last(tokens, np.lexsort(tokens))
    return _shortest(same)


def _like_the_last(tokens: list[np.ndarray], order: np.ndarray) -> np.ndarray:
    """Whether a row equals the one before it."""
    same = np.ones(order.size - 1, bool)
    for token in tokens:
        token = token[order]
        same &= token[1:] == token[:-1]
    return same


def _shortest(same: np.ndarray) -> int:
    """The shortest run of rows of which all but the first equal the one before."""
    ends = np.flatnonzero(np.append(~same, True))
    return int(np.diff(ends, prepend=-1).min())


def _bits(array: np.ndarray) -> np.ndarray:
    array = np.ascontiguousarray(array)
    return array.view(f"u{array.dtype.itemsize}")


def _tokens(column: Any) -> list[np.ndarray]:
    """Integers that are equal where cells are."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(column, pandas.Series):
        dtype = column.dtype
        if isinstance(dtype, np.dtype):
            return _tokens(column.to_numpy())
        if isinstance(dtype, pandas.DatetimeTZDtype):
            return [_bits(column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy())]
        if isinstance(dtype, pandas.CategoricalDtype):
            return [column.cat.codes.to_numpy()]
        if hasattr(dtype, "pyarrow_dtype"):
            return arrow_tokens(column.array.__arrow_array__())
        if dtype.kind in "iuf" and hasattr(dtype, "numpy_dtype"):
            null = column.isna().to_numpy()
            return [_bits(column.to_numpy(dtype.numpy_dtype, na_value=0)), null.astype(np.uint8)]
        if dtype.kind in "O" and isinstance(dtype, pandas.StringDtype):
            return [pandas.factorize(column)[0]]
        return [_printed(column.tolist())]
    if hasattr(column, "to_list") and not isinstance(column, np.ndarray):
        return [_printed(column.to_list())]
    from mag._arrays import read

    array, _ = read("table", column)
    if array.dtype.kind == "O":
        return [_printed(array.tolist())]
    if array.dtype.kind in "UST":
        return [np.unique(array, return_inverse=True)[1]]
    return [_bits(array)]


def _printed(cells: list[Any]) -> np.ndarray:
    seen: dict[str, int] = {}
    return np.array([seen.setdefault(f"{type(cell).__name__} {cell!r}", len(seen)) for cell in cells], np.int64)


def _polars(frame: Any, columns: list[Any]) -> int:
    polars = sys.modules["polars"]
    parts = []
    for place, name in enumerate(columns):
        column = frame.get_column(name)
        if column.dtype.is_float():
            bits = _bits(column.fill_null(0.0).to_numpy())
            parts.append(polars.Series(f"{place} bits", bits))
            column = column.is_null()
        elif column.dtype == polars.Object:
            column = polars.Series(_printed(column.to_list()))
        parts.append(column.alias(f"{place}"))
    return int(polars.DataFrame(parts).group_by(polars.all()).len("count").get_column("count").min())


def arrow_tokens(column: Any) -> list[np.ndarray]:
    """Integers that are equal where cells are: bits where they are few, else numbers of a dictionary of the cells."""
    pyarrow = sys.modules["pyarrow"]
    if isinstance(column, pyarrow.ChunkedArray):
        column = column.combine_chunks()
        if isinstance(column, pyarrow.ChunkedArray):
            column = pyarrow.concat_arrays(column.chunks)
    kind = column.type
    if pyarrow.types.is_dictionary(kind):
        column, kind = column.dictionary_decode(), kind.value_type
    if pyarrow.types.is_nested(kind):
        return [_printed(column.to_pylist())]
    if (pyarrow.types.is_primitive(kind) or pyarrow.types.is_temporal(kind)) and kind.bit_width >= 8:
        null = [] if not column.null_count else [column.is_null().to_numpy(zero_copy_only=False).view(np.uint8)]
        cells = column.view(f"uint{kind.bit_width}")
        return [(cells.fill_null(0) if null else cells).to_numpy(), *null]
    return [column.dictionary_encode(null_encoding="encode").indices.to_numpy(zero_copy_only=False)]
