"""Read a table from a file for a command: numbers, weights, and which records were withheld."""

import pathlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from mag._lib.atomic import PRIVATE
from mag._lib.errors import InputValueError
from mag.files import CATEGORIES, File, Meta

if TYPE_CHECKING:
    import numpy as np
    import polars as pl


def read_table(
    file: File,
    columns: Sequence[str],
    others: Sequence[str] = (),
    weights: str | None = None,
    declared: Sequence[str] = (),
    owners: Sequence[str] = (),
) -> "tuple[pl.DataFrame, Meta]":
    """The columns to compute with, which must not be text; the other columns unchanged; those `declared` as categories.

    `owners`, the columns of units and households, are read like categories.

    Reject a missing code for a column that is unchanged.
    """
    check_layout(file, columns, weights, [*declared, *owners])
    frame, meta = file.read(columns, others, [*declared, *owners])
    text = [name for name in columns if _is_category(frame[name])]
    if text:
        raise InputValueError(f"{file.path.name!r}: {categories(text)}")
    return frame, meta


def check_layout(file: File, columns: Sequence[str], weights: str | None, coded: Sequence[str]) -> None:
    """Reject codes and dates of columns that are unchanged; those `coded` may have codes, but no dates."""
    file.check_names([*file.layout.null_of, *file.layout.date_of])
    unused = [name for name in file.layout.null_of if name not in [*columns, weights, *coded]]
    if unused:
        listed = ", ".join(map(repr, unused))
        raise InputValueError(
            f"--null must name columns that are masked or compared (others keep their cells); got {listed}, leave it "
            "out."
        )
    undated = [name for name in file.layout.date_of if name not in [*columns, weights]]
    if undated:
        listed = ", ".join(map(repr, undated))
        raise InputValueError(f"--date must name columns that are masked or compared; got {listed}, leave it out.")


def read_weights(file: File, name: str) -> Any:
    """A column of weights, by itself: where it is kept, its cells stay as they are."""
    column = file.read([name])[0][name]
    if not column.dtype.is_numeric() or column.null_count():
        raise InputValueError(
            f"--weights: {name!r} must hold numbers, none missing; {column.null_count()} are missing."
        )
    return column.to_numpy()


def _is_category(column: "pl.Series") -> bool:
    import polars as pl

    return isinstance(column.dtype, (pl.Boolean, pl.Categorical, pl.Enum, pl.String))


def categories(names: Sequence[str]) -> str:
    """Advice for columns that do not hold numbers."""
    listed = ", ".join(map(repr, names))
    does_or_do = "column {} does" if len(names) == 1 else "columns {} do"
    return f"{does_or_do.format(listed)} not hold numbers; {CATEGORIES}."


def write_withheld(path: pathlib.Path, places: Iterable[int]) -> None:
    """The numbers of records that are not published, from 1 on; for the holder of the data alone."""
    path.chmod(PRIVATE)
    path.write_text("\n".join(["record", *(str(place + 1) for place in places), ""]))


def read_withheld(path: pathlib.Path, n: int) -> "np.ndarray":
    """Which of n records were published, by a file of `write_withheld`."""
    import numpy as np

    words = path.read_text(encoding="utf-8", errors="replace").split()
    if words[:1] != ["record"] or not all(word.isdecimal() and 0 < int(word) <= n for word in words[1:]):
        raise InputValueError(f"{path.name!r} must be a file of mag mask --withheld: numbers of records from 1 to {n}.")
    published = np.ones(n, bool)
    published[[int(word) - 1 for word in words[1:]]] = False
    return published
