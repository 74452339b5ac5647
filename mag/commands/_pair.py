"""Two files, before and after masking."""

import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from mag._lib.errors import InputValueError
from mag.commands._options import open_files
from mag.commands._output import warn
from mag.commands._parse import parse_hierarchies, parse_orders, take_others
from mag.commands._table import read_table, read_withheld
from mag.files import CATEGORIES, File, Layout, columns_of

if TYPE_CHECKING:
    import polars as pl


class CategoryOptions(NamedTuple):
    """Options that declare columns as categories."""

    hierarchy: list[str] | None
    order: list[str] | None
    category: list[str] | None
    other: str


class FilePair(NamedTuple):
    """The columns, and both tables: arrays where all are numbers, with NaN for missing, or columns by name."""

    names: list[str]
    before: Any
    after: Any
    options: dict[str, Any]


def read_two_files(
    original: pathlib.Path,
    masked: pathlib.Path,
    columns: Sequence[str],
    layout: Layout,
    withheld: pathlib.Path | None,
    declared: CategoryOptions,
) -> FilePair:
    """The named columns, or every column that holds numbers in both files or is declared as categories."""
    before, after = open_files([original, masked], layout)
    columns = list(dict.fromkeys(columns))
    named = columns or before.names()
    options = {
        "hierarchies": take_others(parse_hierarchies(declared.hierarchy or [], named), declared.other),
        "order": parse_orders(declared.order or [], named),
    }
    known = {*options["hierarchies"], *options["order"], *(declared.category or ())}
    before.check_names([*known])
    if not columns:
        common = set(after.numeric())
        columns = [name for name in before.names() if name in known or name in common & set(before.numeric())]
        if left := [repr(name) for name in before.names() if name in after.names() and name not in columns]:
            warn(
                f"left out, because they are not numbers: {', '.join(left)}; declare categories by --hierarchy, "
                "--order or --category."
            )
    if not columns:
        raise InputValueError(f"{original.name!r} and {masked.name!r} have no column of numbers in common.")
    categories = [name for name in columns if name in known]
    ranges = _ranges(after, [name for name in columns if name not in known])
    tables = [_table(before, columns, categories), _table(after, columns, categories, ranges)]
    if withheld is not None:
        tables[0] = tables[0].filter(read_withheld(withheld, tables[0].height))
    if tables[0].height != tables[1].height:
        where = "" if withheld is None else f" without those of {withheld.name!r}"
        raise InputValueError(
            f"{masked.name!r} must have the records of {original.name!r}{where}, in the same order; got "
            f"{tables[1].height} and {tables[0].height}; if mag mask withheld some, pass --withheld FILE to it, and "
            "FILE here."
        )
    if not categories and not ranges:
        numbers = [table.cast(_float64()).to_numpy() for table in tables]
        return FilePair(list(columns), numbers[0], numbers[1], {})
    cells = [{name: table[name].to_numpy() for name in columns} for table in tables]
    return FilePair(list(columns), cells[0], cells[1], options)


def _table(file: File, columns: Sequence[str], categories: Sequence[str], ranges: Sequence[str] = ()) -> "pl.DataFrame":
    text = [*categories, *ranges]
    numbers = [name for name in columns if name not in text]
    try:
        frame, _ = read_table(file, numbers, declared=text)
    except InputValueError as mistake:  # name the options of these commands instead
        words = str(mistake).replace(CATEGORIES, "categories need --hierarchy, --order or --category")
        raise InputValueError(words) from None
    wrong = [name for name in numbers if not frame[name].dtype.is_numeric()]
    if wrong:
        raise InputValueError(f"{file.path.name!r}: {', '.join(map(repr, wrong))} must hold numbers.")
    return columns_of(frame, columns)


def _ranges(masked: File, columns: Sequence[str]) -> list[str]:
    """Columns that are published as ranges such as [20, 39]."""
    import polars as pl

    text = [name for name in columns if name not in masked.numeric()] if columns else []
    frame = masked.read([], (), text)[0] if text else pl.DataFrame()
    return [name for name in text if frame[name].dtype == pl.String and frame[name].str.starts_with("[").any()]


def _float64() -> Any:
    import polars as pl

    return pl.Float64
