"""The documentation: complete, its commands run, its links lead somewhere, and its pages fetch nothing."""

import importlib
import importlib.util
import inspect
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig

import pytest

import mag
import mag.distributed.kernels
from mag.commands import COMMANDS
from mag.files import FORMATS
from mag.methods import FAMILIES, METHODS
from tests.data.paths import DATA
from tests.promises import console

PROJECT = pathlib.Path(mag.__file__).parents[1]
DOCS = PROJECT / "docs"
TUTORIAL = DOCS / "start" / "tutorial.md"
SURVEY = DOCS / "start" / "survey.md"  # needs data that are not part of the project
BIN = pathlib.Path(sysconfig.get_path("scripts"))

if not (DOCS / "conf.py").is_file():
    pytest.skip("an installed package has no docs", allow_module_level=True)

PAGES = sorted(path for path in [*PROJECT.glob("*.md"), *DOCS.rglob("*.md")] if "_build" not in path.parts)
on_posix = pytest.mark.skipif(sys.platform == "win32", reason="the commands are for a POSIX shell")


def page_id(path):
    return path.relative_to(PROJECT).as_posix()


def with_commands():
    return [
        path for path in PAGES if path not in (TUTORIAL, SURVEY) and console.commands(path.read_text(encoding="utf-8"))
    ]


# ---- commands


@on_posix
@pytest.mark.parametrize("path", with_commands(), ids=page_id)
def test_commands_print_what_the_documentation_shows(path, tmp_path):
    source = os.pathsep.join([str(PROJECT), os.environ.get("PYTHONPATH", "")])
    differences = console.run(path.read_text(encoding="utf-8"), tmp_path, BIN, PYTHONPATH=source)
    assert not differences, "\n".join(differences)


@on_posix
@pytest.mark.skipif(not (DATA / "survey.csv").is_file(), reason="the public data are not here")
def test_commands_of_the_survey_print_what_the_documentation_shows(tmp_path):
    shutil.copy(DATA / "survey.csv", tmp_path)
    source = os.pathsep.join([str(PROJECT), os.environ.get("PYTHONPATH", "")])
    differences = console.run(SURVEY.read_text(encoding="utf-8"), tmp_path, BIN, PYTHONPATH=source)
    assert not differences, "\n".join(differences)
    assert {"internal.html", "external.html"} <= {path.name for path in tmp_path.iterdir()}


@on_posix
def test_the_tutorial_runs_in_a_new_environment(tmp_path):
    """`mag` is installed from its wheel; other packages are those of this environment, by a path file."""
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(PROJECT)],
        check=True,
        capture_output=True,
    )
    environment = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    python = environment / "bin" / "python"
    wheel = next(tmp_path.glob("mag_sdc-*.whl"))
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", str(wheel)], check=True)
    site = next(environment.glob("lib/python*/site-packages"))
    (site / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    where = [python, "-c", "import mag; print(mag.__file__)"]
    clean = {"PYTHONPATH": "", "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    found = subprocess.run(where, check=True, capture_output=True, text=True, cwd=tmp_path, env=os.environ | clean)
    assert found.stdout.startswith(str(environment))
    folder = tmp_path / "work"
    folder.mkdir()
    differences = console.run(TUTORIAL.read_text(encoding="utf-8"), folder, environment / "bin", **clean)
    assert not differences, "\n".join(differences)
    assert {"release.csv", "release.csv.manifest.json", "report.html"} <= {path.name for path in folder.iterdir()}


# ---- pages


def test_the_number_of_methods_is_nearly_that_of_the_table():
    """Pages round it down to tens, so that a new method needs no edit of theirs."""
    for page, words in ((PROJECT / "README.md", "methods, jointly"), (DOCS / "index.md", "methods for whole records")):
        assert f"more than {(len(METHODS) - 1) // 10 * 10} {words}" in page.read_text(encoding="utf-8")


def test_other_numbers_of_the_readme_are_those_of_the_tables():
    readme = (PROJECT / "README.md").read_text(encoding="utf-8")
    assert f"{len(FORMATS)} formats" in readme
    losses = (DOCS / "figures" / "loss.md").read_text(encoding="utf-8")
    printed = re.search(r"Census: (.*?)\. \[All", " ".join(readme.split()))
    assert printed is not None
    figures = re.findall(r"\d+\.\d+", printed[1])
    assert len(figures) == 9
    assert [figure for figure in figures if figure not in losses] == []


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_a_page(name):
    page = DOCS / "methods" / f"{name}.md"
    advice = (
        f"method {name!r} needs docs/methods/{name}.md: copy docs/methods/mdav.md, write the idea into "
        "its text, and leave the block {method-facts} at its end as it is"
    )
    assert page.is_file(), advice
    body = page.read_text(encoding="utf-8")
    assert METHODS[name].family in FAMILIES
    assert body.startswith(f"# `{name}`"), advice
    assert body.rstrip().endswith("```{method-facts}\n```"), advice
    hidden = {"random_state", "time_limit"}  # every page would say the same
    missing = [option for option in METHODS[name].options if option not in hidden and f"`{option}" not in body]
    assert not missing, f"docs/methods/{name}.md must say what {', '.join(missing)} does"


def test_no_page_describes_a_method_that_is_gone():
    others = {"index", "sources"}
    assert {path.stem for path in (DOCS / "methods").glob("*.md")} - others == set(METHODS)


def public_names():
    """Names in `dir(mag)`, and those of the modules among them; classes that public functions return."""
    for name in dir(mag):
        value = getattr(mag, name)
        if name.startswith("_"):
            continue
        if not inspect.ismodule(value):
            yield f"mag.{name}"
            continue
        for inner in value.__all__:
            if inspect.ismodule(getattr(value, inner)):
                functions = inspect.getmembers(getattr(value, inner), inspect.isfunction)
                home = getattr(value, inner).__name__
                yield from (f"{home}.{n}" for n, f in functions if f.__module__ == home and not n.startswith("_"))
            else:
                yield f"mag.{name}.{inner}"
    returned = (
        "AnalysisComparison",
        "CountedSet",
        "FileRelease",
        "LatticeNode",
        "Promise",
        "SuppressionGuarantee",
        "TableGrouping",
    )
    yield from (f"mag.tables.{name}" for name in returned)


def test_every_public_name_is_in_the_reference():
    documented = set()
    for path in (DOCS / "reference").glob("*.md"):
        for name in re.findall(r"^\.\. auto(?:function|class|exception):: ([\w.]+)", path.read_text(), re.M):
            documented.add(name if name.startswith("mag.") else f"mag.{name}")
    public = set(public_names())
    assert not public - documented, "add these to a page of docs/reference"
    assert not documented - public, "these are documented, and not public"
    index = (DOCS / "reference" / "index.md").read_text()
    assert not [name for name in public if f"   {name.removeprefix('mag.')}\n" not in index]
    assert all(f"command_line.md#mag-{command})" in index for command in COMMANDS)


def test_every_public_name_has_a_docstring_with_an_example():
    for name in public_names():
        home, _, own = name.rpartition(".")
        value = getattr(importlib.import_module(home), own)
        assert inspect.getdoc(value), name
        if inspect.isfunction(value) and not home.endswith("kernels"):
            assert ">>>" in inspect.getdoc(value), f"{name} has no example"


@pytest.mark.parametrize("path", PAGES, ids=page_id)
def test_relative_links_lead_to_files(path):
    text = re.sub(r"^(```|~~~).*?^\1", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    links = re.findall(r"\]\((?!https?:|mailto:|#)([^)\s#]+)", text)
    missing = [link for link in links if not (path.parent / link).exists()]
    assert not missing


def test_the_check_for_foreign_assets_finds_them():
    spec = importlib.util.spec_from_file_location("offline", DOCS / "_ext" / "offline.py")
    pytest.importorskip("sphinx", reason="needs the extra docs")
    offline = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(offline)
    for text in (
        '<script async src="https://cdn.example/x.js"></script>',
        "<link rel=stylesheet href='//fonts.example/css'>",
        '<link href="https://fonts.example/css" rel="stylesheet">',
        '<img alt="" src="http://example.org/a.png">',
        "@font-face { src: url(https://fonts.example/a.woff2) }",
        '@import "https://fonts.example/a.css"',
    ):
        assert offline.fetched_from_elsewhere(text), text
    for text in (
        '<a href="https://example.org">a link is fine</a>',
        '<script src="_static/x.js"></script><link rel="canonical" href="https://example.org/">',
        '<img src="data:image/png;base64,AAAA"> url("data:image/svg+xml,<svg xmlns=\'http://www.w3.org/2000/svg\'>")',
    ):
        assert not offline.fetched_from_elsewhere(text), text


def test_the_readme_is_short():
    assert len((PROJECT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150
