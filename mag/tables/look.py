"""`mag.look`: the columns of a table before it is masked, by type and shape, without values."""

import html
import re
import textwrap
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from mag._lib.dtypes import describe_dtype
from mag._lib.missing import is_missing
from mag._lib.terminal import printable
from mag.files import DATE, Strange
from mag.frames import Column, Frame, RefusedColumnError, Units, frame_of
from mag.measures.codes import MIN_RECORDS, find_codes
from mag.tables._words import IDENTIFIERS, split_words

Role = Literal["mask", "category", "drop", "keep"]

ADVICE = {  # by role, and for dates and codes, as `mag.microaggregate` takes it
    "mask": "columns=[NAME] if an intruder may know it; else keep=, or sensitive=",
    "category": "columns=[NAME] and hierarchies={NAME: …} or aggregate={NAME: 'mode'}; else keep=",
    "drop": "drop=[NAME]: it identifies records, or is empty",
    "keep": "keep=[NAME]: all records have the same value",
    "dates": "convert text to dates",
    "numbers": "convert text to numbers",
    "missing codes": "replace them by missing values; show=True names them",
}
HEADINGS = ("column", "type", "missing", "distinct", "smallest to largest", "role")
SHAPES = HEADINGS.index("smallest to largest")
WIDTH = 80  # characters of a line
MIN_NAME = 10  # characters of a name that are always shown
MAX_PICTURE = 20  # characters of a cell whose picture is drawn
MAX_SHOWN = 20  # characters of a cell that is shown
MAX_ROWS = 40  # columns in the text of a notebook or a console
MAX_DECIMALS = 6  # that are counted
MIN_SHAPE = 15  # characters of a line of shapes
NUMBER_WITH_MARKS = re.compile(
    r"[+-]?([1-9]\d*|0|\d{1,3}([.,'_ ]\d{3})+)([.,]\d+)?"
)  # with any marks; not codes such as 01307
DATES_NOTE = "all cells look like dates, and are read as text"
NUMBERS_NOTE = "most cells look like numbers, and are read as text"
DAY = 86400.0  # seconds


@dataclass(frozen=True)
class ColumnLook:
    """One column of a `mag.Look`.

    `type` : whole number, number, date, date and time, duration, text, boolean, empty, or the name of another type;
    `missing` : missing cells; `distinct` : distinct values; `shape` : digits or characters of the smallest and largest
    values; `role` : "mask", "category", "drop" or "keep", a suggestion; `codes` : how many distinct values look like
    missing codes; `notes` : sentences on codes and on cells of another type; `lines` : the first lines of a text file
    with such cells; `smallest`, `largest` : values as text, None unless they are to be shown.
    """

    name: Hashable
    type: str
    missing: int
    distinct: int
    shape: str
    role: Role
    codes: int = 0
    notes: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()
    smallest: str | None = None
    largest: str | None = None


@dataclass(frozen=True, repr=False)
class Look:
    """The columns of a table, as returned by `mag.look`; prints as a table of 80 characters.

    Attributes
    ----------
    records : int
        The number of records.
    empty : int
        How many of them have no value in any column, such as the empty lines of a file.
    columns : tuple
        For every column: ``name``, ``type``, ``missing``, ``distinct``, ``shape``, ``role``, ``codes``, ``notes``,
        ``lines``, ``smallest`` and ``largest``.
    """

    records: int
    columns: tuple[ColumnLook, ...]
    empty: int = 0

    def __repr__(self) -> str:
        return self.to_text(ADVICE, MAX_ROWS)

    def __str__(self) -> str:
        return self.to_text(ADVICE)

    def _repr_html_(self) -> str:
        def line(tag: str, cells: tuple[str, ...]) -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        body = "".join(line("td", _row(column)) for column in self.columns)
        below = "".join(f"<li>{html.escape(note)}</li>" for note in [*self._notes(), *self._advice(ADVICE)])
        return f"<table><thead>{line('th', HEADINGS)}</thead><tbody>{body}</tbody></table><ul>{below}</ul>"

    def to_text(self, advice: Mapping[str, str], most: int | None = None) -> str:
        """A table, notes and the advice for the roles; of the first columns only, if `most` is given."""
        shown = Look(self.records, self.columns[:most], self.empty)
        rows = [_row(column) for column in shown.columns]
        widths = [max(map(len, cells)) for cells in zip(HEADINGS, *rows, strict=True)]
        excess = sum(widths) + 2 * (len(widths) - 1) - WIDTH
        widths[SHAPES] = max(min(widths[SHAPES], MIN_SHAPE), widths[SHAPES] - max(excess, 0))
        widths[0] = min(widths[0], max(MIN_NAME, WIDTH - sum(widths[1:]) - 2 * (len(widths) - 1)))
        empty = f" ({self.empty} without any value; empty lines?)" if self.empty else ""
        lines = [f"{_count(self.records, 'record')}{empty}, {_count(len(self.columns), 'column')}", ""]
        lines += [line for cells in (HEADINGS, *rows) for line in _align(cells, widths)]
        if len(shown.columns) < len(self.columns):
            lines.append(f"… and {len(self.columns) - len(shown.columns)} more: print() shows all.")
        for sentences in (shown._notes(), shown._advice(advice)):
            if sentences:
                lines.append("")
            for sentence in sentences:
                lines += textwrap.wrap(sentence, WIDTH, subsequent_indent="  ", break_on_hyphens=False)
        return "\n".join(lines)

    def _notes(self) -> list[str]:
        """Sentences, each with the columns that it is about."""
        names: dict[str, list[str]] = {}
        for column in self.columns:
            for note in column.notes:
                names.setdefault(note, []).append(printable(column.name))
        return [f"{', '.join(own)}: {note}" for note, own in names.items()]

    def _advice(self, advice: Mapping[str, str]) -> list[str]:
        used = {column.role for column in self.columns} | {"missing codes" for column in self.columns if column.codes}
        topics = {"dates": DATES_NOTE, "numbers": NUMBERS_NOTE}
        used |= {topic for topic, note in topics.items() if any(note in column.notes for column in self.columns)}
        return [f"{topic}: {text}" for topic, text in advice.items() if topic in used]


def look(table: Any, *, show: bool = False) -> Look:
    """Look at the columns of a table before you mask it: types, missing cells, shapes and codes, without values.

    Parameters
    ----------
    table : frame of pandas, polars or pyarrow, or dictionary of arrays
        The original; it is not changed.
    show : bool
        Whether to show values: the smallest and the largest ones, and those that look like missing codes.

    Returns
    -------
    Look
        Prints as a table; ``columns`` holds the same for every column.

    Notes
    -----
    The role of a column is a suggestion by its type and its number of distinct values.  Which columns an intruder may
    know is for you to decide.

    Examples
    --------
    >>> import mag
    >>> people = {"name": ["Ada", "Bob", "Cyd", "Dan"], "sex": ["f", "m", "f", "m"], "income": [2500, 980, None, 10100]}
    >>> mag.look(people)
    4 records, 3 columns
    <BLANKLINE>
    column  type          missing  distinct  smallest to largest  role
    name    text                0         4  3 characters         drop
    sex     text                0         2  1 character          category
    income  whole number        1         3  3-5 digits           mask
    <BLANKLINE>
    mask: columns=[NAME] if an intruder may know it; else keep=, or sensitive=
    category: columns=[NAME] and hierarchies={NAME: …} or aggregate={NAME: 'mode'};
      else keep=
    drop: drop=[NAME]: it identifies records, or is empty
    """
    return look_at(table, {}, show)


def look_at(table: Any, strange: Mapping[str, Strange], show: bool) -> Look:
    """Look at a table that was read from a file, in which some cells are `strange` to their columns."""
    frame = frame_of(table)
    columns = [
        _look_at_column(name, frame.column(name), strange.get(str(name), Strange()), show) for name in frame.names
    ]
    return Look(frame.n, tuple(columns), _count_empty(frame, columns))


def _count_empty(frame: Frame, looks: Iterable[ColumnLook]) -> int:
    """How many records have no value in any column."""
    empty = np.ones(frame.n, bool)
    for look in sorted(looks, key=lambda look: look.missing):
        if not empty.any() or not look.missing:
            return 0
        cells = frame.column(look.name).cells()
        empty[empty] = [is_missing(cells[row]) for row in np.flatnonzero(empty)]
    return int(empty.sum())


def _look_at_column(name: Hashable, column: Column, strange: Strange, show: bool) -> ColumnLook:
    try:
        units = column.units()
    except RefusedColumnError:
        return _look_at_cells(name, column, show)
    present = np.ones(len(column), bool) if units.missing is None else ~units.missing
    distinct = np.unique(units.values[present])
    missing = int((~present).sum()) - strange.others - sum(strange.words.values())
    if not distinct.size:
        return ColumnLook(name, "empty", missing, 0, "", "drop")
    kind = _describe_type(units, distinct)
    role: Role = "keep" if distinct.size == 1 and present.all() else "mask"
    notes, suspicious = [], len(strange.words)
    if units.kind == "number":
        codes = find_codes(units.floats()[present])
        suspicious += len(codes.missing)
        if codes.missing:
            named = f": {codes.describe_missing(MIN_RECORDS)}" if show else ""
            records = _count(sum(codes.missing.values()), "record")
            notes.append(f"{_count(len(codes.missing), 'value')} in {records} may be missing codes{named}")
        if codes.top:
            notes.append(f"the largest value is in {codes.top} records; a top code?")
        if codes.categories:
            notes.append("few whole values; means of codes tell nothing")
        if strange.padded:
            notes.append(f"{_count(strange.padded, 'cell')} with a leading zero; codes? As numbers they lose it")
        role = "category" if (codes.categories or strange.padded) and role == "mask" else role
        role = "drop" if role == "mask" and split_words(name) & IDENTIFIERS else role
    notes += _describe_strange(kind, strange, show)
    ends = _ends(column, units, present) if show else (None, None)
    lines = tuple(line for line, _ in strange.first)
    shape = _draw_date(strange.date_format) if strange.date_format else _shape(kind, units, distinct)
    return ColumnLook(name, kind, missing, distinct.size, shape, role, suspicious, tuple(notes), lines, *ends)


def _look_at_cells(name: Hashable, column: Column, show: bool) -> ColumnLook:
    """A column that holds no numbers."""
    cells = column.cells()
    present = np.fromiter((not is_missing(cell) for cell in cells), bool, len(cells))
    distinct = np.unique(column.codes()[present], return_index=True)[1]
    values = [cells[place] for place in np.flatnonzero(present)[distinct]]
    missing = int((~present).sum())
    if not values:
        return ColumnLook(name, "empty", missing, 0, "", "drop")
    role: Role = "category"
    if len(values) == 1 and not missing:
        role = "keep"
    elif 2 * len(values) > present.sum():  # most records have a value of their own
        role = "drop"
    if all(isinstance(value, (bool, np.bool_)) for value in values):
        return ColumnLook(name, "boolean", missing, len(values), "", role)
    if not all(isinstance(value, str) for value in values):
        kind, note = printable(describe_dtype(column.dtype)), "cells of this type cannot be masked; convert them"
        return ColumnLook(name, kind, missing, len(values), "", "drop", notes=(note,))
    ends = (_shown(min(values)), _shown(max(values))) if show else (None, None)
    notes: tuple[str, ...] = ()
    if all(re.match(DATE, value) for value in values):
        role, notes = "mask" if role != "keep" else role, (DATES_NOTE,)
    elif 2 * sum(NUMBER_WITH_MARKS.fullmatch(value.strip()) is not None for value in values) > len(values):
        role, notes = "mask" if role != "keep" else role, (NUMBERS_NOTE,)
    lengths = [len(value) for value in values]
    shape = _span(min(lengths), max(lengths), "character")
    return ColumnLook(name, "text", missing, len(values), shape, role, 0, notes, (), *ends)


def _describe_type(units: Units, distinct: np.ndarray) -> str:
    if units.kind == "number":
        whole = units.step == 1 and (units.is_integer or bool((np.trunc(distinct) == distinct).all()))
        return "whole number" if whole else "number"
    if units.kind == "datetime":
        return "date" if units.step >= DAY else "date and time"
    return units.kind


def _shape(kind: str, units: Units, distinct: np.ndarray) -> str:
    """How many digits numbers have, or in which order dates are written."""
    if units.kind != "number":
        return {"date": "YYYY-MM-DD", "date and time": "YYYY-MM-DD hh:mm"}.get(kind, "")
    numbers = distinct if units.step == 1 else distinct * units.step
    numbers = numbers if units.is_integer else numbers[np.isfinite(numbers.astype(np.float64))]
    if not numbers.size:
        return "infinite"
    middle = int(np.searchsorted(numbers, 0))
    near = numbers[max(middle - 1, 0) : middle + 1]
    digits = [len(str(int(abs(number)))) for number in (*near.tolist(), numbers[0].item(), numbers[-1].item())]
    shape = _span(min(digits), max(digits), "digit")
    if kind == "number":
        rounded = (
            places for places in range(1, MAX_DECIMALS + 1) if np.allclose(numbers, numbers.round(places), 1e-15, 0)
        )
        decimals = next(rounded, None)
        shape += f", {MAX_DECIMALS}+ decimals" if decimals is None else f", {_count(decimals, 'decimal')}"
    return f"± {shape}" if numbers[0] < 0 else shape


def _draw_date(form: str) -> str:
    """The order of day, month and year of a format such as %d.%m.%Y."""
    letters = {"%d": "DD", "%m": "MM", "%Y": "YYYY", "%H": "hh", "%M": "mm", "%S": "ss"}
    return "".join(letters.get(part, part) for part in re.split("(%.)", form))


def _describe_strange(kind: str, strange: Strange, show: bool) -> list[str]:
    """Sentences on cells of a text file that are of another type than most of their column."""
    notes = [f"{_count(count, 'cell')} {word}; a missing code?" for word, count in strange.words.items()]
    if strange.others:
        listed = ", ".join(f"{line} ({_shown(text) if show else draw_cell(text)})" for line, text in strange.first)
        more = ", …" if strange.others > len(strange.first) else ""
        where = "line" if strange.others == 1 else "lines"
        cells = "1 cell is" if strange.others == 1 else f"{strange.others} cells are"
        notes.append(f"{cells} no {kind}: {where} {listed}{more}")
    return notes


def draw_cell(text: str) -> str:
    """The shape of a cell: 9 for a digit, a for a letter, ? for any other than usual marks."""
    if len(text) > MAX_PICTURE:
        return _count(len(text), "character")
    marks = {True: "9", False: "a"}
    return "".join(
        marks[one.isdigit()] if one.isalnum() else one if one in " .,:;/-+%" else "?" for one in text.strip()
    )


def _ends(column: Column, units: Units, present: np.ndarray) -> tuple[str, str]:
    """The smallest and the largest cell."""
    rows, cells = np.flatnonzero(present), column.cells()
    values = units.values[rows]
    return _shown(cells[rows[values.argmin()]]), _shown(cells[rows[values.argmax()]])


def _row(column: ColumnLook) -> tuple[str, ...]:
    ends = dict.fromkeys(end for end in (column.smallest, column.largest) if end is not None)
    shape = " to ".join(ends) or column.shape
    return (printable(column.name), column.type, str(column.missing), str(column.distinct), shape, column.role)


def _align(cells: tuple[str, ...], widths: list[int]) -> list[str]:
    """The lines of a row of the table: counts to the right, long shapes in several lines, a very long name cut."""
    name = cells[0] if len(cells[0]) <= widths[0] else cells[0][: widths[0] - 1] + "…"
    whole = len(cells[SHAPES]) <= widths[SHAPES]
    parts = [cells[SHAPES]] if whole else re.split(r"(?<=,) ", cells[SHAPES])
    shapes = [line for part in parts for line in textwrap.wrap(part, widths[SHAPES])] or [""]
    lines = [(name, *cells[1:SHAPES], shapes[0], *cells[SHAPES + 1 :])]
    lines += [tuple(shape if place == SHAPES else "" for place in range(len(cells))) for shape in shapes[1:]]
    return [
        "  ".join(
            cell.rjust(width) if heading in ("missing", "distinct") else cell.ljust(width)
            for heading, cell, width in zip(HEADINGS, line, widths, strict=True)
        ).rstrip()
        for line in lines
    ]


def _span(low: int, high: int, unit: str) -> str:
    return _count(low, unit) if low == high else f"{low}-{high} {unit}s"


def _count(count: int, unit: str) -> str:
    return f"{count} {unit}" if count == 1 else f"{count} {unit}s"


def _shown(cell: object) -> str:
    text = printable(cell)
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"
