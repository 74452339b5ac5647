"""The option `sets`: several sets of quasi-identifiers, each with its own k."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mag._lib import checks
from mag._lib.errors import InputTypeError, InputValueError
from mag._lib.nearest import ask_nearest
from mag._lib.roles import names_of, repeated_names


@dataclass(frozen=True)
class ColumnSet:
    """Columns whose values are alike for at least k records, or units."""

    columns: tuple[Hashable, ...]
    k: int

    def __str__(self) -> str:
        return ", ".join(map(str, self.columns))


def read_sets(sets: Any, columns: Sequence[Hashable], k: Any) -> list[ColumnSet]:
    """The sets that the caller passed, checked; every column is in one of them."""
    if isinstance(sets, (str, bytes)) or not isinstance(sets, Sequence):
        raise InputTypeError(f"sets must be a list of lists of column names; got {checks.describe(sets)}.")
    found = [_read_set(own, columns, k) for own in sets]
    named = {name for own in found for name in own.columns}
    if absent := [name for name in columns if name not in named]:
        raise InputValueError(f"sets must together name all of columns; they lack {', '.join(map(repr, absent))}.")
    return found


def _read_set(own: Any, columns: Sequence[Hashable], k: Any) -> ColumnSet:
    if isinstance(own, (list, tuple)) and len(own) == 2 and isinstance(own[0], list):
        own, k = own
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)):
        raise InputTypeError(f"k of a set must be an integer; got {checks.describe(k)}.")
    names = names_of(own, columns)
    if not names:
        raise InputValueError("every one of sets must name at least one column; got none.")
    if unknown := [name for name in names if name not in columns]:
        question = ask_nearest(unknown[0], columns) or "."
        raise InputValueError(f"sets must name columns that are masked; got {', '.join(map(repr, unknown))}{question}")
    if repeated := repeated_names(names):
        raise InputValueError(f"a set must name every column once; got {repeated[0]!r} more than once.")
    return ColumnSet(tuple(names), int(k))


def largest_k(sets: Sequence[ColumnSet]) -> dict[Hashable, int]:
    """The largest k of the sets that each column is in."""
    ks: dict[Hashable, int] = {}
    for own in sets:
        for name in own.columns:
            ks[name] = max(own.k, ks.get(name, own.k))
    return ks


def join_overlapping(sets: Sequence[ColumnSet]) -> list[list[ColumnSet]]:
    """The sets in families, of which no two share a column."""
    families: list[list[ColumnSet]] = []
    for own in sets:
        near = [family for family in families if any({*own.columns} & {*other.columns} for other in family)]
        families = [family for family in families if family not in near]
        families.append([other for family in near for other in family] + [own])
    return families
