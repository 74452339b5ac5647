"""What type checkers say to a user's program: nothing where calls are right, and something where they are wrong."""

import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import mag

CLIENT = pathlib.Path(__file__).with_name("client.py")


def mypy():
    pytest.importorskip("mypy", reason="mypy is not installed")
    return ["-m", "mypy", "--strict", "--cache-dir", os.devnull]


def pyright():
    if importlib.util.find_spec("pyright") is None:
        pytest.skip("pyright is not installed")
    if shutil.which("node") is None:
        pytest.skip("pyright needs node")
    started = subprocess.run(
        [sys.executable, "-m", "pyright", "--version"], capture_output=True, text=True, check=False
    )
    if started.returncode:
        pytest.skip("pyright could not be fetched")
    return ["-m", "pyright", "--pythonpath", sys.executable]


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_type_checkers_accept_right_calls_only(checker, tmp_path):
    """Of a copy of the client that lies elsewhere, as a user's program does."""
    right = CLIENT.read_text()
    wrong = right.replace("mag.univariate(x, 2)", 'mag.univariate(x, "two")')
    assert wrong != right
    (tmp_path / "right.py").write_text(right)
    (tmp_path / "wrong.py").write_text(wrong)
    source = pathlib.Path(mag.__file__).parents[1]
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(source)]}))
    found = subprocess.run(
        [sys.executable, *checker(), "right.py", "wrong.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(source), *filter(None, sys.path)])},
        capture_output=True,
        text=True,
        check=False,
    )
    errors = [line for line in found.stdout.splitlines() if "error:" in line or " - error" in line]
    assert len(errors) == 1, found.stdout + found.stderr
    assert "wrong.py" in errors[0]
    assert "univariate" in errors[0]
