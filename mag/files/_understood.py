"""The columns of a text file as the type of most of their cells, and the cells that are of another type."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mag.files._cells import MISSING_WORDS, bare, kinds_of, parsed
from mag.files._layout import Layout

if TYPE_CHECKING:
    import polars as pl

MAX_LISTED = 5  # cells of another type whose lines are listed


@dataclass(frozen=True)
class Strange:
    """Cells that cannot be read as the type of most cells of their column.

    `words` : how many are each of the usual words for missing; `others` : how many are anything else; `first` : lines
    and texts of the first of these; `padded` : how many numbers begin with a zero, as codes do; `date_format` : that
    of dates, if it was declared.
    """

    words: Mapping[str, int] = field(default_factory=dict)
    others: int = 0
    first: tuple[tuple[int, str], ...] = ()
    padded: int = 0
    date_format: str | None = None


def understand(texts: "pl.DataFrame", layout: Layout) -> "tuple[pl.DataFrame, dict[str, Strange]]":
    """Columns of text, each as the type of most of its cells; cells of other types are null, and described."""
    import polars as pl

    lines: pl.Series | None = None
    typed, strange = [], {}
    for column in texts:
        cells = column.alias("").to_frame().select(bare(pl.col(""), layout, column.name)).to_series()
        best = _read_most(cells, kinds_of(layout, column.name))
        wrong = cells.is_not_null() & best.is_null()
        stripped = column.str.strip_chars()
        is_word = wrong & stripped.is_in(MISSING_WORDS)
        if 2 * best.count() <= cells.count() - is_word.sum():  # most cells are text
            text = column.alias("").to_frame().select(_present(layout, column.name)).to_series()
            typed.append(text.alias(column.name))
            continue
        typed.append(best.alias(column.name))
        other = wrong & ~is_word
        if other.any() and lines is None:
            lines = _first_lines(texts)
        places = other.arg_true().head(MAX_LISTED)
        strange[column.name] = Strange(
            {word: count for word in MISSING_WORDS if (count := int((stripped.filter(is_word) == word).sum()))},
            int(other.sum()),
            () if lines is None else tuple(zip(lines.gather(places), column.gather(places), strict=True)),
            int(cells.str.contains(r"^0\d").sum()) if best.dtype.is_numeric() else 0,
            layout.date_of.get(column.name),
        )
    return pl.DataFrame(typed), strange


def _present(layout: Layout, column: str) -> "pl.Expr":
    """Text as it is; null for nothing and for the codes of the column."""
    import polars as pl

    return pl.when(~pl.col("").str.strip_chars().is_in(["", *layout.codes(column)])).then(pl.col(""))


def _read_most(cells: "pl.Series", kinds: Sequence[str]) -> "pl.Series":
    """The cells as the type that most of them can be read as; the first such type."""
    import polars as pl

    best = None
    for kind in kinds:
        read = cells.to_frame().select(parsed(pl.col(""), kind)).to_series()
        if best is None or read.count() > best.count():
            best = read
        if best.count() == cells.count():
            break
    assert best is not None
    return best.fill_nan(None) if best.dtype.is_float() else best


def _first_lines(texts: "pl.DataFrame") -> "pl.Series":
    """The line of the file on which each record begins; a cell between quotes may hold several lines."""
    import polars as pl

    header = 1 + sum(name.count("\n") for name in texts.columns)
    numbered = [column.alias(str(place)) for place, column in enumerate(texts)]  # a name may look like a pattern
    ends = [column.str.count_matches("\n", literal=True).fill_null(0).cast(pl.Int64) for column in numbered]
    extra = pl.DataFrame(ends).sum_horizontal()
    return pl.int_range(1, texts.height + 1, eager=True) + header + extra.cum_sum() - extra
