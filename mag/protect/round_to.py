"""Rounding to multiples of a base."""

from typing import Any

import numpy as np

from mag._lib import checks
from mag.frames.units import Units
from mag.protect._table import change_columns, record, steps_of, to_cells, to_dtype, units_of


def round_to(table: Any, columns: Any, base: float, *, manifest: Any = None) -> Any:
    """Round numbers to the nearest multiple of a base, halves away from zero.

    Parameters
    ----------
    table : frame of pandas, polars or pyarrow, or dictionary of arrays
        The original; it is not changed.
    columns : column name or list of them
        Columns of numbers.
    base : float
        For integers and decimals a multiple of the column's step.
    manifest : dict, optional
        A manifest, such as that of a release; an entry is added to ``manifest["protected"]``.

    Returns
    -------
    frame or dict
        The same kind of table.  It gives no k.

    Examples
    --------
    >>> import mag
    >>> mag.protect.round_to({"income": [1249, 1250, -1250]}, "income", 500)["income"].tolist()
    [1000, 1500, -1500]
    """
    checks.positive("base", base)

    def change(name: Any, column: Any) -> Any:
        units = units_of(name, column)
        return to_cells(column, units, _round(units, base))

    data, names = change_columns(table, columns, change)
    record(manifest, "round_to", names, base=base)
    return data


def _round(units: Units, base: float) -> np.ndarray:
    if not units.is_integer:
        return np.copysign(np.floor(np.abs(units.values) / base + 0.5) * base, units.values) + 0.0
    step = steps_of("base", base, units)
    whole = [int(value) for value in units.values.tolist()]
    rounded = [(abs(value) * 2 + step) // (2 * step) * step * (1 if value >= 0 else -1) for value in whole]
    return to_dtype("base", np.array([*rounded, None], object)[:-1], units)
