"""Which cells are missing, asked in one place; `mag.verify` asks by itself."""

import decimal
from typing import Any

import numpy as np

NAN_KINDS = "fcmM"  # of NumPy's scalars that can be NaN or NaT


def is_missing(cell: Any) -> bool:
    """Whether a cell is None, NaN of any type, NaT or pandas.NA; lists and other nested cells are not missing.

    Examples
    --------
    >>> from decimal import Decimal
    >>> from mag._lib.missing import is_missing
    >>> [is_missing(cell) for cell in (None, float("nan"), Decimal("sNaN"), 0.0, "nan", [None])]
    [True, True, True, False, False, False]
    """
    if cell is None:
        return True
    if isinstance(cell, (str, int, bytes)):
        return False
    if isinstance(cell, (float, complex)):
        return cell != cell
    if isinstance(cell, decimal.Decimal):
        return cell.is_nan()  # a signaling NaN cannot be compared
    if isinstance(cell, np.generic):
        return cell.dtype.kind in NAN_KINDS and bool(cell != cell)
    return type(cell).__name__ in ("NAType", "NaTType")  # of pandas, which may not be loaded


def find_missing(cells: np.ndarray) -> np.ndarray:
    """Which cells of an array are missing."""
    if cells.dtype.kind in NAN_KINDS:
        return np.isnat(cells) if cells.dtype.kind in "mM" else np.isnan(cells)
    if cells.dtype.kind not in "OT":
        return np.zeros(cells.size, bool)
    return np.fromiter(map(is_missing, cells.tolist()), bool, cells.size)
