"""`mag assess`: the figures of `mag.assess` on a file."""

import json
import pathlib

import polars as pl
import pytest

import mag
from mag.commands.cli import main

PEOPLE = {
    "sex": ["f", "m"] * 30,
    "age": [20 + i * 7 % 31 for i in range(60)],
    "job": [["smith", "clerk", None][i % 3] for i in range(60)],
    "hid": [i // 3 for i in range(60)],
    "ill": [["no", "yes"][i % 7 == 0] for i in range(60)],
    "w": [10.5 + i % 4 for i in range(60)],
}
QI = ["sex", "age", "job"]
OPTIONS = ["--qi", "sex", "--qi", "age", "--qi", "job", "--weights", "w", "--household", "hid", "--sensitive", "ill"]


@pytest.fixture(params=["people.csv", "people.parquet"])
def people(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pl.DataFrame(PEOPLE)
    (frame.write_csv if request.param.endswith("csv") else frame.write_parquet)(request.param)
    return request.param


def test_the_figures_are_those_of_the_function(people, capsys):
    expected = mag.assess(pl.DataFrame(PEOPLE), QI, weights="w", household="hid", sensitive="ill")
    assert main(["assess", people, *OPTIONS]) == 0
    assert capsys.readouterr().out == f"{expected}\n"
    assert main(["assess", people, *OPTIONS, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {key: found[key] for key in expected.summary} == json.loads(json.dumps(expected.summary))
    assert found["subsets"] == expected.subsets.to_dicts()


def test_missing_cells_and_sizes(people, capsys):
    assert main(["assess", people, "--qi", "job", "--qi", "age", "--missing", "wildcard", "--json"]) == 0
    wild = json.loads(capsys.readouterr().out)
    assert wild["columns"] == mag.assess(pl.DataFrame(PEOPLE), ["job", "age"], missing="wildcard").columns.to_dicts()
    assert main(["assess", people, "--qi", "job", "--qi", "age", "--unit", "hid", "--max-size", "1", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["subsets"]) == 2


def test_a_report_is_written_once(people, capsys):
    assert main(["assess", people, *OPTIONS, "--report", "risk.html"]) == 0
    assert "smith" not in pathlib.Path("risk.html").read_text(encoding="utf-8")
    assert main(["assess", people, *OPTIONS, "--report", "risk.html"]) == 2
    assert "exists" in capsys.readouterr().err
    assert main(["assess", people, *OPTIONS, "--report", "risk.html", "--overwrite"]) == 0
    assert main(["assess", people, *OPTIONS, "--report", people, "--overwrite"]) == 2
    assert "is read by this run" in capsys.readouterr().err


MISTAKES = {
    "--qi must name the quasi-identifiers of FILE; got none.": ["--weights", "w"],
    "a column must have one role; 'age' is in qi and weights.": ["--qi", "age", "--weights", "age"],
    "a column must have one role; 'hid' is in unit and household.": [
        *["--qi", "age", "--unit", "hid", "--household", "hid"]
    ],
    "unit must not have missing cells; got 20 in 'job'.": ["--qi", "age", "--unit", "job"],
    "has no column 'agee', did you mean 'age'?": ["--qi", "agee"],
}


@pytest.mark.parametrize("sentence", MISTAKES)
def test_wrong_roles_get_one_sentence(people, capsys, sentence):
    assert main(["assess", people, *MISTAKES[sentence]]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("mag: ")
    assert sentence in said.err
    assert said.err.count("\n") == 1
