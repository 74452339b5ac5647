"""Files, modules, names, commands and options that texts mention: all of them exist."""

import ast
import functools
import importlib
import inspect
import io
import pathlib
import re
import tokenize

import pytest

import mag

PROJECT = pathlib.Path(mag.__file__).parents[1]
TOPS = (".ci", ".github", "benchmarks", "docs", "kernels", "mag", "tests", "tools")  # folders of the project
NEW = r"metal|spread|first_column|NAME"  # examples of files that a checklist tells to make
MADE = {".ci/venv", "benchmarks/results/gpu.json", "mag/kernels"}  # by a command, or in a wheel

if not (PROJECT / "docs" / "conf.py").is_file():
    pytest.skip("an installed package has no docs", allow_module_level=True)

SOURCES = sorted(path for top in TOPS for path in (PROJECT / top).rglob("*.py"))
PAGES = [*PROJECT.glob("*.md"), *sorted(path for top in TOPS for path in (PROJECT / top).rglob("*.md"))]
PAGES = [path for path in PAGES if path.name != "CHANGELOG.md"]  # names former files


@functools.cache
def prose_of(path):
    """The text of a page; the docstrings and comments of a module."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return text
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docstrings = [ast.get_docstring(node) or "" for node in ast.walk(ast.parse(text)) if isinstance(node, documented)]
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return "\n".join([*docstrings, *(token.string for token in tokens if token.type == tokenize.COMMENT)])


def ids(path):
    return path.relative_to(PROJECT).as_posix()


def spelled_out(path):
    """`a_{b,c}` as `a_b` and `a_c`."""
    found = re.search(r"\{([^{}]*,[^{}]*)\}", path)
    if not found:
        return [path]
    return [
        one for part in found[1].split(",") for one in spelled_out(path[: found.start()] + part + path[found.end() :])
    ]


@functools.cache
def is_file(path):
    return path in MADE or re.search(NEW, path) or any(PROJECT.glob(path)) or any(PROJECT.glob(f"{path}.py"))


def missing_files(text):
    tops = "|".join(map(re.escape, TOPS))
    named = [match[0] for match in re.finditer(rf"(?<![\w/.$~-])(?:{tops})/[\w./*{{}},-]*[\w*}}]", text)]
    return [path for name in named for path in spelled_out(name) if not is_file(path) and not is_file(f"mag/{path}")]


def missing_modules(text):
    named = {match[1].rstrip(".") for match in re.finditer(r"python -m ([\w.]+)", text)}
    ours = [name for name in named if name.partition(".")[0] in TOPS and not re.search(NEW, name)]
    files = {name: PROJECT / name.replace(".", "/") for name in ours}
    return [name for name, path in files.items() if not (path.with_suffix(".py").exists() or path.is_dir())]


@functools.cache
def is_name(name):
    """Whether a name of `mag` is a module, an attribute, or a field of a class."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for part in parts[length:]:
            if not hasattr(value, part):
                return part in getattr(value, "__annotations__", {})
            value = inspect.getattr_static(value, part) if inspect.isclass(value) else getattr(value, part)
        return True
    return False


def missing_names(text):
    named = {match[0] for match in re.finditer(r"(?<![\w.~/-])mag\.[A-Za-z_][\w.]*\w", text)}
    return [name for name in sorted(named) if not is_name(name)]


@pytest.mark.parametrize("missing", [missing_files, missing_modules, missing_names])
def test_what_texts_name_exists(missing):
    found = {ids(path): missing(prose_of(path)) for path in [*PAGES, *SOURCES]}
    assert {path: names for path, names in found.items() if names} == {}


def test_missing_ones_are_found():
    text = (
        "`mag/_lib/gone.py`, mag/_lib/lock, `tests/{lib,gone}`, python -m benchmarks.gone, mag.gone, mag.Release.gone"
    )
    assert missing_files(text) == ["mag/_lib/gone.py", "tests/gone"]
    assert missing_modules(text) == ["benchmarks.gone"]
    assert missing_names(text) == ["mag.Release.gone", "mag.gone"]


def calls_of_commands(text):
    """The words of every call of `mag` in a block of code or between backticks."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", text.replace("\\\n", " "), flags=re.M | re.S)
    lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]
    quoted = [
        " ".join(part.split())
        for part in re.findall(r"`(mag [^`]+)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))
    ]
    return [line.split() for line in [*lines, *quoted] if re.match(r"mag [a-z]", line)]


@functools.cache
def options_of_commands():
    from mag.commands import COMMANDS, application

    commands = application().commands
    return {
        name: {word for one in commands[name].params for word in (*one.opts, *one.secondary_opts)} for name in COMMANDS
    }


def wrong_calls(text):
    """Commands and options that `mag` does not have."""
    wrong, known = [], options_of_commands()
    for _, name, *words in calls_of_commands(text):
        own = words[: words.index("--")] if "--" in words else words
        named = {word for word in own if re.fullmatch(r"--[a-z][a-z-]*", word)} - {"--help"}
        wrong += sorted(named - known[name]) if name in known else [name]
    return wrong


def test_commands_and_options_of_the_documentation_exist():
    pytest.importorskip("typer", reason="needs the extra cli")
    found = {ids(path): wrong_calls(path.read_text(encoding="utf-8")) for path in PAGES}
    assert {path: words for path, words in found.items() if words} == {}
    assert wrong_calls("`mag msk in.csv`, `mag mask --klumns age`\n```\nmag check a.csv \\\n    --qq b\n```") == [
        "--qq", "msk", "--klumns",
    ]  # fmt: skip
