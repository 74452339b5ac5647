"""`mag look`: columns of files as `mag mask` reads them, lines of unreadable cells, and no values."""

import json
import pathlib

import polars as pl
import pytest

import mag
from mag.commands.cli import main
from tests.data.paths import DATA

N = 200
MESSY = {
    "name": [f"Quentin{i}" for i in range(N)],
    "plz": [f"0{4100 + i % 50}" for i in range(N)],
    **{f"text{j}": [f"{word}{j}" for word in ("north", "south", "west", "east")] * (N // 4) for j in range(8)},
    "age": ["999" if i % 20 == 0 else str(18 + i * 7 % 60) for i in range(N)],
    "income": ["12.345,50" if i in (40, 77) else f"{1000 + 13 * i},25" for i in range(N)],
    "born": ["31.12.1980" if i == 3 else f"19{50 + i % 40}-01-17" for i in range(N)],
    "kids": ["NA" if i % 10 == 0 else str(i % 4) for i in range(N)],
    "memo": ['"two\nlines"' if i % 50 == 1 else "one" for i in range(N)],
    "spare": [""] * N,
}
EXPECTED = {  # type, missing, distinct, role, lines
    "name": ("text", 0, N, "drop", []),
    "plz": ("whole number", 0, 50, "category", []),
    **{f"text{j}": ("text", 0, 4, "category", []) for j in range(8)},
    "age": ("whole number", 0, 58, "mask", []),
    "income": ("number", 0, N - 2, "mask", [43, 81]),  # after one and after two line ends between quotes
    "born": ("date", 0, 40, "mask", [6]),
    "kids": ("whole number", 0, 4, "mask", []),
    "memo": ("text", 0, 2, "category", []),
    "spare": ("empty", N, 0, "drop", []),
}


@pytest.fixture
def messy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [";".join(MESSY), *(";".join(row) for row in zip(*MESSY.values(), strict=True)), ""]
    pathlib.Path("messy.csv").write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode())
    return "messy.csv"


def said(capsys, *words):
    assert main(["look", *words]) == 0
    return capsys.readouterr().out


def unwrapped(text):
    return " ".join(text.split())


def test_a_messy_file_is_understood(messy, capsys):
    found = json.loads(said(capsys, messy, "--decimal-comma", "--json"))
    assert (found["file"], found["records"]) == ("messy.csv", N)
    columns = {one["name"]: one for one in found["columns"]}
    keys = ("type", "missing", "distinct", "role", "lines")
    assert {name: tuple(one[key] for key in keys) for name, one in columns.items()} == EXPECTED
    assert columns["income"]["notes"] == ["2 cells are no number: lines 43 (99.999,99), 81 (99.999,99)"]
    assert columns["born"]["notes"] == ["1 cell is no date: line 6 (99.99.9999)"]
    assert columns["age"]["notes"] == ["1 value in 10 records may be missing codes"]
    assert columns["kids"]["notes"] == ["20 cells NA; a missing code?"]
    assert columns["plz"]["notes"] == ["200 cells with a leading zero; codes? As numbers they lose it"]
    lines = pathlib.Path(messy).read_bytes().decode("utf-8-sig").split("\n")
    assert all("12.345,50" in lines[line - 1] for line in columns["income"]["lines"])
    assert "31.12.1980" in lines[columns["born"]["lines"][0] - 1]


def test_no_value_is_printed_without_show(messy, capsys):
    cells = {cell.strip('"') for column in MESSY.values() for cell in column if len(cell) >= 3}
    for words in ([], ["--json"]):
        text = said(capsys, messy, "--decimal-comma", *words)
        assert not [cell for cell in cells if cell in text and cell not in ("one", "999")]
        assert "two\nlines" not in text
        assert ": 999 " not in text
    shown = unwrapped(said(capsys, messy, "--decimal-comma", "--show"))
    assert all(cell in shown for cell in ("12.345,50", "31.12.1980", "999 (10 records)", "Quentin0"))


def test_the_output_is_80_characters_wide(messy, capsys):
    text = said(capsys, messy, "--decimal-comma")
    assert max(map(len, text.splitlines())) <= 80
    assert "missing codes: --null NAME=CODES; --show names them" in text
    assert "-c NAME with --hierarchy NAME=FILE or --aggregate NAME=mode" in text


def test_declared_codes_are_missing(messy, capsys):
    words = ["--null", "kids=NA", "--null", "age=999", "--null", "memo=one"]
    found = json.loads(said(capsys, messy, "--decimal-comma", "--json", *words))
    columns = {one["name"]: one for one in found["columns"]}
    assert [columns[name]["missing"] for name in ("kids", "age", "memo")] == [20, 10, N - 4]
    assert [columns[name]["notes"] for name in ("kids", "age")] == [[], []]


def test_only_the_first_five_lines_are_listed(tmp_path, capsys):
    path = tmp_path / "x.csv"
    path.write_text("x\n" + "1\n" * 20 + "much\n" * 7 + "an answer of many words\n")
    text = unwrapped(said(capsys, str(path)))
    assert "x: 8 cells are no whole number: lines 22 (aaaa), 23 (aaaa), 24 (aaaa), 25 (aaaa), 26 (aaaa), …" in text
    path.write_text("x\n" + "1\n" * 20 + "an answer of many words\n")
    assert "line 22 (23 characters)" in said(capsys, str(path))


@pytest.mark.parametrize("ending", ["parquet", "xlsx", "dta", "sav", "feather", "tsv"])
def test_other_formats(ending, tmp_path, capsys):
    frame = pl.DataFrame({"age": [31, 52, None], "job": ["cook", "cook", "baker"], "pay": [1.5, 2.25, -9.0]})
    path = tmp_path / f"people.{ending}"
    if ending in ("dta", "sav"):
        pyreadstat = pytest.importorskip("pyreadstat")
        getattr(pyreadstat, f"write_{ending}")(frame.to_pandas(), path)
    else:
        {
            "parquet": frame.write_parquet,
            "xlsx": frame.write_excel,
            "feather": frame.write_ipc,
            "tsv": lambda out: frame.write_csv(out, separator="\t"),
        }[ending](path)
    found = json.loads(said(capsys, str(path), "--json", "--null", "pay=-9"))["columns"]
    assert [(one["type"], one["missing"], one["distinct"]) for one in found] == [
        ("whole number", 1, 2),
        ("text", 0, 2),
        ("number", 1, 2),
    ]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nowhere.csv"], "nowhere.csv: there is no such file."),
        (["people.doc"], "files can be read from .arrow, .csv"),
        (["messy.csv"], "'messy.csv' is not a table: line 2 has 2 cells, the first 1; try --delimiter ';'."),
        (["messy.csv", "--decimal-comma", "--null", "kid=9"], "'messy.csv' has no column 'kid'"),
        (["messy.csv", "--decimal-comma", "--shwo"], "--show"),
        ([], "FILE"),
    ],
)
def test_wrong_calls_are_answered_in_one_sentence(messy, words, sentence, capsys):
    assert main(["look", *words]) == 2
    told = capsys.readouterr()
    assert sentence in unwrapped(told.err)
    assert not told.out
    assert "Quentin" not in told.err


def test_another_delimiter_is_suggested(tmp_path, capsys):
    path = tmp_path / "people.csv"
    path.write_text("age;sex\n31;f\n52;m\n")
    assert main(["look", str(path)]) == 0
    assert "'people.csv' has a single column; try --delimiter ';'." in capsys.readouterr().err


def test_empty_lines_and_numbers_with_other_marks_are_named(tmp_path, capsys):
    path = tmp_path / "people.csv"
    path.write_text(
        "hh_id;age;rent;income;zip\n\n1;31;310,5;1.310,50;01307\n2;52;405,25;12.000,00;01309\n3;40;9;k.A.;01307\n\n"
    )
    told = said(capsys, str(path), "--delimiter", ";")
    assert told.startswith("5 records (2 without any value; empty lines?), 5 columns")
    assert "rent, income: most cells look like numbers, and are read as text" in unwrapped(told)
    assert "numbers: --decimal-comma for 1,5; --thousands . for 12.345,50" in told
    columns = json.loads(said(capsys, str(path), "--delimiter", ";", "--json"))["columns"]
    roles = {one["name"]: one["role"] for one in columns}
    assert roles == {"hh_id": "drop", "age": "mask", "rent": "mask", "income": "mask", "zip": "category"}
    told = said(capsys, str(path), "--delimiter", ";", "--decimal-comma", "--thousands", ".")
    assert "look like numbers" not in told
    assert "income: 1 cell is no number: line 5 (a.a.)" in unwrapped(told)


def test_long_names_are_whole_and_shapes_take_several_lines():
    names = [f"the_average_expenditure_{word}" for word in ("food", "rent")]
    told = str(mag.look({name: [1.125, 2.5, 3e7] for name in names}))
    assert all(name in told for name in names)
    assert max(map(len, told.splitlines())) <= 80
    lines = [line.split() for line in told.splitlines()]
    assert [line for line in lines if line[-3:] == ["1-8", "digits,", "mask"]]
    assert ["3", "decimals"] in lines


def test_a_file_without_records(tmp_path, capsys):
    path = tmp_path / "people.csv"
    path.write_text("age,sex\n")
    assert said(capsys, str(path)).startswith("0 records, 2 columns")


@pytest.mark.parametrize(
    ("name", "words", "columns"), [("survey.csv", [], 15), ("adult.csv", [], 3), ("adult_arx/adult.csv", [";"], 9)]
)
def test_public_files(name, words, columns, capsys):
    path = DATA / name
    if not path.is_file():
        pytest.skip("the data set is not there")
    options = ["--delimiter", *words] if words else []
    text = said(capsys, str(path), *options)
    assert max(map(len, text.splitlines())) <= 80
    frame = pl.read_csv(path, separator=words[0] if words else ",", infer_schema_length=0)
    found = json.loads(said(capsys, str(path), "--json", *options))
    counts = {str(one[key]) for one in found["columns"] for key in ("missing", "distinct")} | {str(frame.height)}
    assert len(found["columns"]) == columns
    assert [one["distinct"] for one in found["columns"]] == [column.n_unique() for column in frame]
    for column in frame:
        values = {cell for cell in column.unique() if len(cell) >= 3} - counts
        assert not values & set(text.replace(",", " ").split()), column.name
