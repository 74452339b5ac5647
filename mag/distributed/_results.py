"""Results: lazy tables, whose groups were or will be counted before any value leaves."""

import os
import pathlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mag._lib.errors import InputRuntimeError

if TYPE_CHECKING:
    from mag.api.types import ProgressReport
    from mag.report import Audience
    from mag.tables import Guarantee
    from mag.tables.group_sample import GroupSample


@dataclass(frozen=True)
class Scaled:
    """Groups of a table in pieces, as returned by the functions of `mag.distributed`.

    Attributes
    ----------
    labels : dask array or dataframe of int, or Spark DataFrame
        The group of every record, in chunks or partitions like the data's.
    masked : dask array or dataframe, or Spark DataFrame
        The data with each record replaced.
    k : int or tuple of int
        The requested group size.
    n_groups : dask.delayed.Delayed, or int
        The number of groups; of each column, where columns are grouped by themselves.

    Notes
    -----
    Group sizes are counted before any result is returned: a group below k is an error, never a result.
    ``dask.compute(scaled.labels, scaled.masked)`` finds the groups once for both.  On Spark the groups are found by the
    call, which returns numbers as they are, and frames that write the values into their records.
    """

    labels: Any
    masked: Any
    k: int | tuple[int, ...]
    n_groups: Any


@dataclass(frozen=True)
class ScaledColumn(Scaled):
    """As `Scaled`, of one column, with its `cost`, computed from the data."""

    cost: Any


@dataclass(frozen=True)
class ScaledRecords(Scaled):
    """As `Scaled`, of whole records, with the `method`, and the `information_loss`, SSE / SST."""

    method: str
    information_loss: Any
    _sample: Any = field(default=None, repr=False)  # the number of records, and some groups of every part


@dataclass(frozen=True)
class ScaledRelease:
    """A masked table in pieces whose published cells were counted, as returned by `mag.distributed.microaggregate`.

    Attributes
    ----------
    data : dask dataframe or Spark DataFrame
        The table to publish, held by the engine as it was counted.
    k : int
        The requested group size.
    smallest : int
        The size of the smallest class of equal published records, in records, or in units.
    n_groups : int
        The number of groups.
    information_loss : float
        SSE / SST.
    guarantee : mag.tables.Guarantee
        The promises, counted on `data`.
    """

    data: Any
    k: int
    smallest: int
    n_groups: int
    information_loss: float
    guarantee: "Guarantee"
    _manifest: dict[str, Any] = field(repr=False)
    _sample: "GroupSample | None" = field(repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_sample": None}  # which holds originals

    def report(
        self,
        path: str | os.PathLike[str],
        title: str | None = None,
        overwrite: bool = False,
        about: Mapping[str, str] | None = None,
        progress: "ProgressReport" = None,
        audience: "Audience" = "internal",
    ) -> pathlib.Path:
        """Write a report on the release; parameters and result are those of `Release.report`.

        k, the number of groups and the smallest class are those of the whole table; distributions, losses and risks are
        those of a sample of whole groups, at most about 2**17 records, fewer where more than 64 columns are masked.
        The sample is collected on the driver, with its original values, when the release is made; pickles do not hold
        it.  An external page shows nothing that only the original gives.
        """
        if self._sample is None:
            raise InputRuntimeError(
                "report needs the release that mag.distributed.microaggregate returned, not a copy."
            )
        return self._sample.write(
            path, self.guarantee, self._manifest, (),
            title=title, overwrite=overwrite, about=about, progress=progress, audience=audience,
        )  # fmt: skip
