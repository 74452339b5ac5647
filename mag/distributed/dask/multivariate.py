"""Records of dask arrays and dataframes."""

from dataclasses import astuple, replace
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd

from mag._lib.checks import integer, unused
from mag.distributed._engines import no_table
from mag.distributed._frames import require_names
from mag.distributed._records_graph import (
    RECORDS_PER_PART,
    Input,
    RecordRoles,
    Settings,
    check_roles,
    check_settings,
    columns_of,
    group_partitions,
    group_records,
    power_of_two,
    require_two,
)
from mag.distributed._results import ScaledRecords
from mag.distributed.dask._frames import assemble_partition
from mag.distributed.dask._graph import DaskTasks
from mag.distributed.dask._inputs import real_chunks


def multivariate(
    X: Any, k: Any, *, roles: dict[str, Any], options: dict[str, Any], publish_unit: bool = False, sampled: int = 0
) -> ScaledRecords:
    """See `mag.distributed.multivariate`."""
    settings = replace(check_settings(k, **options), sampled=sampled)
    if isinstance(X, da.Array):
        for option, value in roles.items():
            unused(option, value if value != () else None, "dask arrays")
        return _array(X, settings)
    if isinstance(X, dd.DataFrame):
        require_names(list(X.columns))
        return _frame(X, check_roles(dict(X.dtypes), roles, publish_unit), settings)
    raise no_table("X", X)


def _array(X: da.Array, settings: Settings) -> ScaledRecords:
    real_chunks("X", X, 2)
    n, d = X.shape
    require_two(d)
    table = X.rechunk({1: -1})
    k = integer("k", settings.k, 1, n, "n")
    sizes = table.chunks[0]
    least = max(len(sizes), -(-n // RECORDS_PER_PART[settings.method]))
    settings = replace(settings, k=k, parts=power_of_two("parts", settings.parts, least))
    t = DaskTasks("multivariate", [table], table.name, *astuple(settings))
    records = [t.add("records", [c], columns_of, (table.name, c, 0)) for c in range(len(sizes))]
    without = [None] * len(sizes)
    keys = group_records(t, Input(records, list(range(d)), without, None, without, without), settings)
    dtype = X.dtype if X.dtype.kind == "f" else np.dtype(np.float64)
    label_keys = {(c,): key for c, key in enumerate(keys.labels)}
    mask_keys = {(c, 0): key for c, key in enumerate(t.each("masked-chunk", np.column_stack, keys.masked))}
    return ScaledRecords(
        t.array("labels", label_keys, (sizes,), np.int32),
        t.array("masked", mask_keys, table.chunks, dtype).rechunk(X.chunks),
        k,
        t.value("n_groups", keys.n_groups),
        settings.method,
        t.value("loss", keys.loss),
    )


def _frame(X: Any, roles: RecordRoles, settings: Settings) -> ScaledRecords:
    k = integer("k", settings.k, 1, 2**63 - 1, "n")
    partitions, dropped = X.to_delayed(), [name for name in X.columns if name not in roles.published]
    settings = replace(settings, k=k, parts=power_of_two("parts", settings.parts, len(partitions)))
    t = DaskTasks("multivariate", partitions, X, *astuple(roles), *astuple(settings))
    keys = [partition.key for partition in partitions]
    grouped = group_partitions(t, keys, roles, X.dtypes, settings)
    series = [
        t.value(f"labels-{p}", t.add("labeled", [p], _series, key, grouped.labels[p])) for p, key in enumerate(keys)
    ]
    frames = [
        t.value(
            f"masked-{p}",
            t.add("assembled", [p], assemble_partition, key, [grouped.masked[p]], roles.names, True, dropped),
        )
        for p, key in enumerate(keys)
    ]
    meta = pd.Series(np.empty(0, np.int32), index=X._meta.index, name="group")
    return ScaledRecords(
        dd.from_delayed(series, meta=meta, divisions=X.divisions, verify_meta=False),
        dd.from_delayed(frames, meta=X._meta.drop(columns=dropped), divisions=X.divisions, verify_meta=False),
        k,
        t.value("n_groups", grouped.n_groups),
        settings.method,
        t.value("loss", grouped.loss),
        t.value("sample", grouped.sample),
    )


def _series(partition: pd.DataFrame, labels: np.ndarray) -> pd.Series:
    return pd.Series(labels, index=partition.index, name="group")
