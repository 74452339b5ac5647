"""One column in chunks of a dask array."""

from typing import Any

import dask.array as da

from mag._lib.checks import describe, integer, one_of, unused
from mag._lib.errors import InputTypeError
from mag.costs import COSTS
from mag.distributed._column_graph import group_column, label_type
from mag.distributed._representatives import representative_type
from mag.distributed._results import ScaledColumn
from mag.distributed.dask._graph import DaskTasks
from mag.distributed.dask._inputs import real_chunks


def univariate(x: Any, k: int, *, cost: str, ranges: int | None, keep: Any) -> ScaledColumn:
    """See `mag.distributed.univariate`."""
    unused("keep", keep if keep != () else None, "dask arrays")
    if not isinstance(x, da.Array):
        raise InputTypeError(f"x must be a dask array; got {describe(x)}, use mag.univariate for data in memory.")
    real_chunks("x", x, 1)
    sizes, n = x.chunks[0], x.size
    k = integer("k", k, 1, n, "n")
    cost = one_of("cost", cost, COSTS)
    if COSTS[cost].integer and x.dtype.kind == "f":
        raise InputTypeError(f"cost {cost!r} needs integers; got {x.dtype.name}, round x to integers first.")
    ranges = len(sizes) if ranges is None else integer("ranges", ranges, 1, n, "n")
    t = DaskTasks("univariate", [x], x.name, k, cost, ranges)
    chunks = [(x.name, c) for c in range(len(sizes))]
    keys = group_column(t, chunks, "x", n, x.dtype, k=k, cost=cost, ranges=ranges, keep=False)

    def array(what: str, chunks: list[Any], dtype: Any) -> da.Array:
        return t.array(what, {(c,): key for c, key in enumerate(chunks)}, x.chunks, dtype)

    return ScaledColumn(
        array("labels", keys.labels, label_type(n, k)),
        array("masked", keys.masked, representative_type(cost, x.dtype)),
        k,
        t.value("n_groups", keys.n_groups),
        t.value("cost", keys.cost),
    )
