"""The tree is the architecture: imports point down, tables equal files, and `import mag` stays light."""

import ast
import pathlib
import re
import subprocess
import sys
from typing import get_type_hints

import pytest

import mag
from mag._backends import BACKENDS
from mag.api.types import MethodOptions
from mag.bounds import BOUNDS
from mag.commands import COMMANDS
from mag.costs import COSTS
from mag.dp import MECHANISMS
from mag.files import FORMATS
from mag.graphs.keep import KEEP
from mag.methods import METHODS
from mag.metrics import METRICS
from mag.privacy import MEASURES
from mag.solvers import SOLVERS
from mag.tables.criteria import CRITERIA
from mag.tables.criteria.enforce import ENFORCE
from tools.house import defining_modules, imported_modules, package_of, read_modules

ROOT = pathlib.Path(mag.__file__).parent
LAYERS = [  # a module may import from its own layer and from those after it
    ["mag.__main__"],
    ["mag.commands"],
    ["mag.pandas", "mag.polars"],
    ["mag.app"],
    ["mag.distributed", "mag.estimators"],
    ["mag.dp", "mag.protect", "mag.tables"],
    ["mag.files", "mag.report"],
    ["mag.verify"],
    ["mag.frames"],
    ["mag.graphs"],
    ["mag.api"],
    ["mag.bounds"],
    ["mag.methods"],
    ["mag.metrics", "mag.privacy"],
    ["mag.measures"],
    ["mag.risk"],
    ["mag._backends"],
    ["mag.results"],
    ["mag.reference", "mag.solvers"],
    ["mag.costs"],
    ["mag._compiled"],
    ["mag.hierarchy"],
    ["mag._lib"],
]
HEIGHT = {name: height for height, names in enumerate(LAYERS) for name in names}
SHARED = ("mag._lib", "mag._compiled")  # private to mag, not to a package of it


MODULES = read_modules(ROOT.parent)
INSIDE = [name for name in MODULES if name != "mag"]  # the package itself only names where things live


def imports(name):
    return imported_modules(MODULES[name], MODULES)


def test_every_module_has_a_layer():
    assert {package_of(name) for name in INSIDE} == set(HEIGHT)


def test_imports_are_absolute():
    for name, path in MODULES.items():
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        assert not [node for node in nodes if isinstance(node, ast.ImportFrom) and node.level], name


def test_properties_are_computed_without_a_lock():
    """Those of functools hold one in Python 3.11: a fork while another thread holds it never ends."""
    text = "from functools import cached_property"
    assert [name for name, path in MODULES.items() if text in path.read_text()] == ["mag._lib.lazy"]


def test_few_files_stand_at_the_top():
    assert len([path for path in ROOT.glob("*.py") if path.stem != "__init__"]) <= 10


def test_names_of_constants_say_what_they_count():
    """One name, one meaning: lower the limits as names get better, never raise them."""
    homes = defining_modules("constant", MODULES)
    assert sum(len(modules) > 3 for modules in homes.values()) <= 2
    assert sum(len(modules) > 1 for modules in homes.values()) <= 62


def test_no_two_classes_share_a_name():
    assert [name for name, homes in defining_modules("class", MODULES).items() if len(homes) > 1] == []


def functions(path):
    """The functions of a file, at any depth."""
    return [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)]


def parameters(function):
    return [a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]


COMPILED = {"jit", "called", "inlined", "layout", "overload", "intrinsic"}
MAX_COMPILED_PARAMETERS = 8


def is_compiled(function):
    decorators = [node.func if isinstance(node, ast.Call) else node for node in function.decorator_list]
    return bool(COMPILED & {ast.unparse(node) for node in decorators})


def test_compiled_functions_have_few_parameters():
    """A tuple with names for those that belong together: a call of ten values is hard to read."""
    found = {}
    for name, path in MODULES.items():
        for function in functions(path):
            if is_compiled(function):
                found[f"{name}.{function.name}"] = len(parameters(function))
    assert len(found) > 400
    assert [name for name, count in found.items() if count > MAX_COMPILED_PARAMETERS] == []


UNTYPED = "# mypy: allow-untyped-defs, no-check-untyped-defs"
METRIC_FILES = {"mag.methods.distances.euclidean", "mag.methods.distances.mixed"}  # which `metric` compiles


def test_plain_python_has_types_beside_compiled_functions():
    files = {name: path for name, path in MODULES.items() if path.read_text().startswith(UNTYPED)}
    assert len(files) > 40
    for name, path in files.items():
        own = functions(path)
        inside = {inner for outer in own if is_compiled(outer) for inner in ast.walk(outer) if inner is not outer}
        plain = [one for one in own if not is_compiled(one) and one not in inside]
        untyped = {one.name for one in plain if one.returns is None}
        assert any(map(is_compiled, own)), name
        assert not untyped or name in METRIC_FILES, (name, untyped)


def test_metrics_have_the_same_operations():
    home = ROOT / "methods" / "distances"
    operations = {f.name: parameters(f) for f in functions(home / "metric.py") if parameters(f)[:1] == ["metric"]}
    assert len(operations) >= 7
    for file in ("euclidean.py", "mixed.py"):
        found = {f.name: parameters(f) for f in functions(home / file) if f.name in operations}
        assert found == operations, file


@pytest.mark.parametrize("name", [name for name in INSIDE if name.startswith("mag.methods.")])
def test_methods_do_not_ask_which_metric_they_have(name):
    if name in ("mag.methods.distances.metric", "mag.methods.distances.hierarchies"):  # which choose it
        return
    for node in ast.walk(ast.parse(MODULES[name].read_text())):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot):
            assert not re.search(r"\b(terms|metric)\b", ast.unparse(node)), f"{name}: {ast.unparse(node)}"
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance":
            assert not re.search(r"\b(Euclidean|Mixed)\b", ast.unparse(node)), f"{name}: {ast.unparse(node)}"


@pytest.mark.parametrize("name", INSIDE)
def test_imports_point_down(name):
    here = package_of(name)
    for imported in imports(name):
        if imported.startswith("mag."):
            there = package_of(imported)
            assert there == here or HEIGHT[there] > HEIGHT[here], f"{name} imports {imported}"


@pytest.mark.parametrize("name", INSIDE)
def test_an_underscore_is_private_to_its_package(name):
    for imported in imports(name):
        if not imported.startswith("mag.") or imported.startswith(SHARED):
            continue
        parts = imported.split(".")
        for depth, part in enumerate(parts):
            if part.startswith("_"):
                package = ".".join(parts[:depth])
                assert f"{name}.".startswith(f"{package}."), f"{name} imports {imported}"


def test_the_description_of_the_tree_names_every_package():
    page = ROOT.parent / "docs" / "develop" / "architecture.md"
    if not page.is_file():
        pytest.skip("an installed package has no docs")
    text = page.read_text()
    packages = {name for name, path in MODULES.items() if path.name == "__init__.py"}
    missing = [name for name in sorted(packages - {"mag"}) if not re.search(rf"\b{name.rpartition('.')[2]}/", text)]
    assert not missing


TABLES = {
    "bounds": BOUNDS,
    "commands": sorted([*COMMANDS, "cli", "survey"]),
    "costs": COSTS,
    "files": FORMATS,
    "graphs/keep": KEEP,
    "solvers": SOLVERS,
    "tables/criteria": CRITERIA,
    "tables/criteria/enforce": ENFORCE,
}


@pytest.mark.parametrize(("folder", "table"), TABLES.items(), ids=TABLES)
def test_tables_equal_files(folder, table):
    files = sorted(path.stem for path in (ROOT / folder).glob("*.py") if not path.stem.startswith("_"))
    assert list(table) == files


def test_every_private_mechanism_has_a_file():
    files = {path.stem for path in (ROOT / "dp").glob("*.py") if not path.stem.startswith("_")}
    assert {*MECHANISMS, "testing"} == files


def test_every_measure_is_named():
    """A public function of these files that has an example is a measure of loss or of risk."""
    described = set()
    for path in (ROOT / "measures").glob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and "\n    Examples\n" in (ast.get_docstring(node, clean=False) or ""):
                described.add(node.name)
    assert described == {*METRICS, *MEASURES, "risk", "utility"}
    assert mag.metrics.__all__ == sorted(METRICS)
    assert mag.privacy.__all__ == ["IntervalDisclosure", "Linkage", *sorted(MEASURES)]


def test_every_backend_has_a_folder():
    folders = sorted(path.parent.name for path in (ROOT / "_backends").glob("*/__init__.py"))
    assert list(BACKENDS) == folders


def test_every_method_stands_in_its_file_or_in_its_family():
    """A file, named like it, of `methods` or `methods/orders`; or the folder of its family."""
    files = {path.stem for path in (ROOT / "methods").glob("*.py") if not path.stem.startswith("_")}
    families = {path.parent.name for path in (ROOT / "methods").glob("*/__init__.py")} - {"distances", "orders"}
    homes = {name: method.group.__module__.removeprefix("mag.methods.") for name, method in METHODS.items()}
    for name, home in homes.items():
        assert home in {name, f"orders.{name}"} or home in families, f"{name} is in {home}"
    assert files <= set(METHODS)
    assert files | families <= set(homes.values())
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


def test_the_documentation_lists_the_options_of_methods():
    options = sorted(get_type_hints(MethodOptions))
    listed = re.search(r"Options of the method: (.*?)\.", mag.multivariate.__doc__, re.S).group(1)
    assert re.split(r",\s+", listed) == options
    guide = (ROOT.parent / "docs/guide/records.md").read_text(encoding="utf-8").partition("## Options of methods")[2]
    assert re.findall(r"^\| `(\w+)` \|", guide.partition("\n## ")[0], re.M) == options


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_backends_is_a_plain_function_whatever_is_imported():
    code = "import mag, mag._backends.cuda; from mag._backends import cpu; print(type(mag.backends).__name__)"
    assert run(code).strip() == "function"


def test_import_loads_nothing_heavy():
    heavy = "numba numpy llvmlite narwhals pandas polars pyarrow sklearn cupy torch jax dask distributed opendp"
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
    code = f"import sys; from mag.commands.cli import main; main({arguments}); print({loaded})"
    assert run(code).splitlines()[-1] == "[]"


def test_dir_lists_public_names_only():
    code = "import mag, mag.commands.cli, mag.distributed; {}; print(*[n for n in dir({}) if not n.startswith('__')])"
    assert run(code.format("mag.univariate([1, 2], 2), mag.verify", "mag")).split() == sorted(
        {*mag.__all__, "Microaggregator"} & set(dir(mag))
    )
    assert run(code.format("mag.distributed.kernels", "mag.distributed")).split() == sorted(mag.distributed.__all__)


def test_names_are_found_on_demand():
    assert set(mag.__all__) <= set(dir(mag))
    for name in mag.__all__:
        assert getattr(mag, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = mag.nothing
