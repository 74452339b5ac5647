"""What is returned: nothing is computed before dask is asked to."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mag._compiled.groups import Groups
from mag.costs import COSTS
from mag.results import as_data_dtype


@dataclass(frozen=True)
class Scaled:
    """Groups that dask will find, as returned by the functions of `mag.distributed`.

    Attributes
    ----------
    labels : dask array or dask dataframe of int
        The group of every record, in chunks or partitions like the data's.
    masked : dask array or dask dataframe
        The data with each record replaced.
    k : int or tuple of int
        The requested group size.
    n_groups : dask.delayed.Delayed
        The number of groups; of each column, where columns are grouped by themselves.

    Notes
    -----
    Group sizes are counted before anything is handed on: a group below k is an error, never a result.
    ``dask.compute(scaled.labels, scaled.masked)`` finds the groups once for both.
    """

    labels: Any
    masked: Any
    k: int | tuple[int, ...]
    n_groups: Any


@dataclass(frozen=True)
class ScaledColumn(Scaled):
    """As `Scaled`, of one column, with its `cost`: a Delayed of what the grouping loses, from the data themselves."""

    cost: Any


@dataclass(frozen=True)
class ScaledRecords(Scaled):
    """As `Scaled`, of whole records, with the `method`, and the `information_loss`: a Delayed of SSE / SST."""

    method: str
    information_loss: Any


def representative_type(cost: str, dtype: np.dtype) -> np.dtype:
    """The dtype of the representatives that a cost finds for values of a dtype."""
    one = Groups(np.zeros(1, np.float64 if dtype.kind == "f" else dtype), np.zeros(1, np.int64))
    return as_data_dtype(COSTS[cost].representatives(one), dtype).dtype
