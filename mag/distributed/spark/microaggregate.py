"""A counted release of a frame of Spark."""

from typing import Any

from mag.distributed._release import Engine, release
from mag.distributed._results import ScaledRecords, ScaledRelease
from mag.distributed.spark._frames import require_frame, select
from mag.distributed.spark._graph import Holder, unpersist
from mag.distributed.spark.multivariate import multivariate
from mag.distributed.spark.verify import verify


def microaggregate(X: Any, k: Any, **roles: Any) -> ScaledRelease:
    """See `mag.distributed.microaggregate`."""
    require_frame("X", X, typed=False)  # columns of other types may be dropped
    held: list[Any] = []

    def hold(scaled: ScaledRecords) -> tuple[Any, int, float, Any]:
        held.append(scaled.masked.persist())
        return held[0], scaled.n_groups, scaled.information_loss, scaled._sample

    try:
        found = release(X, k, engine=Engine(multivariate, verify, select, hold), **roles)
    except BaseException:
        unpersist(held)
        raise
    found.data.mag_holder = Holder(held)
    return found
