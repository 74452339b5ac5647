"""CI runs the README's commands as printed, each in an environment that holds nothing else."""

import ast
import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from tests.data.paths import PROJECT

README = PROJECT / "README.md"
RUN = PROJECT / ".ci" / "run"
COMMANDS = ["demo command", "test command"]
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

pytestmark = pytest.mark.skipif(not RUN.exists(), reason="no checkout: .ci/run is not part of a source distribution")


def command(name: str) -> str:
    """The fenced lines after the comment that marks them."""
    found = re.search(rf"<!-- {name} -->\n```\n(.*?)\n```", README.read_text(), re.DOTALL)
    assert found, f"README.md marks no {name}"
    return found[1]


def steps() -> list[str]:
    """The lines that .ci/run executes itself, without comments and without the bodies of its functions."""
    text = re.sub(r"^\w+\(\) \{.*?^\}$", "", RUN.read_text(), flags=re.DOTALL | re.MULTILINE)
    return [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def body(function: str) -> str:
    found = re.search(rf"^{function}\(\) \{{(.*?)^\}}$", RUN.read_text(), re.DOTALL | re.MULTILINE)
    assert found, f".ci/run has no function {function}"
    return found[1]


@pytest.mark.parametrize("name", COMMANDS)
def test_readme_commands_make_their_own_environment(name: str) -> None:
    assert command(name).startswith("python3 -m venv .venv && .venv/bin/pip install ")


def test_commands_of_the_readme_run_before_anything_is_installed() -> None:
    lines = steps()
    runs = [number for number, line in enumerate(lines) if line.startswith("run_readme ")]
    assert [lines[number].split('"')[1] for number in runs] == COMMANDS
    installs = [
        number for number, line in enumerate(lines) if re.search(r"pip\S* install|-m venv|warmup|mag demo", line)
    ]
    assert installs
    assert min(installs) > max(runs)
    assert not [line for line in lines if ".venv" in line], "only the README's commands use .venv"


def test_each_command_gets_a_new_environment() -> None:
    run = body("run_readme")
    assert run.index("rm -rf .venv") < run.index('bash -euo pipefail -c "$command"')
    assert "readme_command" in run
    assert "install" not in run


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def installed_by(extra: str) -> set[str]:
    """The distributions that `pip install '.[extra]'` brings, as far as they are installed here."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    found: set[str] = set()
    wanted = [*project["dependencies"], f"{project['name']}[{extra}]"]
    while wanted:
        requirement = wanted.pop()
        name, extras = canonical(NAME.match(requirement)[0]), re.match(r"[\w.-]+\s*\[(.*?)\]", requirement)  # type: ignore[index]
        names = [e.strip() for e in extras[1].split(",")] if extras else []
        if name == project["name"]:
            wanted += [r for e in names for r in project["optional-dependencies"][e]]
            continue
        if f"{name}[{','.join(names)}]" in found:
            continue
        found |= {name, f"{name}[{','.join(names)}]"}
        try:
            requires = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue
        for line in requires:
            marker = re.search(r"extra\s*==\s*['\"]([\w.-]+)['\"]", line)
            if not marker or marker[1] in names:
                wanted.append(line.split(";")[0])
    return found


def imports(path: Path) -> set[str]:
    """The packages that a module imports whenever it is imported."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            found.add(node.module.split(".")[0])
    return found


def collected() -> list[Path]:
    """The modules that the test command imports to collect tests."""
    options = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    ignored = [PROJECT / path for path in re.findall(r"--ignore=(\S+)", options["addopts"])]
    paths = [path for entry in options["testpaths"] for path in (PROJECT / entry).rglob("*.py")]
    return [path for path in paths if not any(path.is_relative_to(skip) for skip in ignored)]


def test_collected_modules_import_what_the_test_extra_installs() -> None:
    brought = installed_by("test")
    homes = metadata.packages_distributions()
    own = {"mag", "tests", "tools", "benchmarks", "docs"}
    foreign = {
        f"{path.relative_to(PROJECT)}: {package}"
        for path in collected()
        for package in imports(path) - own - set(sys.stdlib_module_names)
        if not {canonical(name) for name in homes.get(package, [])} & brought
    }
    assert not foreign
