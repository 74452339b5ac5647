"""Records of a frame of Spark."""

from dataclasses import replace
from typing import Any

from mag._lib.checks import integer
from mag.distributed._records_graph import RECORDS_PER_PART, check_roles, check_settings, group_partitions, power_of_two
from mag.distributed._results import ScaledRecords
from mag.distributed.spark import _frames
from mag.distributed.spark._graph import SparkTasks

LABEL = "group"


def multivariate(
    X: Any, k: Any, *, roles: dict[str, Any], options: dict[str, Any], publish_unit: bool = False, sampled: int = 0
) -> ScaledRecords:
    """See `mag.distributed.multivariate`."""
    settings = replace(check_settings(k, **options), sampled=sampled)
    _frames.require_frame("X", X)
    dtypes = _frames.dtypes_of(X)
    own = check_roles(dtypes, roles, publish_unit)
    k = integer("k", k, 1, 2**63 - 1, "n")
    if settings.parts is not None:
        power_of_two("parts", settings.parts, 1)
    names, published = own.names, own.published
    kept = [name for name in published if name not in names]
    _frames.require_free_name(LABEL, kept)
    t = SparkTasks("multivariate", X)
    least = max(len(t.sizes), -(-sum(t.sizes) // RECORDS_PER_PART[settings.method]))
    settings = replace(settings, k=k, parts=power_of_two("parts", settings.parts, least))
    needed = {*names, *own.by, *(name for name in (own.weights, own.unit) if name is not None)}
    read = t.each("read", _frames.as_pandas, t.partitions, [name for name in dtypes if name in needed])
    grouped = group_partitions(t, read, own, dtypes, settings)
    pairs = list(enumerate(t.partitions))
    labels = [
        t.add("labeled", [p], _frames.write_labels, key, [[grouped.labels[p]]], [LABEL], [*kept, LABEL])
        for p, key in pairs
    ]
    masked = [
        t.add("assembled", [p], _frames.write_arrays, key, [grouped.masked[p]], names, published) for p, key in pairs
    ]
    wanted = [grouped.sample] if sampled else []  # no other result needs it
    n_groups, loss, *sample = t.run([labels, masked], [grouped.n_groups, grouped.loss, *wanted])
    return ScaledRecords(
        _frames.labels_frame(t, X, labels, [*kept, LABEL], [LABEL], wide=False),
        _frames.masked_frame(t, X, masked, published),
        k,
        n_groups,
        settings.method,
        loss,
        *sample,
    )
