"""Mixed data around a release: the command line, files of all formats, risk and utility, comparisons."""

import json
from collections import Counter

import numpy as np
import polars as pl
import pytest

import mag
from mag.cli import main
from mag.files import File
from tests.test_hierarchy import JOBS

TREE = mag.Hierarchy.from_levels(JOBS)
LEVELS = ["low", "middle", "high"]


def people(n=60, seed=0):
    """Jobs of a tree, ordered degrees, ages, and codes without a hierarchy."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame({
        "name": [f"person {i}" for i in range(n)],
        "job": [JOBS[i][0] for i in rng.integers(0, 5, n)],
        "degree": [LEVELS[i] for i in rng.integers(0, 3, n)],
        "age": rng.integers(18, 90, n),
        "party": [["red", "green"][i] for i in rng.integers(0, 2, n)],
    })  # fmt: skip


def mask(folder, *words, source="in.csv", out="out.csv"):
    """The exit code of `mag mask` in a folder that holds jobs.csv."""
    TREE.to_arx(folder / "jobs.csv")
    return main(["mask", str(folder / source), "-o", str(folder / out), *map(str, words)])


COLUMNS = ["-k", "3", "-c", "age", "-c", "job", "-c", "degree", "-c", "party", "--drop", "name"]
OPTIONS = ["--order", "degree=low,middle,high", "--aggregate", "party=mode", "--aggregate", "age=range"]


# ---- the command line


def test_the_command_takes_all_that_the_function_takes(tmp_path):
    table = people()
    table.write_csv(tmp_path / "in.csv")
    words = ["--hierarchy", f"job={tmp_path / 'jobs.csv'}", *OPTIONS, "--importance", "age=2"]
    assert mask(tmp_path, *COLUMNS, *words) == 0
    release = mag.microaggregate(
        table, 3, ["age", "job", "degree", "party"], drop="name", hierarchies={"job": TREE}, importance={"age": 2},
        order={"degree": LEVELS}, aggregate={"party": "mode", "age": "range"},
    )  # fmt: skip
    assert pl.read_csv(tmp_path / "out.csv").rows() == release.data.rows()
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert manifest["options"]["importance"] == {"age": 2.0}
    assert manifest["options"]["aggregate"] == {"party": "mode", "age": "range"}
    assert manifest["guarantee"]["generalized"] == ["age", "job"]


def test_one_aggregate_is_for_all_columns(tmp_path):
    people().write_csv(tmp_path / "in.csv")
    rest = ["--drop", "name", "--drop", "job", "--drop", "degree", "--drop", "party"]
    assert mask(tmp_path, "-k", "5", "-c", "age", "--aggregate", "range", *rest) == 0
    assert pl.read_csv(tmp_path / "out.csv")["age"].str.starts_with("[").any()
    rest = ["--drop", "name", "--drop", "job", "--drop", "degree", "--drop", "age"]
    assert mask(tmp_path, "-k", "5", "-c", "party", "--aggregate", "mode", *rest, "--overwrite") == 0
    assert set(pl.read_csv(tmp_path / "out.csv")["party"]) == {"red", "green"}


MISTAKES = {
    "--aggregate must be one of them for all columns, or NAME=HOW, of a column of -c; got 'name=mode'.": [
        "--aggregate", "name=mode",
    ],
    "--aggregate must be one of them for all columns, or NAME=HOW, of a column of -c; got 'mean'.": [
        "--aggregate", "mean", "--aggregate", "job=mode",
    ],
    "--aggregate must name a column once; 'job' is named twice.": ["--aggregate", "job=mode", "--aggregate", "job=mode"],
    "--order must be NAME=A,B,..., of a column of -c; got 'low,high'.": ["--order", "low,high"],
    "--order must list different categories; got degree=low,low.": ["--order", "degree=low,low"],
    "--importance must be NAME=NUMBER, of a column of -c; got 'age=much'.": ["--importance", "age=much"],
    "--importance must be NAME=NUMBER, of a column of -c; got '2'.": ["--importance", "2"],
    "importance['age'] must be a positive number; got 0.0.": [
        *OPTIONS, "--aggregate", "job=mode", "--importance", "age=0",
    ],
    "aggregate of 'party' (nominal) must be one of 'medoid', 'mode'; got 'ancestor'.": [
        "--order", "degree=low,middle,high", "--aggregate", "party=ancestor", "--aggregate", "job=mode",
    ],
    "order['degree'] must hold every value of the column; 1 values of 19 records are not in it.": [
        "--order", "degree=low,high", "--aggregate", "party=mode", "--aggregate", "job=mode",
    ],
    "'in.csv': column 'job' holds text, and categories need --hierarchy, --order, --aggregate NAME=mode, --by, --keep "
    "or --drop.": OPTIONS,
    "aggregate must be one for all columns with --scope per-column; got a dictionary.": [
        "--scope", "per-column", "--aggregate", "age=mode", "--aggregate", "job=mode", "--aggregate", "degree=mode",
        "--aggregate", "party=mode",
    ],
}  # fmt: skip


@pytest.mark.parametrize("sentence", MISTAKES)
def test_mistakes_on_the_command_line_are_one_sentence(sentence, tmp_path, capsys):
    people().write_csv(tmp_path / "in.csv")
    assert mask(tmp_path, *COLUMNS, *MISTAKES[sentence]) == 2
    assert " ".join(capsys.readouterr().err.split()) == f"mag: {sentence}"
    assert not (tmp_path / "out.csv").exists()


def test_categories_with_commas_stand_in_quotes(tmp_path):
    pl.DataFrame({"x": ["a, b", "c", "a, b", "c"] * 2}).write_csv(tmp_path / "in.csv")
    assert mask(tmp_path, "-k", "2", "-c", "x", "--order", 'x="a, b", c') == 0
    assert Counter(pl.read_csv(tmp_path / "out.csv")["x"]) == {"a, b": 4, "c": 4}


def test_codes_of_missing_categories_are_missing_and_written_again(tmp_path):
    lines = [
        "job,age",
        *(f"{job},{age}" for job, age in zip(["baker", "painter", "NA", "surgeon"] * 3, range(12), strict=True)),
    ]
    (tmp_path / "in.csv").write_text("\n".join(lines) + "\n")
    words = ["-k", "3", "-c", "job", "-c", "age", "--hierarchy", f"job={tmp_path / 'jobs.csv'}", "--missing", "group"]
    assert mask(tmp_path, *words) == 2  # a value without a leaf
    assert mask(tmp_path, *words, "--null", "job=NA") == 0
    out = pl.read_csv(tmp_path / "out.csv")
    assert [i for i, job in enumerate(out["job"]) if job == "NA"] == [2, 6, 10]
    assert out.group_by("job", "age").len()["len"].min() >= 3


# ---- files


def stored(folder, name, table):
    """A file of this format, written by its own library."""
    path = folder / name
    if name.endswith("parquet"):
        table.write_parquet(path)
    elif name.endswith("xlsx"):
        table.write_excel(path)
    else:
        import pyreadstat

        getattr(pyreadstat, {"sav": "write_sav", "dta": "write_dta"}[name.split(".")[1]])(table, str(path))
    return path


@pytest.mark.parametrize("name", ["in.sav", "in.dta", "in.parquet", "in.xlsx"])
def test_files_of_all_formats_with_hierarchies(name, tmp_path):
    table = people()
    stored(tmp_path, name, table)
    words = ["--hierarchy", f"job={tmp_path / 'jobs.csv'}", *OPTIONS]
    out = name.replace("in", "out")
    assert mask(tmp_path, *COLUMNS, *words, source=name, out=out) == 0
    read = File(tmp_path / out).read(["age", "job", "degree", "party"])[0]
    release = mag.microaggregate(
        table, 3, ["age", "job", "degree", "party"], drop="name", hierarchies={"job": TREE},
        order={"degree": LEVELS}, aggregate={"party": "mode", "age": "range"},
    )  # fmt: skip
    assert (
        read.select("age", "job", "degree", "party").rows()
        == release.data.select("age", "job", "degree", "party").rows()
    )


def test_labels_and_declared_missing_values_of_spss_follow_categories(tmp_path):
    import pyreadstat

    rng = np.random.default_rng(1)
    job, degree = rng.integers(1, 6, 80).astype(float), rng.integers(1, 4, 80).astype(float)
    job[:6] = -9.0
    table = pl.DataFrame({"job": job, "degree": degree, "party": rng.integers(1, 3, 80).astype(float)})
    labels = {
        "job": {float(i + 1): row[0] for i, row in enumerate(JOBS)} | {-9.0: "refused"},
        "degree": {1.0: "low", 2.0: "middle", 3.0: "high", 4.0: "never"},
    }
    pyreadstat.write_sav(table, str(tmp_path / "in.sav"), variable_value_labels=labels, missing_ranges={"job": [-9.0]})
    codes = mag.Hierarchy.from_levels([[str(i + 1), *row[1:]] for i, row in enumerate(JOBS)])
    codes.to_arx(tmp_path / "codes.csv")
    words = ["-k", "4", "-c", "job", "-c", "degree", "-c", "party", "--missing", "group"]
    words += ["--hierarchy", f"job={tmp_path / 'codes.csv'}", "--order", "degree=1,2,3,4", "--aggregate", "party=mode"]
    assert mask(tmp_path, *words, source="in.sav", out="out.sav") == 0
    out, meta = pyreadstat.read_sav(str(tmp_path / "out.sav"), output_format="polars", user_missing=True)
    known = {label for row in codes.to_levels() for label in row}
    assert set(out["job"].to_list()) <= known | {""}
    assert (out["job"] == "").sum() == 6
    assert set(out["degree"].to_list()) <= {1.0, 2.0, 3.0}
    assert set(meta.variable_value_labels["degree"]) == set(out["degree"].to_list())  # of published values only
    assert "job" not in meta.variable_value_labels
    assert out.group_by("job", "degree", "party").len()["len"].min() >= 4
