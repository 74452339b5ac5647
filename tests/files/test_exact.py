"""Cells that formats hold: each cell of the table in docs/guide/files.md is written and read back, or refused."""

import datetime
import decimal
import sys

import polars as pl
import pytest

from mag.files import FORMATS, File, Layout
from mag.files._exact import KIND_WORDS, check_stored, kind
from tests.data.paths import PROJECT

FILES = {".csv, .tsv": "csv", ".parquet, .feather": "parquet", ".dta": "dta", ".sav": "sav", ".xpt": "xpt"}
FILES |= {".xlsx": "xlsx"}
WRITTEN = sorted(set(FORMATS) - {"sas7bdat"})
DOCS = PROJECT / "docs" / "guide" / "files.md"
NOON = datetime.datetime(2020, 1, 31, 12, 30, 15)

HELD = {  # cells of each kind that every format holds which holds the kind
    "text": pl.Series(["a", "é€", " =1+1", "http://x.org", "a\tb\r\nc", "00123", "_x0041_", "mailto:a@x", "𝔸"]),
    "whole numbers": pl.Series([2**53, -(2**53), 0, None]),
    "real numbers": pl.Series([0.1, 1 / 3, 3.3333333333333335, 123456.78901234567, -5e-78, 9e74, None]),
    "true or false": pl.Series([True, False, None]),
    "dates": pl.Series([datetime.date(1900, 1, 1), datetime.date(2020, 1, 31), None]),
    "dates with times": pl.Series([NOON, datetime.datetime(1901, 2, 3), None]),
    "dates with times and zones": pl.Series([NOON, None]).dt.replace_time_zone("Europe/Berlin"),
    "times of day": pl.Series([datetime.time(23, 59, 59), datetime.time(0), None]),
    "durations": pl.Series([datetime.timedelta(microseconds=1), None]),
    "decimals": pl.Series([decimal.Decimal("12345678901234567890.12"), None]),
    "bytes": pl.Series([b"\0\xff", None]),
    "nested cells": pl.Series([{"a": [1, None]}, None]),
}
BEYOND = {  # cells that a limit is about, by its words
    "with the character NUL": pl.Series(["a\0b", "c"]),
    "empty next to missing text": pl.Series(["", None, "c"]),
    "ending with a blank": pl.Series(["a ", "b"]),
    "longer than 32767 bytes": pl.Series(["é" * 16384, "b"]),
    "longer than 32767 characters": pl.Series(["𝔸" * 16384, "b"]),
    "beyond 2⁵³": pl.Series([2**53 + 1, 1]),
    "NaN or infinite": pl.Series([float("nan"), 1.0]),
    "beyond 8.9e307": pl.Series([-9e307, 1.0]),
    "of the largest size": pl.Series([sys.float_info.max, 1.0]),
    "beyond 9e74, below 5.5e-79 or -0.0": pl.Series([-0.0, 1.0]),
    "before 1900": pl.Series([datetime.date(1899, 12, 31), None]),
    "finer than a millisecond": pl.Series([NOON.replace(microsecond=1), None]),
    "finer than a second": pl.Series([NOON.replace(microsecond=1000), None]),
}
LIMITS = [(name, what, limit.what) for name in WRITTEN for what, ls in FORMATS[name].holds.items() for limit in ls]


def row(what):
    """A row of the table in the docs."""
    cells = []
    for name in FILES.values():
        limits = FORMATS[name].holds.get(what)
        shown = "refused" if limits is None else "✓"
        cells.append("✓ except: " + ", ".join(limit.what for limit in limits) if limits else shown)
    return f"| {what} | {' | '.join(cells)} |"


@pytest.mark.parametrize("what", KIND_WORDS)
def test_the_documentation_says_what_formats_hold(what):
    assert row(what) in DOCS.read_text()
    assert f"| | {' | '.join(f'`{endings}`' for endings in FILES)} |".replace(", ", "`, `") in DOCS.read_text()


def test_formats_of_one_column_of_the_table_hold_the_same():
    assert FORMATS["tsv"].holds == FORMATS["csv"].holds
    assert FORMATS["feather"].holds == FORMATS["parquet"].holds


def stored(tmp_path, name, cells):
    file = File(tmp_path / f"table.{name}")
    written = file.write(pl.DataFrame({"x": [1] * len(cells), "kept": cells}), ["x"], {}, file.path)
    assert file.counts(["x"], draft=file.path, written=written) == [{len(cells): 1}]
    return file.read(["x"], ["kept"])[0]["kept"]


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("what", KIND_WORDS)
def test_cells_come_back_as_they_were_or_are_refused(tmp_path, name, what):
    cells = HELD[what]
    assert kind(cells.dtype) == what
    if what not in FORMATS[name].holds:
        with pytest.raises(ValueError, match=rf"'table.{name}' cannot hold exactly: column 'kept' \({what}\); write"):
            stored(tmp_path, name, cells)
        assert not list(tmp_path.iterdir())
        return
    found = stored(tmp_path, name, cells)
    if FORMATS[name].text and what != "text":  # what it reads is the text
        formats = {"dates with times and zones": "%Y-%m-%dT%H:%M:%S%.f%z"}
        parse = {
            "true or false": lambda text: text == "true",
            "times of day": lambda text: text.str.to_time("%T%.f"),
            "dates": lambda text: text.str.to_date(),
        }
        moments = what.startswith("dates with times")
        step = (
            (lambda text: text.str.to_datetime(formats.get(what))) if moments else lambda text: text.cast(cells.dtype)
        )
        found = parse.get(what, step)(found)
        found = found.dt.convert_time_zone("Europe/Berlin") if what.endswith("zones") else found
    assert [None if cell is None else cells.dtype.to_python()(cell) if what == "true or false" else cell
            for cell in found] == cells.to_list()  # fmt: skip


@pytest.mark.parametrize(("name", "what", "words"), LIMITS)
def test_cells_beyond_a_limit_are_refused_with_column_and_number(tmp_path, name, what, words):
    cells = BEYOND[words]
    if what == "times of day":
        cells = cells.dt.time()
    elif what == "dates with times":
        cells = cells.cast(pl.Datetime("us"))
    assert kind(cells.dtype) == what
    with pytest.raises(ValueError, match="cannot hold exactly") as caught:
        stored(tmp_path, name, cells)
    assert f"1 cell of column 'kept' ({what}: {words})" in str(caught.value)
    assert str(caught.value).endswith("; write .parquet, which holds every cell, or convert or drop the column.")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", WRITTEN)
def test_cells_that_a_library_alters_are_noticed_after_writing(tmp_path, name, monkeypatch):
    write = FORMATS[name].write

    def altered(frame, *rest):
        return write(frame.with_columns(kept=pl.Series(["a", "b", "X"])), *rest)

    monkeypatch.setattr(FORMATS[name], "write", altered)
    with pytest.raises(ValueError, match="read back, 1 of column 'kept' were altered"):
        stored(tmp_path, name, pl.Series(["a", "b", "c"]))


def test_missing_cells_and_other_types_are_compared():
    numbers = pl.DataFrame({"x": [1.0, None]})
    check_stored(numbers, pl.DataFrame({"x": [1, None]}), "t", True)
    for other in ([1, 0], ["1.0", None], [2, None]):
        with pytest.raises(ValueError, match="1 of column 'x' were altered"):
            check_stored(numbers, pl.DataFrame({"x": other}), "t", True)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("dta", "a.b"), ("dta", "int"), ("dta", "x" * 33), ("sav", "a b"), ("sav", "_a"), ("sav", "é" * 33), ("xpt", "é"),
     ("xpt", "1a"), ("xlsx", "x" * 256)],
)  # fmt: skip
def test_names_that_a_format_cannot_hold_are_refused(tmp_path, name, wrong):
    file = File(tmp_path / f"table.{name}")
    with pytest.raises(ValueError, match=f"'table.{name}'.* names"):
        file.write(pl.DataFrame({wrong: [1.0]}), [], {}, file.path)


@pytest.mark.parametrize("name", ["sav", "xpt"])
def test_names_that_differ_in_case_only_are_refused(tmp_path, name):
    file = File(tmp_path / f"table.{name}")
    with pytest.raises(ValueError, match="upper and lower case"):
        file.write(pl.DataFrame({"a": [1.0], "A": [2.0]}), [], {}, file.path)


def test_masked_moments_are_rounded_to_what_a_format_holds(tmp_path):
    moments = pl.Series([NOON.replace(microsecond=600_400)])
    for name, micros in {"dta": 600_000, "xlsx": 600_000, "parquet": 600_400}.items():
        file = File(tmp_path / f"table.{name}")
        written = file.write(pl.DataFrame({"at": moments}), ["at"], {}, file.path)
        assert written["at"].item() == NOON.replace(microsecond=micros)
        assert file.read(["at"])[0]["at"].item() == NOON.replace(microsecond=micros)
    assert FORMATS["sav"].fitted(pl.DataFrame({"at": moments}), ["at"])["at"].item() == NOON.replace(second=16)


@pytest.mark.parametrize("name", ["dta", "sav", "xpt", "xlsx"])
def test_a_masked_nan_is_a_missing_number(tmp_path, name):
    file = File(tmp_path / f"table.{name}")
    file.write(pl.DataFrame({"x": [float("nan"), 1.5]}), ["x"], {}, file.path)
    assert file.read(["x"])[0]["x"].to_list() == [None, 1.5]


def test_characters_that_an_encoding_lacks_are_refused(tmp_path):
    for encoding in ("latin-1", "ascii"):
        file = File(tmp_path / "table.csv", Layout(encoding=encoding))
        with pytest.raises(ValueError, match=f"1 cell of column 't' .text: with characters that {encoding} lacks"):
            file.write(pl.DataFrame({"t": ["a", "€"]}), [], {}, file.path)
        with pytest.raises(ValueError, match=f"cannot hold names with characters that {encoding} lacks: '€'"):
            file.write(pl.DataFrame({"€": ["a"]}), [], {}, file.path)


# what readers must not alter


def test_excel_cells_of_several_types_and_errors_are_refused_where_they_are_kept(tmp_path):
    import xlsxwriter

    with xlsxwriter.Workbook(tmp_path / "in.xlsx") as book:
        sheet = book.add_worksheet()
        for place, cells in enumerate([("n", 1, 2), ("mixed", "a", 1.5), ("plain", "b", "c"), ("broken", 1)]):
            sheet.write_column(0, place, cells)
        sheet.write_formula(2, 3, "=1/0", None, "#DIV/0!")
    file = File(tmp_path / "in.xlsx")
    assert file.read(["n"], ["plain"])[0].rows() == [(1, "b"), (2, "c")]
    with pytest.raises(ValueError, match="column 'mixed' mixes text, numbers or dates, which would be altered"):
        file.read(["n"], ["plain", "mixed"])
    with pytest.raises(ValueError, match="column 'broken' has 1 cells with errors, which would be altered"):
        file.read(["n"], ["plain", "broken"])
    assert file.read(["broken"], ["plain"])[0]["broken"].to_list() == [1, None]


def test_excel_gets_no_links_and_no_formulas(tmp_path):
    import zipfile

    cells = ["http://a.org/" + "x" * 3000, "=1+1", "mailto:a@x", "internal:b", "external:c", "file:///d", "12"]
    assert stored(tmp_path, "xlsx", pl.Series(cells)).to_list() == cells
    with zipfile.ZipFile(tmp_path / "table.xlsx") as parts:
        names = parts.namelist()
        sheet = parts.read("xl/worksheets/sheet1.xml")
    assert not [name for name in names if "rels" in name and "sheet" in name]
    assert b"<f>" not in sheet
    assert b"hyperlink" not in sheet


def test_a_small_excel_file_that_unpacks_to_a_huge_sheet_is_refused(tmp_path):
    import xlsxwriter

    with xlsxwriter.Workbook(tmp_path / "far.xlsx") as book:
        sheet = book.add_worksheet()
        sheet.write(0, 0, "a")
        sheet.write(1_000_000, 1000, 1)
    with pytest.raises(ValueError, match="1000001 rows and 1001 columns, nearly all of them empty"):
        File(tmp_path / "far.xlsx").names()
    with xlsxwriter.Workbook(tmp_path / "same.xlsx", {"constant_memory": True}) as book:
        book.add_worksheet().write(0, 0, "a")
        book.set_custom_property("b", "")
    import zipfile

    with zipfile.ZipFile(tmp_path / "same.xlsx", "a", zipfile.ZIP_DEFLATED) as parts:
        parts.writestr("xl/sharedStrings2.xml", " " * 2**27)
    with pytest.raises(ValueError, match="would unpack to 134 MB"):
        File(tmp_path / "same.xlsx").names()


def test_stata_letters_for_missing_are_refused_where_they_are_kept(tmp_path):
    import pandas as pd
    import pyreadstat

    frame = pd.DataFrame({"x": pd.Series([1.0, "a", "b", None], dtype=object), "n": [1.0, 2, 3, 4]})
    pyreadstat.write_dta(frame, str(tmp_path / "in.dta"), missing_user_values={"x": ["a", "b"]})
    file = File(tmp_path / "in.dta")
    assert file.read(["x"], ["n"])[0]["x"].to_list() == [1.0, None, None, None]
    with pytest.raises(ValueError, match="2 cells of column 'x' are missing values with letters"):
        file.read(["n"], ["x"])
    assert file.counts(["x"]) == [{1: 4}]  # .a, .b and the dot are three values


def test_formats_of_kept_variables_stay_in_stata(tmp_path):
    import pyreadstat

    formats = {"month": "%tm", "day": "%tdD_m_Y", "pay": "%9.2f"}
    frame = pl.DataFrame({"month": [1.0, 2.0], "day": [NOON.date()] * 2, "pay": [1.5, 2.5]})
    pyreadstat.write_dta(frame, str(tmp_path / "in.dta"), variable_format=formats)
    source, target = File(tmp_path / "in.dta"), File(tmp_path / "out.dta")
    read, meta = source.read(["pay"], ["month", "day"])
    target.write(read, ["pay"], meta, target.path)
    found = pyreadstat.read_dta(str(target.path), output_format="polars")[1].original_variable_types
    assert {name: found[name] for name in ("month", "day")} == {"month": "%tm", "day": "%tdD_m_Y"}
    assert found["pay"] != "%9.2f"


@pytest.mark.parametrize("name", ["parquet", "feather"])
def test_dates_in_milliseconds_are_dates(tmp_path, name):
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet

    write = {"parquet": pa.parquet.write_table, "feather": pa.feather.write_feather}[name]
    days = pa.array([NOON.date(), None], pa.date64())
    file = File(tmp_path / f"in.{name}")
    write(pa.table({"day": days}), file.path)
    frame, _ = file.read([], ["day"])
    assert (frame["day"].dtype, frame["day"].to_list()) == (pl.Date, [NOON.date(), None])
    write(pa.table({"x": [1.0], "d": pa.array([decimal.Decimal(1)], pa.decimal256(50, 2))}), file.path)
    with pytest.raises(ValueError, match=r"types that cannot be read: 'd' is decimal256\(50, 2\)"):
        file.names()


# what files hold besides cells


def test_nothing_but_a_short_list_of_labels_is_carried_over(tmp_path):
    import pyreadstat

    frame = pl.DataFrame({"pay": [10.0, 20.0], "area": [1.0, 9.0], "gone": [1.0, 2.0]})
    labels = {
        "pay": {10.0: "PAYCANARY"},
        "area": {1.0: "north", 9.0: "none", 5.0: "UNUSEDCANARY"},
        "gone": {1.0: "GONECANARY"},
    }
    pyreadstat.write_sav(
        frame, str(tmp_path / "in.sav"), file_label="FILECANARY", note=["NOTECANARY"], variable_value_labels=labels,
        column_labels={"pay": "Pay", "area": "Area", "gone": "GONELABELCANARY"},
        missing_ranges={"area": [9.0, 77.5], "pay": [20.0]}, variable_measure={"area": "nominal"},
    )  # fmt: skip
    source = File(tmp_path / "in.sav")
    read, meta = source.read(["pay"], ["area"])
    for name in ("sav", "dta", "xpt"):
        target = File(tmp_path / f"out.{name}")
        target.write(read.with_columns(pay=pl.lit(10.0)), ["pay"], meta, target.path)
        assert b"CANARY" not in target.path.read_bytes()
        assert b"77.5" not in target.path.read_bytes()
    _, found = pyreadstat.read_sav(str(tmp_path / "out.sav"), user_missing=True)
    assert found.column_names_to_labels == {"pay": "Pay", "area": "Area"}
    assert found.variable_value_labels == {"area": {1.0: "north", 9.0: "none"}}
    assert [(one["lo"], one["hi"]) for one in found.missing_ranges["area"]] == [(9.0, 9.0)]
    assert list(found.missing_ranges) == ["area"]
    assert found.variable_measure["area"] == "nominal"
    assert not found.notes


@pytest.mark.parametrize("name", ["parquet", "feather"])
def test_metadata_of_arrow_stay_behind(tmp_path, name):
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet

    write = {"parquet": pa.parquet.write_table, "feather": pa.feather.write_feather}[name]
    fields = [pa.field("x", pa.int64(), metadata={"note": "FIELDCANARY"})]
    table = pa.table({"x": [1, 2]}, schema=pa.schema(fields, metadata={"pandas": "TABLECANARY"}))
    source, target = File(tmp_path / f"in.{name}"), File(tmp_path / f"out.{name}")
    write(table, source.path)
    assert b"CANARY" in source.path.read_bytes()
    frame, meta = source.read(["x"])
    target.write(frame, ["x"], meta, target.path)
    assert b"CANARY" not in target.path.read_bytes()


def test_feather_holds_no_text_of_other_rows(tmp_path):
    text = pl.Series([f"a text of more than twelve bytes, {place}" for place in range(50)])
    file = File(tmp_path / "table.feather")
    file.write(pl.DataFrame({"t": text.gather([40, 3])}), [], {}, file.path)
    content = pl.read_ipc(file.path.read_bytes())
    assert content["t"].to_list() == [text[40], text[3]]
    assert file.path.read_bytes().count(b"a text of more") == 2
    assert file.path.read_bytes().find(b"bytes, 40") < file.path.read_bytes().find(b"bytes, 3")
