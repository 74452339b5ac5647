"""Special values of columns of numbers, such as 0 or -9: codes that are published as they are, and never averaged.

Records with the same special values share strata, as records do that miss the same cells, and the codes are cells of no
group: distances and representatives leave them out.
"""

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mag._lib import checks
from mag._lib.errors import InputTypeError, InputValueError
from mag._lib.wording import named
from mag.frames.units import Units


@dataclass(frozen=True)
class SpecialCells:
    """The special cells of a column: `place` is 0 for other cells, i+1 for `values[i]`, in the column's own units."""

    place: np.ndarray
    values: np.ndarray

    def select(self, rows: np.ndarray) -> "SpecialCells":
        """The same of some records."""
        return SpecialCells(self.place[rows], self.values)

    def fill(
        self, representatives: np.ndarray, labels: np.ndarray, missing: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Representatives and labels in which special cells have their own value; they are not missing."""
        is_special = self.place > 0
        labels = np.where(is_special, representatives.size + self.place - 1, labels)
        absent = None if missing is None or not (missing & ~is_special).any() else missing & ~is_special
        return np.concatenate([representatives, self.values.astype(representatives.dtype)]), labels, absent


def check_special(special: Any, scales: Mapping[Hashable, str], aggregates: Mapping[Hashable, str]) -> None:
    """Every entry is a list of numbers, of a column of numbers that is published as numbers."""
    for name, values in (special or {}).items():
        option = f"special[{name!r}]"
        if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
            raise InputTypeError(f"{option} must be a list of numbers; got {checks.describe(values)}.")
        numbers = [
            isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool) for value in values
        ]
        if not numbers or not all(numbers) or not all(map(math.isfinite, values)):
            raise InputValueError(f"{option} must be a list of finite numbers, at least one.")
        if scales[name] != "number" or aggregates[name] == "range":
            raise InputValueError(f"{option} is for columns that are published as numbers, which {name!r} is not.")


def split_special(name: Hashable, unit: Any, values: Any) -> tuple[Units, SpecialCells]:
    """The column with its special cells as missing ones, and these cells."""
    if unit.kind != "number":
        raise InputTypeError(f"special[{name!r}] is for columns of numbers; {name!r} holds a {unit.kind}.")
    numbers = unit.values if unit.step == 1.0 else unit.floats()
    place, own = np.zeros(unit.values.size, np.int64), np.zeros(len(list(values)), unit.values.dtype)
    for i, value in enumerate(values):
        found = np.flatnonzero((numbers == value) & (place == 0))
        if unit.missing is not None:
            found = found[~unit.missing[found]]
        if found.size:
            place[found], own[i] = i + 1, unit.values[found[0]]
    absent = (place > 0) if unit.missing is None else unit.missing | (place > 0)
    cleared = unit.values.copy()
    cleared[place > 0] = 0
    own = own + 0.0 if own.dtype.kind == "f" else own
    return replace(unit, values=cleared, missing=absent if absent.any() else None), SpecialCells(place, own)


def require_others(name: Hashable, unit: Units, published: np.ndarray, values: Any) -> None:
    """Raise an error where cells that are not special would be published as one of these values."""
    numbers = replace(unit, values=published).floats()  # NaN where missing or special
    if np.isin(numbers, [float(value) for value in values]).any():
        raise InputValueError(
            f"special[{name!r}] must have values that no group of others is published as, such as by rounding its mean;"
            f" use another {named('aggregate')}, more decimals or another k."
        )
