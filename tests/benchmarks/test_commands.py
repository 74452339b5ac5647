"""Every benchmark explains itself, and says what it lacks."""

import json
import pathlib
import runpy
import subprocess
import sys

import pytest

from benchmarks import data
from tests.data.paths import PROJECT, REFERENCE

BENCHMARKS = sorted(path.stem for path in (PROJECT / "benchmarks").glob("[!_]*.py"))
ASK_ALL = """
import contextlib, io, json, runpy, sys
said = {}
for name in json.loads(sys.argv[1]):
    sys.argv, out = [name, "--help"], io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            runpy.run_module(f"benchmarks.{name}", run_name="__main__")
        said[name] = "no exit"
    except SystemExit as done:
        said[name] = out.getvalue() if not done.code else f"exit code {done.code}"
    except ModuleNotFoundError as error:
        said[name] = f"usage: needs {error.name}"
    except BaseException as error:
        said[name] = repr(error)
print(json.dumps(said))
"""


def test_every_benchmark_has_a_help():
    command = [sys.executable, "-W", "ignore", "-c", ASK_ALL, json.dumps(BENCHMARKS)]
    done = subprocess.run(command, cwd=PROJECT, check=True, capture_output=True, text=True, timeout=600)
    said = json.loads(done.stdout.splitlines()[-1])
    assert [name for name, text in said.items() if not text.startswith("usage:")] == []
    assert "Random columns against the exact optimum" in said["fuzz"]


def test_wrong_words_are_refused(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["thesis", "A.9"])
    with pytest.raises(SystemExit) as done:
        runpy.run_module("benchmarks.thesis", run_name="__main__")
    assert done.value.code == 2
    assert "invalid choice: 'A.9'" in capsys.readouterr().err


def test_data_sets_are_there_or_said_to_be_missing(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(data, "DATA", tmp_path)
    (tmp_path / "eia.csv").write_text("a,b\n1,2\n")
    (tmp_path / "credit_card.csv").write_text("a,b\n1,2\n")
    states = {name: data.state_of(name, source) for name, source in data.SOURCES.items()}
    assert states.pop("eia.csv") == "there, with other cells"
    assert states.pop("credit_card.csv") == "there"
    assert set(states.values()) == {"missing"}
    data.main()
    said = capsys.readouterr().out
    assert "sdcMicro, CASCrefmicrodata" in said
    assert "Thaeter" in said


def test_printed_figures_name_their_sources():
    tables = json.loads(pathlib.Path(REFERENCE).read_text(encoding="utf-8"))
    assert {*tables} == {"_sources", *tables["_sources"]}
