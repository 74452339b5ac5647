"""The command line, as a user meets it."""

import hashlib
import hmac
import json
import os
import pathlib
import subprocess
import sys
import warnings

import numpy as np
import polars as pl
import pytest

import mag
from mag._backends import BACKENDS
from mag.commands import cli
from mag.costs import COSTS
from mag.files import File, Layout
from mag.measures.codes import Codes, find_codes
from mag.methods import METHODS


@pytest.fixture
def people(tmp_path):
    """A file of 60 people in two regions."""
    rng = np.random.default_rng(3)
    n = 60
    path = tmp_path / "people.csv"
    zips = [f"{i:05d}" for i in range(n)]
    frame = {"zip": zips, "income": rng.lognormal(3, 0.5, n).round(2), "age": rng.integers(18, 80, n)}
    pl.DataFrame(frame | {"region": ["n", "s"] * (n // 2), "note": ["1.50"] * n}).write_csv(path)
    return path


MASK = ["-c", "income", "-c", "age", "--by", "region", "--keep", "zip", "--drop", "note"]


# mag mask


def test_mask_writes_the_file_and_its_manifest(people, mag_):
    out = people.with_name("out.csv")
    code, said, complained = mag_("mask", people, "-o", out, "-k", 5, *MASK)
    assert (code, complained) == (0, "")
    assert said.startswith("Every record shares its values of income, age (with region) with at least 4 others: k = 5")
    before, after = (pl.read_csv(path, infer_schema=False) for path in (people, out))
    assert after.columns == ["zip", "income", "age", "region"]
    assert after["zip"].equals(before["zip"])
    assert after["region"].equals(before["region"])
    assert all("." not in cell for cell in after["age"])  # integers stay integers
    assert after.group_by("income", "age", "region").len()["len"].min() >= 5
    manifest = json.loads(out.with_name("out.csv.manifest.json").read_text())
    stated = {"name": "out.csv", "bytes": out.stat().st_size, "sha256": hashlib.sha256(out.read_bytes()).hexdigest()}
    assert manifest["files"] == {"output": stated}
    smallest = int(after.group_by("income", "age", "region").len()["len"].min())
    counted = {"counted": "on the file read back, by the text of its cells", "records": 60, "smallest": smallest}
    assert manifest["verified"] == counted
    assert manifest["untouched"] == ["zip"]
    assert manifest["options"]["drop"] == 1
    assert (manifest["options"]["weights"], manifest["table"]["columns"]) == (None, after.columns)
    assert manifest["versions"]["polars"] == pl.__version__
    assert sorted(path.name for path in people.parent.iterdir()) == ["out.csv", "out.csv.manifest.json", "people.csv"]


def test_the_manifest_confirms_no_guess_about_the_input(people, mag_):
    out = people.with_name("out.csv")
    text = people.read_text().replace("note", "dropped_note")
    people.write_text(text)
    given = ["mask", people, "-o", out, "-k", 5, *MASK[:-1], "dropped_note", "--weights", "dropped_note"]
    code, said, _ = mag_(*given, "--json")
    assert code == 0
    manifest = out.with_name("out.csv.manifest.json").read_text()
    for told in (manifest, said):
        assert hashlib.sha256(people.read_bytes()).hexdigest() not in told
        for guess in (f": {people.stat().st_size}", "people.csv", "dropped_note", "seconds"):
            assert guess not in told
    first = json.loads(manifest)
    assert mag_(*given, "--overwrite")[0] == 0
    assert json.loads(out.with_name("out.csv.manifest.json").read_text()) == first  # nothing in it is of the moment


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_input_is_proven_by_a_salt_that_stays(people, mag_, ending):
    source, out = people.with_suffix(f".{ending}"), people.with_name(f"out.{ending}")
    if ending == "parquet":
        pl.read_csv(people).write_parquet(source)
    given = ["mask", source, "-o", out, "-k", 5, *MASK, "--scope", "per-column", "--prove-input"]
    stated = []
    for rest in ([], ["--overwrite"]):
        assert mag_(*given, *rest)[0] == 0
        secret = out.with_name(f"{out.name}.manifest.secret")
        proof = json.loads(out.with_name(f"{out.name}.manifest.json").read_text())["files"]["input"]
        expected = hmac.new(bytes.fromhex(secret.read_text()), source.read_bytes(), "sha256").hexdigest()
        assert proof == {"name": source.name, "hmac_sha256": expected}
        assert secret.stat().st_mode & 0o777 == 0o600
        assert len(bytes.fromhex(secret.read_text())) == 32
        stated.append(expected)
    assert stated[0] != stated[1]
    out.unlink()
    out.with_name(f"{out.name}.manifest.json").unlink()
    code, _, complained = mag_(*given)
    assert (code, "manifest.secret: the file exists" in complained) == (2, True)
    before = secret.read_text()
    assert mag_(*given, "--dry-run", "--overwrite")[0] == 0
    assert secret.read_text() == before


def test_kept_columns_are_the_bytes_that_they_were(people, mag_):
    out = people.with_name("out.csv")
    assert mag_("mask", people, "-o", out, "-k", 60, "-c", "income", "--keep", "zip", "--keep", "age", "--keep",
                "region", "--keep", "note")[0] == 0  # fmt: skip
    cells = [[line.split(",") for line in path.read_text().splitlines()] for path in (people, out)]
    assert [[row[j] for j in (0, 2, 3, 4)] for row in cells[0]] == [[row[j] for j in (0, 2, 3, 4)] for row in cells[1]]
    assert len({row[1] for row in cells[1][1:]}) == 1


@pytest.mark.parametrize("ending", ["csv", "dta", "feather", "parquet", "sav", "tsv", "xlsx", "xpt"])
def test_mask_from_and_to_every_format(people, mag_, ending):
    middle, last = people.with_name(f"middle.{ending}"), people.with_name("last.csv")
    assert mag_("mask", people, "-o", middle, "-k", 3, *MASK)[0] == 0
    again = [*MASK[:-2], "--drop", "zip"][0:6] + ["--keep", "zip"]
    assert mag_("mask", middle, "-o", last, "-k", 4, *again)[0] == 0
    assert mag_("check", last, "--qi", "income", "--qi", "age", "--qi", "region", "-k", 4)[0] == 0
    assert (
        pl.read_csv(last, infer_schema=False)["zip"].to_list()
        == pl.read_csv(people, infer_schema=False)["zip"].to_list()
    )
    verified = json.loads(middle.with_name(middle.name + ".manifest.json").read_text())["verified"]
    assert verified["smallest"] >= 3


def test_kept_columns_are_counted_in_numbers(people, mag_):
    code, said, _ = mag_("mask", people, "-o", people.with_name("o.csv"), "-k", 5, *MASK)
    assert code == 0
    assert (
        "Note: With the kept columns, 60 of 60 records are in classes smaller than 5; the smallest class has 1." in said
    )
    manifest = json.loads(people.with_name("o.csv.manifest.json").read_text())
    assert manifest["with_kept"] == {"smallest": 1, "below_k": 60}
    code, said, _ = mag_("mask", people, "-k", 5, *MASK[:-4], "--drop", "zip", "--drop", "note", "--dry-run", "--json")
    assert (code, "with_kept" in json.loads(said)) == (0, False)


def test_withheld_records_are_told_in_a_file_of_their_own(tmp_path, mag_):
    source, out, side = (tmp_path / name for name in ("in.csv", "o.csv", "withheld.csv"))
    cells = [(i * 7 % 40, "rare" if i in (3, 11) else "often") for i in range(40)]
    source.write_text("x,r\n" + "".join(f"{x},{r}\n" for x, r in cells))
    given = ["mask", source, "-o", out, "-k", 5, "-c", "x", "--by", "r", "--small-strata", "suppress"]
    assert mag_(*given, "--withheld", side, "--shuffle", "--dry-run")[0] == 0
    assert not side.exists()
    code, said, _ = mag_(*given, "--withheld", side)
    assert (code, str(side) in said) == (0, True)
    assert side.read_text() == "record\n4\n12\n"
    assert side.stat().st_mode & 0o777 == 0o600
    assert "withheld.csv" not in out.with_name("o.csv.manifest.json").read_text()
    assert "38 and 40; if mag mask withheld some, pass --withheld FILE" in mag_("risk", source, out, "--qi", "x")[2]
    for command in ("risk", "utility"):
        told = json.loads(mag_(command, source, out, "-c", "x", "--withheld", side, "--json")[1])
        assert told["records"] == 38
    published = np.array([x for x, r in cells if r == "often"], float)
    assert told["information_loss"] == pytest.approx(
        mag.metrics.information_loss(published, pl.read_csv(out)["x"].to_numpy().astype(float))
    )
    for wrong in ("x\n1\n", "record\n41\n", "record\n0\n", "record\na\n"):
        side.write_text(wrong)
        assert "must be a file of mag mask --withheld" in mag_("risk", source, out, "--withheld", side)[2]
    assert "the file exists" in mag_(*given, "--withheld", side, "-o", tmp_path / "p.csv")[2]


def test_json_is_one_object_and_nothing_else(people, mag_):
    code, said, complained = mag_("mask", people, "-o", people.with_name("o.csv"), "-k", 5, *MASK, "--json")
    assert (code, complained) == (0, "")
    assert json.loads(said) == json.loads(people.with_name("o.csv.manifest.json").read_text())


def test_quiet_says_nothing_and_dry_run_writes_nothing(people, mag_):
    assert mag_("mask", people, "-o", people.with_name("o.csv"), "-k", 5, *MASK, "--quiet") == (0, "", "")
    before = sorted(people.parent.iterdir())
    for rest in ([], ["-o", people.with_name("p.csv"), "--report", people.with_name("r.html")]):
        code, said, _ = mag_("mask", people, "-k", 5, *MASK, "--dry-run", *rest)
        assert code == 0
        assert "k = 5" in said
        assert said.endswith("Nothing was written.\n")
    assert sorted(people.parent.iterdir()) == before


def test_per_column_with_a_k_for_each(people, mag_):
    out = people.with_name("o.csv")
    code, said, _ = mag_("mask", people, "-o", out, "-k", "income=5", "-k", "age=7", *MASK, "--scope", "per-column")
    assert code == 0
    assert "This is not joint k-anonymity" in said
    verified = json.loads(people.with_name("o.csv.manifest.json").read_text())["verified"]
    frame = pl.read_csv(out, infer_schema=False)
    for name, k in (("income", 5), ("age", 7)):
        counted = frame.group_by("region", name).len()["len"].min()
        assert verified["smallest_by_column"][name] == counted >= k
    assert verified["smallest"] == frame.group_by("region", "income", "age").len()["len"].min()


def test_options_reach_the_grouping(people, mag_):
    masked = {}
    for rest in (["--method", "mona", "--option", "rho=0.3"], ["--aggregate", "median"], ["--round", "1"],
                 ["--method", "lmas", "--seed", "1", "--option", "restarts=2"], ["--no-standardize"],
                 ["--shuffle", "--seed", "3"]):  # fmt: skip
        out = people.with_name("o.csv")
        assert mag_("mask", people, "-o", out, "-k", 5, *MASK, "--overwrite", *rest)[0] == 0
        masked[rest[0] + rest[1] if len(rest) > 1 else rest[0]] = out.read_text()
        options = json.loads(people.with_name("o.csv.manifest.json").read_text())["options"]
        assert options.get("rho", 0.3) == 0.3
        if "--shuffle" not in rest:
            assert options["random_state"] == (1 if "--seed" in rest else None)
    assert len(set(masked.values())) == len(masked)
    code, _, complained = mag_("mask", people, "-o", people.with_name("p.csv"), "-k", 5, *MASK, "--option", "rho=0.3")
    assert code == 2
    assert complained.startswith("mag: rho is not used by method 'ona_local'")


def test_nobody_can_undo_a_shuffle(people, mag_):
    out, rows = people.with_name("o.csv"), []
    given = ["mask", people, "-o", out, "-k", 5, *MASK, "--overwrite", "--shuffle"]
    for rest in ([], [], ["--seed", 3], ["--seed", 3]):
        assert mag_(*given, *rest)[0] == 0
        rows.append(out.read_text().splitlines()[1:])
        options = json.loads(people.with_name("o.csv.manifest.json").read_text())["options"]
        assert options["random_state"] == "withheld: it would undo the shuffle"
    assert rows[0] != rows[1]
    assert rows[2] == rows[3]
    assert sorted(rows[0]) == sorted(rows[1]) == sorted(rows[2])


def test_weights_are_numbers_while_their_cells_stay_as_they_are(tmp_path, mag_):
    (tmp_path / "in.csv").write_text("x,w\n1,1.0\n2,03\n10,1\n20,1\n")
    assert mag_("mask", tmp_path / "in.csv", "-o", tmp_path / "out.csv", "-k", 2, "-c", "x", "--keep", "w", "--weights",
                "w", "--scope", "per-column")[0] == 0  # fmt: skip
    assert (tmp_path / "out.csv").read_text() == "x,w\n2,1.0\n2,03\n15,1\n15,1\n"  # (1 + 3 · 2) / 4, rounded
    assert mag_("mask", tmp_path / "in.csv", "-o", tmp_path / "o.csv", "-k", 2, "-c", "w", "--weights", "w", "--drop",
                "x")[2].startswith("mag: --weights must name a column of --keep or --drop")  # fmt: skip


def test_missing_numbers_and_small_strata(tmp_path, mag_):
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("x,r\nNA,a\nNA,a\n3,a\n5,a\n9,b\n")
    given = ["mask", source, "-o", out, "-k", 2, "-c", "x", "--by", "r"]
    assert mag_(*given)[2] == "mag: 'in.csv': column 'x': 2 cells are NA; --null NA declares missing codes.\n"
    assert "columns have missing values: 2 in 'x'" in mag_(*given, "--null", "NA")[2]
    code, _, complained = mag_(*given, "--null", "NA", "--missing", "group")
    assert code == 2
    assert "1 stratum" in complained or "small" in complained
    assert mag_(*given, "--null", "NA", "--missing", "group", "--small-strata", "suppress")[0] == 0
    assert out.read_text() == "x,r\nNA,a\nNA,a\n4,a\n4,a\n"
    assert mag_(*given, "--null", "NA", "--missing", "drop", "--small-strata", "merge", "--overwrite")[0] == 0
    assert out.read_text() == "x,r\n6,\n6,\n6,\n"


CODED = {"income": [1.5, 2.5, -9.0, -8.0, 4.0, 6.0, -9.0, -9.0], "n": [-9, 1, 2, 3, 4, 5, 6, 7]}


@pytest.mark.parametrize("ending", ["csv", "dta", "feather", "parquet", "sav", "tsv", "xlsx", "xpt"])
def test_codes_for_missing_numbers_are_of_one_column_or_of_all(tmp_path, mag_, ending):
    source, out = tmp_path / "in.parquet", tmp_path / f"in.{ending}"
    pl.DataFrame(CODED).write_parquet(source)
    if ending != "parquet":
        keep = ["-c", "income", "-c", "n", "-k", 1, "--scope", "per-column"]
        assert mag_("mask", source, "-o", out, *keep)[0] == 0
    given = ["mask", out, "-o", tmp_path / "o.csv", "-k", 2, "-c", "income", "-c", "n", "--missing", "group"]
    given += ["--scope", "per-column", "--overwrite", "--json"]
    code, _, complained = mag_(*given, "--null", "income=-9,-8")
    assert (code, complained) == (0, "")
    rows = [line.split(",") for line in (tmp_path / "o.csv").read_text().splitlines()[1:]]
    assert [float(income) for income, _ in rows] == [2, 2, -9, -9, 5, 5, -9, -9]  # the first code is written
    assert min(float(n) for _, n in rows) < 0  # -9 is a number there
    code, _, complained = mag_(*given, "--null", "-9", "--null", "income=-8")
    assert (code, "1 of 1 strata" in complained) == (2, True)  # one record alone misses n
    assert "has no column 'wage'" in mag_(*given, "--null", "wage=-9")[2]
    assert mag_(*given, "--null", "income=")[2] == "mag: --null must be CODES or NAME=CODES; got 'income='.\n"


def test_codes_for_columns_that_are_not_computed_with_are_a_mistake(people, mag_):
    given = ["mask", people, "-o", people.with_name("o.csv"), "-k", 5, *MASK, "--null", "region=n"]
    assert mag_(*given)[2].startswith("mag: --null must name columns that are masked or compared (others")


def test_a_code_is_a_word_and_a_number(tmp_path, mag_):
    """As pandas writes them, integers of a column with missing cells are floats."""
    (tmp_path / "in.csv").write_text("x\n1\n3\n-9.0\n-9\n999999999999999999\n1000000000000000000\nNA\n")
    given = ["mask", tmp_path / "in.csv", "-o", tmp_path / "o.csv", "-k", 1, "-c", "x", "--missing", "group"]
    assert mag_(*given, "--null", "NA,-9", "--null", "999999999999999999")[0] == 0
    assert (tmp_path / "o.csv").read_text().split() == ["x", "1", "3", "NA", "NA", "NA", "1000000000000000000", "NA"]
    frame = pl.DataFrame({"x": ["1", "3", "NA", None], "y": [1, 10**18, 10**18 - 1, -9]})
    frame.write_parquet(tmp_path / "in.parquet")
    file = File(tmp_path / "in.parquet", Layout(null=("NA", "-9.0"), null_of={"y": (str(10**18 - 1),)}))
    read = file.read(["x", "y"])[0]
    assert read.to_dict(as_series=False) == {"x": [1, 3, None, None], "y": [1, 10**18, None, None]}
    assert File(tmp_path / "in.parquet", Layout(null=("no",))).read(["x"])[0]["x"].to_list() == ["1", "3", "NA", None]


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        (["1"] * 5 + ["NA"] * 3 + ["."], "'x': 3 cells are NA and 1 cell is .; --null NA,. declares missing codes."),
        (["2026-01-31"] * 5 + ["NA"] * 3, "column 'x': 3 cells are NA; --null NA declares missing codes."),
        (["1"] * 5 + ["NA", "secret"], "1 cell is NA and 1 other cell is neither a number nor a date like 2026-01-31; "
                                       "--null NA declares missing codes, a decimal comma needs --decimal-comma, "
                                       "mag look lists their lines."),
        (["secret"] * 5 + ["1", "NA"], "'x' holds text, and categories need --hierarchy, --order, "
                                       "--aggregate NAME=mode, --by, --keep or --drop."),
        (["1.234,5", "2,5"], "column 'x': 2 cells are neither a number nor a date"),
    ],
)  # fmt: skip
def test_cells_that_are_no_numbers_are_explained(tmp_path, mag_, cells, sentence):
    source = tmp_path / "in.csv"
    pl.DataFrame({"x": cells}).write_csv(source)
    code, _, complained = mag_("mask", source, "-o", tmp_path / "o.csv", "-k", 2, "-c", "x")
    assert (code, sentence in complained, "secret" in complained) == (2, True, False), complained
    if "secret" in cells:
        pl.DataFrame({"x": cells}).write_parquet(source.with_suffix(".parquet"))
        given = ["mask", source.with_suffix(".parquet"), "-o", tmp_path / "o.csv", "-k", 2, "-c", "x"]
        assert "categories need --hierarchy, --order, --aggregate NAME=mode, --by, --keep or --drop." in mag_(*given)[2]


def test_columns_without_a_role_are_named(people, mag_):
    code, _, complained = mag_("mask", people, "-o", people.with_name("o.csv"), "-k", 5, "-c", "income")
    assert code == 2
    assert "'zip', 'age', 'region', 'note'; pass --keep NAME" in complained
    code, _, complained = mag_("mask", people, "-o", people.with_name("o.csv"), "-k", 5, *MASK, "--keep", "income")
    assert "'income' is named by -c and --keep" in complained
    code, _, complained = mag_("mask", people, "-o", people.with_name("o.csv"), "-k", 5, *MASK, "-c", "wage")
    assert "no column 'wage', did you mean 'age'?" in complained


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["-k", "5.5"], "-k must be one integer, or NAME=INTEGER for each column; got '5.5'."),
        (["-k", "age=5", "-k", "age=2"], "-k must name a column once; 'age' is named twice."),
        (
            ["-k", "31"],
            "2 of 2 strata are too small, with 60 of 60 records in all; pass --small-strata merge or --small-strata ",
        ),
        (["-k", "5", "--option", "rho"], "--option must be NAME=VALUE; got 'rho'."),
        (
            ["-k", "5", "--missing", "error", "--option", "missing=drop"],
            "--option is for options of the method; got miss",
        ),
        (["-k", "5", "--option", "shuffle=true", "--option", "cost=sae"], "got shuffle, cost, see --help."),
        (["-k", "5", "--encoding", "zlib"], "encoding must be a text encoding that Python supports; got 'zlib'."),
        (["-k", "5", "--method", "mdva"], "got 'mdva', did you mean 'mdav'"),
        (["-k", "5", "--missing", "no"], "--missing must be one of 'drop', 'error', 'group'; got 'no'."),
        (["-k", "5", "--scope", "both"], "scope must be one of 'joint', 'per-column'; got 'both'."),
        (["-k", "5", "--round", "x=y"], "--round must be one integer"),
        (["-k", "5", "--delimiter", "ab"], "delimiter must be one character"),
        (["-k", "5", "--delimiter", ";"], "; try --delimiter ','."),
        (
            ["-k", "5", "--scope", "per-column", "--time-limit", "3"],
            "mag: --time-limit is not used by columns that are",
        ),
        (["-k", "5", "--small-strata", "merge", "--drop", "time_limit"], "has no column 'time_limit'"),
        ([], "Missing option '-k'"),
        (["-k", "5", "--frob"], "No such option: --frob"),
    ],
)
def test_mistakes_are_one_sentence_and_exit_code_2(people, mag_, arguments, sentence):
    code, said, complained = mag_("mask", people, "-o", people.with_name("o.csv"), *arguments, *MASK)
    assert (code, said) == (2, "")
    assert complained.startswith("mag: ")
    assert sentence in complained
    assert complained.count("\n") == 1
    assert list(people.parent.iterdir()) == [people]


def test_options_of_text_files_are_not_for_others(people, mag_):
    pl.read_csv(people).write_parquet(people.with_suffix(".parquet"))
    code, _, complained = mag_("check", people.with_suffix(".parquet"), "--qi", "age", "-k", 1, "--delimiter", ";")
    assert (code, complained) == (2, "mag: --delimiter: not used by .parquet files, only by .csv and .tsv.\n")


def test_unknown_endings_and_missing_files(people, mag_):
    for name in ("out.doc", "out.sas7bdat"):
        complained = mag_("mask", people, "-o", name, "-k", 5, *MASK)[2]
        assert complained.startswith("mag: files can be written to .arrow, .csv, .dta")
        assert complained.endswith(f"; got '{name}'.\n")
        assert ".sas7bdat," not in complained
    assert ".sas7bdat," in mag_("check", "in.doc", "--qi", "a", "-k", 5)[2]
    assert mag_("check", "nothing.csv", "--qi", "a", "-k", 2)[2] == "mag: nothing.csv: there is no such file.\n"
    code, _, complained = mag_("mask", people, "-o", people.parent / "no" / "o.csv", "-k", 5, *MASK)
    assert (code, "there is no such folder" in complained) == (2, True)


@pytest.mark.parametrize("way", ["same", "symlink", "hard link", "relative"])
def test_the_input_is_never_written_over(people, mag_, way, monkeypatch):
    monkeypatch.chdir(people.parent)
    before, other = people.read_bytes(), people.with_name("other.csv")
    if way == "symlink":
        other.symlink_to(people)
    elif way == "hard link":
        os.link(people, other)
    out = {"same": people, "relative": "people.csv"}.get(way, other)
    code, _, complained = mag_("mask", people, "-o", out, "-k", 5, *MASK, "--overwrite")
    assert code == 2
    assert "is read by this run" in complained
    assert people.read_bytes() == before
    code, _, complained = mag_("mask", people, "-o", people.with_name("o.csv"), "-k", 5, *MASK, "--report", out)
    assert (code, "is read by this run" in complained) == (2, True)


def test_existing_files_are_kept_unless_told_otherwise(people, mag_):
    out = people.with_name("o.csv")
    out.write_text("old")
    code, _, complained = mag_("mask", people, "-o", out, "-k", 5, *MASK)
    assert (code, out.read_text()) == (2, "old")
    assert "the file exists; choose another name, or pass --overwrite." in complained
    assert mag_("mask", people, "-o", out, "-k", 5, *MASK, "--overwrite")[0] == 0
    assert mag_("check", out, "--qi", "income", "-k", 5)[0] == 0


def test_a_file_that_is_not_what_was_promised_is_not_published(people, mag_, monkeypatch):
    from mag.files import FORMATS

    write = type(FORMATS["csv"]).write

    def broken(self, frame, path, *rest):
        income = frame["income"].to_list()
        write(self, frame.with_columns(income=pl.Series([income[0] + 1, *income[1:]])), path, *rest)

    monkeypatch.setattr(type(FORMATS["csv"]), "write", broken)
    for rest in ([], ["--scope", "per-column"]):
        code, said, complained = mag_("mask", people, "-o", people.with_name("o.csv"), "-k", 5, *MASK, *rest)
        assert (code, said) == (1, "")
        assert "nothing is published" in complained
        assert list(people.parent.iterdir()) == [people]
    monkeypatch.setattr(type(FORMATS["csv"]), "write", lambda self, frame, *rest: write(self, frame.head(59), *rest))
    code, _, complained = mag_("mask", people, "-o", people.with_name("o.csv"), "-k", 2, *MASK)
    assert (code, "holds 59 records where 60" in complained) == (1, True)
    assert list(people.parent.iterdir()) == [people]


HOSTILE = "\x1b[31m[red]\x9b2J\u202e[/x]\x07"


def test_names_are_escaped_on_the_terminal(tmp_path, mag_):
    """Names of columns and files, through every command, on both streams."""
    plain, folder = tmp_path / "in.csv", tmp_path / f"f{HOSTILE.replace('/', '')}"
    folder.mkdir()
    source, out = folder / "in.csv", folder / "out.csv"
    names = [HOSTILE, f"b{HOSTILE}", "[/x]", "[red]"]
    source.write_text(",".join(names) + "\n" + "".join(f"{i},{i * i},{i % 2},{i}\n" for i in range(20)))
    plain.write_text("a\n1\n")
    roles = ["-c", HOSTILE, "-c", names[1], "--by", "[/x]", "--keep", "[red]"]
    masked = ["mask", source, "-o", out, "-k", 3, *roles]
    calls = [
        (0, masked),
        (0, ["mask", source, "-k", 3, *roles, "--dry-run"]),
        (0, [*masked, "--overwrite", "--json"]),
        (2, masked),
        (2, ["mask", source, "-o", out, "-k", 3, "-c", HOSTILE]),
        (2, ["mask", source, "-o", folder / f"o.{HOSTILE.replace('/', '')}", "-k", 3, *roles]),
        (2, ["mask", source, "-o", folder / "o.dta", "-k", 3, *roles]),
        (0, ["check", source, "--qi", HOSTILE, "-k", 1]),
        (1, ["check", source, "--qi", HOSTILE, "-k", 2, "--json"]),
        (2, ["check", plain, "--qi", HOSTILE, "-k", 1]),
        (2, ["check", folder / "none.csv", "--qi", "a", "-k", 1]),
        (0, ["risk", source, out]),
        (0, ["risk", source, out, "--json"]),
        (0, ["utility", source, out]),
        (2, ["utility", source, plain]),
        (0, ["compare", source, "-c", HOSTILE, "-c", names[1], "-k", 3, "--plot", folder / "p.png"]),
        (2, ["compare", source, "-c", HOSTILE, "-k", 3, "--plot", folder / "p.png"]),
        (2, ["compare", source, "-c", "[/x]", "-k", 3, "-m", HOSTILE]),
        (0, ["demo", "-o", folder / "demo"]),
        (0, ["demo", "-o", folder / "demo", "--overwrite", "-q"]),
        (2, ["demo", "-o", folder / "demo"]),
        (2, ["warmup", "-c", HOSTILE]),
        (2, [HOSTILE]),
        (2, ["info", f"--{HOSTILE}"]),
    ]
    for expected, call in calls:
        code, said, complained = mag_(*call)
        assert code == expected, (call, complained)
        for text in (said, complained):
            assert all(one.isprintable() or one == "\n" for one in text), (call, text)
    _, said, _ = mag_("risk", source, out)
    assert all(name in said for name in (r"\x1b[31m[red]\x9b2J\u202e[/x]\x07", "[/x], [red]"))


def test_quiet_is_quiet_where_libraries_warn(tmp_path, mag_):
    source = tmp_path / "in.csv"
    cells = ["http://secret.org/" + "x" * 3000, "mailto:secret", "=1"] * 4
    pl.DataFrame({"x": range(12), "t": cells, "none": [None] * 12}).write_csv(source)
    given = ["-k", 3, "-c", "x", "--keep", "t", "--keep", "none", "-q"]
    assert mag_("mask", source, "-o", tmp_path / "o.xlsx", *given) == (0, "", "")
    assert mag_("mask", tmp_path / "o.xlsx", "-o", tmp_path / "o.csv", *given) == (0, "", "")
    assert pl.read_csv(tmp_path / "o.csv")["t"].to_list() == cells


@pytest.mark.parametrize("ending", ["dta", "sav", "xlsx", "xpt"])
def test_kept_cells_that_a_format_would_alter_are_refused(tmp_path, mag_, ending):
    source, out = tmp_path / "in.parquet", tmp_path / f"o.{ending}"
    pl.DataFrame({"x": [1.5] * 3, "id": [2**60 + 1, 2**60 + 3, 1]}).write_parquet(source)
    code, said, complained = mag_("mask", source, "-o", out, "-k", 3, "-c", "x", "--keep", "id")
    assert (code, said) == (2, "")
    assert f"'o.{ending}' cannot hold exactly: 2 cells of column 'id' (whole numbers: beyond 2⁵³); write" in complained
    assert list(tmp_path.iterdir()) == [source]


def test_an_input_that_changes_meanwhile_is_not_published(people, mag_, monkeypatch):
    import mag.tables

    def slow(*arguments, **options):
        people.write_text(people.read_text() + "\n")
        return grouped(*arguments, **options)

    grouped = mag.tables.microaggregate
    monkeypatch.setattr(mag.tables, "microaggregate", slow)
    code, _, complained = mag_("mask", people, "-o", people.with_name("o.csv"), "-k", 5, *MASK)
    assert (code, "has changed while it was read" in complained) == (2, True)
    assert list(people.parent.iterdir()) == [people]


# values that look like codes


def amounts(n=400):
    return np.random.default_rng(1).lognormal(8, 0.5, n).round(1)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([-9] * 30 + [-8] * 2, "-9 (30 records), 1 rarer value (2 records). They are averaged as numbers unless you "
                               "declare them: --null x=-9,CODE"),
        ([-1] * 7, "missing codes: -1 (7 records)."),
        ([9999999] * 12, "missing codes: 9999999 (12 records)."),
        ([99999.0] * 2, "missing codes: 1 rarer value (2 records)."),
        ([70000] * 11, "the largest value of column 'x' occurs in 11 records, like a top code"),
    ],
)  # fmt: skip
def test_values_that_look_like_codes_are_noted(tmp_path, mag_, values, sentence):
    source, out = tmp_path / "in.csv", tmp_path / "o.csv"
    pl.DataFrame({"x": [*amounts(), *values]}, strict=False).write_csv(source)
    for rest in ([], ["--json"]):
        given = ["mask", source, "-o", out, "-k", 5, "-c", "x", "--report", tmp_path / "r.html", "--overwrite", *rest]
        code, _, complained = mag_(*given)
        assert code == 0
        assert complained.startswith("mag: note: ")
        assert sentence in complained
        assert complained.count("\n") == 1
        for path in (out.with_name("o.csv.manifest.json"), tmp_path / "r.html"):  # which may be handed on
            assert not any(word in path.read_text() for word in ("look like", "top code", "--null"))
    assert mag_(*given, "--quiet")[2] == ""
    assert sentence in mag_("compare", source, "-c", "x", "-k", 5)[2]
    source = source.with_suffix(".parquet")
    pl.DataFrame({"x": [*amounts(), *values]}, strict=False).write_parquet(source)
    given = ["mask", source, "-o", out.with_suffix(".parquet"), "-k", "x=5", "-c", "x", "--scope", "per-column"]
    assert sentence in mag_(*given)[2]


@pytest.mark.parametrize(
    "values",
    [
        [],
        [-9],
        list(np.random.default_rng(2).normal(-50, 20, 200).round()),  # debts
        [-0.5] * 9,
        list(range(100)) * 20,  # ages
    ],
)
def test_amounts_are_no_codes(values):
    assert find_codes(np.array([*amounts(), *values])) == Codes({})


@pytest.fixture
def visits(tmp_path):
    """Visits of 12 patients, each with as many as its number."""
    path = tmp_path / "visits.csv"
    patient = np.repeat(np.arange(1, 13), np.arange(1, 13))
    cost = np.random.default_rng(1).lognormal(3, 1, patient.size).round(1)
    pl.DataFrame({"patient": [f"p{own}" for own in patient], "age": 20 + patient, "cost": cost}).write_csv(path)
    return path


@pytest.mark.parametrize("out", ["out.csv", "out.parquet", "out.xlsx"])
@pytest.mark.parametrize("more", [[], ["--shuffle"], ["--drop", "patient"]], ids=["plain", "shuffled", "dropped"])
def test_mask_counts_units_on_the_file(visits, mag_, out, more):
    out = visits.with_name(out)
    code, said, complained = mag_(
        "mask", visits, "-o", out, "-k", 3, "-c", "age", "--unit", "patient", "--keep", "cost", *more
    )
    assert (code, complained) == (0, "")
    assert "records of at least 2 other units (patient): k = 3 units" in said
    frame = File(out).read([], ["age", "cost"])[0]
    assert frame.columns == ["age", "cost"]
    manifest = json.loads(out.with_name(out.name + ".manifest.json").read_text())
    assert manifest["verified"]["units"]["smallest"] == manifest["guarantee"]["smallest_units"] >= 3
    code, said, _ = mag_("check", out, "--manifest", out.with_name(out.name + ".manifest.json"))
    assert code == 0
    assert "k was promised in units of patient, which FILE does not hold" in said
    if not more:
        merged = frame.with_columns(pl.read_csv(visits)["patient"])
        assert merged.group_by("age").agg(pl.col("patient").n_unique())["patient"].min() >= 3


def test_units_that_the_written_file_lacks_are_refused(visits, mag_, monkeypatch):
    monkeypatch.setattr(mag.tables.Release, "units", lambda release: ["p1"] * len(release.data))
    out = visits.with_name("out.csv")
    code, _, complained = mag_("mask", visits, "-o", out, "-k", 3, "-c", "age", "--unit", "patient", "--drop", "cost")
    assert code == 1
    assert "a class of 1 units in age where k=3 units are promised" in complained
    assert not out.exists()


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_mask_and_compare_count_units_by_column(visits, mag_, ending):
    source, out = visits.with_name(f"in.{ending}"), visits.with_name(f"out.{ending}")
    frame = pl.read_csv(visits)
    frame.write_parquet(source) if ending == "parquet" else frame.write_csv(source)
    options = ["-k", 3, "-c", "age", "-c", "cost", "--unit", "patient", "--scope", "per-column"]
    code, said, _ = mag_("mask", source, "-o", out, *options)
    assert code == 0
    assert "is shared by at least 3 units (patient)" in said
    masked = (pl.read_csv if ending == "csv" else pl.read_parquet)(out).with_columns(own=frame["patient"])
    for name in ("age", "cost"):
        assert masked.group_by(name).agg(pl.col("own").n_unique())["own"].min() >= 3
    options = ["-k", 3, "-c", "age", "-c", "cost", "--unit", "patient", "--json"]
    code, said, _ = mag_("compare", source, *options)
    assert code == 0
    assert json.loads(said)["rows"][0]["units"] >= 3


def test_check_counts_units(visits, mag_):
    code, said, _ = mag_("check", visits, "--qi", "age", "-k", 1, "--unit", "patient")
    assert (code, said) == (
        0,
        "PASS k=1: each of 78 records matches at least 0 others, counted by patient; smallest class 1.\n",
    )
    code, said, _ = mag_("check", visits, "--qi", "age", "-k", 2, "--unit", "patient")
    assert code == 1
    assert said.startswith("FAIL k=2: 78 of 78 records match fewer than 1 other, counted by patient; smallest class 1.")
    code, said, _ = mag_("check", visits, "--qi", "age", "-k", 2, "--unit", "patient", "--json")
    facts = json.loads(said)
    assert (facts["unit"], facts["smallest"], facts["violating"], facts["holds"]) == ("patient", 1, 78, False)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--unit", "person"], "has no column 'person'"),
        (["--unit", "patient", "--keep", "patient"], "'patient' is named by --keep and --unit."),
        (["--household", "patient", "--scope", "per-column"], "household is for --scope joint; got --scope per-col"),
        (["--unit", "patient", "--null", "patient=p2"], "unit must not have missing cells; got 2 in 'patient'."),
    ],
)  # fmt: skip
def test_wrong_units_are_one_sentence(visits, mag_, options, sentence):
    out = visits.with_name("out.csv")
    code, _, complained = mag_("mask", visits, "-o", out, "-k", 3, "-c", "age", "--rest", "drop", *options)
    assert code == 2
    assert sentence in complained
    assert not out.exists()


def test_files_out_of_core_count_units_and_checks_refuse_them_by_name(visits, mag_):
    pl.read_csv(visits).write_parquet(visits.with_suffix(".parquet"))
    out, source = visits.with_name("out.parquet"), visits.with_suffix(".parquet")
    options = ["-k", 3, "-c", "age", "-c", "cost", "--unit", "patient", "--memory", "1GB"]
    code, said, complained = mag_("mask", source, "-o", out, *options)
    assert (code, complained) == (0, "")
    counted = pl.read_parquet(out).with_columns(pl.read_csv(visits)["patient"]).group_by("age", "cost")
    assert counted.agg(pl.col("patient").n_unique())["patient"].min() >= 3
    assert "k = 3 units" in said
    code, _, complained = mag_("check", visits, "--qi", "age", "-k", 2, "--unit", "age")
    assert code == 2
    assert "--unit must not be one of --qi; got 'age'." in complained
    text = visits.read_text().replace("p2,", ",")
    visits.write_text(text)
    code, _, complained = mag_("check", visits, "--qi", "age", "-k", 2, "--unit", "patient")
    assert code == 2
    assert "unit must not have missing cells; got 2 in 'patient'." in complained


# mag check


def test_check_says_the_smallest_class_and_how_many_records_violate(tmp_path, mag_):
    path = tmp_path / "in.csv"
    path.write_text("a,b\n1,x\n1,x\n1,x\n2,x\n2,x\n,x\n")
    assert mag_("check", path, "--qi", "b", "-k", 6) == (
        0, "PASS k=6: each of 6 records matches at least 5 others; smallest class 6.\n", "",
    )  # fmt: skip
    assert mag_("check", path, "--qi", "a", "--qi", "b", "-k", 3) == (
        1, "FAIL k=3: 3 of 6 records match fewer than 2 others; smallest class 1.\n", "",
    )  # fmt: skip
    code, said, _ = mag_("check", path, "--qi", "a", "-k", 2, "--json")
    found = {"file": str(path), "qi": ["a"], "k": 2, "holds": False, "smallest": 1, "violating": 1}
    assert (code, json.loads(said)) == (1, found | {"records": 6, "classes": 3})
    assert mag_("check", path, "--qi", "a", "-k", 2, "-q") == (1, "", "")
    path.write_text("a,b\n")
    assert mag_("check", path, "--qi", "a", "-k", 2)[0] == 1


# mag risk, mag utility, mag compare


def test_risk_and_utility_compare_the_numbers_that_files_have_in_common(people, mag_):
    out = people.with_name("o.csv")
    assert mag_("mask", people, "-o", out, "-k", 5, *MASK)[0] == 0
    before = pl.read_csv(people)
    after = pl.read_csv(out)
    told = json.loads(mag_("utility", people, out, "-c", "income", "-c", "age", "--json")[1])
    expected = mag.metrics.information_loss(
        before.select("income", "age").to_numpy(), after.select("income", "age").to_numpy()
    )
    assert told["information_loss"] == pytest.approx(expected)
    assert told["information_loss_by_column"].keys() == {"income", "age"}
    told = json.loads(mag_("risk", people, out, "-k", 5, "--json")[1])
    assert told["columns"] == ["zip", "income", "age"]
    assert mag_("risk", people, out, "-c", "income", "-c", "age")[1].split()[:3] == ["risk", "income,", "age"]
    assert "information loss of age" in mag_("utility", people, out)[1]


def test_risk_of_one_file_counts_classes_of_any_type(tmp_path, mag_):
    path = tmp_path / "in.csv"
    path.write_text("sex,age,w\nf,31,10\nf,31,30\nm,31,8\nm,,2\nm,,2\n")
    code, said, complained = mag_("risk", path, "--qi", "sex", "--qi", "age", "--json")
    expected = {"records": 5, "classes": 3, "k_anonymity": 1, "uniques": 1}
    expected |= {"below_3": 5, "below_5": 5, "expected_reidentifications": 3, "mean_reidentification_risk": 0.6}
    assert (code, complained) == (0, "")
    told = json.loads(said)
    assert told.pop("columns") == ["sex", "age"]
    assert told == pytest.approx(expected | {"largest_reidentification_risk": 1})
    told = json.loads(mag_("risk", path, "--qi", "sex", "--qi", "age", "-k", 2, "--weights", "w", "--json")[1])
    each = mag.privacy.reidentification_risk(["a", "a", "b", "c", "c"], [10, 30, 8, 2, 2])
    assert told["expected_reidentifications"] == pytest.approx(each.sum())
    assert told["largest_reidentification_risk"] == pytest.approx(each.max())
    assert (told["below_2"], "below_3" in told) == (1, False)
    assert mag_("risk", path)[2] == "mag: --qi must name the quasi-identifiers of one file; got none.\n"
    assert "no column 'income'" in mag_("risk", path, "--qi", "income")[2]
    assert "--weights is used with one file only" in mag_("risk", path, path, "--weights", "w")[2]
    assert (
        "--weights: 'age' must hold numbers, none missing; 2" in mag_("risk", path, "--qi", "w", "--weights", "age")[2]
    )


def test_files_of_different_lengths_are_no_pair(people, mag_):
    other, text = people.with_name("other.csv"), people.with_name("text.csv")
    other.write_text("\n".join(people.read_text().splitlines()[:-3]) + "\n")
    text.write_text("t\na\nb\n")
    for command in ("risk", "utility"):
        code, _, complained = mag_(command, people, other)
        assert (code, "must have the records of 'people.csv', in the same order" in complained) == (2, True)
        assert "got 57 and 60" in complained
        assert "no column of numbers in common" in mag_(command, people, text)[2]


def test_compare_prints_a_table_and_draws_a_plot(people, mag_):
    plot = people.with_name("plot.png")
    given = ["compare", people, "-c", "income", "-c", "age", "-k", 3, "-k", 10, "-m", "mdav", "-m", "ona_star"]
    code, said, complained = mag_(*given, "--plot", plot)
    assert (code, complained) == (0, "")
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert said.count("mdav") == said.count("ona_star") == 2
    code, said, _ = mag_(*given, "--json")
    rows = json.loads(said)["rows"]
    assert [(row["method"], row["k"]) for row in rows] == [
        ("mdav", 3), ("mdav", 10), ("ona_star", 3), ("ona_star", 10),
    ]  # fmt: skip
    assert all(row["smallest"] >= row["k"] for row in rows)
    assert rows[0]["information loss, %"] < rows[1]["information loss, %"]
    table = pl.read_csv(people).select("income", "age").to_numpy()
    expected = mag.multivariate(table, 3, method="mdav").information_loss
    assert rows[0]["information loss, %"] == pytest.approx(100 * expected, rel=0.05)  # ages are rounded
    assert "the file exists" in mag_(*given, "--plot", plot)[2]
    assert "must be one of .pdf, .png, .svg" in mag_(*given, "--plot", "plot.bmp")[2]
    assert "--seed: not used by the methods mdav, ona_star" in mag_(*given, "--seed", "1")[2]


def test_compare_passes_options_to_the_methods_that_take_them(people, mag_):
    given = [
        "compare",
        people,
        "-c",
        "income",
        "-c",
        "age",
        "-k",
        3,
        "-m",
        "mdav",
        "-m",
        "mona",
        "-m",
        "lmas",
        "--json",
    ]

    def losses(*rest):
        code, said, complained = mag_(*given, *rest)
        assert (code, complained) == (0, "")
        return [row["information loss, %"] for row in json.loads(said)["rows"]]

    plain = losses()
    table = pl.read_csv(people).select("income", "age").to_numpy()
    changed = losses("--option", "rho=0.1")
    assert (changed[0], changed[2]) == (plain[0], plain[2])
    assert changed[1] == pytest.approx(
        100 * mag.multivariate(table, 3, method="mona", rho=0.1).information_loss, rel=0.05
    )
    seeded = losses("--seed", "5")
    assert seeded[:2] == plain[:2]
    weighted = losses("--weights", "note")  # all the same
    assert weighted == pytest.approx(plain)
    assert losses("--weights", "income") != plain
    assert "--option frob: not used by the methods mdav, mona, lmas" in mag_(*given, "--option", "frob=1")[2]


def test_compare_limits_time_where_a_method_searches(people, mag_):
    given = ["compare", people, "-c", "income", "-c", "age", "-k", 3, "--time-limit", "0.2", "--json"]
    code, said, _ = mag_(*given, "-m", "auto", "-m", "zscore")
    assert code == 0
    names = [row["method"] for row in json.loads(said)["rows"]]
    assert (names[0].startswith("auto (anneal"), names[1]) == (True, "zscore")
    assert "--time-limit: not used by the methods zscore" in mag_(*given, "-m", "zscore")[2]


# mag info, warmup, demo, and what is common to all


def test_demo_begins_with_the_path_of_its_report(tmp_path, mag_):
    code, said, complained = mag_("demo", "-o", tmp_path / "demo", "-k", "7")
    assert (code, complained) == (0, "")
    assert pathlib.Path(said.splitlines()[0].split()[-1]).read_text(encoding="utf-8").startswith("<!")
    complained = mag_("demo", "-o", tmp_path / "demo")[2]
    assert complained.startswith("mag: folder ")
    assert complained.endswith("choose another folder, or pass --overwrite.\n")
    assert mag_("demo", "-o", tmp_path / "demo", "--overwrite", "-q")[1] == f"{tmp_path / 'demo' / 'report.html'}\n"


def test_a_wrong_option_is_one_sentence_and_no_traceback(tmp_path, mag_):
    code, said, complained = mag_("demo", "-o", tmp_path / "demo", "-k", "0")
    assert (code, said) == (2, "")
    assert complained.startswith("mag: -k must be an integer in [")
    assert list(tmp_path.iterdir()) == []


def test_info_says_what_can_run_here(mag_):
    code, out, _ = mag_("info")
    lines = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert code == 0
    assert lines["cpu"] == "ok"
    assert lines["mag"] == mag.__version__
    assert lines["numpy"] == np.__version__
    assert int(lines["threads"]) >= 1
    assert lines.keys() >= {"simd", "processor", "numba", *mag.backends()}
    assert json.loads(mag_("info", "--json")[1])["cpu"] == "ok"


def test_backends_are_ok_or_say_why_not():
    assert mag.backends()["cpu"] == "ok"
    assert mag.backends().keys() == BACKENDS.keys()


def test_warmup_compiles_what_was_asked_for(mag_):
    code, out, _ = mag_("warmup", "-c", "sse", "-c", "sse_int", "-m", "zscore", "-k", "3")
    assert code == 0
    steps = [line.rsplit(maxsplit=2)[0].split(maxsplit=1) for line in out.splitlines()[:-1]]
    assert steps == [["1/3", "sse, k = 3"], ["2/3", "sse_int, k = 3"], ["3/3", "zscore"]]
    assert out.splitlines()[-1].startswith("Compiled code is kept in ")
    assert mag_("warmup", "-c", "sse", "-k", "3", "-q") == (0, "", "")
    for option, sentence in (
        (("-c", "mse"), "mag: --cost must be one of 'maxdist',"),
        (("-m", "mdaw"), "mag: --method must be one of 32 names; got 'mdaw', did you mean 'mdav'"),
        (("-k", "0"), "mag: -k must be an integer in [1,"),
    ):
        code, said, complained = mag_("warmup", *option)
        assert (code, said) == (2, "")
        assert complained.startswith(sentence)


def test_warmup_lists_what_it_can_compile(mag_):
    code, said, _ = mag_("warmup", "--list")
    words = [line.split() for line in said.splitlines()]
    rows = {line[0]: line[-1] for line in words if line and line[-1] in ("yes", "no")}
    assert code == 0
    assert rows.keys() >= COSTS.keys() | METHODS.keys()
    usual = ["sse", "anneal", "ona_local", "ona_star", "mona", "tables,"]
    assert [name for name in rows if rows[name] == "yes"] == usual


def test_only_warnings_of_ours_are_shown_and_without_their_place(monkeypatch, capsys):
    def run(arguments):
        warnings.warn("cell 17 looks odd", UserWarning, stacklevel=1)
        warnings.warn("code cannot be kept", mag.CacheWarning, stacklevel=1)
        return 0

    monkeypatch.setattr("mag.commands.cli._run", run)
    assert cli.main([]) == 0
    assert capsys.readouterr().err == "mag: note: code cannot be kept\n"


def test_an_unknown_command_lists_the_known_ones(mag_):
    code, _, complained = mag_("masks")
    assert code == 2
    assert complained.startswith("mag: No such command 'masks'")
    assert (
        "check, compare, demo, dp, generalize, graph, info, look, mask, plan, rerun, risk, suppress, utility, warmup"
        in complained
    )


def test_module_runs_as_a_program():
    for option in (["--version"], ["mask", "--version"][::-1]):
        command = [sys.executable, "-m", "mag.commands.cli", *option]
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.startswith("mag ")


@pytest.mark.parametrize(("library", "extra"), [("typer", "cli"), ("polars", "cli"), ("fastexcel", "xlsx")])
def test_a_missing_library_is_one_sentence_how_to_install_it(tmp_path, library, extra):
    pl.DataFrame({"a": [1]}).write_excel(tmp_path / "in.xlsx")
    code = f"import sys; sys.modules[{library!r}] = None; from mag.commands.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "check", str(tmp_path / "in.xlsx"), "--qi", "a", "-k", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == f"mag: {library} is missing; pip install 'mag-sdc[{extra}]'.\n"
    assert pathlib.Path(done.args[0]).exists()


# whose fault a failure is


@pytest.mark.parametrize("kind", [TypeError, ValueError, RuntimeError, KeyError, AssertionError])
@pytest.mark.parametrize("where", ["mag.tables.microaggregate", "mag.files.csv.Csv.read", "mag.files.csv.Csv.write"])
def test_an_error_inside_is_a_defect_with_its_traceback(people, mag_, monkeypatch, kind, where):
    def broken(*arguments, **options):
        raise kind("k='5' went\x1b[31m wrong")

    monkeypatch.setattr(where, broken)
    code, said, complained = mag_("mask", people, "-o", people.with_name("o.csv"), "-k", 5, *MASK)
    assert (code, said) == (70, "")
    *traceback, last = complained.splitlines()
    assert traceback[0] == "Traceback (most recent call last):"
    assert any(line.endswith(", in broken") for line in traceback)
    assert last.startswith("mag: this is a defect of mag; please report this at https://github.com/mag-sdc/mag/issues.")
    assert "\x1b" not in complained
    assert list(people.parent.iterdir()) == [people]


def test_a_panic_inside_a_library_is_a_defect(people, mag_, monkeypatch):
    class PanicException(BaseException):
        pass

    def panic(*arguments, **options):
        raise PanicException

    monkeypatch.setattr("mag.tables.microaggregate", panic)
    assert mag_("mask", people, "-o", people.with_name("o.csv"), "-k", 5, *MASK)[0] == 70


def test_a_missing_module_of_ours_is_a_defect(people, mag_, monkeypatch):
    monkeypatch.setitem(sys.modules, "mag.tables", None)
    assert mag_("mask", people, "-o", people.with_name("o.csv"), "-k", 5, *MASK)[0] == 70


def test_a_regression_that_does_not_converge_is_a_mistake(people, mag_, monkeypatch):
    monkeypatch.setattr(sys.modules[mag.metrics.propensity_mse.__module__], "MAX_NEWTON_STEPS", 0)
    code, said, complained = mag_("utility", people, people)
    assert (code, said) == (2, "")
    assert complained.endswith("mag: the logistic regression has not converged in 0 steps; raise ridge.\n")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["mask", "none.csv", "-k", "5"], 2),
        (["mask", "{people}", "-k", "5", "-c", "income"], 2),
        (["mask", "{people}", "-k", "99", "--dry-run", *MASK], 2),
        (["masks"], 2),
    ],
)
def test_tracebacks_are_shown_where_asked_for(people, mag_, monkeypatch, arguments, expected):
    call = [argument.format(people=people) for argument in arguments]
    code, _, complained = mag_(*call)
    assert (code, complained.count("\n")) == (expected, 1)
    monkeypatch.setenv("MAG_DEBUG", "1")
    code, _, debugged = mag_(*call)
    assert code == expected
    assert debugged.startswith("Traceback (most recent call last):\n")
    assert debugged.endswith(complained)


def test_only_options_of_the_command_are_called_options(tmp_path, mag_):
    """A column may be called like a keyword's setting."""
    path = tmp_path / "in.csv"
    path.write_text("kind='a',x\n1,1\n2,\n3,3\n")
    code, _, complained = mag_("mask", path, "-o", tmp_path / "o.csv", "-k", 1, "-c", "kind='a'", "-c", "x")
    assert code == 2
    assert "--missing group" in complained
    code, _, complained = mag_("mask", path, "-o", tmp_path / "o.csv", "-k", 1, "-c", "x")
    assert """"kind='a'" """.strip() in complained


# nothing of the original in what is written


@pytest.mark.parametrize("records", [60, 2000])
@pytest.mark.parametrize("before", ["csv", "feather", "parquet"])
@pytest.mark.parametrize("after", ["csv", "feather", "parquet", "dta", "sav", "xpt"])
def test_text_of_withheld_records_is_nowhere_in_the_file(tmp_path, mag_, records, before, after):
    marks = [f"{'WITHHELDCANARY' if i % 7 == 0 else 'published note'} of record {i:06}" for i in range(records)]
    strata = [f"{'PLACECANARY' if i == 7 else 'place'} of many {i % 2 if i != 7 else 9}" for i in range(records)]
    numbers = [None if i % 7 == 0 and i != 7 else float(i) for i in range(records)]
    frame = pl.DataFrame({"x": numbers, "g": strata, "note": marks})
    source, out = tmp_path / f"in.{before}", tmp_path / f"o.{after}"
    {"csv": frame.write_csv, "feather": frame.write_ipc, "parquet": frame.write_parquet}[before](source)
    given = ["mask", source, "-o", out, "-k", 3, "-c", "x", "--by", "g", "--keep", "note", "--missing", "drop"]
    assert mag_(*given, "--small-strata", "suppress")[0] == 0
    assert b"CANARY" not in plain_bytes(out)
    assert b"published note" in plain_bytes(out)
    assert mag_(*given, "--small-strata", "merge", "--overwrite")[0] == 0
    assert b"PLACECANARY" not in plain_bytes(out)  # a cell that was blanked


def plain_bytes(path):
    """The bytes of a file, of Parquet also those of its values."""
    if path.suffix != ".parquet":
        return path.read_bytes()
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    pq.write_table(table, path.with_suffix(".plain"), compression="none", use_dictionary=False)
    return path.read_bytes() + path.with_suffix(".plain").read_bytes()


@pytest.mark.parametrize("records", [30, 3000])
def test_no_offset_in_a_file_undoes_a_shuffle(tmp_path, mag_, records):
    import pyarrow as pa

    frame = pl.DataFrame(
        {"x": range(records), "note": [f"a note of more than twelve bytes {i:06}" for i in range(records)]}
    )
    frame.write_ipc(tmp_path / "in.feather")
    given = ["-k", 3, "-c", "x", "--keep", "note", "--shuffle", "--scope", "per-column"]
    assert mag_("mask", tmp_path / "in.feather", "-o", tmp_path / "o.feather", *given)[0] == 0
    content = (tmp_path / "o.feather").read_bytes()
    table = pa.ipc.open_file(tmp_path / "o.feather").read_all()
    published = table["note"].to_pylist()
    places = [content.find(note.encode()) for note in published]
    assert published != sorted(published)
    assert places == sorted(places)  # notes lie in the order in which they are published, each once
    assert all(content.count(note.encode()) == 1 for note in published[:30])


@pytest.mark.parametrize("after", ["feather", "parquet"])
@pytest.mark.parametrize("small", ["suppress", "merge"])
def test_categories_of_withheld_records_are_nowhere_in_the_file(tmp_path, mag_, after, small):
    names = ["RARECANARY", "UNUSEDCANARY", "north", "south"]
    for kind in (pl.Enum(names), pl.Categorical):
        regions = pl.Series(["RARECANARY", *["north", "south"] * 10], dtype=kind)
        source, out = tmp_path / "in.feather", tmp_path / f"o.{after}"
        pl.DataFrame({"x": range(21), "g": regions}).write_ipc(source)
        given = ["-k", 3, "-c", "x", "--by", "g", "--small-strata", small, "--overwrite"]
        assert mag_("mask", source, "-o", out, *given)[0] == 0
        assert b"CANARY" not in plain_bytes(out)
        assert "south" in File(out).read([], ["g"])[0]["g"].cast(pl.String).to_list()


@pytest.mark.parametrize("before", ["csv", "feather", "parquet", "xlsx"])
@pytest.mark.parametrize("after", ["csv", "feather", "parquet", "xlsx"])
@pytest.mark.parametrize("scope", ["joint", "per-column"])
def test_names_that_are_patterns_of_polars_are_names(tmp_path, mag_, before, after, scope):
    source, out = tmp_path / f"in.{before}", tmp_path / f"out.{after}"
    cells = {"ab": [f"r{i}" for i in range(12)], "^a.*$": [i + 0.25 for i in range(12)], "*": list(range(20, 32))}
    table = pl.DataFrame(cells | {"^$": ["n"] * 6 + ["s"] * 6})
    {"csv": table.write_csv, "feather": table.write_ipc, "parquet": table.write_parquet, "xlsx": table.write_excel}[
        before
    ](source)
    roles = ["-c", "^a.*$", "-c", "*", "--by", "^$", "--keep", "ab"]
    assert mag_("mask", source, "-o", out, "-k", 3, "--scope", scope, "--round", "^a.*$=2", *roles)[0] == 0
    published = File(out).read(["^a.*$", "*"], ["^$", "ab"])[0]
    assert published.columns == table.columns
    assert published["ab"].to_list() == cells["ab"]
    assert published["*"].sum() == pytest.approx(sum(cells["*"]), abs=12)
    assert mag_("check", out, "--qi", "*", "--qi", "^$", "-k", 3)[0] == 0
    assert mag_("utility", source, out, "-c", "*", "-c", "^a.*$")[0] == 0


def test_dates_and_words_for_missing_in_columns_called_like_patterns(tmp_path, mag_):
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    lines = [f"{'-' if i in (3, 4) else i},2026-01-{i + 10},2026-01-{i + 10} 10:00" for i in range(8)]
    source.write_text("\n".join(["*,^a$,^b$", *lines, ""]))
    roles = ["-c", "*", "-c", "^a$", "-c", "^b$", "--null", "-", "--missing", "group"]
    assert mag_("mask", source, "-o", out, "-k", 2, "--scope", "per-column", *roles)[:1] == (0,)
    assert out.read_text().startswith("*,^a$,^b$\n")


# help and completion


def test_help_names_every_method_and_cost():
    from mag.commands import _options
    from mag.costs import COSTS
    from mag.methods import METHODS

    assert sorted(_options.EVERY_METHOD) == sorted(["auto", *METHODS])
    assert list(_options.COST_NAMES) == list(COSTS)


@pytest.mark.parametrize("command", ["", "check", "compare", "demo", "dp", "graph", "info", "mask", "risk", "utility"])
def test_help_shows_an_example(mag_, monkeypatch, command):
    from mag.methods import METHODS

    monkeypatch.setenv("COLUMNS", "200")
    code, said, complained = mag_(*command.split(), "--help")
    assert (code, complained) == (0, "")
    examples = said.partition("Examples:")[2]
    assert f"mag {command}".strip() in examples
    if command in ("compare", "mask"):
        assert all(f" {name}" in examples for name in METHODS)


def test_examples_of_the_help_are_calls_that_parse(people, mag_, monkeypatch):
    """With names that are not there they fail for that reason, never for an option that does not exist."""
    from mag.commands import function_of
    from mag.commands._app import describe

    monkeypatch.chdir(people.parent)
    for name in ("check", "compare", "dp", "graph", "mask", "risk", "utility"):
        examples = [
            line.split() for line in describe(function_of(name))[1].splitlines() if line.startswith(f"mag {name}")
        ]
        assert examples
        for _, *call in examples:
            call = call[: call.index("||")] if "||" in call else call
            complained = mag_(*call)[2].lower()
            assert complained == "" or "no such file" in complained or "has no column" in complained, (call, complained)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("mag mask people.csv -m mdav_", {"mdav_order", "mdav_plus", "mdav_star", "mdav_star_gamma"}),
        ("mag mask people.csv --cost s", {"sae", "sse", "sse_int"}),
        ("mag mask people.csv --by r", {"region"}),
        ("mag check people.csv --qi ", {"zip", "income", "age", "region", "note"}),
        ("mag mask people.csv --scope per", {"per-column"}),
        ("mag mask none.csv -c ", set()),
        ("mag com", {"compare"}),
    ],
)
def test_a_shell_completes_methods_costs_and_columns(people, words, expected):
    typed = words.split(" ")
    settings = {"_MAG_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(typed) - 1)}
    done = subprocess.run(
        [sys.executable, "-m", "mag.commands.cli"],
        env=os.environ | settings, cwd=people.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert set(done.stdout.split()) == expected


def test_the_script_for_a_shell_is_shown():
    settings = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    command = [sys.executable, "-m", "mag.commands.cli", "--show-completion", "bash"]
    done = subprocess.run(command, env=os.environ | settings, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "_MAG_COMPLETE=complete_bash" in done.stdout


@pytest.fixture
def homes(tmp_path):
    """Members of 30 households."""
    path, rng = tmp_path / "homes.csv", np.random.default_rng(2)
    home = np.repeat(np.arange(30), rng.integers(1, 6, 30))
    rent = rng.lognormal(6, 1, 30).round()[home]
    members = {"hid": [f"h{own}" for own in home], "rent": rent, "age": rng.integers(0, 90, home.size)}
    pl.DataFrame(members | {"wage": rng.lognormal(3, 1, home.size).round(1)}).write_csv(path)
    return path


@pytest.mark.parametrize("out", ["out.csv", "out.parquet"])
def test_mask_counts_households_on_the_file(homes, mag_, out):
    out = homes.with_name(out)
    own = ["--household", "hid", "--household-column", "rent", "--k-household", 3]
    code, said, complained = mag_("mask", homes, "-o", out, "-k", 5, "-c", "rent", "-c", "age", *own, "--rest", "drop")
    assert (code, complained) == (0, "")
    assert "at least 5 records of at least 3 households (hid)" in said
    published = File(out).read([], ["rent", "age"])[0].with_columns(pl.read_csv(homes)["hid"])
    counted = published.group_by("rent", "age").agg(pl.col("hid").n_unique(), pl.len())
    manifest = json.loads(out.with_name(out.name + ".manifest.json").read_text())
    assert manifest["verified"]["households"]["smallest"] == counted["hid"].min() >= 3
    assert counted["len"].min() >= 5
    assert published.group_by("hid").agg(pl.col("rent").n_unique())["rent"].max() == 1
    with_ids = out.with_name("with_ids.csv")
    published.write_csv(with_ids)
    ask = ["check", with_ids, "--qi", "rent", "--qi", "age", "-k", 5, "--household", "hid", "--k-household"]
    code, said, _ = mag_(*ask, counted["hid"].min())
    assert code == 0
    assert [line[:8] for line in said.splitlines()] == ["PASS k=5", f"PASS k={counted['hid'].min()}"]
    code, said, _ = mag_(*ask, counted["hid"].min() + 1)
    assert code == 1
    assert "counted by hid; smallest class" in said.splitlines()[1]


@pytest.mark.parametrize("out", ["out.csv", "out.parquet"])
def test_mask_and_check_count_sets(homes, mag_, out):
    out = homes.with_name(out)
    columns = [word for name in ("rent", "age", "wage") for word in ("-c", name)]
    sets = ["--set", "rent+age", "--set", "wage=3"]
    code, said, complained = mag_("mask", homes, "-o", out, "-k", 5, *columns, *sets, "--drop", "hid")
    assert code == 0
    assert "column 'hid' looks like the names of 30 people" in complained
    assert "rent, age: k = 5 records" in said
    published = File(out).read([], ["rent", "age", "wage"])[0]
    least = [published.group_by(names).len()["len"].min() for names in (["rent", "age"], ["wage"], published.columns)]
    manifest = json.loads(out.with_name(out.name + ".manifest.json").read_text())
    assert manifest["verified"]["smallest_by_set"] == least[:2]
    assert manifest["verified"]["smallest"] == manifest["guarantee"]["smallest"] == least[2]
    for ask in (["-k", 5, *sets], ["--manifest", out.with_name(out.name + ".manifest.json")]):
        code, said, _ = mag_("check", out, *ask)
        assert code == 0
        every = f"each of {len(published)} records matches at least"
        assert said.splitlines() == [
            f"PASS k=5: {every} 4 others in rent, age; smallest class {least[0]}.",
            f"PASS k=3: {every} 2 others in wage; smallest class {least[1]}.",
            f"In all of these columns together, the smallest class is {least[2]}.",
        ]  # fmt: skip
    code, said, _ = mag_("check", out, "--set", "rent+age+wage=5", "--set", "wage=3", "--json")
    facts = json.loads(said)
    assert (code, facts["holds"], facts["together"]) == (1, False, least[2])
    assert [count["holds"] for count in facts["counts"]] == [False, True]


def test_a_set_that_the_written_file_breaks_is_refused(homes, mag_, monkeypatch):
    counts = File.counts
    monkeypatch.setattr(File, "counts", lambda file, *names, **more: [*counts(file, *names, **more)[:-1], {2: 1}])
    out = homes.with_name("out.csv")
    sets = ["--set", "rent", "--set", "age", "--rest", "drop"]
    code, _, complained = mag_("mask", homes, "-o", out, "-k", 3, "-c", "rent", "-c", "age", *sets)
    assert code == 1
    assert "a class of 2 equal records in age where k=3 are promised" in complained
    assert not out.exists()


@pytest.mark.parametrize(
    ("command", "options", "sentence"),
    [
        ("mask", ["--set", "rent+wage"], "--set must be NAME+NAME or NAME+NAME=K, of columns of -c; got 'rent+wage'."),
        ("mask", ["--set", "rent"], "sets must together name all of columns; they lack 'age'."),
        ("mask", ["--k-household", 3], "--k-household is not used without household=; leave it out."),
        ("mask", ["--household", "hid", "--household-column", "age"], "'age' has several in"),
        ("mask", ["--household", "house"], "has no column 'house'"),
        ("check", ["--set", "rent"], "--set must end in =K, unless -k says it for all sets."),
        ("check", ["--set", "rend=3"], "--set must be NAME+NAME or NAME+NAME=K, of columns of FILE; got 'rend=3'."),
        ("check", ["--set", "rent=3", "--k-household", 3], "--k-household is not used without --household; leave it"),
        ("check", ["--set", "rent=3", "--household", "rent"], "--household must not be one of --qi; got 'rent'."),
        ("check", [], "--qi and -k, --set or --manifest must say what to check; got none of them."),
    ],
)  # fmt: skip
def test_wrong_sets_and_households_are_one_sentence(homes, mag_, command, options, sentence):
    ask = ["-o", homes.with_name("out.csv"), "-k", 3, "-c", "rent", "-c", "age", "--rest", "drop"]
    code, _, complained = mag_(command, homes, *(ask if command == "mask" else []), *options)
    assert code == 2
    assert sentence in complained


def test_a_column_of_units_is_noted(homes, mag_):
    ask = ["mask", homes, "-o", homes.with_name("out.csv"), "-k", 3, "-c", "age", "-c", "wage", "--rest", "drop"]
    code, _, complained = mag_(*ask)
    assert code == 0
    assert "mag: note: column 'hid' looks like the names of 30 people or households, which have" in complained
    assert "pass --unit hid to count them." in complained
    assert mag_(*ask, "--overwrite", "--quiet")[2] == ""
    assert mag_(*ask, "--overwrite", "--unit", "hid")[2] == ""


@pytest.mark.parametrize("command", ["generalize", "suppress"])
def test_recoding_and_suppression_note_a_column_of_units(homes, mag_, command):
    ask = [command, homes, "--dry-run", "-k", 3, "-c", "age", "--rest", "drop"]
    ask += ["--intervals", "age=0:120:10,40"] if command == "generalize" else []
    code, _, complained = mag_(*ask)
    assert code == 0
    assert "mag: note: column 'hid' looks like the names of 30 people or households, which have" in complained
    assert mag_(*ask, "--quiet")[2] == ""
    assert mag_(*ask, "--unit", "hid")[2] == ""
