"""Rank swapping (Moore 1996): values trade places with values of about the same rank."""

from typing import Any

import numpy as np

from mag._lib import checks
from mag.api.types import RandomState
from mag.frames.base import Column
from mag.protect._table import change_columns, generator_for, record, units_of


def swap(
    table: Any, columns: Any, *, share: float = 0.05, random_state: RandomState = None, manifest: Any = None
) -> Any:
    """Swap each value of a column with one whose rank differs by at most a share of the records.

    Each column is swapped by itself and keeps exactly the values that it has; missing cells stay where they are.

    Parameters
    ----------
    table : frame of pandas, polars or pyarrow, or dictionary of arrays
        The original; it is not changed.
    columns : column name or list of them
        Columns of numbers.
    share : float
        The largest difference of ranks, as a share of the column's values, at least one rank.
    random_state : int, numpy.random.Generator, optional
        None, the default, is irreproducible: anyone who knows the seed can undo the swaps.
    manifest : dict, optional
        A manifest, such as that of a release; an entry is added to ``manifest["protected"]``, without the seed.

    Returns
    -------
    frame or dict
        The same kind of table.  It gives no k.

    Examples
    --------
    >>> import mag
    >>> swapped = mag.protect.swap({"income": [10, 20, 30, 40]}, "income", share=0.25, random_state=0)
    >>> sorted(swapped["income"].tolist())
    [10, 20, 30, 40]
    """
    checks.fraction("share", share)
    generator = generator_for(random_state)
    data, names = change_columns(table, columns, lambda name, column: _swapped(name, column, share, generator))
    record(manifest, "swap", names, share=share)
    return data


def _swapped(name: Any, column: Column, share: float, generator: np.random.Generator) -> Any:
    units = units_of(name, column)
    rows = np.arange(units.values.size)
    present = rows if units.missing is None else np.flatnonzero(~units.missing)
    order = present[np.lexsort((generator.random(present.size), units.values[present]))]  # ties in random order
    rows[order] = order[_draw_partners(present.size, max(int(share * present.size), 1), generator)]
    return column.take(rows)


def _draw_partners(n: int, reach: int, generator: np.random.Generator) -> np.ndarray:
    """For each rank the one that it swaps with: at most `reach` apart, and its own if no other is left."""
    partner, free = np.arange(n), np.ones(n, bool)
    for i in range(n):
        if free[i]:
            near = np.flatnonzero(free[i + 1 : i + 1 + reach])
            if near.size:
                j = i + 1 + int(near[generator.integers(near.size)])
                partner[i], partner[j] = j, i
                free[i] = free[j] = False
    return partner
