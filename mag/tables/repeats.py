"""Columns that look like names of people or households of several records each, which k does not count unasked."""

import warnings
from collections.abc import Hashable, Sequence

import numpy as np

from mag._lib.caller import level_of_caller
from mag._lib.errors import InputError, UnitsWarning
from mag.frames import Frame
from mag.frames.categories import is_category
from mag.tables._suggest import MIN_REPEATS
from mag.tables._words import is_name_of_units

MAX_REPEATS = 20  # records of a value on average, up to which values that stay together are taken for units
MIN_UNITS = 20  # different values, from which they are


def warn_of_units(frame: Frame, unpublished: Sequence[Hashable], kept: Sequence[Hashable]) -> None:
    """Warn of the column that looks like one of units."""
    if (found := find_units(frame, unpublished, kept)) is not None:
        sentence = describe_units(*found, frame.n, f"unit={found[0]!r}")
        warnings.warn(sentence, UnitsWarning, stacklevel=level_of_caller())


def describe_units(name: Hashable, n_units: int, n: int, option: str) -> str:
    """As a sentence that names the option to pass."""
    return (
        f"column {name!r} looks like the names of {n_units} people or households, which have {n} records: k counts "
        f"records; pass {option} to count them."
    )


def find_units(frame: Frame, unpublished: Sequence[Hashable], kept: Sequence[Hashable]) -> tuple[Hashable, int] | None:
    """The column with most values that looks like one of units of several records, and how many values it has.

    By its name; or, among columns that are not published, because equal texts or whole numbers are in adjacent records.
    """
    unpublished = [name for name in unpublished if name not in frame.left_out]
    named = [name for name in (*unpublished, *kept) if is_name_of_units(name)]
    counts = {name: _count_repeated(frame, name, name not in named) for name in dict.fromkeys([*named, *unpublished])}
    found = [(count, name) for name, count in counts.items() if count]
    if not found:
        return None
    count, name = max(found, key=lambda pair: pair[0])
    return name, count


def _count_repeated(frame: Frame, name: Hashable, is_adjacent: bool) -> int:
    """How many different values a column has, if records share them like units do; otherwise 0."""
    column = frame.column(name)
    try:
        if not is_category(column) and not column.units().is_integer:
            return 0
        codes = column.codes()
    except (InputError, TypeError, ValueError):  # cells that cannot be compared name no units
        return 0
    distinct = np.unique(codes).size
    if not 1 < distinct <= frame.n / MIN_REPEATS:
        return 0
    if is_adjacent:
        runs = 1 + np.count_nonzero(np.diff(codes))
        return distinct if runs == distinct >= max(MIN_UNITS, frame.n / MAX_REPEATS) else 0
    return distinct
