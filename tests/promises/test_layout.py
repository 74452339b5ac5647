"""Tests mirror the package: a folder for every package of mag, and no file of tests imports another one."""

import ast
import pathlib

import pytest

import mag
from tests import conftest

PACKAGE = pathlib.Path(mag.__file__).parent
FILES = sorted(conftest.TESTS.rglob("*.py"))


def imported(path):
    """The modules that a file imports, with the names that it takes from them."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{'.' * node.level}{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("folder", sorted(path.parent.name.strip("_") for path in PACKAGE.glob("*/__init__.py")))
def test_every_package_has_a_folder_with_tests(folder):
    assert list((conftest.TESTS / folder).rglob("test_*.py"))


def test_every_backend_has_a_folder_with_tests():
    for path in (PACKAGE / "_backends").glob("*/__init__.py"):
        assert list((conftest.TESTS / "backends" / path.parent.name).glob("test_*.py")), path.parent.name


def test_tests_are_in_folders():
    assert {path.name for path in conftest.TESTS.glob("*.py")} == {"__init__.py", "conftest.py"}


def test_every_folder_is_a_package():
    """So that two files may have the same name."""
    assert not [str(path) for path in FILES if not (path.parent / "__init__.py").is_file()]


def test_no_file_of_tests_imports_another():
    found = {
        f"{path.relative_to(conftest.TESTS)}: {name}"
        for path in FILES
        for name in imported(path)
        if any(part.startswith("test_") for part in name.split("."))
    }
    assert not found


def test_quick_tests_enter_every_package():
    assert set(conftest.QUICK) == {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert all((conftest.TESTS / path).is_file() for path in (*conftest.ALSO_QUICK, *conftest.QUICK.values()))
