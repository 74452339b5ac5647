"""`mag suppress`: OUT, its manifest, and sentences about mistakes."""

import json

import polars as pl
import pytest

import mag
from mag.commands.cli import main
from tests.oracles import suppression

ROWS = "name,age,job,zip\nann,031,nurse,1\nbob,031,nurse,1\ncleo,52,cook,2\ndan,52,cook,2\neve,40,cook,2\n"
ROLES = ["-c", "age", "-c", "job", "--drop", "name"]


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text(ROWS)
    return path


def run(source, *words):
    return main(["suppress", str(source), *words])


@pytest.mark.parametrize("missing", ["value", "wildcard"])
@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx"])
def test_the_written_file_holds_what_is_promised(source, tmp_path, missing, ending):
    out = tmp_path / f"out.{ending}"
    assert run(source, "-o", str(out), "-k", "2", *ROLES, "--keep", "zip", "--missing", missing) == 0
    manifest = json.loads((tmp_path / f"out.{ending}.manifest.json").read_text())
    readers = {"csv": pl.read_csv, "parquet": pl.read_parquet, "xlsx": pl.read_excel}
    frame = readers[ending](out, **({"infer_schema": False} if ending == "csv" else {}))
    assert frame.columns == ["age", "job", "zip"]
    assert suppression.holds(frame.select("age", "job").rows(), [((0, 1), 2)], missing == "wildcard")
    assert frame["age"].to_list()[:2] == ["031", "031"]
    assert manifest["guarantee"]["missing"] == missing
    assert manifest["verified"]["smallest"] == [own["smallest"] for own in manifest["guarantee"]["sets"]]


def test_sets_and_subsets_have_their_own_k(source, capsys):
    words = ["-k", "2", "--set", "age", "--set", "job=3", "--subsets", "1=2", "--rest", "drop", "--dry-run"]
    assert run(source, "-c", "age", "-c", "job", *words, "--json") == 0
    sets = json.loads(capsys.readouterr().out)["guarantee"]["sets"]
    assert [(own["columns"], own["k"]) for own in sets] == [(["age"], 2), (["job"], 3)]


def test_a_file_that_breaks_the_promise_is_not_written(source, tmp_path, monkeypatch):
    monkeypatch.setattr("mag.files.File.read", read_original(mag.files.File.read, source))
    out = tmp_path / "out.csv"
    assert run(source, "-o", str(out), "-k", "2", *ROLES, "--rest", "drop") == 1
    assert not out.exists()


def read_original(read, source):
    """A reader that finds the original in place of every draft."""

    def misread(self, *arguments, draft=None, **options):
        return read(mag.files.File(source) if draft else self, *arguments, **options)

    return misread


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["-k", "2", "--set", "age-job", "--rest", "drop"], "--set must be NAME+NAME or NAME+NAME=K, of columns of -c"),
        (["-k", "2", "--rest", "drop", "--missing", "any"], "--missing must be one of"),
        (["-k", "2", "--rest", "drop", "--subsets", "2:3"], "--subsets must be SIZE=K, once for a size; got '2:3'."),
        (["-k", "2"], "'in.csv' has columns without a role: 'name', 'zip'"),
    ],
)
def test_mistakes_are_one_sentence(source, capsys, words, sentence):
    assert run(source, "-c", "age", "-c", "job", "--dry-run", *words) == 2
    assert sentence in " ".join(capsys.readouterr().err.split())


VISITS = "person,age,job,place\n" + "".join(
    f"{person},{age},{job},{place}\n"
    for person, age, job, place in zip(
        "aaabbccddeef", [31, 31, 31, 31, 52, 52, 40, 40, 31, 52, 52, 40], "nnncnccnccnn", "NNNSSNNSNSNS", strict=True
    )
)


@pytest.mark.parametrize("missing", ["value", "wildcard"])
def test_units_and_strata_are_counted_on_the_file(tmp_path, missing):
    source, out = tmp_path / "visits.csv", tmp_path / "out.csv"
    source.write_text(VISITS)
    words = ["-o", str(out), "-k", "2", "-c", "age", "-c", "job", "--by", "place", "--unit", "person"]
    assert run(source, *words, "--missing", missing) == 0
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    frame, units = pl.read_csv(out, infer_schema=False), pl.read_csv(source)["person"].to_list()
    assert frame.columns == ["age", "job", "place"]
    least = suppression.count(
        frame.select("age", "job").rows(), (0, 1), missing == "wildcard", units, frame["place"].to_list()
    )
    assert manifest["verified"]["smallest_units"] == [least]
    assert least >= 2
    assert manifest["guarantee"]["unit"] == "person"


def test_check_takes_the_manifest_of_the_strict_reading_only(tmp_path, capsys):
    source, out = tmp_path / "visits.csv", tmp_path / "out.csv"
    source.write_text(VISITS)
    check = ["check", str(out), "--manifest", str(tmp_path / "out.csv.manifest.json")]
    words = ["-o", str(out), "-k", "3", "-c", "age", "-c", "job", "--rest", "drop", "--overwrite"]
    assert run(source, *words) == 0
    assert main(check) == 0
    assert run(source, *words, "--missing", "wildcard") == 0
    assert main(check) == 2
    assert "promises k where a missing cell equals every value" in " ".join(capsys.readouterr().err.split())


def test_rerun_names_the_command_that_it_does_not_repeat(tmp_path, capsys):
    source, out = tmp_path / "visits.csv", tmp_path / "out.csv"
    source.write_text(VISITS)
    assert run(source, "-o", str(out), "-k", "3", "-c", "age", "--rest", "drop") == 0
    assert main(["rerun", str(tmp_path / "out.csv.manifest.json"), str(source)]) == 2
    assert "is a manifest of mag suppress; mag rerun takes those of mag mask." in " ".join(
        capsys.readouterr().err.split()
    )


def test_withheld_records_and_both_reports_are_written(tmp_path):
    source, out = tmp_path / "visits.csv", tmp_path / "out.csv"
    source.write_text(VISITS + "g,77,n,W\n")
    pages = {name: tmp_path / f"{name}.html" for name in ("internal", "external")}
    words = ["-o", str(out), "-k", "2", "-c", "age", "-c", "job", "--by", "place", "--small-strata", "suppress"]
    words += ["--unit", "person", "--withheld", str(tmp_path / "withheld.txt")]
    words += ["--report", str(pages["internal"]), "--external-report", str(pages["external"])]
    assert run(source, *words) == 0
    assert (tmp_path / "withheld.txt").read_text().split() == ["record", "13"]
    inside, outside = (page.read_text(encoding="utf-8") for page in pages.values())
    assert "Distributions before and after" in inside
    assert "Distributions before and after" not in outside
    assert all("Suppressed cells" in page and "At least 2 units (person) share" in page for page in (inside, outside))
