"""Two files, before and after masking, as numbers."""

import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mag._lib.errors import ValueMistake
from mag.commands._options import opened
from mag.files import Layout

if TYPE_CHECKING:
    import numpy as np


def pair(
    original: pathlib.Path, masked: pathlib.Path, columns: Sequence[str], layout: Layout
) -> "tuple[list[str], np.ndarray, np.ndarray]":
    """The columns, those named or all that are numbers in both files, and their values; missing is NaN."""
    before, after = opened([original, masked], layout)
    if not columns:
        common = set(after.numeric())
        columns = [name for name in before.numeric() if name in common]
    if not columns:
        raise ValueMistake(f"{original.name!r} and {masked.name!r} have no column of numbers in common.")
    tables = []
    for file in (before, after):
        frame, _ = file.read(columns)
        wrong = [name for name in columns if not frame[name].dtype.is_numeric()]
        if wrong:
            raise ValueMistake(f"{file.path.name!r}: {', '.join(map(repr, wrong))} must hold numbers.")
        tables.append(frame.select(columns).cast(dict.fromkeys(columns, _float64())).to_numpy())
    if len(tables[0]) != len(tables[1]):
        raise ValueMistake(
            f"{masked.name!r} must have as many records as {original.name!r}, in the same order; got {len(tables[1])} "
            f"and {len(tables[0])}."
        )
    return list(columns), tables[0], tables[1]


def _float64() -> Any:
    import polars as pl

    return pl.Float64
