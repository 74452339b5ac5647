"""The public function `multivariate`, of every engine."""

from collections.abc import Hashable, Sequence
from typing import Any

from mag.distributed._engines import find_function
from mag.distributed._results import ScaledRecords


def multivariate(
    X: Any,
    k: int,
    *,
    method: str = "mona",
    rho: float | None = None,
    parts: int | None = None,
    standardize: bool = True,
    columns: Sequence[Hashable] | Hashable | None = None,
    keep: Sequence[Hashable] | Hashable = (),
    by: Sequence[Hashable] | Hashable = (),
    weights: Hashable | None = None,
    unit: Hashable | None = None,
    random_state: int = 0,
) -> ScaledRecords:
    """Group the records of a table in pieces jointly into groups of at least k, with a small information loss.

    Records are halved, and halves of halves, at the median of the column with the largest variance, as Mondrian does,
    medians and variances being those of a sample.  Halves with fewer than 2k records, counted, are joined with their
    neighbors.  Each part is then grouped by itself, so that k holds by construction.  Strata are separated before any
    halves are, and those that are too small for a part of their own share one, where each is grouped by itself.

    Parameters
    ----------
    X : dask array, shape (n, d), dask dataframe or Spark DataFrame
        The records, two columns or more; numbers of any dtype up to 64 bits.  NaN, infinity and missing values are
        refused, when it is computed.  Arrays must have chunks of known sizes.
    k : int
        The smallest group size.
    method : {"mona", "ona_star"}
        How a part is grouped: "mona" halves it further until parts have at most n**rho records, n being all records
        of `X`, and groups these by "ona_star"; "ona_star" groups the whole part, in a time that grows with its square.
    rho : float, optional
        For "mona"; 0.5 by default.
    parts : int, optional
        The number of parts, a power of two; by default such that parts have at most 2**18 records ("mona") or 2**13
        ("ona_star"), and at least one for every chunk or partition.  Of a dataframe of Dask, whose number of records is
        not known, one for every partition.
    standardize : bool
        Measure each column in its standard deviations, computed in two passes over the chunks.
    columns, keep : list of names
        Of a frame, the columns to group, by default every column that is not kept, and those to publish unchanged.
        A column that is neither, nor in `by`, nor `unit`, is an error.
    by : list of names
        Strata, of a frame: groups never mix combinations of values of these columns, which may be of any dtype that
        `mag.distributed.verify` counts, and are published unchanged.  A missing value is a value.  Strata of fewer than
        k records are an error, when it is computed.
    weights : name, optional
        Of a frame, the column of the records' weights in means, not negative; published unchanged.  k does not
        count them, and neither groups nor information loss depend on them but through the means.
    unit : name, optional
        Of a frame, the column of integers or text that names the person, household or firm of each record; not
        published.  k counts these units: every group has records of k or more.  Strata of fewer units are an error,
        when it is computed.
    random_state : int
        Seeds the sample; the same seed and the same chunks or partitions give the same groups, on every engine.

    Returns
    -------
    ScaledRecords
        Lazy labels, one per record, and masked records.  Arrays have the chunks of `X`; dataframes of Dask its
        partitions, divisions and index; `labels` of Spark has the kept columns, those of `by`, and ``group``.  `masked`
        of frames has their dtypes: means of integers are rounded, half away from zero.

    Notes
    -----
    Chunks are read in several passes, and every chunk meets every part: chunks · parts small tasks.  Workers hold the
    records meanwhile, and spill those that do not fit.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> import mag.distributed
    >>> X = da.from_array(np.random.default_rng(0).normal(size=(1000, 3)), chunks=(300, 3))
    >>> scaled = mag.distributed.multivariate(X, k=5)
    >>> scaled.masked
    dask.array<masked-of-mag-multivariate, shape=(1000, 3), dtype=float64, chunksize=(300, 3), chunktype=numpy.ndarray>
    >>> mag.distributed.verify(scaled.masked, 5)
    5

    Groups within regions, with weighted means:

    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> table = {"age": [20, 22, 60, 24, 62, 68], "income": [1.0, 2.0, 5.0, 6.0, 5.0, 7.0],
    ...          "region": list("NNSNSS"), "weight": [1, 2, 1, 1, 1, 2]}
    >>> frame = dd.from_pandas(pd.DataFrame(table), npartitions=2)
    >>> mag.distributed.multivariate(frame, k=3, by="region", weights="weight").masked.compute()
       age  income region  weight
    0   22    2.75      N       1
    1   22    2.75      N       2
    2   65    6.00      S       1
    3   22    2.75      N       1
    4   65    6.00      S       1
    5   65    6.00      S       2
    """
    return find_function("multivariate", "X", X)(
        X,
        k,
        roles={"columns": columns, "keep": keep, "by": by, "weights": weights, "unit": unit},
        options={
            "method": method, "rho": rho, "parts": parts, "standardize": standardize, "random_state": random_state,
        },
    )  # fmt: skip
