"""The example notebooks run, and were saved with their output."""

import ast
import json

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt

from tests.data.paths import PROJECT

FOLDER = PROJECT / "docs" / "start" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
EXACT = (bool, int, list, str, tuple)  # what prints the same everywhere


def code_cells(path):
    return [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]


def shown_text(cell):
    """What the value of a cell was shown as."""
    return ["".join(output["data"]["text/plain"]) for output in cell["outputs"] if "execution_count" in output]


def run(cell, names):
    """The value of the last expression of a cell, if that is to be shown."""
    source = "".join(cell["source"])
    tree = ast.parse(source)
    shows = isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";")
    last = [tree.body.pop()] if shows else []
    exec(compile(tree, "cell", "exec"), names)
    return shows, eval(compile(ast.Expression(last[0].value), "cell", "eval"), names) if shows else None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_were_run_from_top_to_bottom(path):
    cells = code_cells(path)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert all(output["output_type"] != "error" for cell in cells for output in cell["outputs"])
    assert any("text/html" in output.get("data", {}) for cell in cells for output in cell["outputs"])
    assert any("image/png" in output.get("data", {}) for cell in cells for output in cell["outputs"])
    assert path.stat().st_size < 300_000
    text = path.read_text(encoding="utf-8")
    assert not [folder for folder in ("tmp", "home", "root", "Users", "site-packages") if f"/{folder}/" in text]


@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path):
    mpl.use("agg")
    names = {"__name__": "notebook"}
    for cell in code_cells(path):
        shows, value = run(cell, names)
        assert len(shown_text(cell)) == shows
        if isinstance(value, EXACT):
            assert shown_text(cell) == [repr(value)]
        if "plot" in "".join(cell["source"]):
            assert plt.get_fignums()
            assert any("image/png" in output.get("data", {}) for output in cell["outputs"])
        plt.close("all")


def test_there_are_two_notebooks():
    if not FOLDER.is_dir():
        pytest.skip("an installed package has no docs")
    assert [path.stem for path in NOTEBOOKS] == ["projections", "survey"]
