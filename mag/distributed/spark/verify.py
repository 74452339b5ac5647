"""The number of equal records of a frame of Spark."""

from typing import Any

from mag._lib.checks import describe, integer
from mag._lib.errors import InputValueError
from mag._lib.roles import is_name
from mag.distributed._count_graph import columns_to_compare, count_records, count_records_of_units, judge
from mag.distributed.spark import _frames
from mag.distributed.spark._graph import SparkTasks


def verify(X: Any, k: Any, *, columns: Any, unit: Any) -> int:
    """See `mag.distributed.verify`."""
    k = integer("k", k, 1, 2**63 - 1, "most")
    _frames.require_frame("X", X, typed=False)
    known = list(X.columns)
    if unit is not None and not is_name(unit, known):
        raise InputValueError(f"unit must name a column of X; got {describe(unit)}.")
    names = columns_to_compare(columns, known, unit)
    X = _frames.select(X, dict.fromkeys([*names, *([] if unit is None else [unit])]))
    _frames.require_frame("X", X)
    t = SparkTasks("verify", X)
    read = t.each("read", _frames.as_pandas, t.partitions, names)
    if unit is None:
        (totals,) = t.run([], [count_records(t, read, k)])
        return judge(totals, k, "records")
    owners = t.each("owners", _frames.as_pandas, t.partitions, [unit])
    (totals,) = t.run([], [count_records_of_units(t, read, owners, unit, k)])
    return judge(totals, k, "units")
