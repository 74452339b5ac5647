"""Compiled code is found again in a new process, and never when a source has changed."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import mag
from mag import _jit
from mag.backends import _batch, _sort, cpu

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


def test_processes_that_compile_at_once_do_not_mix_up_their_code(tmp_path, monkeypatch):
    """Both find an empty index; one writes its index first and its code last."""
    slow, quick, third = (_jit._CacheFiles(str(tmp_path), "solve-1.py311", "stamp") for _ in range(3))
    late = []
    monkeypatch.setattr(slow, "_save_data", lambda *written: late.append(written))
    monkeypatch.setattr(quick, "_load_index", dict)
    slow.save("k = 3", "code for k = 3")
    quick.save("k = 5", "code for k = 5")
    monkeypatch.undo()
    slow._save_data(*late[0])
    assert third.load("k = 5") == "code for k = 5"


def test_every_cached_function_knows_all_sources_below_it():
    for function in (cpu.block._solve, _sort.arrange_array, _batch._group):
        own, below = function._cache._cache_file._source_stamp
        assert own
        assert below == _jit.digest(pathlib.Path(function.py_func.__code__.co_filename).parent)
