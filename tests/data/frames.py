"""Tables of every library that `microaggregate` takes, and how tests read them."""

from collections import Counter
from collections.abc import Mapping

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

LIBRARIES = {
    "pandas": pd.DataFrame,
    "pandas nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "pandas arrow": lambda columns: pd.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "dict": lambda columns: {name: np.asarray(cells) for name, cells in columns.items()},
}


def cells(table, name):
    """A column as a list."""
    column = table[name]
    return (
        column.tolist()
        if hasattr(column, "tolist")
        else column.to_pylist()
        if isinstance(table, pa.Table)
        else list(column)
    )


def names(table):
    return (
        list(table)
        if isinstance(table, Mapping)
        else table.column_names
        if isinstance(table, pa.Table)
        else list(table.columns)
    )


def smallest_class(table, columns):
    """The slow and obvious recount: records that print alike."""
    return min(Counter(zip(*([repr(cell) for cell in cells(table, name)] for name in columns), strict=True)).values())


def dtypes(table):
    """The dtypes that a library reports for its columns."""
    if isinstance(table, pa.Table):
        return list(table.schema)
    if isinstance(table, Mapping):
        return [(name, column.dtype) for name, column in table.items()]
    return list(table.dtypes.items()) if isinstance(table, pd.DataFrame) else list(table.schema.items())


CATEGORICAL = {
    "pandas": lambda cells, kinds: pd.DataFrame({"x": pd.Categorical(cells, kinds)}),
    "polars": lambda cells, kinds: pl.DataFrame({"x": pl.Series(cells, dtype=pl.Categorical)}),
    "polars Enum": lambda cells, kinds: pl.DataFrame({"x": pl.Series(cells, dtype=pl.Enum(kinds))}),
    "pyarrow": lambda cells, kinds: pa.table({"x": pa.array(cells).dictionary_encode()}),
    "pandas in a dictionary": lambda cells, kinds: {"x": pd.Series(pd.Categorical(cells, kinds))},
}
