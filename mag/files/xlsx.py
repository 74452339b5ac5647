"""The first sheet of an Excel file, by fastexcel and xlsxwriter: numbers, dates, plain text; no links, no formulas."""

import datetime
import io
import logging
import pathlib
import re
import zipfile
from collections.abc import Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from mag._lib.errors import InputValueError
from mag.files._exact import BEYOND_FLOAT64, EMPTY, MILLISECOND, NOT_FINITE, Limit, as_text, kind
from mag.files._format import Format, Meta, columns_of
from mag.files._layout import Layout

if TYPE_CHECKING:
    import polars as pl

MAX_SHEET_ROWS, MAX_SHEET_COLUMNS = 2**20 - 1, 2**14
LONG_TEXT = Limit(
    "longer than 32767 characters",
    lambda cell: cell.str.len_chars() + cell.str.count_matches("[\U00010000-\U0010ffff]") > 32767,  # of UTF-16
)
OLD = Limit("before 1900", lambda cell: cell < datetime.date(1900, 1, 1))
CELL_FORMATS = {"dates": "yyyy-mm-dd", "dates with times": "yyyy-mm-dd hh:mm:ss.000"}
MAX_UNPACKED_RATIO, MAX_EMPTY_CELLS = (
    100,
    10**6,
)  # largest ratio of unpacked to stored size of a sheet, and largest number of empty cells


class Xlsx(Format):
    """Cells as Excel types them."""

    holds = MappingProxyType(
        {
            "text": (LONG_TEXT, EMPTY),
            "whole numbers": (BEYOND_FLOAT64,),
            "real numbers": (NOT_FINITE,),
            "true or false": (),
            "dates": (OLD,),
            "dates with times": (OLD, MILLISECOND),
        }
    )
    missing_text = False
    unit = "1ms"

    def schema(self, path: pathlib.Path) -> "dict[str, pl.DataType]":
        return dict(self._load(path).schema)

    def columns(self, path: pathlib.Path, names: Sequence[str]) -> "pl.DataFrame":
        return columns_of(self._load(path), names)

    def read(
        self, path: pathlib.Path, numbers: Sequence[str], others: Sequence[str], layout: Layout
    ) -> "tuple[pl.DataFrame, Meta]":
        """Reject kept columns with several types or with errors: the reader would make them text or missing."""
        if others and _flaw(path, others):
            flaws = {name: _flaw(path, [name]) for name in others}
            listed = ", ".join(f"column {name!r} {flaw}" for name, flaw in flaws.items() if flaw)
            raise InputValueError(f"{path.name!r}: {listed}, which would be altered; mend or drop the column.")
        return super().read(path, numbers, others, layout)

    def check(self, frame: "pl.DataFrame", path: pathlib.Path, layout: Layout) -> None:
        if frame.height > MAX_SHEET_ROWS or frame.width > MAX_SHEET_COLUMNS:
            raise InputValueError(
                f"{path.name!r} cannot hold {frame.height} records of {frame.width} columns: a sheet has room for "
                f"{MAX_SHEET_ROWS} of {MAX_SHEET_COLUMNS}; write .parquet or .csv."
            )
        wrong = [name for name in frame.columns if not name or len(name) > 255]
        if wrong:
            raise InputValueError(
                f"{path.name!r}: names of columns must have 1 to 255 characters; rename {len(wrong)}."
            )
        super().check(frame, path, layout)

    def write(
        self, frame: "pl.DataFrame", path: pathlib.Path, masked: Sequence[str], meta: Meta, layout: Layout
    ) -> None:
        import xlsxwriter
        from xlsxwriter.worksheet import Worksheet

        class Exact(Worksheet):  # type: ignore[misc]
            """A worksheet with all digits of a number; xlsxwriter writes 16."""

            def _xml_number_element(self, number: Any, attributes: Any = ()) -> None:
                text = "".join(f' {name}="{value}"' for name, value in attributes)
                self.fh.write(f"<c{text}><v>{number!r}</v></c>")

        stored = io.BytesIO()  # xlsxwriter cannot give up on a file that it has begun
        book = xlsxwriter.Workbook(stored, {"in_memory": True})
        sheet = book.add_worksheet(worksheet_class=Exact)
        writers = {"text": sheet.write_string, "true or false": sheet.write_boolean}
        for place, column in enumerate(map(as_text, frame)):
            what = kind(column.dtype)
            looks = [book.add_format({"num_format": CELL_FORMATS[what]})] if what in CELL_FORMATS else []
            write = sheet.write_datetime if looks else writers.get(what, sheet.write_number)
            sheet.write_string(0, place, column.name)
            for row, cell in enumerate(column.to_list(), 1):
                if cell is not None:
                    write(row, place, cell, *looks)
        book.close()
        path.write_bytes(stored.getbuffer())

    def _load(self, path: pathlib.Path) -> Any:
        """Read a sheet; Excel stores one kind of number, so whole columns become integers or dates."""
        import fastexcel
        import polars as pl

        logging.getLogger("fastexcel").setLevel(logging.CRITICAL)  # it reports columns without cells
        _check_size(path)
        frame = pl.DataFrame(fastexcel.read_excel(path).load_sheet(0, schema_sample_rows=None))
        return pl.DataFrame({column.name: _narrow_type(column.alias("")) for column in frame})


def _narrow_type(column: "pl.Series") -> "pl.Series":
    """Whole numbers as integers, whole days as dates."""
    import polars as pl

    if column.dtype == pl.Float64 and ((column == column.round()) & (column.abs() <= 2**53)).all():
        return column.cast(pl.Int64)
    if column.dtype == pl.Datetime and (column == column.dt.truncate("1d")).all():
        return column.cast(pl.Date)
    return column


def _flaw(path: pathlib.Path, names: Sequence[str]) -> str:
    """The cells that a reader would alter in these columns; empty if there are none."""
    import fastexcel

    _check_size(path)
    book = fastexcel.read_excel(path)
    try:
        sheet = book.load_sheet(0, use_columns=list(names), schema_sample_rows=None, dtype_coercion="strict")
    except fastexcel.UnsupportedColumnTypeCombinationError:
        return "mixes text, numbers or dates"
    errors = sheet.to_arrow_with_errors()[1]
    return "" if errors is None else f"has {len(errors.errors)} cells with errors"


def _check_size(path: pathlib.Path) -> None:
    """A small file may unpack to a sheet that no memory can hold: much text of one kind, or a cell that is far away."""
    try:
        with zipfile.ZipFile(path) as archive:
            sheets = [member for member in archive.infolist() if member.filename.startswith("xl/worksheets/sheet")]
            unpacked = sum(member.file_size for member in archive.infolist())
            starts = [archive.open(member).read(2000).decode(errors="replace") for member in sheets]
    except (zipfile.BadZipFile, OSError):
        return  # the reader reports it
    if unpacked > 2**26 and unpacked > MAX_UNPACKED_RATIO * path.stat().st_size:
        raise InputValueError(f"{path.name!r} would unpack to {unpacked / 1e6:.0f} MB; save it as .csv.")
    for sheet, start in zip(sheets, starts, strict=True):
        end = re.search(r'<dimension ref="\w+:([A-Z]+)(\d+)"', start)
        width = 0
        for letter in end[1] if end else "":
            width = 26 * width + ord(letter) - ord("A") + 1
        if end and width * int(end[2]) > max(MAX_EMPTY_CELLS, sheet.file_size):  # a cell takes ten bytes
            raise InputValueError(
                f"{path.name!r} has a sheet of {end[2]} rows and {width} columns, nearly all of them empty; delete the "
                "cells that are far away, or save it as .csv."
            )


FORMAT = Xlsx(".xlsx")
