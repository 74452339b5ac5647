"""From the text of cells to numbers and dates."""

import collections
import contextlib
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from mag.files._layout import Layout

if TYPE_CHECKING:
    import polars as pl

NUMBER_KINDS = ("integer", "large integer", "number")
STAMPS = ("%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M")
CELL_KINDS = (*NUMBER_KINDS, "%Y-%m-%d", *STAMPS)  # in this order: the first that fits
MISSING_WORDS = (
    "NA",
    "N/A",
    "n/a",
    "na",
    "<NA>",
    "#N/A",
    "NULL",
    "null",
    "None",
    "none",
    ".",
    "-",
    "?",
)  # for missing numbers
GUESSED_RECORDS = 1000  # records from which a kind is guessed first
DATE = r"^\s*(\d{1,2}[./-]\d{1,2}[./-]\d{4}|\d{4}[./-]\d{1,2}[./-]\d{1,2})\b"  # text that begins with a date


def kinds_of(layout: Layout, column: str) -> tuple[str, ...]:
    """The kinds that cells of a column may be: the declared format of its dates, or any."""
    return (layout.date_of[column],) if column in layout.date_of else CELL_KINDS


def straight(kinds: dict[str, str]) -> dict[str, Any]:
    """The columns that are numbers, with their types."""
    import polars as pl

    types = dict(zip(NUMBER_KINDS, (pl.Int64, pl.UInt64, pl.Float64), strict=True))
    return {name: types[kind] for name, kind in kinds.items() if kind in types}


def bare(text: "pl.Expr", layout: Layout, column: str) -> "pl.Expr":
    """Without blanks, with a decimal point; null for nothing and for the codes of the column, as words or as numbers.

    With a decimal comma, a point is not part of a number: 1.234 may mean a thousand.  Declared marks between thousands
    are left out where they part all digits before the decimal mark by threes.
    """
    import polars as pl

    text = text.str.strip_chars()
    codes = layout.codes(column)
    text = pl.when(~text.is_in(["", *codes])).then(text)
    if layout.thousands and column not in layout.date_of:
        mark, decimal = re.escape(layout.thousands), "," if layout.decimal_comma else r"\."
        grouped = text.str.contains(rf"^[+-]?\d{{1,3}}({mark}\d{{3}})+({decimal}\d*)?$")
        text = pl.when(grouped).then(text.str.replace_all(layout.thousands, "", literal=True)).otherwise(text)
    if layout.decimal_comma and column not in layout.date_of:
        text = text.str.replace_all(".", "?", literal=True).str.replace(",", ".", literal=True)
    values = _values(codes)
    return pl.when(~text.cast(pl.Float64, strict=False).is_in(values).fill_null(False)).then(text) if values else text


def _values(codes: Iterable[str]) -> list[float]:
    """The numbers among the codes, so that −9 is found in -9.0; only those that float64 holds exactly."""
    values = []
    for code in codes:
        with contextlib.suppress(ValueError):
            values.append(float(code))
    return [value for value in values if abs(value) < 2**53]


def without_codes(column: "pl.Series", layout: Layout) -> "pl.Series":
    """A column as it is stored, its codes for missing numbers as null; text becomes numbers if all other cells are."""
    import polars as pl

    codes = layout.codes(column.name)
    if not codes:
        return column
    if column.dtype == pl.String:
        kind = next((kind for kind in CELL_KINDS if not _failures(column, kind, layout)), None)
        cell = bare(pl.col(""), layout, column.name)
        read = column.alias("").to_frame().select(cell if kind is None else parsed(cell, kind)).to_series()
        return (column if kind is None else read).alias(column.name)
    return blank_codes(column, layout)


def blank_codes(column: "pl.Series", layout: Layout) -> "pl.Series":
    """A column as it is stored, its codes for missing cells as null; durations have none."""
    import polars as pl

    codes = layout.codes(column.name)
    if not codes or column.dtype == pl.Duration:
        return column
    cells = column.alias("")
    coded = cells.cast(pl.String).str.strip_chars().is_in(codes)
    if column.dtype.is_numeric():
        coded |= cells.cast(pl.Float64).is_in(_values(codes))
    return cells.to_frame().select(pl.when(~coded.fill_null(False)).then(cells)).to_series().alias(column.name)


def fill_codes(column: "pl.Series", layout: Layout) -> "pl.Series":
    """Missing cells as the first of the column's codes, where it has any."""
    import polars as pl

    codes = layout.codes(column.name)
    return column.cast(pl.String).fill_null(codes[0]) if codes and column.null_count() else column


def parsed(text: "pl.Expr", kind: str, strict: bool = False) -> "pl.Expr":
    """The cells as a kind; null for a cell of another kind, or an error with `strict`."""
    number = straight({kind: kind}).get(kind)
    if number is not None:
        return text.cast(number, strict=strict)
    return text.str.to_datetime(kind, strict=strict) if "%H" in kind else text.str.to_date(kind, strict=strict)


def strange_cells(text: "pl.Series", layout: Layout, column: str) -> collections.Counter[str]:
    """How many cells are each of the usual words for missing, in "text" of letters, or no number in "other" ways.

    "readable" are those of the kind that most cells are, numbers or dates; "dates" look like dates, and are counted
    among the others too.
    """
    import polars as pl

    cells = text.alias("").to_frame().select(bare(pl.col(""), layout, column)).to_series().drop_nulls()
    readable = [
        cells.to_frame().select(parsed(pl.col(""), kind).is_not_null()).to_series() for kind in kinds_of(layout, column)
    ]
    strange = cells.filter(~max(readable, key=pl.Series.sum))  # of the kind that most are
    strange = strange.filter(~strange.is_in(MISSING_WORDS))
    dates = int(strange.str.contains(DATE).sum())
    counts = collections.Counter({word: int((cells == word).sum()) for word in MISSING_WORDS})
    counts["text"] = int(strange.str.contains(r"\p{L}").sum())
    counts["other"] = strange.len() - counts["text"]
    counts["readable"] = cells.len() - counts.total()
    counts["dates"] = dates
    return counts


def guess(text: "pl.Series", layout: Layout) -> str:
    """The kind of the first cells."""
    head = text.head(GUESSED_RECORDS)
    kinds = kinds_of(layout, text.name)
    return next(
        (kind for kind in kinds if not _failures(head, kind, layout)), "number" if kinds == CELL_KINDS else kinds[0]
    )


def failures(text: "pl.Series", layout: Layout, before: dict[str, int]) -> dict[str, int]:
    """Add to `before` the cells that cannot be read as each kind: all for numbers, up to a failure for others."""
    counted = {kind: before.get(kind, 0) for kind in kinds_of(layout, text.name)}
    return {
        kind: count if count and kind != "number" else count + _failures(text, kind, layout)
        for kind, count in counted.items()
    }


def _failures(text: "pl.Series", kind: str, layout: Layout) -> int:
    import polars as pl

    cell = bare(pl.col(""), layout, text.name)
    return text.alias("").to_frame().select((parsed(cell, kind).is_null() & cell.is_not_null()).sum()).item()
