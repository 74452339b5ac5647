"""The public function `columns`, of every engine."""

from collections.abc import Hashable, Sequence
from typing import Any

from mag.api.types import CostName, SolverName
from mag.distributed._engines import find_function
from mag.distributed._results import Scaled


def columns(
    X: Any,
    k: int | Sequence[int],
    *,
    cost: CostName | Sequence[CostName] = "sse",
    solver: SolverName = "auto",
    columns: Sequence[Hashable] | Hashable | None = None,
    keep: Sequence[Hashable] | Hashable = (),
    columns_per_task: int | None = None,
) -> Scaled:
    """Group every column of a Dask array or dataframe, or of a Spark frame, by itself, each with the smallest cost.

    The same groups as `mag.columns` gives.  One task groups one column, or a block of columns, and holds all its rows.

    Parameters
    ----------
    X : dask array, shape (n, m), dask dataframe or Spark DataFrame
        The table; numbers of any dtype up to 64 bits.  NaN, infinity and missing values are refused, when it is
        computed.  Arrays must have chunks of known sizes.
    k : int or sequence of int
        The smallest group size: one for all columns, or one for each.
    cost : str or sequence of str
        The cost of a group, a name of `mag.univariate`: one for all columns, or one for each.
    solver : {"auto", "block", "galil_park", "growing", "quadratic", "simple", "simple_plus", "staggered", "wilber"}
        The algorithm, for all columns.
    columns, keep : list of names
        Of a frame, the columns to group, by default every column that is not kept, and those to publish unchanged.
        A column that is neither is an error.
    columns_per_task : int, optional
        The number of columns per task; by default as many as 64 MB hold, at least one, and fewer if that makes fewer
        than 16 tasks.  For a frame, one by default.

    Returns
    -------
    Scaled
        Lazy labels and masked values.  Arrays have the chunks of `X`; dataframes of Dask its partitions, divisions and
        index; `labels` of Spark has the kept columns too.  `masked` of frames has their dtypes: means, medians and
        mid-ranges of integers are rounded, half away from zero.

    Notes
    -----
    Each column is k-anonymous by itself; records are not, since a combination of values may be unique.

    Examples
    --------
    >>> import dask.array as da
    >>> import mag.distributed
    >>> X = da.from_array([[1.0, 70.0], [10.0, 20.0], [2.0, 30.0], [11.0, 80.0]], chunks=(2, 1))
    >>> scaled = mag.distributed.columns(X, k=2)
    >>> scaled.masked.chunks
    ((2, 2), (1, 1))
    >>> scaled.masked.compute()
    array([[ 1.5, 75. ],
           [10.5, 25. ],
           [ 1.5, 25. ],
           [10.5, 75. ]])
    """
    return find_function("columns", "X", X)(
        X, k, cost=cost, solver=solver, columns=columns, keep=keep, columns_per_task=columns_per_task
    )
