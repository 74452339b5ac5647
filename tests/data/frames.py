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
    """What a library says about its columns."""
    if isinstance(table, pa.Table):
        return list(table.schema)
    if isinstance(table, Mapping):
        return [(name, column.dtype) for name, column in table.items()]
    return list(table.dtypes.items()) if isinstance(table, pd.DataFrame) else list(table.schema.items())


def people(n=200, seed=0):
    """Numbers to mask, strata, and a name."""
    rng = np.random.default_rng(seed)
    return {
        "income": np.round(rng.lognormal(8, 1, n), 2),
        "age": rng.integers(18, 90, n),
        "region": np.array(["north", "south", "east", "west"])[rng.integers(0, 4, n)].tolist(),
        "name": [f"person {i}" for i in range(n)],
    }
