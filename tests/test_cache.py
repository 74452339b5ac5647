"""Compiled code is found again in a new process, and never when a source has changed."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

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
def copy():
    """A copy of the package that may be edited, in a folder that everybody may read, unlike pytest's."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        path.chmod(0o755)
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(pathlib.Path(mag.__file__).parent, path / "mag", ignore=ignore)
        yield path


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


UNWRITABLE = """
import concurrent.futures.thread, dataclasses, html, itertools, os, warnings, numba, numba.core.caching, numpy
numba.njit(lambda x: numpy.sort(x).sum())(numpy.ones(3))  # Python's own files may be root's alone
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import mag
    mag.backends()
    print(mag.univariate([1., 2., 3., 50., 90.], 2, solver="staggered").labels.tolist())
    print(mag.univariate([1., 2., 3., 50., 90.], 2, solver="quadratic").labels.tolist())
told = [str(one.message) for one in caught if issubclass(one.category, mag.CacheWarning)]
assert len(told) == len(caught), [str(one.message) for one in caught]
print(len(told), "NUMBA_CACHE_DIR" in told[0] if told else "")
"""


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.parametrize("named", [None, "a directory that cannot be written"])
def test_everything_works_where_nothing_can_be_written(copy, named):
    """As a user without a home, on a package of somebody else, compiled code stays in memory; one warning says so."""
    for path in [copy, *copy.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "PYTHONPATH": str(copy)}
    if named:
        environment["NUMBA_CACHE_DIR"] = str(copy)
    command = [sys.executable, "-B", "-c", UNWRITABLE]
    done = subprocess.run(command, capture_output=True, text=True, cwd="/", env=environment)
    assert done.stdout.splitlines() == ["[0, 0, 0, 1, 1]"] * 2 + ["1 True"], done.stderr


def test_a_cache_that_cannot_be_read_or_written_is_done_without(tmp_path, monkeypatch):
    monkeypatch.setattr(_jit, "_warned", False)
    files = _jit._CacheFiles(str(tmp_path / "missing"), "solve-1.py311", "stamp")
    with pytest.warns(mag.CacheWarning, match="set NUMBA_CACHE_DIR"):
        files.save("k = 3", "code")
    files.save("k = 4", "code")  # which warns no more
    files = _jit._CacheFiles(str(tmp_path), "solve-1.py311", "stamp")
    files.save("k = 3", "code")
    assert files.load("k = 3") == "code"
    for path in tmp_path.iterdir():
        path.write_bytes(path.read_bytes()[:-5])  # the disk was full
    assert files.load("k = 3") is None
    files.save("k = 3", "code")
    assert files.load("k = 3") == "code"


def test_code_that_was_left_beside_the_sources_is_used_where_nothing_can_be_written(copy, monkeypatch):
    run(copy)

    def refuses(*given, **named):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(_jit.InTreeCacheLocator, "ensure_cache_path", refuses)
    monkeypatch.setattr("numba.core.caching.UserWideCacheLocator.ensure_cache_path", refuses)
    monkeypatch.setattr("numba.core.config.CACHE_DIR", "")
    with pytest.raises(RuntimeError, match="no locator available"):
        _jit.FunctionCache(cpu.group)
    assert isinstance(_jit._Cache(cpu.group)._impl.locator, _jit._ReadOnly)
