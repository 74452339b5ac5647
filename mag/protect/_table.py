"""The columns of a table that a function changes, and the entry of a manifest about it."""

from collections.abc import Callable, Hashable
from fractions import Fraction
from typing import Any

import numpy as np

from mag._lib import checks
from mag._lib.errors import InputTypeError, InputValueError
from mag._lib.json_types import to_json_types
from mag._lib.roles import assign_roles
from mag.frames import Frame, frame_of
from mag.frames.base import Column
from mag.frames.units import RefusedColumnError, Units

NO_K_NOTE = "gives no k: the guarantee does not follow from it"
MANIFEST_ENTRY = "protected"  # of the manifest
STEP_ERROR = 1e-9  # of a step; `0.1 * 3` means three steps of 0.1


def change_columns(table: Any, columns: Any, change: Callable[[Hashable, Column], Any]) -> tuple[Any, list[Hashable]]:
    """The table with other cells in these columns, and their names."""
    frame = frame_of(table)
    names = _names_of(frame, columns)
    masked = {name: change(name, frame.column(name)) for name in names}
    return frame.build(None, list(frame.names), masked, False), names


def _names_of(frame: Frame, columns: Any) -> list[Hashable]:
    roles = assign_roles({"columns": columns, "others": ()}, frame.names, rest="others")
    if frame.n == 0:
        raise InputValueError("table must hold at least one record; got none.")
    return roles["columns"]


def units_of(name: Hashable, column: Column) -> Units:
    """The numbers of a column."""
    try:
        units = column.units()
    except RefusedColumnError as refused:
        raise InputTypeError(f"columns must hold numbers; {name!r} holds {refused}.") from None
    if units.kind != "number":
        raise InputTypeError(f"columns must hold numbers; {name!r} holds a {units.kind}.")
    if not units.is_integer and not np.isfinite(units.values).all():
        raise InputValueError(f"columns must hold finite numbers; {name!r} holds infinite ones.")
    return units


def steps_of(option: str, number: float, units: Units) -> int:
    """A number in steps of the column, of integers and decimals."""
    ratio = Fraction(str(number)) / Fraction(str(units.step))
    steps = round(ratio)
    if abs(steps - ratio) > STEP_ERROR or (number and not steps):
        raise InputValueError(f"{option} must be a multiple of the column's step, {units.step:g}; got {number:g}.")
    return steps


def to_dtype(option: str, values: np.ndarray, units: Units) -> np.ndarray:
    """Python's numbers in the dtype of the column's units; numbers that it cannot hold are an error."""
    dtype = units.values.dtype
    if dtype.kind in "iu" and any(not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max for value in values.tolist()):
        raise InputValueError(f"{option} must leave numbers that the column can hold.")
    return values.astype(dtype)


def to_cells(column: Column, units: Units, values: np.ndarray) -> Any:
    """These values, in the column's own units, as its cells; missing ones stay missing."""
    return column.to_column(values, np.arange(values.size), units.missing)


def record(manifest: Any, function: str, columns: list[Hashable], **options: Any) -> None:
    """Add an entry to a manifest, without a seed."""
    if manifest is None:
        return
    if not isinstance(manifest, dict):
        raise InputTypeError(f"manifest must be a dictionary; got {checks.describe(manifest)}.")
    entry = {
        "function": function,
        "columns": [*map(str, columns)],
        "options": to_json_types(options),
        "note": NO_K_NOTE,
    }
    manifest.setdefault(MANIFEST_ENTRY, []).append(entry)


def generator_for(random_state: Any) -> np.random.Generator:
    """Of a seed; None is irreproducible, because anyone who knows the seed can undo what was drawn."""
    from mag.api.options import generator_of

    return np.random.default_rng() if random_state is None else generator_of(random_state)
