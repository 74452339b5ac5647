"""Every column of dask arrays and dataframes by itself."""

from dataclasses import astuple
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np

from mag._lib.checks import integer, one_of, per_column, unused
from mag._lib.errors import InputTypeError
from mag.costs import COSTS
from mag.distributed._columns_graph import ColumnOptions, column_costs, column_options, group_blocks
from mag.distributed._engines import no_table
from mag.distributed._frames import columns_to_group
from mag.distributed._representatives import representative_type
from mag.distributed._results import Scaled
from mag.distributed.dask._frames import assemble_partition
from mag.distributed.dask._graph import DaskTasks
from mag.distributed.dask._inputs import real_chunks
from mag.distributed.kernels import label_columns, mask_columns
from mag.solvers import SOLVERS

BYTES = 2**26  # of a block, if it has more than one column
TASKS = 16  # the least number of tasks, if there are as many columns


def columns(X: Any, k: Any, *, cost: Any, solver: Any, columns: Any, keep: Any, columns_per_task: Any) -> Scaled:
    """See `mag.distributed.columns`."""
    one_of("solver", solver, ["auto", *SOLVERS])
    if isinstance(X, da.Array):
        for option, value in (("columns", columns), ("keep", keep if keep != () else None)):
            unused(option, value, "dask arrays")
        return _array(X, k, cost, solver, columns_per_task)
    if isinstance(X, dd.DataFrame):
        names = columns_to_group(list(X.columns), columns, keep)
        options = column_options(names, X.dtypes, k, cost, solver, columns_per_task)
        return _frame(X, tuple(options.ks) if isinstance(k, (list, tuple)) else k, options)
    raise no_table("X", X)


def _array(X: da.Array, k: Any, cost: Any, solver: str, width: int | None) -> Scaled:
    real_chunks("X", X, 2)
    n, m = X.shape
    costs = column_costs(cost, m)
    for one in dict.fromkeys(costs):
        if COSTS[one].integer and X.dtype.kind == "f":
            raise InputTypeError(f"cost {one!r} needs integers; got {X.dtype.name}, round X to integers first.")
    ks = [integer("k", one, 1, n, "n") for one in per_column("k", k, m)]
    if width is None:
        width = max(1, min(BYTES // (n * X.dtype.itemsize), -(-m // TASKS)))
    width = integer("columns_per_task", width, 1, m, "m")
    blocks = X.rechunk({0: -1, 1: width})
    t = DaskTasks("columns", [blocks], blocks.name, ks, costs, solver)
    dtype = np.result_type(*(representative_type(one, X.dtype) for one in dict.fromkeys(costs)))
    labels, masked = {}, {}
    for b, first in enumerate(range(0, m, width)):
        here, key = slice(first, first + width), (blocks.name, 0, b)
        names = list(range(m))[here]
        labels[0, b] = t.add("grouped", [b], label_columns, key, ks[here], costs[here], solver, names)
        masked[0, b] = t.add("replaced", [b], _mask_block, key, labels[0, b], costs[here], dtype)
    counts = t.add("counts", [], np.concatenate, t.each("count", _groups, list(labels.values())))
    chunks = blocks.chunks
    return Scaled(
        t.array("labels", labels, chunks, np.int32 if n < 2**31 else np.int64).rechunk(X.chunks),
        t.array("masked", masked, chunks, dtype).rechunk(X.chunks),
        tuple(ks) if isinstance(k, (list, tuple)) else ks[0],
        t.value("n_groups", counts),
    )


def _mask_block(block: np.ndarray, labels: np.ndarray, costs: list[str], dtype: Any) -> np.ndarray:
    return mask_columns(block, labels, costs).astype(dtype, copy=False)


def _groups(labels: np.ndarray) -> np.ndarray:
    return labels.max(axis=0).astype(np.int64) + 1


# ---- frames


def _frame(X: Any, k: Any, options: ColumnOptions) -> Scaled:
    partitions, names = X.to_delayed(), options.names
    t = DaskTasks("columns", partitions, X, *astuple(options))
    keys = [partition.key for partition in partitions]
    blocks = group_blocks(t, keys, options)

    def frame(what: str, pieces: list[list[Any]], with_rest: bool) -> Any:
        """A dataframe with the partitions of X."""
        frames = [
            t.value(
                f"{what}-{p}",
                t.add(what, [p], assemble_partition, key, [block[p] for block in pieces], names, with_rest),
            )
            for p, key in enumerate(keys)
        ]
        meta = X._meta if with_rest else X._meta[names].astype(np.int32)
        return dd.from_delayed(frames, meta=meta, divisions=X.divisions, verify_meta=False)

    return Scaled(
        frame("labels", blocks.labels, False),
        frame("masked", blocks.masked, True),
        k,
        t.value("n_groups", blocks.n_groups),
    )
