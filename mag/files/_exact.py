"""The cells that a format holds exactly, by kinds of columns; others are rejected before anything is written.

The file is read back in any case, for the recount.  `differences` then compares its cells with the table that was to be
written: the last line of defense against a library that alters cells when it stores them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from mag._lib.errors import InputValueError

if TYPE_CHECKING:
    import polars as pl

KIND_WORDS = (
    "text",
    "whole numbers",
    "real numbers",
    "true or false",
    "dates",
    "dates with times",
    "dates with times and zones",
    "times of day",
    "durations",
    "decimals",
    "bytes",
    "nested cells",
)


@dataclass(frozen=True)
class Limit:
    """Cells of a kind that a format cannot hold: a description, and how to find them."""

    what: str
    beyond: "Callable[[pl.Expr], pl.Expr]"


Holds = Mapping[str, tuple[Limit, ...]]  # kind of a column → its limits; a kind that is not there is refused
EVERYTHING: Holds = MappingProxyType(dict.fromkeys(KIND_WORDS, ()))


def finer(than: str, nanoseconds: int) -> Limit:
    """Moments with fractions of a unit."""
    return Limit(f"finer than a {than}", lambda cell: cell.dt.nanosecond() % nanoseconds != 0)


def longer(characters: int, measure: "Callable[[pl.Expr], pl.Expr]", of: str) -> Limit:
    """Text that is too long."""
    return Limit(f"longer than {characters} {of}", lambda cell: measure(cell) > characters)


NUL = Limit("with the character NUL", lambda cell: cell.str.contains("\0", literal=True))
TRAILING = Limit("ending with a blank", lambda cell: cell.str.ends_with(" "))
EMPTY = Limit("empty next to missing text", lambda cell: (cell == "") & cell.is_null().any())
TOO_MANY_BYTES = longer(32767, lambda cell: cell.str.len_bytes(), "bytes")
BEYOND_FLOAT64 = Limit("beyond 2⁵³", lambda cell: (cell > 2**53) | (cell < -(2**53)))
NOT_FINITE = Limit("NaN or infinite", lambda cell: ~cell.is_finite())
MILLISECOND, SECOND = finer("millisecond", 10**6), finer("second", 10**9)


def kind(dtype: "pl.DataType") -> str:
    """The kind of a column."""
    import polars as pl

    if isinstance(dtype, (pl.Decimal, pl.Datetime)):
        zoned = isinstance(dtype, pl.Datetime) and dtype.time_zone is not None
        return "decimals" if isinstance(dtype, pl.Decimal) else f"dates with times{' and zones' if zoned else ''}"
    names = {
        pl.Boolean: "true or false", pl.Date: "dates", pl.Time: "times of day", pl.Duration: "durations",
        pl.Binary: "bytes", pl.String: "text", pl.Categorical: "text", pl.Enum: "text", pl.Null: "text",
    }  # fmt: skip
    numbers = "whole numbers" if dtype.is_integer() else "real numbers" if dtype.is_float() else "nested cells"
    return next((name for one, name in names.items() if dtype == one), numbers)


def as_text(column: "pl.Series") -> "pl.Series":
    """Categories are text, and a column without a type is missing text."""
    import polars as pl

    return column.cast(pl.String) if kind(column.dtype) == "text" else column


def check_cells(frame: "pl.DataFrame", holds: Holds, file: str) -> None:
    """Refuse a table with cells that a format cannot hold exactly, by column and number."""
    import polars as pl

    refused = []
    for column in frame:
        what = kind(column.dtype)
        if what not in holds:
            refused.append(f"column {column.name!r} ({what})")
        for limit in holds.get(what, ()):
            cells = as_text(column).alias("").to_frame()
            count = cells.select(limit.beyond(pl.col("")).sum()).item()
            if count:
                cell = "cell" if count == 1 else "cells"
                refused.append(f"{count} {cell} of column {column.name!r} ({what}: {limit.what})")
    if refused:
        raise InputValueError(
            f"{file!r} cannot hold exactly: {', '.join(refused)}; write .parquet, which holds every cell, or convert "
            "or drop the column."
        )


def check_stored(written: "pl.DataFrame", stored: "pl.DataFrame", file: str, missing_text: bool) -> None:
    """Reject a file whose stored cells differ from the table that was to be written."""
    altered = {name: differences(written[name], stored[name], missing_text) for name in written.columns}
    listed = [f"{count} of column {name!r}" for name, count in altered.items() if count]
    if listed:
        raise InputValueError(
            f"{file!r} cannot hold its cells exactly: read back, {', '.join(listed)} were altered; write .parquet, "
            "which holds every cell, or convert or drop the column."
        )


def _common() -> "dict[frozenset[str], Any]":
    """Kinds that files cannot distinguish."""
    import polars as pl

    numbers, moments = ("whole numbers", "real numbers", "true or false"), ("dates", "dates with times")
    return {frozenset(numbers): pl.Float64, frozenset(moments): pl.Datetime("us"), frozenset(["times of day"]): pl.Time}


def differences(written: "pl.Series", stored: "pl.Series", missing_text: bool) -> int:
    """How many cells differ; where a format has no missing text, it is empty text."""
    import polars as pl

    if len(written) != len(stored):
        return max(len(written), len(stored))
    written_kind, stored_kind = kind(written.dtype), kind(stored.dtype)
    written, stored = written.alias(""), stored.alias("")  # polars takes a name like ^a$ for a pattern
    if written_kind == "text":
        pair = [column.cast(pl.String) for column in (written, stored)]
        written, stored = pair if missing_text else [column.fill_null("") for column in pair]
    elif written.dtype != stored.dtype:
        common = next((dtype for kinds, dtype in _common().items() if {written_kind, stored_kind} <= kinds), None)
        if common is None:
            return int((written.is_not_null() | stored.is_not_null()).sum())
        written, stored = written.cast(common), stored.cast(common)
    return int(written.ne_missing(stored).sum())
