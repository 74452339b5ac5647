"""The public function `verify`, of every engine."""

from collections.abc import Hashable, Sequence
from typing import Any

from mag.distributed._engines import find_function


def verify(X: Any, k: int, columns: Sequence[Hashable] | Hashable | None = None, unit: Any = None) -> int:
    """Count equal records of a table in pieces, and raise an error if a class has fewer than k.

    This computes.  It reads the published values, not labels: records are hashed to 128 bits, counted on their workers,
    and counted together, one range of hashes after the other.

    Parameters
    ----------
    X : dask array of numbers or dates, dask dataframe or Spark DataFrame
        The table as it is to be published.  Missing is a value, and floats are their bits: −0.0 is not 0.0, and NaN is
        not missing.  Columns that cannot be compared exactly, such as lists, are refused by name.
    k : int
        The smallest allowed class size.
    columns : list of names, or of numbers for arrays, optional
        The columns that records are compared in; all by default, but `unit`.
    unit : name or dask series, optional
        Of a frame: the person, household or firm of every record, integers or text, as a column of `X`, or on Dask of
        another dataframe with the same partitions, such as the original.  Then a class counts its different units.

    Returns
    -------
    int
        The size of the smallest class of equal records, in records, or in units.

    Raises
    ------
    mag.NotAnonymousError
        If the smallest class has fewer than k records, or units.

    Examples
    --------
    >>> import dask.array as da
    >>> import mag.distributed
    >>> X = da.from_array([[1.5, 2.0], [3.5, 4.0], [1.5, 2.0], [3.5, 4.0]], chunks=(3, 2))
    >>> mag.distributed.verify(X, 2)
    2
    >>> mag.distributed.verify(X, 3)
    Traceback (most recent call last):
        ...
    mag.NotAnonymousError: The smallest class of equal records must have k=3 records or more; got 2, in 2 of 2 classes.

    Two records of one person:

    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> visits = dd.from_pandas(pd.DataFrame({"person": [7, 7, 8], "age": [31, 31, 31]}), npartitions=2)
    >>> mag.distributed.verify(visits, 2, unit="person")
    2
    """
    return find_function("verify", "X", X)(X, k, columns=columns, unit=unit)
