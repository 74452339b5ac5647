"""Frames of Dask: floats by their bits, partition by partition."""

from typing import Any

import narwhals as nw
import numpy as np

from mag._lib.dtypes import describe_dtype
from mag.verify.engines import cannot_compare

REMEDY = "convert it, or use mag.distributed.verify"
NUMPY_KINDS = "biuMm"


def compare_exactly(table: Any, keys: list[Any], values: list[Any]) -> nw.LazyFrame[Any]:
    """See `mag.verify.engines`."""
    import pandas as pd

    for name in keys:
        if not _is_comparable(pd, table.dtypes[name]):
            raise cannot_compare(name, describe_dtype(table.dtypes[name]), REMEDY)

    def select(part: Any) -> Any:
        made = {f"key{place}": _exact(pd, name, part[name]) for place, name in enumerate(keys)}
        return pd.DataFrame(made | {f"value{place}": part[name] for place, name in enumerate(values)})

    return nw.from_native(table.map_partitions(select, meta=select(table._meta)))


def _is_comparable(pd: Any, dtype: Any) -> bool:
    """Whether pandas compares cells as they are stored, or `_exact` can make columns of which it does."""
    if hasattr(dtype, "pyarrow_dtype"):
        from pyarrow import types

        kind = dtype.pyarrow_dtype
        texts = types.is_string(kind) or types.is_large_string(kind)
        return texts or (types.is_primitive(kind) and not types.is_interval(kind)) or types.is_decimal(kind)
    if isinstance(dtype, pd.CategoricalDtype):
        return _is_text(pd, dtype.categories)
    plain = getattr(dtype, "numpy_dtype", dtype)  # of nullable columns
    if isinstance(plain, np.dtype):
        return plain.kind in NUMPY_KINDS + "O" or (plain.kind == "f" and plain.itemsize <= 8)
    return isinstance(dtype, (pd.StringDtype, pd.DatetimeTZDtype))


def _exact(pd: Any, name: Any, column: Any) -> Any:
    """A series that differs wherever the cells do."""
    if pd.api.types.is_float_dtype(column.dtype):
        return pd.Series(_bits(pd, column), index=column.index)
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object)
    if column.dtype == object:
        if not _is_text(pd, column):
            raise cannot_compare(name, "Python objects", REMEDY)
        return pd.Series([_text(cell) for cell in column.array], index=column.index, dtype="string")
    return column


def _text(cell: Any) -> str:
    """A text, or the kind of a missing cell: pandas takes None and NaN for one."""
    if isinstance(cell, str):
        return f"text {cell}"
    return type(cell).__name__ + (np.float64(cell).tobytes().hex() if isinstance(cell, float) else "")


def _is_text(pd: Any, cells: Any) -> bool:
    return pd.api.types.infer_dtype(cells, skipna=True) in ("string", "empty")


def _bits(pd: Any, column: Any) -> Any:
    """Floats as nullable integers of the same bits."""
    dtype = column.dtype
    if isinstance(dtype, np.dtype):
        numbers, null = column.to_numpy(), np.zeros(len(column), bool)
    elif hasattr(dtype, "pyarrow_dtype"):
        from pyarrow import chunked_array

        stored = chunked_array(column.array.__arrow_array__())
        numbers, null = stored.fill_null(0.0).to_numpy(), np.asarray(stored.is_null().to_numpy(), bool)
    else:
        numbers, null = column.to_numpy(dtype.numpy_dtype, na_value=0.0), column.isna().to_numpy()
    words = np.ascontiguousarray(numbers).view(f"i{numbers.dtype.itemsize}")
    return pd.arrays.IntegerArray(words.copy(), null)
