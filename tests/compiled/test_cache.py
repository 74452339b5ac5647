"""Compiled code is found again in a new process, and never when a source has changed."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import types

import pytest

import mag
from mag._backends import cpu
from mag._compiled import cache

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
    slow, quick, third = (cache._CacheFiles(str(tmp_path), "solve-1.py311", cpu.group) for _ in range(3))
    late = []
    monkeypatch.setattr(slow, "_save_data", lambda *written: late.append(written))
    monkeypatch.setattr(quick, "_load_index", dict)
    slow.save("k = 3", "code for k = 3")
    quick.save("k = 5", "code for k = 5")
    monkeypatch.undo()
    slow._save_data(*late[0])
    assert third.load("k = 5") == "code for k = 5"


STAMPS = """
import importlib
for name in ("solvers.staggered.solve", "solvers.block._solve", "_backends.cpu.batch._group",
             "methods.distances.neighbors.search", "methods.mdav.star.star"):
    module, _, function = name.rpartition(".")
    compiled = getattr(importlib.import_module(f"mag.{module}"), function)
    print(name, compiled._cache._cache_file._source_stamp)
"""


def stamps(folder, **environment):
    environment = {**os.environ, "PYTHONPATH": str(folder), **environment}
    command = [sys.executable, "-c", STAMPS]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder, env=environment)
    return dict(line.split() for line in done.stdout.splitlines())


def test_the_stamp_is_the_same_in_every_process(copy):
    assert stamps(copy, PYTHONHASHSEED="1") == stamps(copy, PYTHONHASHSEED="2")


# What is edited, and the functions that contain it.
EDITS = {
    "a message": ("_lib/checks.py", "must", "has to", set()),
    "the version": ("__init__.py", '__version__ = "', '__version__ = "9.', set()),
    "plain Python": ("methods/mdav/run.py", "jobs = []", "jobs = list()", set()),
    "a comment": ("methods/distances/blocks.py", "\nimport numpy as np\n", "\n# why\nimport numpy as np\n", set()),
    "a cost": ("costs/sae.py", "size >> 1", "size // 2", {"solvers.staggered.solve", "solvers.block._solve"}),
    "a constant": ("methods/distances/blocks.py", "RECORDS_PER_BLOCK = 64", "RECORDS_PER_BLOCK = 32", {
        "methods.distances.neighbors.search", "methods.mdav.star.star",
    }),
    "raw memory": ("_compiled/memory.py", "min(8, element", "min(4, element", {
        "solvers.staggered.solve", "solvers.block._solve", "_backends.cpu.batch._group",
        "methods.distances.neighbors.search", "methods.mdav.star.star",
    }),
}  # fmt: skip


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_recompiles_what_contains_it_and_nothing_else(copy, edit):
    file, old, new, contain = EDITS[edit]
    before = stamps(copy)
    path = copy / "mag" / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    after = stamps(copy)
    assert {name for name in before if before[name] != after[name]} == contain


BECOME_NOBODY = """
import concurrent.futures.thread, dataclasses, fractions, html, itertools, os, pkgutil, warnings
import numba, numba.core.caching, numpy
numba.njit(lambda x: numpy.sort(x).sum())(numpy.ones(3))  # Python's own files may be root's alone
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
"""
UNWRITABLE = """
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import mag
    mag.backends()
    print(mag.univariate([1., 2., 3., 50., 90.], 2, solver="staggered").labels.tolist())
    print(mag.univariate([1., 2., 3., 50., 90.], 2, solver="quadratic").labels.tolist())
told = [str(one.message) for one in caught if issubclass(one.category, mag.CacheWarning)]
assert len(told) == len(caught), [str(one.message) for one in caught]
print(len(told), "3 s for single columns" in told[0] and "NUMBA_CACHE_DIR" in told[0] if told else "")
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
    command = [sys.executable, "-B", "-c", BECOME_NOBODY + UNWRITABLE]
    done = subprocess.run(command, capture_output=True, text=True, cwd="/", env=environment)
    assert done.stdout.splitlines() == ["[0, 0, 0, 1, 1]"] * 2 + ["1 True"], done.stderr


def test_a_cache_that_cannot_be_read_or_written_is_done_without(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "_warned", False)
    files = cache._CacheFiles(str(tmp_path / "missing"), "solve-1.py311", cpu.group)
    with pytest.warns(mag.CacheWarning, match="set NUMBA_CACHE_DIR"):
        files.save("k = 3", "code")
    files.save("k = 4", "code")  # which warns no more
    files = cache._CacheFiles(str(tmp_path), "solve-1.py311", cpu.group)
    files.save("k = 3", "code")
    assert files.load("k = 3") == "code"
    for path in tmp_path.iterdir():
        path.write_bytes(path.read_bytes()[:-5])  # the disk was full
    assert files.load("k = 3") is None
    files.save("k = 3", "code")
    assert files.load("k = 3") == "code"


@pytest.mark.parametrize("gone", ["class", "module"])
def test_a_cache_that_names_what_is_gone_is_written_again(tmp_path, monkeypatch, gone):
    """Keys hold the classes of arguments: a new version may have renamed one, or its module."""
    module = types.ModuleType("mag_of_before")
    module.Records = type("Records", (), {"__module__": "mag_of_before", "__qualname__": "Records"})
    monkeypatch.setitem(sys.modules, "mag_of_before", module)
    files = cache._CacheFiles(str(tmp_path), "solve-1.py311", cpu.group)
    files.save(module.Records, "code")
    assert files.load(module.Records) == "code"
    if gone == "class":
        del module.Records
    else:
        monkeypatch.delitem(sys.modules, "mag_of_before")
    assert files.load("k = 3") is None
    files.save("k = 3", "code")
    assert files.load("k = 3") == "code"


def test_code_that_was_left_beside_the_sources_is_used_where_nothing_can_be_written(copy, monkeypatch):
    run(copy)

    def refuses(*given, **named):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(cache.InTreeCacheLocator, "ensure_cache_path", refuses)
    monkeypatch.setattr(cache.UserWideCacheLocator, "ensure_cache_path", refuses)
    monkeypatch.setattr("numba.core.config.CACHE_DIR", "")
    with pytest.raises(RuntimeError, match="no locator available"):
        cache.FunctionCache(cpu.group)
    assert isinstance(cache.Cache(cpu.group)._impl.locator, cache._ReadOnly)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become somebody else")
def test_code_that_root_left_beside_the_sources_is_used_by_users_with_a_home(copy):
    first, _ = run(copy)  # as `mag warmup` does when an image is built
    home = copy / "home"
    home.mkdir()
    os.chown(home, 65534, 65534)
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(copy)}
    command = [sys.executable, "-B", "-c", BECOME_NOBODY + CODE + "print(staggered.solve._cache.cache_path)"]
    done = subprocess.run(command, capture_output=True, text=True, cwd="/", env=environment)
    *said, folder = done.stdout.splitlines() or [""]
    assert said == [first, "1 0"], done.stderr
    assert folder.startswith(str(home)), "where other code is kept"
