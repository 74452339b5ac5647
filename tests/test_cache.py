"""Compiled code is found again in a new process, and never when a source has changed."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import mag

CODE = """
import mag
from mag.solvers import staggered
print(mag.univariate([1., 2., 3., 50., 90.], 2, solver="staggered").labels.tolist())
print(sum(staggered.solve.stats.cache_hits.values()), sum(staggered.solve.stats.cache_misses.values()))
"""


@pytest.fixture
def copy(tmp_path):
    """A copy of the package that may be edited."""
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(pathlib.Path(mag.__file__).parent, tmp_path / "mag", ignore=ignore)
    return tmp_path


def run(folder):
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    environment["PYTHONPATH"] = str(folder)
    done = subprocess.run(
        [sys.executable, "-c", CODE], check=True, capture_output=True, text=True, cwd=folder, env=environment
    )
    labels, counts = done.stdout.splitlines()
    return labels, counts


def test_a_new_process_compiles_nothing_and_a_changed_cost_everything(copy):
    first, counts = run(copy)
    assert (first, counts) == ("[0, 0, 0, 1, 1]", "0 1")
    assert run(copy) == (first, "1 0")
    cost = copy / "mag" / "costs" / "sse.py"
    text = cost.read_text()
    changed = text.replace("return g - s * s * reciprocal(f, size)", "return -g")  # the worst grouping, not the best
    assert changed != text
    cost.write_text(changed)
    assert run(copy) == ("[0, 0, 1, 1, 1]", "0 1")
