"""Type checkers accept right calls of a user's program, and report wrong ones."""

import importlib.util
import inspect
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
from typing import get_args

import pytest

import mag
from mag._backends import BACKENDS
from mag.api import types
from mag.bounds import BOUNDS
from mag.costs import COSTS
from mag.graphs._costs import COST_CODES as DEGREE_COSTS
from mag.graphs.keep import KEEP
from mag.methods import METHODS
from mag.solvers import SOLVERS
from mag.tables import types as table
from mag.tables._categories import ALLOWED
from mag.tables.criteria.enforce import ENFORCE
from tools.names import ROOT, written

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


WRONG = {  # what is wrong, and what an error about it names
    'mag.univariate(x, "two")': "univariate",
    'mag.univariate(x, 2, cost="see")': "cost",
    "mag.columns(x, 2, solver='fast')": "solver",
    'mag.multivariate(x, k="5")': "k",
    'mag.multivariate(x, 5, method="mdaw")': "mdaw",
    'mag.multivariate(x, 5, metod="mdav")': "metod",
    "mag.multivariate(x, 5, gama=0.2)": "gama",
    'mag.multivariate(x, 5, closest="center")': "closest",
    'mag.microaggregate({"a": x}, "5", "a")': "microaggregate",
    'mag.microaggregate({"a": x}, 5, "a", method="mdaw")': "microaggregate",
    'mag.microaggregate({"a": x}, 5, "a", metod="mdav")': "microaggregate",
    'mag.microaggregate({"a": x}, 5, "a", rest="publish")': "microaggregate",
    'mag.microaggregate({"a": x}, 5, "a").dta': "dta",
    'mag.generalize({"a": x}, "5", "a")': "generalize",
    'mag.generalize({"a": x}, 5, "a", show_suppressed_as="star")': "generalize",
    'mag.generalize({"a": x}, 5, "a", supress=0.1)': "generalize",
    'mag.Microaggregator(k="5")': "k",
    'mag.Microaggregator(method="mdaw")': "mdaw",
    'mag.graphs.anonymize([[0, 1]], 2, 2, keep="edge")': "edge",
    'mag.dp.histogram({"a": x}, {"a": (0, 1)}, 1)': "tuple[int, int]",
    'mag.dp.sample({"a": x}, {}, 1, keep="a")': "Never",
    'mag.compare({"a": x}, ["5"], "a")': "int",
    'mag.compare({"a": x}, 5, "a", methods=["mdaw"])': "type",
}


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_type_checkers_accept_right_calls_only(checker, tmp_path):
    """Of a copy of the client that lies elsewhere, as a user's program does."""
    (tmp_path / "right.py").write_text(CLIENT.read_text())
    (tmp_path / "wrong.py").write_text(
        "import mag\nimport mag.graphs, mag.dp\nx = [1.0, 2.0]\n" + "".join(f"print({call})\n" for call in WRONG)
    )
    source = pathlib.Path(mag.__file__).parents[1]
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(source)]}))
    checked = subprocess.run(
        [sys.executable, *checker(), "right.py", "wrong.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(source), *filter(None, sys.path)])},
        capture_output=True,
        text=True,
        check=False,
    )
    report = checked.stdout + checked.stderr
    errors: dict[int, str] = {}
    for line in checked.stdout.splitlines():
        if "error:" in line or " - error" in line:
            assert "wrong.py" in line, report
            number = int(re.search(r"wrong\.py:(\d+)", line)[1])
            errors[number] = errors.get(number, "") + line
    assert list(errors) == [number for number, _ in enumerate(WRONG, 4)], report
    for (call, named), line in zip(WRONG.items(), errors.values(), strict=True):
        assert named in line, f"{call}: {line}"


def test_types_list_what_there_is():
    """A type checker cannot look into the tables."""
    listed = {
        types.CostName: COSTS,
        types.SolverName: {"auto", *SOLVERS},
        types.BackendName: {"auto", *BACKENDS},
        types.BoundName: BOUNDS,
        types.MethodName: {"auto", *METHODS},
        types.DegreeCost: DEGREE_COSTS,
        types.KeepName: KEEP,
        table.Enforce: {"auto", *ENFORCE},
        table.AggregateName: {how: 0 for every in ALLOWED.values() for how in every},
    }
    for literal, names in listed.items():
        assert list(get_args(literal)) == sorted(names)
    options = set().union(*(method.options for method in METHODS.values())) - {"random_state", "time_limit"}
    assert set(types.MethodOptions.__annotations__) == options
    keywords = inspect.signature(mag.microaggregate).parameters.keys()
    assert {"table", "k", "columns", "output", "options"} | set(table.TableOptions.__annotations__) == (
        set(keywords) | set(types.TableMethodOptions.__annotations__)
    )
    keywords = inspect.signature(mag.generalize).parameters.keys()
    assert {"table", "k", "columns"} | set(table.RecodingOptions.__annotations__) == set(keywords)


@pytest.mark.parametrize(("path", "text"), written().items(), ids=written())
def test_names_are_those_of_the_tables(path, text):
    """Where names cannot be imported, `python -m tools.names` writes them."""
    assert (ROOT / path).read_text(encoding="utf-8") == text, "run python -m tools.names"


def test_only_compiled_files_are_exempt_from_types():
    every = pathlib.Path(mag.__file__).parent.rglob("*.py")
    exempt = [path for path in every if path.read_text().startswith("# mypy:")]
    assert exempt
    assert [path for path in exempt if not re.search(r"^@(called|inlined|jit|layout)\b", path.read_text(), re.M)] == []
