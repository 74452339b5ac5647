"""Partitions of a dask dataframe with other numbers in some columns."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd


def assemble_partition(
    partition: pd.DataFrame,
    pieces: list[list[np.ndarray]],
    names: list[Any],
    with_rest: bool,
    dropped: Sequence[Any] = (),
) -> pd.DataFrame:
    """The partition with other numbers in some columns, in their dtypes, but without columns that are not published.

    Without the rest, these columns alone.
    """
    arrays = dict(zip(names, [array for piece in pieces for array in piece], strict=True))
    if not with_rest:
        return pd.DataFrame(arrays, index=partition.index, columns=pd.Index(names))
    changed = partition.drop(columns=list(dropped)) if dropped else partition.copy(deep=False)
    for name, array in arrays.items():
        changed[name] = pd.Series(array, index=partition.index).astype(partition[name].dtype)
    return changed
