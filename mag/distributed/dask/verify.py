"""The number of equal records of dask arrays and dataframes."""

from collections.abc import Hashable, Sequence
from typing import Any

import dask.array as da
import dask.dataframe as dd

from mag._lib.checks import describe, integer, unused
from mag._lib.errors import InputValueError
from mag._lib.roles import is_name
from mag.distributed._count_graph import columns_to_compare, count_records, count_records_of_units, judge
from mag.distributed._engines import no_table
from mag.distributed.dask._graph import DaskTasks


def verify(X: Any, k: int, columns: Sequence[Hashable] | Hashable | None = None, unit: Any = None) -> int:
    """See `mag.distributed.verify`."""
    k = integer("k", k, 1, 2**63 - 1, "most")
    if isinstance(X, da.Array):
        unused("unit", unit, "dask arrays")
        table = X[:, None] if X.ndim == 1 else X
        if table.ndim != 2:
            raise InputValueError(f"X must have one or two dimensions; got an array of shape {X.shape}.")
        names = columns_to_compare(columns, range(table.shape[1]))
        table = (table if columns is None else table[:, names]).rechunk({1: -1})
        inputs, keys = [table], [(table.name, c, 0) for c in range(table.numblocks[0])]
    elif isinstance(X, (dd.DataFrame, dd.Series)):
        table = X.to_frame() if isinstance(X, dd.Series) else X
        if unit is not None:
            return _verify_units(table, k, columns, unit)
        names = columns_to_compare(columns, list(table.columns))
        inputs = (table if columns is None else table[names]).to_delayed()
        keys = [partition.key for partition in inputs]
    else:
        raise no_table("X", X)
    t = DaskTasks("verify", inputs, keys)
    return judge(t.value("smallest", count_records(t, keys, k)).compute(), k, "records")


def _verify_units(table: Any, k: int, columns: Any, unit: Any) -> int:
    """As `verify` of a dataframe, with units: they are counted once in every class, whatever their partitions."""
    known, own, name = list(table.columns), unit, None
    if not isinstance(unit, dd.Series):
        if not is_name(unit, known):
            raise InputValueError(f"unit must name a column of X or be a dask series; got {describe(unit)}.")
        own, name = table[unit], unit
    names = columns_to_compare(columns, known, name)
    if own.npartitions != table.npartitions:
        raise InputValueError(
            f"unit must have the partitions of X; got {own.npartitions}, of X there are {table.npartitions}."
        )
    frames, series = table[names].to_delayed(), own.to_delayed()
    keys, owners = ([partition.key for partition in one] for one in (frames, series))
    t = DaskTasks("verify", [*frames, *series], keys, owners)
    counted = count_records_of_units(t, keys, owners, own.name, k)
    return judge(t.value("smallest", counted).compute(), k, "units")
