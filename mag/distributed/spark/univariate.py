"""One column of a frame of Spark, in ranges of values."""

from typing import Any

from mag._lib.checks import integer, one_of
from mag._lib.errors import InputValueError
from mag.costs import COSTS
from mag.distributed._column_graph import group_column, label_type
from mag.distributed._columns_graph import check_column
from mag.distributed._frames import check_pieces, columns_to_group, drop_values, number_type, pick_columns, take_first
from mag.distributed._results import ScaledColumn
from mag.distributed.spark import _frames
from mag.distributed.spark._graph import SparkTasks

VALUES_PER_RANGE = 2**22  # about


def univariate(x: Any, k: Any, *, cost: Any, ranges: Any, keep: Any) -> ScaledColumn:
    """See `mag.distributed.univariate`."""
    one_of("cost", cost, COSTS)
    _frames.require_frame("x", x)
    published, dtypes = list(x.columns), _frames.dtypes_of(x)
    names = columns_to_group(published, None, keep)
    if len(names) != 1:
        raise InputValueError(f"x must have one column that is not in keep; got {len(names)}.")
    (name,) = names
    check_column(name, dtypes[name], cost)
    k = integer("k", k, 1, 2**63 - 1, "n")
    t = SparkTasks("univariate", x)
    n = sum(t.sizes)
    k = integer("k", k, 1, n, "n")
    ranges = -(-n // VALUES_PER_RANGE) if ranges is None else integer("ranges", ranges, 1, n, "n")
    read = t.each("read", _frames.as_pandas, t.partitions, names)
    picked = t.each("picked", pick_columns, read, names, [dtypes[name]])
    checked = t.decide("faults", [], check_pieces, t.each("dropped", drop_values, picked), names, [dtypes[name]])
    chunks = t.each("chunk", take_first, picked, checked)
    plain = number_type(name, dtypes[name], COSTS[cost])
    keys = group_column(t, chunks, f"column {name!r}", n, plain, k=k, cost=cost, ranges=ranges, keep=True)
    labels, masked = (
        [t.add(step, [p], write, key, [[own[p]]], names, published) for p, key in enumerate(t.partitions)]
        for step, write, own in (
            ("labeled", _frames.write_labels, keys.labels),
            ("assembled", _frames.write_arrays, keys.masked),
        )
    )
    n_groups, total = t.run([labels, masked], [keys.n_groups, keys.cost])
    return ScaledColumn(
        _frames.labels_frame(t, x, labels, published, names, wide=label_type(n, k) is not label_type(1, 1)),
        _frames.masked_frame(t, x, masked, published),
        k,
        n_groups,
        total,
    )
