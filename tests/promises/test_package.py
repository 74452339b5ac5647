"""The wheel: built, installed into a new environment, complete."""

import pathlib
import subprocess
import sys
import zipfile

import pytest

import mag

PROJECT = pathlib.Path(mag.__file__).parents[1]

pytestmark = pytest.mark.skipif(
    not (PROJECT / "pyproject.toml").exists(), reason="the package is installed without its project folder"
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(PROJECT)]
    subprocess.run(command, check=True, capture_output=True)
    return next(folder.glob("mag_sdc-*.whl"))


def test_kernels_ship_in_the_wheel(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    sources = [path.relative_to(PROJECT).as_posix() for path in (PROJECT / "kernels").rglob("*") if path.is_file()]
    assert sources
    assert {f"mag/{name}" for name in sources} <= set(names)
    assert "mag/py.typed" in names
    assert not [name for name in names if name.startswith(("tests", "benchmarks", "kernels"))]


def test_a_new_environment_finds_everything(wheel, tmp_path):
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "env")], check=True)
    bin_folder = tmp_path / "env" / ("Scripts" if sys.platform == "win32" else "bin")
    subprocess.run([bin_folder / "pip", "install", "--quiet", "--no-deps", str(wheel)], check=True)
    # the loader of the kernels by itself: the environment has no numba
    code = (
        "import mag, pathlib, runpy; package = pathlib.Path(mag.__file__).parent;"
        "loader = runpy.run_path(str(package / '_backends' / 'cuda' / 'sources.py'));"
        "same = loader['folder']() == package / 'kernels';"
        "print(same and 'struct Sse {' in loader['source']('block'), mag.__version__)"
    )
    found = subprocess.run(
        [bin_folder / "python", "-I", "-c", code], check=True, capture_output=True, text=True, cwd=tmp_path
    )
    assert found.stdout.split() == ["True", mag.__version__]
    version = subprocess.run([bin_folder / "mag", "--version"], check=True, capture_output=True, text=True)
    assert version.stdout.strip() == f"mag {mag.__version__}"
