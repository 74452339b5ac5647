"""Inner functions are linked into outer ones and are no machine code by themselves; another numba goes its own way."""

import ast
import gc
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from numba import TypingError
from numba.extending import overload

import mag
from mag._compiled import internals, jit, linking

ROOT = pathlib.Path(mag.__file__).parent


@jit.inlined
def halve(x):
    return x / 2


def third(x):
    """x / 3"""


@overload(third, **jit.INLINE)
def _third(x):
    return lambda x: x / 3


@jit.called
def largest(x):
    best = np.empty(2)  # numba's own code, and its memory
    best[:] = -np.inf
    for i in range(x.size):
        best[0] = max(best[0], halve(x[i]) + third(x[i]))
    return best[0]


@jit.called
def climb(steps):
    if steps < 0:
        raise ValueError("steps must be at least 0", steps)
    return 0 if steps == 0 else climb(steps - 1) + 1


@jit.uncached
def run(x, steps):
    return largest(x), climb(steps)


def test_a_function_holds_all_that_it_calls():
    assert run(np.array([6.0, 12.0]), 5) == (10.0, 5)


def test_exceptions_of_inner_functions_reach_python():
    with pytest.raises(ValueError, match="steps must be at least 0") as caught:
        run(np.ones(1), -3)
    assert caught.value.args[1] == -3


def optimized(monkeypatch, run, *arguments):
    """How many modules LLVM turns into machine code for a call."""
    names = []
    library = linking.JITCodeLibrary
    finalize = library._finalize_specific
    monkeypatch.setattr(library, "_finalize_specific", lambda self: (names.append(self.name), finalize(self)))
    run(*arguments)
    return names


def test_only_the_outermost_function_becomes_machine_code(monkeypatch):
    @jit.called
    def inner(x):
        return x + 1

    @jit.inlined
    def middle(x):
        return inner(x) * 2

    @jit.uncached
    def outer(x):
        return middle(x) - 3

    names = optimized(monkeypatch, outer, 5)
    assert [name.rpartition(".")[2] for name in names] == ["outer"]


def test_a_function_that_python_calls_is_an_inner_one_in_compiled_code(monkeypatch):
    def double(x):
        return x * 2

    both = jit.uncached(double)
    linking.call_inside(both, jit.called(double))

    @jit.uncached
    def outer(x):
        return both(x) + 1

    assert [name.rpartition(".")[2] for name in optimized(monkeypatch, outer, 5)] == ["outer"]
    assert (outer(5), both(5)) == (11, 10)


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_is_collected_as_before(collects):
    fails = jit.uncached(lambda x: x.nothing)
    try:
        (gc.enable if collects else gc.disable)()
        jit.uncached(lambda x: x + 1)(1)
        assert gc.isenabled() == collects
        with pytest.raises(TypingError):
            fails(1)
        assert gc.isenabled() == collects
    finally:
        gc.enable()


@pytest.mark.parametrize("function", [halve, climb])
def test_python_cannot_call_an_inner_function(function):
    with pytest.raises(TypeError, match="not callable"):
        function(3)


ANOTHER_NUMBA = """
import numba
numba.version_info = numba.version_info._replace(minor=999, short=(0, 999))  # later than what was tried
import mag
from mag._compiled import jit, linking
assert linking.INNER == linking.OUTER == {}, linking.INNER
increase = jit.called(lambda x: x + 1)
assert increase(1) == 2  # as numba does it
print(mag.univariate([1., 2., 3., 50., 90.], 2, solver="staggered").labels.tolist())
"""


def test_another_numba_compiles_its_own_way(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    done = subprocess.run([sys.executable, "-c", ANOTHER_NUMBA], capture_output=True, text=True)
    assert done.stdout == "[0, 0, 0, 1, 1]\n", done.stderr


def test_the_bound_on_numba_says_what_was_tried():
    text = (ROOT.parent / "pyproject.toml").read_text()
    lowest, highest = linking.TRIED_NUMBA
    below = (highest[0], highest[1] + 1)
    assert f'"numba>={".".join(map(str, lowest))},<{".".join(map(str, below))}"' in text


DOCUMENTED = {"numba", "numba.extending", "numba.njit", "numba.typeof", "numba.types", "numba.version_info"}


def used_of_numba(path):
    """What a file imports of numba and llvmlite, or reads of the module numba."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module in ("numba", "llvmlite"):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "numba":
            names = [f"numba.{node.attr}"]
        yield from (name for name in names if name.partition(".")[0] in ("numba", "llvmlite"))


def test_one_file_names_what_is_private_to_numba():
    users = {path.relative_to(ROOT).as_posix(): {*used_of_numba(path)} - DOCUMENTED for path in ROOT.rglob("*.py")}
    assert [file for file, names in users.items() if names] == ["_compiled/internals.py"]


@pytest.mark.parametrize("attribute", internals.ATTRIBUTES)
def test_attributes_of_numba_are_used_in_few_files(attribute):
    users = [
        path.relative_to(ROOT).as_posix()
        for path in sorted(ROOT.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr == attribute
    ]
    assert list(dict.fromkeys(users)) == internals.ATTRIBUTES[attribute]
