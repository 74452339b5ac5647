"""The public function `microaggregate`, of every engine."""

from collections.abc import Hashable, Sequence
from typing import Any

from mag.distributed._engines import find_function, no_table
from mag.distributed._results import ScaledRelease


def microaggregate(
    X: Any,
    k: int,
    columns: Sequence[Hashable] | Hashable | None = None,
    *,
    keep: Sequence[Hashable] | Hashable = (),
    drop: Sequence[Hashable] | Hashable = (),
    by: Sequence[Hashable] | Hashable = (),
    weights: Hashable | None = None,
    unit: Hashable | None = None,
    method: str = "mona",
    rho: float | None = None,
    parts: int | None = None,
    standardize: bool = True,
    random_state: int = 0,
) -> ScaledRelease:
    """Mask the records of a Dask or Spark frame jointly, and count them again before they are published.

    This computes: `multivariate` finds the groups, the engine holds the masked frame, and `verify` counts its cells.

    Parameters
    ----------
    X : dask dataframe or Spark DataFrame
        The records.
    k : int
        The smallest group size.
    columns, keep, drop : list of names
        The columns to mask, two or more, by default every column without another role; those to publish unchanged, and
        those not to publish.  A column without a role is an error.
    by, weights, unit, method, rho, parts, standardize, random_state
        As in `mag.distributed.multivariate`.

    Returns
    -------
    ScaledRelease
        The frame to publish, with the size of its smallest class, the information loss and the `guarantee`.
        ``report(path, audience="internal")`` writes a page about it, as `mag.tables.Release.report`: the classes are
        those of the whole frame, distributions, losses and risks those of a sample of whole groups, of up to about
        2**17 records.  The sample, with its original values, is on the driver as long as the release is.

    Raises
    ------
    mag.NotAnonymousError
        If the published cells have a class of fewer than k records, or units.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> import mag.distributed
    >>> table = {"name": list("abcdef"), "age": [20, 22, 60, 24, 62, 68], "income": [1.0, 2.0, 5.0, 6.0, 5.0, 7.0]}
    >>> frame = dd.from_pandas(pd.DataFrame(table), npartitions=2)
    >>> release = mag.distributed.microaggregate(frame, 3, ["age", "income"], drop="name")
    >>> release.smallest
    3
    >>> release.data.compute()
       age    income
    0   22  3.000000
    1   22  3.000000
    2   63  5.666667
    3   22  3.000000
    4   63  5.666667
    5   63  5.666667
    """
    if not hasattr(X, "columns"):
        raise no_table("X", X)
    return find_function("microaggregate", "X", X)(
        X,
        k,
        drop=drop,
        roles={"columns": columns, "keep": keep, "by": by, "weights": weights, "unit": unit},
        options={
            "method": method, "rho": rho, "parts": parts, "standardize": standardize, "random_state": random_state,
        },
    )  # fmt: skip
