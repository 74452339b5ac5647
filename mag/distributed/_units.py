"""Units of several records in partitions: numbers that are equal in all partitions, and classes of their records."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mag._lib.dtypes import describe_dtype
from mag._lib.errors import InputTypeError, InputValueError
from mag._lib.rowhash import add_cells, new_hashes
from mag.distributed._cells import cell_words, hash_records


@dataclass(frozen=True)
class LocalUnits:
    """The number of the unit of every record of a partition; how many have none, and what they are, in words."""

    numbers: np.ndarray
    missing: int
    kind: str


def find_units(table: Any, name: Hashable) -> LocalUnits:
    """The units of a pandas series, or of a frame's column, of integers or of text.

    Other cells, such as decimals, might name one unit in two ways.
    """
    column = table[name] if hasattr(table, "columns") else table
    numbers, _ = hashes = new_hashes(len(column))
    missing = int(column.isna().sum())
    if missing:
        return LocalUnits(numbers[:0], missing, "")
    plain = getattr(column.dtype, "numpy_dtype", column.dtype)
    is_text = not isinstance(plain, np.dtype) or plain.kind not in "biufcmM"
    if is_text and all(type(cell) is str for cell in column.to_numpy(object)):
        column, kind = column.astype(object), "text"
    elif isinstance(plain, np.dtype) and plain.kind in "iu":
        kind = "unsigned integers" if plain.kind == "u" else "integers"
    else:
        raise InputTypeError(
            f"unit must hold integers or text; got dtype {describe_dtype(column.dtype)} in {name!r}, cast it."
        )
    for words in cell_words(column, name):
        add_cells(hashes, *words)
    return LocalUnits(numbers, 0, kind if len(column) else "")


def drop_numbers(local: LocalUnits) -> LocalUnits:
    """The facts about the units of a partition, without their numbers."""
    return LocalUnits(local.numbers[:0], local.missing, local.kind)


def check_units(partitions: list[LocalUnits], name: Hashable) -> bool:
    """Every record has a unit, and all partitions name units alike."""
    if missing := sum(local.missing for local in partitions):
        raise InputValueError(f"unit must not have missing cells; got {missing} in {name!r}.")
    if len(kinds := {local.kind for local in partitions if local.kind}) > 1:
        raise InputTypeError(
            f"unit must have one dtype in all partitions; got {' and '.join(sorted(kinds))} in {name!r}."
        )
    return True


def take_units(local: LocalUnits, checked: bool) -> np.ndarray:
    """The numbers of a partition, once all partitions were looked at."""
    return local.numbers


# ---- classes of records, as a table of the two words of their hash and the number of a unit, each row once


def count_units(block: Any, units: np.ndarray) -> np.ndarray:
    """The classes of a partition with their units."""
    if len(block) != units.size:
        raise InputValueError(
            f"unit must have as many records as X in every partition; got {units.size} and {len(block)} in one."
        )
    return unite([np.stack([*hash_records(block), units], axis=1)])


def unite(tables: list[np.ndarray]) -> np.ndarray:
    """The rows of several tables, ascending, each once."""
    rows = np.concatenate(tables)
    rows = rows[np.lexsort(rows.T[::-1])]
    return rows[np.append(np.ones(min(len(rows), 1), bool), (rows[1:] != rows[:-1]).any(axis=1))]


def deal(rows: np.ndarray, edges: np.ndarray) -> list[np.ndarray]:
    """The rows by ranges of the first words of their classes."""
    return np.split(rows, np.searchsorted(rows[:, 0], edges))


def sizes(rows: np.ndarray) -> np.ndarray:
    """How many units each class has."""
    starts = np.append(np.ones(min(len(rows), 1), bool), (rows[1:, :2] != rows[:-1, :2]).any(axis=1))
    return np.diff(np.flatnonzero(starts), append=len(rows))
