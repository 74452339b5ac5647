"""Figures of a tree: `python -m tools.house [--root PATH] [--no-walks]`.

Files and lines of every package, the number of packages that import it (fan-in) and that it imports (fan-out); names of
constants, classes and modules with several meanings; and walks: the files and functions that a warm call visits, with
all calls, and those from one file to another.  With `--root` the figures of another tree, an older one for example.
"""

import argparse
import ast
import collections
import pathlib
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator

from benchmarks._measure import show

ROOT = pathlib.Path(__file__).parents[1]
WALKS = pathlib.Path(__file__).with_name("_walks.py")


def read_modules(root: pathlib.Path) -> dict[str, pathlib.Path]:
    """The file of every module of `mag` in a tree."""
    found = {}
    for path in sorted((root / "mag").rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(part for part in parts if part != "__init__")] = path
    return found


def package_of(module: str) -> str:
    """The package, or the module, of `mag` that a module is in."""
    return ".".join(module.split(".")[:2])


def imported_modules(path: pathlib.Path, modules: dict[str, pathlib.Path]) -> Iterator[str]:
    """The modules that a file imports, with `from package import module` resolved."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in modules else node.module


def count_packages(modules: dict[str, pathlib.Path]) -> list[dict]:
    """A row for every package and every module directly in `mag`, the largest first, and their sum."""
    files, lines = collections.Counter(), collections.Counter()
    imports: dict[str, set[str]] = collections.defaultdict(set)
    for name, path in modules.items():
        here = package_of(name)
        files[here] += 1
        lines[here] += len(path.read_text(encoding="utf-8").splitlines())
        found = {package_of(one) for one in imported_modules(path, modules) if one.startswith("mag.")}
        imports[here] |= found - {here}
    rows = []
    for package in sorted(lines, key=lambda name: -lines[name]):
        fan_in = sum(package in found for found in imports.values())
        row = {"package": package, "files": files[package], "lines": lines[package]}
        rows.append(row | {"fan-in": fan_in, "fan-out": len(imports[package])})
    return [*rows, {"package": "sum", "files": files.total(), "lines": lines.total(), "fan-in": None, "fan-out": None}]


def _named_tuple(node: ast.stmt) -> list[str]:
    """The name of a named tuple that a line `Name = namedtuple(…)` defines."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
        return []
    is_named = ast.unparse(node.value.func) == "namedtuple" and isinstance(node.targets[0], ast.Name)
    return [ast.unparse(node.targets[0])] if is_named else []


def _constants(node: ast.stmt) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    names = [one for target in targets for one in getattr(target, "elts", [target])]
    return [one.id for one in names if isinstance(one, ast.Name) and one.id.lstrip("_").isupper()]


def defining_modules(kind: str, modules: dict[str, pathlib.Path]) -> dict[str, set[str]]:
    """The modules that define each constant (or each class), by its name."""
    homes: dict[str, set[str]] = collections.defaultdict(set)
    for module, path in modules.items():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if kind == "class":
                found = [node.name] if isinstance(node, ast.ClassDef) else _named_tuple(node)
            else:
                found = _constants(node)
            for name in found:
                homes[name].add(module)
    return homes


def count_collisions(modules: dict[str, pathlib.Path]) -> list[dict]:
    """Names that several modules define."""
    constants, classes = (defining_modules(kind, modules) for kind in ("constant", "class"))
    return [
        {
            "constants in several modules": sum(len(homes) > 1 for homes in constants.values()),
            "in more than three": sum(len(homes) > 3 for homes in constants.values()),
            "most modules of one": max(map(len, constants.values())),
            "classes in several": sum(len(homes) > 1 for homes in classes.values()),
        }
    ]


def count_walks(root: pathlib.Path) -> list[dict]:
    """The rows of `_walks`, from a process that imports `mag` from the tree."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-P", str(WALKS), str(root), project["scripts"]["mag"]]
        out = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder).stdout
    for line in out.splitlines():
        name, *figures = line.split("\t")
        columns = ("files", "functions", "calls", "file to file", "package to package")
        rows.append({"walk": name, **dict(zip(columns, map(int, figures), strict=True))})
    return rows


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m tools.house", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--root", metavar="PATH", type=pathlib.Path, default=ROOT, help="root of a tree (this one)")
    parser.add_argument("--no-walks", action="store_true", help="count files only; import nothing of the tree")
    options = parser.parse_args()
    root = options.root.resolve()
    modules = read_modules(root)
    show("Packages, and modules directly in `mag`", count_packages(modules))
    show("Names with several meanings", count_collisions(modules))
    if not options.no_walks:
        show("Walks of warm calls, small inputs, one thread", count_walks(root))


if __name__ == "__main__":
    main()
