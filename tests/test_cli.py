"""The command line, as a user meets it."""

import subprocess
import sys

import numpy as np
import pytest

import mag
from mag import cli


def test_demo_prints_a_summary(capsys):
    assert cli.main(["demo", "-k", "7"]) == 0
    out = capsys.readouterr().out
    for word in ("age", "income", "7-13", "information loss", "at least 7 records"):
        assert word in out


def test_a_wrong_option_is_one_sentence_and_no_traceback(capsys):
    assert cli.main(["demo", "-k", "0"]) == 2
    assert capsys.readouterr().err == "mag: k must be an integer in [1, n=10000]; got 0.\n"


def test_info_says_what_can_run_here(capsys):
    assert cli.main(["info"]) == 0
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert lines["cpu"] == "ok"
    assert lines["mag"] == mag.__version__
    assert lines["numpy"] == np.__version__
    assert int(lines["threads"]) >= 1
    assert lines.keys() >= {"simd", "processor", "numba", *mag.backends()}


def test_backends_are_ok_or_say_why_not():
    assert mag.backends()["cpu"] == "ok"
    assert mag.backends().keys() == mag.backends.BACKENDS.keys()


def test_warmup_compiles_what_was_asked_for(capsys):
    assert cli.main(["warmup", "-c", "sse", "-c", "sse_int", "-k", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["sse", "sse_int"]
    assert cli.main(["warmup", "-c", "mse"]) == 2
    assert capsys.readouterr().err.startswith("mag: cost must be one of 'maxdist',")


def test_an_unknown_command_lists_the_known_ones(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["mask"])
    assert stop.value.code == 2
    assert "demo" in capsys.readouterr().err


def test_module_runs_as_a_program():
    done = subprocess.run([sys.executable, "-m", "mag.cli", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("mag ")
