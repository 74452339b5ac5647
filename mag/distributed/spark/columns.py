"""Every column of a frame of Spark by itself."""

from typing import Any

from mag._lib.checks import one_of
from mag.distributed._columns_graph import column_options, group_blocks
from mag.distributed._frames import columns_to_group
from mag.distributed._results import Scaled
from mag.distributed.spark import _frames
from mag.distributed.spark._graph import SparkTasks
from mag.solvers import SOLVERS


def columns(X: Any, k: Any, *, cost: Any, solver: Any, columns: Any, keep: Any, columns_per_task: Any) -> Scaled:
    """See `mag.distributed.columns`."""
    one_of("solver", solver, ["auto", *SOLVERS])
    _frames.require_frame("X", X)
    published = list(X.columns)
    names = columns_to_group(published, columns, keep)
    options = column_options(names, _frames.dtypes_of(X), k, cost, solver, columns_per_task)
    t = SparkTasks("columns", X)
    blocks = group_blocks(t, t.each("read", _frames.as_pandas, t.partitions, names), options)
    labels, masked = (
        [
            t.add(step, [p], write, key, [block[p] for block in pieces], names, published)
            for p, key in enumerate(t.partitions)
        ]
        for step, write, pieces in (
            ("labeled", _frames.write_labels, blocks.labels),
            ("assembled", _frames.write_arrays, blocks.masked),
        )
    )
    (n_groups,) = t.run([labels, masked], [blocks.n_groups])
    return Scaled(
        _frames.labels_frame(t, X, labels, published, names, wide=False),
        _frames.masked_frame(t, X, masked, published),
        tuple(options.ks) if isinstance(k, (list, tuple)) else k,
        n_groups,
    )
