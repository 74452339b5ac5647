"""How many records are alike, counted on what is to be published: a distributed group-by of hashed records."""

from collections.abc import Hashable, Sequence
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np

from mag._lib.checks import integer
from mag._lib.errors import InputValueError, NotAnonymousError
from mag._lib.rowhash import HashedClasses, add_classes, count_classes
from mag.distributed._cells import hash_records
from mag.distributed.dask._graph import Tasks
from mag.distributed.dask._inputs import no_frame


def verify(X: Any, k: int, columns: Sequence[Hashable] | Hashable | None = None) -> int:
    """Count equal records of a dask array or dataframe, and raise an error if a class has fewer than k.

    This computes.  It looks at the published values, not at labels: records are hashed to 128 bits, counted where they
    are, and counted together range of hashes by range of hashes.

    Parameters
    ----------
    X : dask array of numbers or dates, or dask dataframe
        The table as it is to be published.  Missing is a value, and floats are their bits: −0.0 is not 0.0, and NaN is
        not missing.  Columns that cannot be compared exactly, such as lists, are refused by name.
    k : int
        The smallest allowed class size.
    columns : list of names, or of numbers for arrays, optional
        The columns that records are compared in; all by default.

    Returns
    -------
    int
        The size of the smallest class of equal records.

    Raises
    ------
    mag.NotAnonymousError
        If the smallest class has fewer than k records.

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
    """
    k = integer("k", k, 1, 2**63 - 1, "most")
    names = None if columns is None else list(columns) if isinstance(columns, (list, tuple)) else [columns]
    if isinstance(X, da.Array):
        table = X[:, None] if X.ndim == 1 else X
        if table.ndim != 2:
            raise InputValueError(f"X must have one or two dimensions; got an array of shape {X.shape}.")
        table = (table if names is None else table[:, names]).rechunk({1: -1})
        inputs, keys = [table], [(table.name, c, 0) for c in range(table.numblocks[0])]
    elif isinstance(X, (dd.DataFrame, dd.Series)):
        table = X.to_frame() if isinstance(X, dd.Series) else X
        inputs = (table if names is None else table[names]).to_delayed()
        keys = [partition.key for partition in inputs]
    else:
        raise no_frame(X)
    t = Tasks("verify", inputs, keys)
    dealt = t.each("dealt", _deal, t.each("counted", _count, keys), len(keys))
    together = t.each("together", add_classes, t.exchange("piece", dealt, len(keys)))
    totals = t.each("total", _sizes, together, k)
    smallest, below, classes = t.value("smallest", t.add("all", [], _all, totals)).compute()
    if not classes:
        raise InputValueError("X must hold at least one record; got none.")
    if smallest < k:
        where = f"in {below} of {classes} classes"
        raise NotAnonymousError(
            f"The smallest class of equal records must have k={k} records or more; got {smallest}, {where}."
        )
    return smallest


def _count(block: Any) -> HashedClasses:
    return count_classes(hash_records(block))


def _deal(counted: HashedClasses, ranges: int) -> list[HashedClasses]:
    """The classes by ranges of their first hashes."""
    edges = [np.uint64(r * 2**64 // ranges) for r in range(1, ranges)]
    cuts = np.searchsorted(counted.first, np.array(edges, np.uint64))
    split = [np.split(array, cuts) for array in counted]
    return [HashedClasses(*arrays) for arrays in zip(*split, strict=True)]


def _sizes(counted: HashedClasses, k: int) -> tuple[int, int, int]:
    """The smallest class, how many are below k, and how many there are."""
    sizes = counted.sizes
    return int(sizes.min(initial=2**63 - 1)), int((sizes < k).sum()), sizes.size


def _all(totals: list[tuple[int, int, int]]) -> tuple[int, int, int]:
    return min(total[0] for total in totals), sum(total[1] for total in totals), sum(total[2] for total in totals)
