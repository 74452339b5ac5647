"""Two files, before and after masking, as numbers."""

import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mag._lib.errors import ValueMistake
from mag.commands._options import open_files
from mag.commands._table import read_table, read_withheld
from mag.files import Layout, columns_of

if TYPE_CHECKING:
    import numpy as np


def pair(
    original: pathlib.Path,
    masked: pathlib.Path,
    columns: Sequence[str],
    layout: Layout,
    withheld: pathlib.Path | None,
) -> "tuple[list[str], np.ndarray, np.ndarray]":
    """The columns, those named or all that are numbers in both files, and their values; missing is NaN."""
    before, after = open_files([original, masked], layout)
    if not columns:
        common = set(after.numeric())
        columns = [name for name in before.numeric() if name in common]
    if not columns:
        raise ValueMistake(f"{original.name!r} and {masked.name!r} have no column of numbers in common.")
    tables = []
    for file in (before, after):
        frame, _ = read_table(file, columns)
        wrong = [name for name in columns if not frame[name].dtype.is_numeric()]
        if wrong:
            raise ValueMistake(f"{file.path.name!r}: {', '.join(map(repr, wrong))} must hold numbers.")
        tables.append(columns_of(frame, columns).cast(_float64()).to_numpy())
    if withheld is not None:
        tables[0] = tables[0][read_withheld(withheld, len(tables[0]))]
    if len(tables[0]) != len(tables[1]):
        where = "" if withheld is None else f" without those of {withheld.name!r}"
        raise ValueMistake(
            f"{masked.name!r} must have the records of {original.name!r}{where}, in the same order; got "
            f"{len(tables[1])} and {len(tables[0])}; if mag mask withheld some, pass --withheld FILE to it, and FILE "
            "here."
        )
    return list(columns), tables[0], tables[1]


def _float64() -> Any:
    import polars as pl

    return pl.Float64
