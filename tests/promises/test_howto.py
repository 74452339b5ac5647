"""The how-to pages on checks elsewhere, with the real libraries: their files are written and run as they are shown.

Great Expectations and dbt are not in the extra `test`; where they are not installed, their tests skip.  `.ci/howto`
installs them.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pandas as pd
import pytest

import mag

HOWTO = pathlib.Path(mag.__file__).parents[1] / "docs" / "howto"
if not HOWTO.is_dir():
    pytest.skip("an installed package has no docs", allow_module_level=True)

QI = ["age", "income", "region"]


def files(page):
    """The blocks of a page whose first line is a comment with a path."""
    text = (HOWTO / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```\w+\n(?:#|--) (\S+\.\w+)\n(.*?)^```", text, re.M | re.S)
    return dict(blocks)


def write(page, folder):
    for name, content in files(page).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")


def run(command, folder, **environment):
    root = os.pathsep.join([str(pathlib.Path(mag.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    path = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
    settings = {**os.environ, "PYTHONPATH": root, "PATH": path, **environment}
    return subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True, check=False)


def load(page, name, folder):
    """The names that a file of a page defines."""
    write(page, folder)
    names = {"__name__": "shown"}
    exec((folder / name).read_text(encoding="utf-8"), names)
    return names


@pytest.fixture(scope="module")
def tables():
    """The original, and a release of it."""
    rows = range(200)
    original = pd.DataFrame(
        {
            "age": [20 + i % 37 for i in rows],
            "income": [1000 + i * i % 997 for i in rows],
            "region": ["north" if i % 2 else "south" for i in rows],
            "ill": [["flu", "gout"][i // 2 % 2] for i in rows],
            "name": [f"canary {i}" for i in rows],
        }
    )
    masked = mag.microaggregate(original, 5, ["age", "income"], by="region", diversity={"ill": 2}, drop="name")
    return original, masked.data


def test_pytest(tables, tmp_path):
    original, release = tables
    write("check_in_tests.md", tmp_path)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_release.py"]
    release.to_csv(tmp_path / "release.csv", index=False)
    assert run(command, tmp_path).returncode == 0
    original.to_csv(tmp_path / "release.csv", index=False)
    failed = run(command, tmp_path)
    assert failed.returncode == 1
    assert "AssertionError: FAIL k=5: 200 of 200 records match fewer than 4 others" in failed.stdout
    assert "canary" not in failed.stdout


@pytest.mark.filterwarnings("ignore::FutureWarning")  # pandera imports PySpark where it is installed
def test_pandera(tables, tmp_path):
    errors = pytest.importorskip("pandera.errors", reason="pandera is not installed")
    original, release = tables
    schema = load("check_in_tests.md", "schema.py", tmp_path)["schema"]
    schema.validate(release)
    with pytest.raises(errors.SchemaError, match="5-anonymous in age, income, region") as raised:
        schema.validate(original)
    assert "canary" not in str(raised.value)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_pandera_skips_the_check_of_lazy_frames_as_the_page_says(tables):
    polars = pytest.importorskip("pandera.polars", reason="pandera is not installed")
    import polars as pl
    from pandera.config import ValidationDepth, config_context

    original, release = (pl.from_pandas(table) for table in tables)
    check = polars.Check(lambda data: bool(mag.check(data.lazyframe, 5, QI)))
    schema = polars.DataFrameSchema({"age": polars.Column()}, checks=check)
    schema.validate(release)
    schema.validate(original.lazy())
    with pytest.raises(polars.errors.SchemaError):
        schema.validate(original)
    with config_context(validation_depth=ValidationDepth.SCHEMA_AND_DATA), pytest.raises(polars.errors.SchemaError):
        schema.validate(original.lazy()).collect()


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::FutureWarning")
def test_great_expectations(tables, tmp_path, monkeypatch):
    gx = pytest.importorskip("great_expectations", reason="great_expectations is not installed")
    monkeypatch.setenv("GX_ANALYTICS_ENABLED", "false")
    original, release = tables
    expectation = load("check_in_tests.md", "expectations.py", tmp_path)["ExpectKAnonymity"]
    asset = gx.get_context(mode="ephemeral").data_sources.add_pandas("data").add_dataframe_asset("table")
    whole = asset.add_batch_definition_whole_dataframe("whole")
    for table, holds in ((release, True), (original, False)):
        found = whole.get_batch({"dataframe": table}).validate(expectation(k=5, qi=QI))
        assert (found.success, found.exception_info["raised_exception"]) == (holds, False)
        assert found.result["observed_value"] == str(mag.check(table, 5, QI))


def test_dbt(tmp_path):
    pytest.importorskip("dbt.adapters.duckdb", reason="dbt-duckdb is not installed")
    duckdb = pytest.importorskip("duckdb")
    write("dbt.md", tmp_path)
    command = [sys.executable, "-m", "dbt.cli.main", "build", "--profiles-dir", "."]
    quiet = {"DBT_SEND_ANONYMOUS_USAGE_STATS": "false", "NO_COLOR": "1"}
    built = run(command, tmp_path, **quiet)
    assert built.returncode == 0, built.stdout
    with duckdb.connect(str(tmp_path / "survey.duckdb")) as connection:
        assert mag.check(connection.table("release"), 5, QI)
        assert connection.table("release_check").fetchall()[0][0] == 5
    masking = tmp_path / "models" / "release.py"
    masking.write_text("def model(dbt, session):\n    return dbt.ref('people')\n")  # nobody masks
    failed = run(command, tmp_path, **quiet)
    assert failed.returncode == 1
    assert "FAIL k=5: 200 of 200 records match fewer than 4 others" in failed.stdout


def test_pre_commit(tables, tmp_path):
    pytest.importorskip("pre_commit", reason="pre-commit is not installed")
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    original, release = tables
    write("check_before_commit.md", tmp_path)
    folder = tmp_path / "releases"
    folder.mkdir()
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "mag"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m mag "$@"\n')
    command.chmod(0o755)
    path = os.pathsep.join([str(tmp_path / "bin"), os.environ["PATH"]])
    for step in (["init", "-q"], ["add", ".pre-commit-config.yaml"]):
        assert run(["git", *step], tmp_path).returncode == 0
    hook = [sys.executable, "-m", "pre_commit", "run", "mag-check"]
    for table, code in ((release, 0), (original, 1)):
        table.to_csv(folder / "people.csv", index=False)
        assert run(["git", "add", "releases"], tmp_path).returncode == 0
        done = run(hook, tmp_path, PATH=path, PRE_COMMIT_HOME=str(tmp_path / "home"), COLUMNS="80")
        assert done.returncode == code, done.stdout
        assert ("FAIL k=5: 200 of 200 records" in done.stdout) == bool(code)
        assert "canary" not in done.stdout


def test_the_workflow_runs(tables, tmp_path):
    """Its steps as GitHub runs them, but for those that install."""
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    original, release = tables
    write("check_in_ci.md", tmp_path)
    workflow = yaml.safe_load((tmp_path / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8"))
    (job,) = workflow["jobs"].values()
    steps = [step["run"] for step in job["steps"] if "run" in step]
    assert steps[0].startswith("pip install 'mag-sdc[cli]'")
    assert all(list(step) in (["run"], ["uses"], ["uses", "with"]) for step in job["steps"])
    for table, code in ((release, 0), (original, 1)):
        table.to_csv(tmp_path / "release.csv", index=False)
        for step in steps[1:]:
            script = re.sub(r"^mag ", f"{sys.executable} -m mag ", step)
            assert run(["bash", "-eo", "pipefail", "-c", script], tmp_path).returncode == code
        assert ('"holds": true' in (tmp_path / "check.json").read_text()) == (code == 0)
