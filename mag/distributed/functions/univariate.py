"""The public function `univariate`, of every engine."""

from collections.abc import Hashable, Sequence
from typing import Any

from mag.distributed._engines import find_function
from mag.distributed._results import ScaledColumn


def univariate(
    x: Any, k: int, *, cost: str = "sse", ranges: int | None = None, keep: Sequence[Hashable] | Hashable = ()
) -> ScaledColumn:
    """Group the numbers of a column, too many for one machine, into the groups that `mag.univariate` finds.

    Chunks are sorted and dealt into ranges of values, and the dynamic program runs over all ranges at once.  A range
    starts ahead from a guess, and is kept only if its state where it begins has the very bits that the range before it
    ends with; otherwise it is computed from there.  Labels, masked values and cost are those of `mag.univariate`.

    Parameters
    ----------
    x : dask array of real numbers, shape (n,), or Spark DataFrame
        The values, in any order, in chunks of known sizes; as in `mag.univariate`.  NaN and infinity are refused.
        Integers must lie within a range of 2**53.  A frame of Spark has one column that is not in `keep`.
    k : int
        The smallest group size, from 1 to n.
    cost : str
        The cost of a group, a name of `mag.univariate`.
    ranges : int, optional
        The number of ranges; by default the number of chunks of `x`, on Spark one for 2**22 values.
    keep : list of names
        Of a frame, the columns to publish unchanged.

    Returns
    -------
    ScaledColumn
        Labels and masked values as dask arrays in chunks like those of `x`, and the cost and the number of groups;
        all of them lazy.  Frames of Spark have the kept columns too, and masked values the dtype of `x`: means, medians
        and mid-ranges of integers are rounded, half away from zero.

    Notes
    -----
    Every chunk meets every range, which creates 3 · chunks · ranges small tasks: a hundred chunks are fine, a thousand
    are not.  Memory is about 40 bytes per value, on all workers together, which spill data that do not fit; one task
    takes a few copies of a chunk or a range.

    Equally spaced values, and k so large that 6k² + 20k values are more than a range, are solved range after range:
    the same result, and only sorting is done side by side.

    Examples
    --------
    >>> import dask.array as da
    >>> import mag.distributed
    >>> scaled = mag.distributed.univariate(da.from_array([1.0, 10.0, 2.0, 11.0, 3.0], chunks=2), k=2)
    >>> scaled.labels
    dask.array<labels-of-mag-univariate, shape=(5,), dtype=int32, chunksize=(2,), chunktype=numpy.ndarray>
    >>> scaled.masked.compute()
    array([ 2. , 10.5,  2. , 10.5,  2. ])
    """
    find = find_function("univariate", "x", x)
    return find(x, k, cost=cost, ranges=ranges, keep=keep)
