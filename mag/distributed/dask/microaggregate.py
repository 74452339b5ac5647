"""A counted release of a dask dataframe."""

from collections.abc import Sequence
from typing import Any

import dask.dataframe as dd
from dask.base import persist

from mag._lib.checks import describe
from mag._lib.errors import InputTypeError
from mag.distributed._release import Engine, release
from mag.distributed._results import ScaledRecords, ScaledRelease
from mag.distributed.dask.multivariate import multivariate
from mag.distributed.dask.verify import verify


def microaggregate(X: Any, k: Any, **roles: Any) -> ScaledRelease:
    """See `mag.distributed.microaggregate`."""
    if not isinstance(X, dd.DataFrame):
        raise InputTypeError(f"X must be a dataframe; got {describe(X)}, use mag.distributed.multivariate for arrays.")
    return release(X, k, engine=Engine(multivariate, verify, _select, _hold), **roles)


def _select(X: Any, names: Sequence[Any]) -> Any:
    return X[list(names)]


def _hold(scaled: ScaledRecords) -> tuple[Any, int, float, Any]:
    """One run for all of them; the partitions stay in the memory of the workers."""
    masked = scaled.masked
    *parts, n_groups, loss, sample = persist(
        *masked.to_delayed(), scaled.n_groups, scaled.information_loss, scaled._sample
    )
    held = dd.from_delayed(parts, meta=masked._meta, divisions=masked.divisions, verify_meta=False)
    return held, int(n_groups.compute()), float(loss.compute()), sample.compute()
