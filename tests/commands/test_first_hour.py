"""Commands as a new user calls them: the rest of the columns, a manifest to check, columns that are left out."""

import json
import pathlib
import subprocess
import sys

import polars as pl
import pytest

from mag.commands.cli import main

N = 40
PEOPLE = pl.DataFrame(
    {
        "age": [20 + i % 37 for i in range(N)],
        "income": [1000.5 + 7 * i for i in range(N)],
        "region": ["north", "south"] * (N // 2),
        "disease": ["flu", "cough", "cold", "flu"] * (N // 4),
        "name": [f"person {i}" for i in range(N)],
    }
)


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    PEOPLE.write_csv("people.csv")
    return "people.csv"


def test_the_rest_of_the_columns_is_dropped_or_kept_in_one_word(people, capsys):
    given = ["mask", people, "-k", "4", "-c", "age", "-c", "income", "--quiet", "--overwrite", "-o", "out.csv"]
    assert main(given) == 2
    assert "or --rest drop for all." in " ".join(capsys.readouterr().err.split())
    assert main([*given, "--keep", "region", "--rest", "drop"]) == 0
    assert pl.read_csv("out.csv").columns == ["age", "income", "region"]
    assert json.loads(pathlib.Path("out.csv.manifest.json").read_text())["guarantee"]["kept"] == ["region"]
    assert main([*given, "--drop", "name", "--rest", "keep"]) == 0
    assert pl.read_csv("out.csv")["disease"].to_list() == PEOPLE["disease"].to_list()
    assert main([*given, "--rest", "publish"]) == 2
    assert "--rest must be one of 'drop', 'error', 'keep'; got 'publish'." in capsys.readouterr().err


def test_a_manifest_says_what_to_check(people, capsys):
    options = ["-c", "age", "-c", "income", "--by", "region", "--diversity", "disease=2", "--rest", "drop"]
    assert main(["mask", people, "-o", "out.csv", "-k", "4", *options]) == 0
    capsys.readouterr()
    given = ["check", "out.csv", "--manifest", "out.csv.manifest.json"]
    assert main(given) == 0
    said = capsys.readouterr().out
    assert "PASS k=4" in said
    assert "PASS diversity" in said
    lines = pathlib.Path("out.csv").read_text().splitlines()
    lines[1] = lines[1].replace("north", "south")  # a column that --qi age --qi income would forget
    pathlib.Path("out.csv").write_text("\n".join(lines) + "\n")
    assert main(given) == 1
    assert main([*given, "-k", "4"]) == 2
    assert "--manifest says what to check; leave --qi, -k" in capsys.readouterr().err
    assert main(["check", "out.csv", "--manifest", people]) == 2
    assert "'people.csv' must be the manifest of a masked file." in capsys.readouterr().err
    assert main(["check", "out.csv"]) == 2
    assert "--qi and -k, --set or --manifest must say what to check; got none of them." in capsys.readouterr().err


def test_a_manifest_says_how_text_is_read(people, capsys):
    lines = ["age;income"] + [f"{20 + i};{1000 + i},5" for i in range(20)]
    pathlib.Path("in.csv").write_bytes("\n".join([*lines, "99;k\u00e4.A."]).encode("latin-1"))
    text = ["--delimiter", ";", "--decimal-comma", "--encoding", "latin-1", "--null", "income=k\u00e4.A."]
    options = ["-c", "age", "-c", "income", "--missing", "drop", *text]
    assert main(["mask", "in.csv", "-o", "out.csv", "-k", "4", *options]) == 0
    assert main(["check", "out.csv", "--manifest", "out.csv.manifest.json"]) == 0
    assert "PASS k=4: each of 20 records" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        ("\na,b\n1,2\n", [], "'in.csv' begins with an empty line; its first line must name the columns."),
        ("a,b\n1,2\n", ["-c", "a,b"], "'in.csv' has no column 'a,b'; name one column at a time."),
        ("a,b\n31.12.1980,2\n01.02.1990,3\n", [], "--date a=FORMAT declares how dates are written, such as %d.%m.%Y"),
        ("a,b\n1,x\n2,y\n", ["--date", "b=%d.%m.%Y"], "--date must name columns that are masked or compared; got 'b'"),
    ],
)
def test_a_messy_file_is_answered_with_a_line_or_a_remedy(tmp_path, monkeypatch, capsys, text, options, sentence):
    monkeypatch.chdir(tmp_path)
    pathlib.Path("in.csv").write_text(text)
    assert main(["mask", "in.csv", "-o", "out.csv", "-k", "1", "-c", "a", "--rest", "drop", *options]) == 2
    assert sentence in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('Survey\n"two\nlines"\na,b\n', "line 4 has 2 cells, the first 1; is the delimiter right?"),
        ("a;b\n1,5;2\n", "line 2 has 2 cells, the first 1; try --delimiter ';'."),
    ],
)
def test_the_first_line_that_is_too_long_is_named(tmp_path, monkeypatch, capsys, text, sentence):
    monkeypatch.chdir(tmp_path)
    pathlib.Path("in.csv").write_text(text)
    assert main(["look", "in.csv"]) == 2
    assert capsys.readouterr().err == f"mag: 'in.csv' is not a table: {sentence}\n"


def test_columns_left_out_of_a_comparison_are_named(people, capsys):
    assert main(["mask", people, "-o", "out.csv", "-k", "4", "-c", "age", "--rest", "keep", "--quiet"]) == 0
    for command in ("utility", "risk"):
        assert main([command, people, "out.csv"]) == 0
        assert "mag: note: left out, because they are not numbers: 'region', 'disease', 'name'; declare" in (
            capsys.readouterr().err
        )
        assert main([command, people, "out.csv", "-c", "age"]) == 0
        assert capsys.readouterr().err == ""


WITHOUT_EXTRAS = """
import sys
for name in ("typer", "rich", "polars"):
    sys.modules[name] = None
from mag.commands.cli import main
sys.exit(main({arguments}))
"""


@pytest.mark.parametrize("arguments", [["info"], ["info", "--json"]])
def test_info_needs_no_extra(arguments):
    code = WITHOUT_EXTRAS.format(arguments=arguments)
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert "numba" in found.stdout


def test_the_package_runs_as_the_command():
    found = subprocess.run([sys.executable, "-m", "mag", "--version"], capture_output=True, text=True, check=True)
    assert found.stdout.startswith("mag ")


def test_a_report_tells_data_command_and_user_but_no_hidden_name(people, monkeypatch):
    monkeypatch.setenv("LOGNAME", "anna")
    given = ["mask", people, "-o", "out.csv", "-k", "4", "-c", "age", "-c", "income", "--shuffle", "--seed", "4711"]
    given += ["--keep=region", "--drop=name", "--drop", "disease", "--report", "r.html"]
    assert main(given) == 0
    page = pathlib.Path("r.html").read_text()
    assert "<dt>Data</dt><dd>people.csv</dd>" in page
    assert "<dt>Made by</dt><dd>anna</dd>" in page
    command = page.partition("<dt>Command</dt><dd>")[2].partition("</dd>")[0]
    assert command.startswith("mag mask people.csv -o out.csv -k 4 -c age -c income --shuffle --seed")
    assert "--keep=region" in command
    assert not [word for word in ("4711", "name", "disease") if word in command]


def test_advice_on_columns_of_text_and_of_odd_cells_is_given_once(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = ["job", "town", "a", "b", "c"]
    lines = [f"cook,Bonn,{i},{i},{i}" for i in range(9)] + ["cook,Bonn,#,!,NA"]
    pathlib.Path("in.csv").write_text("\n".join([",".join(names), *lines]) + "\n")
    assert main(["mask", "in.csv", "-o", "out.csv", "-k", "2", *(word for name in names for word in ("-c", name))]) == 2
    assert capsys.readouterr().err == (
        "mag: 'in.csv': columns 'job', 'town' hold text, and categories need --hierarchy, --order, --aggregate "
        "NAME=mode, --by, --keep or --drop; column 'a': 1 cell is neither a number nor a date like 2026-01-31, column "
        "'b': 1 cell is neither a number nor a date like 2026-01-31; a decimal comma needs --decimal-comma, mag look "
        "lists their lines; column 'c': 1 cell is NA; --null NA declares missing codes.\n"
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["mask", "-o", "out.csv", "-k", "0"], "-k must be an integer in [1, n=40]; got 0."),
        (["mask", "-o", "out.csv", "-k", "2", "-m", "mdva"], "--method must be one of 33 names; got 'mdva', did you"),
        (
            ["mask", "-o", "out.csv", "-k", "2", "-c", "age"],
            "a column must be named once; 'age' is named by -c more than",
        ),
        (["compare", "-k", "2", "-m", "mdva"], "--method must be one of 33 names; got 'mdva', did you mean 'mdav'"),
        (["compare", "-k", "41"], "-k must be an integer in [1, n=40]; got 41."),
    ],
)
def test_options_are_named_as_the_command_line_does(people, capsys, words, sentence):
    command, *options = words
    rest = ["--rest", "drop"] if command == "mask" else []
    assert main([command, people, "-c", "age", "-c", "income", *options, *rest]) == 2
    assert capsys.readouterr().err.startswith(f"mag: {sentence}")
