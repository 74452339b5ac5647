"""`mag plan`, `mag mask --plan` and `mag rerun`."""

import json
import pathlib

import numpy as np
import polars as pl
import pytest

from mag.tables.plan import plan_of_manifest

N = 60
ROWS = "baker;food;*\ncook;food;*\ndentist;medicine;*\nsurgeon;medicine;*\n"


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    jobs = ["baker", "cook", "dentist", "surgeon"]
    rows = [
        f"person {i};{20 + i * 7 % 41};{jobs[i * 3 % 4]};{-9 if i % 9 == 0 else 1000 + i * 37 % 501},5;"
        f"{1 + i % 28:02}.{1 + i % 12:02}.{1960 + i % 30};{['flu', 'gout'][i * 5 % 3 % 2]}"
        for i in range(N)
    ]
    path.write_text("name;age;job;rent;born;disease\n" + "\n".join(rows) + "\n")
    (tmp_path / "jobs.csv").write_text(ROWS)
    return path


TEXT = ["--decimal-comma", "--delimiter", ";", "--date", "born=%d.%m.%Y", "--null", "rent=-9,-8"]


def test_a_printed_plan_has_every_column_and_how_to_read_the_file(mag_, people):
    code, printed, _ = mag_("plan", people, *TEXT, "-k", 3)
    assert code == 0
    assert 'date = ["born=%d.%m.%Y"]' in printed
    assert 'name = {role = "drop"' in printed
    assert "person" not in printed


def test_a_plan_masks_as_its_options_do(mag_, people, tmp_path):
    plan = tmp_path / "plan.toml"
    assert mag_("plan", people, *TEXT, "-k", 3, "-o", plan)[0] == 0
    edited = plan.read_text().replace('aggregate = "mode"', 'hierarchies = "jobs.csv", importance = 2.0')
    edited = edited.replace(
        'disease = {role = "sensitive"', 'disease = {role = "sensitive", diversity = ["entropy", 1.2]'
    )
    plan.write_text(edited)
    assert mag_("mask", people, "-o", tmp_path / "planned.csv", "--plan", plan, "--quiet") == (0, "", "")
    options = ["-k", 3, "-c", "age", "-c", "job", "-c", "rent", "-c", "born", "--drop", "name"]
    options += [
        "--hierarchy",
        f"job={tmp_path / 'jobs.csv'}",
        "--importance",
        "job=2",
        "--diversity",
        "disease=entropy:1.2",
    ]
    options += ["--missing", "group", "--small-strata", "suppress"]
    assert mag_("mask", people, "-o", tmp_path / "said.csv", *options, *TEXT, "--quiet") == (0, "", "")
    assert (tmp_path / "planned.csv").read_bytes() == (tmp_path / "said.csv").read_bytes()


def test_the_command_line_overrides_the_plan(mag_, people, tmp_path):
    plan = tmp_path / "plan.toml"
    mag_("plan", people, *TEXT, "-k", 3, "-o", plan)
    assert mag_("mask", people, "-o", tmp_path / "out.csv", "--plan", plan, "-k", 7, "--method", "mdav")[0] == 0
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert (manifest["guarantee"]["k"], manifest["options"]["method"]) == (7, "mdav")


def test_a_plan_is_never_replaced_by_the_release(mag_, people, tmp_path):
    plan = tmp_path / "plan.csv"
    plan.write_text((tmp_path / "jobs.csv").read_text())
    mag_("plan", people, *TEXT, "-k", 3, "-o", plan, "--overwrite")
    before = plan.read_bytes()
    code, _, complaint = mag_("mask", people, "-o", plan, "--plan", plan, "--overwrite")
    assert code == 2
    assert "plan.csv" in complaint
    assert plan.read_bytes() == before


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_manifest_repeats_its_release(mag_, people, tmp_path, suffix):
    out = tmp_path / f"out{suffix}"
    options = [
        "-k",
        3,
        "-c",
        "age",
        "-c",
        "job",
        "-c",
        "rent",
        "-c",
        "born",
        "--rest",
        "drop",
        "--diversity",
        "disease=2",
    ]
    options += ["--missing", "group", "--small-strata", "suppress", "--round", "rent=1", "--method", "mdav_star"]
    options += ["--aggregate", "job=mode", "--aggregate", "age=median"]
    assert mag_("mask", people, "-o", out, *options, *TEXT)[::2] == (0, "")
    manifest = tmp_path / f"out{suffix}.manifest.json"
    code, printed, complaint = mag_("rerun", manifest, people)
    assert (code, complaint) == (0, "")
    assert printed == "Equal: all 5 columns, and all bytes of the file.\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["jobs.csv", "people.csv", f"out{suffix}", f"out{suffix}.manifest.json"]
    )


def test_a_changed_input_shows(mag_, people, tmp_path):
    options = ["-k", 3, "-c", "age", "--keep", "disease", "--rest", "drop", *TEXT[:3]]
    assert mag_("mask", people, "-o", tmp_path / "out.csv", *options)[::2] == (0, "")
    changed = people.read_text().replace(";20;", ";70;", 1)
    people.write_text(changed)
    code, printed, _ = mag_("rerun", tmp_path / "out.csv.manifest.json", people)
    assert code == 1
    assert printed == "Different: age; equal columns: 1.\n"
    code, printed, _ = mag_("rerun", tmp_path / "out.csv.manifest.json", people, "--json")
    assert json.loads(printed)["different"] == ["age"]


def test_a_hierarchy_is_named_again(mag_, people, tmp_path):
    tree = ["--hierarchy", f"job={tmp_path / 'jobs.csv'}"]
    options = ["-k", 5, "-c", "age", "-c", "job", "--rest", "drop", *TEXT[:3]]
    assert mag_("mask", people, "-o", tmp_path / "out.csv", *options, *tree)[0] == 0
    manifest = tmp_path / "out.csv.manifest.json"
    code, _, complaint = mag_("rerun", manifest, people)
    assert code == 2
    assert "job" in complaint
    again = tmp_path / "again.csv"
    assert mag_("rerun", manifest, people, "-o", again, "--", *tree)[0] == 0
    assert again.read_bytes() == (tmp_path / "out.csv").read_bytes()


def test_names_of_columns_that_are_not_published_are_in_no_manifest(mag_, people, tmp_path):
    people.write_text(people.read_text().replace(";-9,5;", ";9,5;"))
    options = ["-k", 3, "-c", "age", "--weights", "rent", "--drop", "rent", "--rest", "drop", *TEXT[:3]]
    options += ["--null", "rent=-8", "--null", "age=-7"]
    assert mag_("mask", people, "-o", tmp_path / "out.csv", *options)[::2] == (0, "")
    text = (tmp_path / "out.csv.manifest.json").read_text()
    assert json.loads(text)["text"] == {"delimiter": ";", "decimal_comma": True, "null": ["age=-7"]}
    assert not any(name in text for name in ("rent", "born", "disease"))


def test_wrong_manifests_and_plans_are_one_sentence(mag_, people, tmp_path):
    (tmp_path / "no.json").write_text("[]")
    code, _, complaint = mag_("rerun", tmp_path / "no.json", people)
    assert (code, complaint.count("\n")) == (2, 1)
    assert "must be a manifest that mag mask wrote" in complaint
    plan = tmp_path / "plan.toml"
    for body, sentence in {
        'metod = "mdav"\n[columns]\nage = {role = "mask"}': "metod",
        '[text]\nseparator = ";"\n[columns]\nage = {role = "mask"}': "[text] of a plan must have the keys",
        'backend = "cpu"\n[columns]\nage = {role = "mask"}': "backend of a plan is not an option of mag mask",
        '[columns]\nagge = {role = "mask"}': "did you mean 'age'",
    }.items():
        plan.write_text(f'version = 1\nk = 3\nrest = "drop"\n{body}\n')
        code, _, complaint = mag_("mask", people, "-o", tmp_path / "out.csv", "--delimiter", ";", "--plan", plan)
        assert code == 2, complaint
        assert sentence in complaint
        assert complaint.count("\n") == 1
    assert not pathlib.Path(tmp_path / "out.csv").exists()


def test_shuffled_releases_are_not_repeated(mag_, people, tmp_path):
    options = ["-k", 3, "-c", "age", "--rest", "drop", "--shuffle", *TEXT[:3]]
    mag_("mask", people, "-o", tmp_path / "out.csv", *options)
    code, _, complaint = mag_("rerun", tmp_path / "out.csv.manifest.json", people)
    assert code == 2
    assert "shuffled" in complaint


def test_units_are_suggested_and_counted(mag_, tmp_path):
    path = tmp_path / "visits.csv"
    pl.DataFrame({"patient_id": [i // 3 for i in range(90)], "cost": [i * 7 % 53 for i in range(90)]}).write_csv(path)
    mag_("plan", path, "-k", 4, "-o", tmp_path / "plan.toml")
    assert mag_("mask", path, "-o", tmp_path / "out.csv", "--plan", tmp_path / "plan.toml")[0] == 0
    assert json.loads((tmp_path / "out.csv.manifest.json").read_text())["guarantee"]["unit"] == "patient_id"


def test_plans_hold_households_and_sets(mag_, tmp_path):
    home = [own // 4 for own in range(48)]
    table = {"hid": home, "rent": [own**1.5 for own in home], "age": range(48), "wage": [own**2 for own in range(48)]}
    pl.DataFrame(table).write_csv(tmp_path / "in.csv")
    ask = ["mask", tmp_path / "in.csv", "-k", 3, *(word for name in ("rent", "age", "wage") for word in ("-c", name))]
    own = ["--household", "hid", "--household-column", "rent", "--k-household", 2]
    for name, options in (("own", own), ("sets", ["--set", "rent+age", "--set", "wage=2", "--drop", "hid"])):
        out, again = tmp_path / f"{name}.csv", tmp_path / f"{name}_again.csv"
        assert mag_(*ask, *options, "-o", out)[0] == 0
        manifest = json.loads(out.with_name(out.name + ".manifest.json").read_text())
        plan = plan_of_manifest(manifest)
        plan.save(tmp_path / f"{name}.toml")
        code, said, complained = mag_("mask", tmp_path / "in.csv", "--plan", tmp_path / f"{name}.toml", "-o", again)
        assert code == 0, complained
        assert again.read_bytes() == out.read_bytes()
        assert "2 households (hid)" in said or "wage: k = 2" in said


def test_plans_and_manifests_hold_special_values_and_derived_columns(mag_, tmp_path):
    wage, rent = [100 + i * 37 % 501 for i in range(60)], [200 + i * 53 % 307 for i in range(60)]
    table = {"a+b": wage, "rent": rent, "usd": [1.1 * own for own in wage], "who": [f"person {i}" for i in range(60)]}
    table["total"] = [sum(pair) for pair in zip(wage, rent, strict=True)]
    table["income"] = [0 if i % 5 == 0 else -9.5 if i % 7 == 0 else 1000 + i**2 for i in range(60)]
    source, out, again = tmp_path / "in.csv", tmp_path / "out.csv", tmp_path / "again.csv"
    pl.DataFrame(table, strict=False).write_csv(source)
    options = ["-k", 3, "-c", "a+b", "-c", "rent", "-c", "income", "--drop", "who"]
    options += ["--special", "income=0,-9.5", "--follow", "usd=a+b", "--sum", "total=a+b+rent"]
    assert mag_("mask", source, "-o", out, *options, "--quiet") == (0, "", "")
    manifest = tmp_path / "out.csv.manifest.json"
    assert mag_("rerun", manifest, source) == (0, "Equal: all 5 columns, and all bytes of the file.\n", "")
    plan = plan_of_manifest(json.loads(manifest.read_text()))
    assert {"a+b", "usd", "total"} <= {column.name for column in plan.columns}
    plan.save(tmp_path / "plan.toml")
    assert mag_("mask", source, "-o", again, "--plan", tmp_path / "plan.toml", "--quiet") == (0, "", "")
    assert again.read_bytes() == out.read_bytes()


@pytest.mark.parametrize(
    "words", [["--scope", "per-column"], ["--memory", "4MB", "--unit", "home"]], ids=["by column", "in parts"]
)
def test_files_that_were_never_whole_in_memory_are_masked_again(tmp_path, mag_, words):
    """Their manifests hold one hash, of the file."""
    generator = np.random.default_rng(0)
    table = pl.DataFrame(
        {"age": generator.integers(20, 60, 400), "wage": generator.normal(size=400), "home": np.arange(400) // 4}
    )
    table.write_parquet(source := tmp_path / "in.parquet")
    manifest = tmp_path / "out.parquet.manifest.json"
    ask = ["mask", source, "-o", tmp_path / "out.parquet", "-k", "5", "-c", "age", "-c", "wage", "--rest", "drop"]
    assert mag_(*ask, *words)[0] == 0
    own = ["--", *words[2:]] if "--unit" in words else []
    assert mag_("rerun", manifest, source, *own) == (0, "Equal: all bytes of the file.\n", "")
    table.with_columns(pl.col("wage") + 1).write_parquet(source)
    code, said, _ = mag_("rerun", manifest, source, *own)
    assert (code, said) == (1, "Different: the file, of whose columns the manifest holds no hashes.\n")
