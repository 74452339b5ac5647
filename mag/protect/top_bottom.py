"""Top and bottom coding: numbers beyond a limit become the limit."""

from typing import Any

import numpy as np

from mag._lib import checks
from mag._lib.errors import InputTypeError, InputValueError
from mag.frames.units import Units
from mag.protect._table import change_columns, record, steps_of, to_cells, to_dtype, units_of

SHARE_ERROR = 1e-9  # of products of floats


def top_code(
    table: Any, columns: Any, *, value: float | None = None, quantile: float | None = None, manifest: Any = None
) -> Any:
    """Replace numbers above a limit by the limit.

    Parameters
    ----------
    table : frame of pandas, polars or pyarrow, or dictionary of arrays
        The original; it is not changed.
    columns : column name or list of them
        Columns of numbers.
    value : float, optional
        The limit.
    quantile : float, optional
        In place of a value: the share of the column's numbers that stay as they are, such as 0.99.  The limit is then
        one of these numbers.
    manifest : dict, optional
        A manifest, such as that of a release; an entry is added to ``manifest["protected"]``.

    Returns
    -------
    frame or dict
        The same kind of table.  It gives no k.

    Examples
    --------
    >>> import mag
    >>> mag.protect.top_code({"income": [20, 25, 30, 900]}, "income", value=100)["income"].tolist()
    [20, 25, 30, 100]
    """
    return _code("top_code", table, columns, value, quantile, manifest)


def bottom_code(
    table: Any, columns: Any, *, value: float | None = None, quantile: float | None = None, manifest: Any = None
) -> Any:
    """Replace numbers below a limit by the limit.

    Parameters
    ----------
    table, columns, value, manifest
        As for `top_code`.
    quantile : float, optional
        In place of a value: the share of the column's numbers that are raised to the limit, such as 0.01.

    Returns
    -------
    frame or dict
        The same kind of table.  It gives no k.

    Examples
    --------
    >>> import mag
    >>> mag.protect.bottom_code({"age": [3, 35, 41, 60]}, "age", quantile=0.25)["age"].tolist()
    [35, 35, 41, 60]
    """
    return _code("bottom_code", table, columns, value, quantile, manifest)


def _code(function: str, table: Any, columns: Any, value: Any, quantile: Any, manifest: Any) -> Any:
    if (value is None) == (quantile is None):
        raise InputValueError("either value or quantile must be passed; got " + ("none." if value is None else "both."))
    if quantile is not None:
        checks.fraction("quantile", quantile)
    elif not isinstance(value, (int, float, np.number)) or isinstance(value, bool) or not np.isfinite(value):
        raise InputTypeError(f"value must be a finite number; got {checks.describe(value)}.")

    def change(name: Any, column: Any) -> Any:
        units = units_of(name, column)
        present = units.values if units.missing is None else units.values[~units.missing]
        is_top = function == "top_code"
        limit = _value_of(units, value) if quantile is None else _quantile_of(present, is_top, quantile)
        clip = np.minimum if is_top else np.maximum
        return to_cells(column, units, to_dtype("value", clip(units.values.astype(object), limit), units))

    data, names = change_columns(table, columns, change)
    record(manifest, function, names, **({"value": value} if quantile is None else {"quantile": quantile}))
    return data


def _quantile_of(present: np.ndarray, is_top: bool, quantile: float) -> Any:
    """The number beyond which this share of all numbers lies; one of them."""
    if not present.size:
        return 0
    beyond = min(int((1.0 - quantile if is_top else quantile) * present.size + SHARE_ERROR), present.size - 1)
    ordered = np.sort(present)
    return ordered[-1 - beyond] if is_top else ordered[beyond]


def _value_of(units: Units, value: Any) -> Any:
    """The value in the column's own units."""
    if not units.is_integer:
        return float(value)
    return steps_of("value", value, units)
