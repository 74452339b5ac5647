"""The tree is the architecture: imports point down, tables equal files, and `import mag` stays light."""

import ast
import pathlib
import re
import subprocess
import sys

import pytest

import mag
from mag.backends import BACKENDS
from mag.bounds import BOUNDS
from mag.commands import COMMANDS
from mag.costs import COSTS
from mag.files import FORMATS
from mag.methods import METHODS
from mag.metrics import METRICS
from mag.privacy import MEASURES
from mag.solvers import SOLVERS

ROOT = pathlib.Path(mag.__file__).parent
LAYERS = [  # a file may import from its own layer's package and from those after it
    ["mag.cli"],
    ["mag.commands"],
    ["mag.demo", "mag.info"],
    ["mag.estimators"],
    ["mag.table"],
    ["mag.table._parquet"],
    ["mag.table._release"],
    ["mag.files", "mag.report"],
    ["mag.assess", "mag.verify"],
    ["mag.table._grouping"],
    ["mag.table._request"],
    ["mag.frames"],
    ["mag.frames._series"],
    ["mag.frames.cells", "mag.table._aggregate", "mag.table._strata"],
    ["mag.scale"],
    ["mag.api.multivariate"],
    ["mag.api"],
    ["mag.bounds"],
    ["mag.methods", "mag.results"],
    ["mag.metrics", "mag.privacy"],
    ["mag.backends"],
    ["mag.solvers"],
    ["mag.costs"],
    ["mag._compiled.jit"],
    ["mag._compiled.bits", "mag._compiled.lanes", "mag._compiled.wide"],
    ["mag._lib.hierarchy", "mag._lib.records"],
    ["mag._lib.content", "mag._lib.lock"],
    [
        "mag._lib.arrays",
        "mag._lib.atomic",
        "mag._lib.checks",
        "mag._lib.fresh",
        "mag._lib.interrupt",
        "mag.results",
        "mag.reference",
    ],  # leaves
    ["mag._lib.lazy", "mag._lib.terminal"],
    ["mag"],
]
HEIGHT = {name: height for height, names in enumerate(LAYERS) for name in names}


def module_name(path):
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def layer(name):
    while name not in HEIGHT:
        name = name.rpartition(".")[0]
    return name


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            yield node.module


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=module_name)
def test_imports_point_down(path):
    here = layer(module_name(path))
    if here == "mag":  # the package itself only names where things live
        return
    for name in imports(path):
        if name.split(".")[0] == "mag":
            there = layer(name)
            assert there == here or HEIGHT[there] > HEIGHT[here], f"{module_name(path)} imports {name}"


TABLES = {
    "backends": BACKENDS,
    "bounds": BOUNDS,
    "commands": COMMANDS,
    "costs": COSTS,
    "files": FORMATS,
    "metrics": METRICS,
    "privacy": MEASURES,
    "solvers": SOLVERS,
}


@pytest.mark.parametrize(("folder", "table"), TABLES.items(), ids=TABLES)
def test_tables_equal_files(folder, table):
    files = sorted(path.stem for path in (ROOT / folder).glob("*.py") if not path.stem.startswith("_"))
    assert list(table) == files


def test_every_file_of_methods_holds_a_method_of_the_table():
    files = {path.stem for path in (ROOT / "methods").glob("*.py") if not path.stem.startswith("_")}
    assert {method.group.__module__.rpartition(".")[2] for method in METHODS.values()} == files
    assert list(METHODS) == sorted(METHODS)


def test_costs_are_called_like_their_key():
    assert all(cost.name == name for name, cost in COSTS.items())


def test_the_documentation_of_univariate_lists_the_tables():
    text = mag.univariate.__doc__
    for option, table in (("cost", COSTS), ("solver", {"auto": 0, **SOLVERS}), ("backend", {"auto": 0, **BACKENDS})):
        listed = re.search(rf"^    {option} : \{{(.*?)\}}", text, re.M | re.S).group(1)
        assert re.findall(r'"(\w+)"', listed) == sorted(table)


def test_the_documentation_of_multivariate_lists_the_methods():
    listed = re.search(r"^    method : \{(.*?)\}", mag.multivariate.__doc__, re.M | re.S).group(1)
    assert re.findall(r'"(\w+)"', listed) == sorted({"auto", *METHODS})


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_import_loads_nothing_heavy():
    heavy = "numba numpy llvmlite narwhals pandas polars pyarrow sklearn cupy torch jax dask distributed"
    assert run(f"import mag, sys; print([m for m in {heavy.split()} if m in sys.modules])").strip() == "[]"


@pytest.mark.parametrize(
    ("command", "heavy"),
    [
        ("--version", "numpy typer"),
        ("--help", "numba numpy polars"),
        ("check {file} --qi a -k 1", "numba pandas pyarrow"),
    ],
)
def test_commands_load_what_they_need_only(tmp_path, command, heavy):
    (tmp_path / "in.csv").write_text("a\n1\n")
    arguments = command.format(file=tmp_path / "in.csv").split()
    loaded = f"[m for m in {heavy.split()} if m in sys.modules]"
    code = f"import sys; from mag.cli import main; main({arguments}); print({loaded})"
    assert run(code).splitlines()[-1] == "[]"


def test_names_are_found_on_demand():
    assert set(mag.__all__) <= set(dir(mag))
    for name in mag.__all__:
        assert getattr(mag, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = mag.nothing
