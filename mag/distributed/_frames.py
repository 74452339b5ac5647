"""Columns of partitions as numbers, with their dtypes; a partition that differs from the others is an error.

Partitions are frames of pandas: those of Dask, or tables of Arrow with the dtypes of Arrow.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from mag._lib.checks import not_finite, refuse
from mag._lib.dtypes import describe_dtype
from mag._lib.errors import InputTypeError, InputValueError
from mag._lib.roles import Sentences, assign_roles, is_name, names_of, repeated_names
from mag.costs import Cost
from mag.distributed import _units
from mag.distributed._graph import Tasks


@dataclass(frozen=True)
class Piece:
    """A column of one partition: its numbers, or its defects: another dtype, missing or infinite values."""

    values: np.ndarray
    other_dtype: str | None
    missing: int
    infinite: int


SENTENCES = Sentences(
    unknown="{role} must name columns of {table}; got {names}, which it does not have{near}",
    shared="{role} and {other} must not overlap; got {names} in both.",
    unassigned="{table} must hold columns to group or to keep= only; got {names} in addition; keep or drop them.",
)


def require_names(known: list[Any]) -> None:
    """Columns of a frame have names of their own."""
    if len(set(known)) < len(known):
        twice = ", ".join(sorted(map(repr, repeated_names(known))))
        raise InputValueError(f"X must not hold two columns of one name; got {twice} more than once.")


def columns_to_group(
    known: list[Any],
    columns: Sequence[Hashable] | Hashable | None,
    keep: Sequence[Hashable] | Hashable,
    by: Sequence[Hashable] | Hashable = (),
    unit: Hashable | None = None,
) -> list[Hashable]:
    """Every column of the frame is one of these or published unchanged, but for that of units."""
    require_names(known)
    own = [] if unit is None else [unit]
    if columns is None:
        untouched = {*names_of(keep, known), *names_of(by, known), *own}
        columns = [name for name in known if name not in untouched]
    roles = {"columns": columns, "keep": keep, "by": by, "unit": own}
    return assign_roles(roles, known, "X", SENTENCES)["columns"]


def number_type(name: Hashable, dtype: Any, cost: Cost) -> np.dtype:
    """The NumPy dtype of a column of numbers."""
    plain = _plain_type(dtype)
    if plain is None:
        raise InputTypeError(
            f"columns must hold real numbers; got dtype {describe_dtype(dtype)} in column {name!r}, keep or drop it."
        )
    if plain.kind == "b" and not cost.keeps_integers:
        raise InputTypeError(
            f"columns must not hold booleans, which have no {cost.representative}; cast column {name!r} first."
        )
    return plain


def check_weights(name: Hashable, dtypes: Mapping[Any, Any]) -> None:
    """Weights are a column of numbers."""
    if not is_name(name, list(dtypes)):
        raise InputValueError(f"weights must name a column of X; got {name!r}.")
    if _plain_type(dtypes[name]) is None:
        found = describe_dtype(dtypes[name])
        raise InputTypeError(f"weights must hold real numbers; got dtype {found} in column {name!r}.")


def _plain_type(dtype: Any) -> np.dtype | None:
    """The NumPy dtype of real numbers of at most 64 bits."""
    try:
        plain = np.dtype(getattr(dtype, "numpy_dtype", dtype))
    except TypeError:  # text and categories of pandas have none
        return None
    return plain if plain.kind in "biuf" and plain.itemsize <= 8 else None


def pick_columns(partition: pd.DataFrame, names: list[Any], dtypes: list[Any]) -> list[Piece]:
    """Columns of a partition as numbers, if their dtypes are the expected ones."""
    pieces = []
    for name, dtype in zip(names, dtypes, strict=True):
        column, nothing = partition[name], np.empty(0)
        if column.dtype != dtype:
            pieces.append(Piece(nothing, describe_dtype(column.dtype), 0, 0))
        elif column.isna().any():
            pieces.append(Piece(nothing, None, int(column.isna().sum()), 0))
        else:
            values = column.to_numpy(dtype=getattr(dtype, "numpy_dtype", dtype))
            nans, infinities = not_finite(values)  # Arrow distinguishes NaN from missing
            pieces.append(Piece(values, None, nans, infinities))
    return pieces


def drop_values(pieces: list[Piece]) -> list[Piece]:
    """The facts about the columns of a partition, without their values."""
    return [Piece(piece.values[:0], piece.other_dtype, piece.missing, piece.infinite) for piece in pieces]


def check_pieces(partitions: list[list[Piece]], names: list[Any], dtypes: list[Any]) -> bool:
    """One error for every fault of a column in some partitions."""
    for j, (name, dtype) in enumerate(zip(names, dtypes, strict=True)):
        column = [pieces[j] for pieces in partitions]
        if others := [piece.other_dtype for piece in column if piece.other_dtype is not None]:
            dtypes_there = ", ".join(sorted(set(others)))
            where, wanted = f"{len(others)} of {len(column)} partitions", describe_dtype(dtype)
            raise InputTypeError(
                f"column {name!r} must have dtype {wanted} in all partitions; got {dtypes_there} in {where}."
            )
        missing, infinite = sum(piece.missing for piece in column), sum(piece.infinite for piece in column)
        if missing or infinite:
            refuse(f"column {name!r}", missing, infinite)
    return True


def join_columns(partitions: list[list[Piece]], names: list[Any], dtypes: list[Any]) -> list[np.ndarray]:
    """Whole columns from those of all partitions."""
    check_pieces(partitions, names, dtypes)
    return [np.concatenate([pieces[j].values for pieces in partitions]) for j in range(len(names))]


def count_signs(weights: list[np.ndarray]) -> tuple[int, int]:
    """How many weights of a partition are negative and positive."""
    return int((weights[0] < 0).sum()), int((weights[0] > 0).sum())


def check_signs(partitions: list[tuple[int, int]]) -> bool:
    """Weights are not negative, and not all zero."""
    negative, positive = (sum(signs) for signs in zip(*partitions, strict=True))
    if negative:
        raise InputValueError(f"weights must not be negative; got {negative} negative.")
    if not positive:
        raise InputValueError("weights must not all be zero; got only zeros.")
    return True


def take_weights(weights: list[np.ndarray], checked: bool) -> np.ndarray:
    """The weights of a partition as float64, once those of all partitions were checked."""
    return weights[0].astype(np.float64)


def take_values(pieces: list[Piece], checked: bool) -> list[np.ndarray]:
    """The numbers of a partition, once all partitions were looked at."""
    return [piece.values for piece in pieces]


def take_first(pieces: list[Piece], checked: bool) -> np.ndarray:
    """The numbers of the only column of a partition, once all partitions were looked at."""
    return pieces[0].values


def read_units(t: Tasks, keys: list[Any], name: Any) -> list[Any]:
    """Keys of the units of records, partition by partition, of frames with this column."""
    if name is None:
        return [None] * len(keys)
    found = t.each("units-found", _units.find_units, keys, name)
    checked = t.decide(
        "units-checked", [], _units.check_units, t.each("units-dropped", _units.drop_numbers, found), name
    )
    return t.each("units", _units.take_units, found, checked)
