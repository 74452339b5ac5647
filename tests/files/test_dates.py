"""Dates in declared formats: read, masked, written in the same format and read back; anything else is a sentence."""

import datetime
import pathlib

import polars as pl
import pytest

from mag._lib.errors import InputValueError
from mag.commands.cli import main
from mag.files import File, Layout

N = 30
DAYS = [datetime.date(1940, 1, 5) + datetime.timedelta(days=211 * i) for i in range(N)]


def write(path, cells, more=None):
    columns = {"born": cells, **(more or {})}
    lines = [";".join(columns), *(";".join(row) for row in zip(*columns.values(), strict=True)), ""]
    pathlib.Path(path).write_text("\n".join(lines))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("form", ["%d.%m.%Y", "%m/%d/%Y", "%d%m%Y", "%Y/%m/%d", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S"])
@pytest.mark.parametrize("comma", [[], ["--decimal-comma"]])
def test_masked_dates_are_written_as_they_were_read(form, comma):
    write("in.csv", [day.strftime(form) for day in DAYS])
    words = ["-k", "3", "-c", "born", "--date", f"born={form}", "--delimiter", ";", "--quiet", *comma]
    assert main(["mask", "in.csv", "-o", "out.csv", *words]) == 0
    cells = pathlib.Path("out.csv").read_text().splitlines()[1:]
    after = [datetime.datetime.strptime(cell, form) for cell in cells]
    assert [day.strftime(form) for day in after] == cells
    assert min(cells.count(cell) for cell in cells) >= 3
    assert abs(sum((a.date() - b).days for a, b in zip(after, DAYS, strict=True))) <= N
    layout = Layout(";", decimal_comma=bool(comma), date_of={"born": form})
    assert File("out.csv", layout).read(["born"])[0]["born"].dtype.is_temporal()
    assert main(["check", "out.csv", "--qi", "born", "-k", "3", "--delimiter", ";"]) == 0


def test_missing_dates_keep_their_code():
    write("in.csv", ["k.A." if i % 10 == 0 else day.strftime("%d.%m.%Y") for i, day in enumerate(DAYS)])
    words = ["--date", "born=%d.%m.%Y", "--null", "born=k.A.", "--missing", "group", "--decimal-comma", "--quiet"]
    assert main(["mask", "in.csv", "-o", "out.csv", "-k", "3", "-c", "born", *words]) == 0
    cells = pathlib.Path("out.csv").read_text().splitlines()[1:]
    assert [i for i, cell in enumerate(cells) if cell == "k.A."] == [0, 10, 20]
    assert all(datetime.datetime.strptime(cell, "%d.%m.%Y") for cell in cells if cell != "k.A.")


def test_dates_of_another_format_are_written_in_the_declared_one():
    pl.DataFrame({"born": DAYS}).write_parquet("in.parquet")
    words = ["-k", "3", "-c", "born", "--date", "born=%d.%m.%Y", "--quiet"]
    assert main(["mask", "in.parquet", "-o", "out.csv", *words]) == 0
    assert pathlib.Path("out.csv").read_text().splitlines()[1][2::3][:2] == ".."
    write("in.csv", [day.strftime("%d.%m.%Y") for day in DAYS])
    assert main(["mask", "in.csv", "-o", "out.parquet", *words]) == 0
    assert pl.read_parquet("out.parquet").schema["born"] == pl.Date


def test_look_suggests_to_declare_a_format(capsys):
    write("in.csv", [day.strftime("%d.%m.%Y") for day in DAYS])
    assert main(["look", "in.csv"]) == 0
    told = capsys.readouterr().out
    assert "mask: -c NAME" in told
    assert "born: all cells look like dates, and are read as text" in told
    assert "dates: --date NAME=FORMAT, such as --date NAME=%d.%m.%Y" in told


def test_look_shows_the_format_and_the_lines_of_other_cells(capsys):
    write("in.csv", ["1980-12-31" if i == 4 else day.strftime("%d.%m.%Y") for i, day in enumerate(DAYS)])
    assert main(["look", "in.csv", "--date", "born=%d.%m.%Y"]) == 0
    told = capsys.readouterr().out
    assert "DD.MM.YYYY" in told
    assert "born: 1 cell is no date: line 6 (9999-99-99)" in told


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--date", "born=%d.%m.%y"], "the date format of column 'born' must hold %d, %m and %Y"),
        (["--date", "born=%d.%m"], "the date format of column 'born' must hold %d, %m and %Y"),
        (["--date", "born=%d.%m.%Y%"], "the date format of column 'born' must hold %d, %m and %Y"),
        (["--date", "born=%d.%m.%Y %H"], "the date format of column 'born' must hold %d, %m and %Y"),
        (["--date", "%d.%m.%Y"], "--date must be NAME=FORMAT"),
        (["--date", "birth=%d.%m.%Y"], "'in.csv' has no column 'birth'"),
        (["--date", "sex=%d.%m.%Y"], "--date must name columns that are masked or compared; got 'sex', leave it out."),
        (["--date", "born=%Y/%m/%d"], "column 'born': 30 cells are no date like %Y/%m/%d; mag look lists their lines."),
        ([], "--date born=FORMAT declares how dates are written, such as %d.%m.%Y, mag look lists their lines."),
    ],
)
def test_wrong_formats_are_answered_in_one_sentence(words, sentence, capsys):
    write("in.csv", [day.strftime("%d.%m.%Y") for day in DAYS], {"sex": ["f", "m"] * (N // 2)})
    given = ["mask", "in.csv", "-o", "out.csv", "-k", "3", "-c", "born", "--keep", "sex", "--delimiter", ";"]
    assert main([*given, *words]) == 2
    assert sentence in " ".join(capsys.readouterr().err.split())
    assert not pathlib.Path("out.csv").exists()


def test_a_format_is_for_text_files(capsys):
    pl.DataFrame({"born": DAYS}).write_parquet("in.parquet")
    assert main(["look", "in.parquet", "--date", "born=%d.%m.%Y"]) == 2
    assert "--date: not used by .parquet files" in capsys.readouterr().err


def test_a_date_that_does_not_exist_is_not_read():
    write("in.csv", ["30.02.1980", "29.02.1980"])
    with pytest.raises(InputValueError, match="1 cell is no date like"):
        File("in.csv", Layout(date_of={"born": "%d.%m.%Y"})).read(["born"])
