"""`mag.plan`: roles and reasons; plans as files, as arguments, and of releases."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import mag

RNG = np.random.default_rng(7)
N = 120
JOBS = ["baker", "cook", "dentist", "surgeon"]
ROWS = [["baker", "food", "*"], ["cook", "food", "*"], ["dentist", "medicine", "*"], ["surgeon", "medicine", "*"]]
PEOPLE = pd.DataFrame(
    {
        "fullName": [f"person {i}" for i in range(N)],
        "patient_id": np.arange(N) // 2,
        "age": RNG.integers(20, 70, N),
        "job": RNG.choice(JOBS, N),
        "rent": np.where(np.arange(N) % 10 == 0, np.nan, RNG.normal(900, 200, N).round(2)),
        "wt": RNG.uniform(0.5, 2, N),
        "diagnosis": RNG.choice(["flu", "gout", "burn"], N),
        "wave": 3,
        "empty": [None] * N,
    }
)


def test_roles_follow_names_types_and_uniqueness():
    plan = mag.plan(PEOPLE, k=4)
    assert {column.name: column.role for column in plan.columns} == {
        "fullName": "drop",
        "patient_id": "unit",
        "age": "mask",
        "job": "mask",
        "rent": "mask",
        "wt": "drop",
        "diagnosis": "sensitive",
        "wave": "keep",
        "empty": "drop",
    }
    assert plan.options == {"k": 4, "missing": "group", "small_strata": "suppress"}
    assert dict(plan.columns[3].settings) == {"aggregate": "mode"}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, dict])
def test_columns_with_one_value_in_every_household_say_so(make):
    rng = np.random.default_rng(2)
    home = np.repeat(np.arange(60), 3)
    rent, age = rng.normal(size=60)[home], rng.integers(0, 90, 180)
    gap = np.where(home % 2, np.nan, rent)
    suggested = mag.plan(make({"hid": home, "rent": rent, "age": age, "gap": gap}), 3)
    ends = {column.name: column.reason.endswith("may be one of household_columns") for column in suggested.columns}
    assert ends == {"hid": False, "rent": True, "age": False, "gap": True}
    suggested = mag.plan(make({"rent": rent, "age": age}), 3)
    assert not any("household" in column.reason for column in suggested.columns)


@pytest.mark.parametrize("names", [("patient_id", "hid"), ("person_id", "household_id"), (None, "HHID"), ("pid", None)])
def test_people_and_households_have_roles_of_their_own(names):
    home = np.arange(N) // 6
    table = dict(zip(names, (np.arange(N) // 2, home), strict=True)) | {"age": np.arange(N), "rent": home * 7.5}
    table.pop(None, None)
    suggested = mag.plan(table, k=3)
    roles = {column.name: column.role for column in suggested.columns}
    assert [roles.get(name) for name in names] == [
        name and role for name, role in zip(names, ("unit", "household"), strict=True)
    ]
    release = mag.microaggregate(table, **suggested.keywords())
    assert release.guarantee.k_household == (3 if names[1] else None)
    assert (release.guarantee.unit, release.guarantee.household) == names


def test_two_whole_values_are_not_averaged():
    [sex, age] = mag.plan({"sex": [1, 2] * 30, "age": list(range(20, 80))}).columns
    assert (sex.settings, age.settings) == ({"aggregate": "mode"}, {})


def test_reasons_say_how_many_records_are_unique():
    table = {"age": [30, 30, 31, 32], "sex": ["f", "m", "f", "f"], "zip code": [1, 1, 2, 2]}
    reasons = {column.name: column.reason for column in mag.plan(table, k=2).columns}
    assert "alone it makes 50% of the records unique, with sex 100%" in reasons["age"]
    assert "alone it makes 25% of the records unique" in reasons["sex"]
    assert "alone it makes 0% of the records unique, with sex 50%" in reasons["zip code"]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, lambda columns: columns])
def test_a_suggested_plan_masks_tables_of_every_library(make):
    columns = {"age": np.arange(40) % 23, "income": RNG.normal(size=40), "name": np.array([f"n{i}" for i in range(40)])}
    table = make(columns)
    release = mag.microaggregate(table, **mag.plan(table, k=3).keywords())
    assert release.guarantee.smallest >= 3
    assert release.guarantee.columns == ("age", "income")


def test_no_cell_is_in_a_plan():
    marked = pd.DataFrame({"who": [f"canary{i}" for i in range(30)], "amount": 777_000.25 + np.arange(30) * 1000})
    text = str(mag.plan(marked))
    assert "canary" not in text
    assert "777" not in text


def test_a_file_says_the_same_when_it_is_read(tmp_path):
    plan = mag.plan(PEOPLE, k=4)
    path = plan.save(tmp_path / "plan.toml")
    assert mag.Plan.read(path) == plan
    with pytest.raises(FileExistsError, match="exists"):
        plan.save(path)
    plan.save(path, overwrite=True)


@pytest.mark.filterwarnings("ignore::mag.UnitsWarning")
def test_the_plan_of_a_release_repeats_it(tmp_path):
    tree = mag.Hierarchy.from_levels(ROWS)
    options = {
        "columns": ["age", "job", "rent"],
        "by": "wave",
        "drop": ["fullName", "empty", "patient_id", "wt"],
        "hierarchies": {"job": tree},
        "importance": {"age": 2.0},
        "aggregate": {"age": "median"},
        "missing": "group",
        "small_strata": "suppress",
        "diversity": {"diagnosis": ("entropy", 1.5)},
        "closeness": {"diagnosis": mag.Closeness(0.6, "equal")},
        "method": "mdav_star",
    }
    release = mag.microaggregate(PEOPLE, 3, **options)
    path = release.plan().save(tmp_path / "plan.toml")
    assert (tmp_path / "plan.job.csv").exists()
    again = mag.microaggregate(PEOPLE, **mag.Plan.read(path).keywords())
    pd.testing.assert_frame_equal(again.data, release.data)
    assert str(again.guarantee) == str(release.guarantee)


def test_combined_values_and_sizes_by_column_are_kept(tmp_path):
    table = {"x": RNG.normal(size=30), "y": RNG.normal(size=30), "a": ["p", "q"] * 15, "b": ["r", "s", "s"] * 10}
    combined = mag.microaggregate(table, 5, ["x", "y"], sensitive=["a", "b"], diversity={("a", "b"): 2})
    read = mag.Plan.read(combined.plan().save(tmp_path / "one.toml"))
    assert read.keywords()["diversity"] == {("a", "b"): 2}
    single = mag.microaggregate(table, {"x": 3, "y": 5}, ["x", "y"], scope="per-column", drop=["a", "b"])
    assert mag.Plan.read(single.plan().save(tmp_path / "two.toml")).keywords()["k"] == {"x": 3, "y": 5}


def test_special_values_and_derived_columns_are_kept(tmp_path):
    wage, rent = RNG.integers(100, 900, (2, 60))
    income = np.where(np.arange(60) % 5 == 0, 0, RNG.integers(1000, 9000, 60))
    table = pd.DataFrame({"total": wage + rent, "wage": wage, "usd": 1.1 * wage, "rent": rent, "income": income})
    derived = {"follow": {"usd": "wage"}, "sums": {"total": ("wage", "rent")}}
    special = {"income": np.array([0, -9])}
    release = mag.microaggregate(table, 4, ["wage", "rent", "income"], special=special, **derived)
    path = release.plan().save(tmp_path / "plan.toml")
    plan = mag.Plan.read(path)
    assert plan.keywords() == {
        "k": 4,
        "columns": ["wage", "rent", "income"],
        "special": {"income": [0, -9]},
        "follow": {"usd": "wage"},
        "sums": {"total": ["wage", "rent"]},
    }
    again = mag.microaggregate(table, **plan.keywords())
    pd.testing.assert_frame_equal(again.data, release.data)
    one = mag.microaggregate(table, 4, ["wage", "rent", "income"], follow={"usd": "wage"}, sums={"total": "wage"})
    assert mag.Plan.read(one.plan().save(path, overwrite=True)).keywords()["sums"] == {"total": "wage"}


@pytest.mark.filterwarnings("ignore::mag.UnitsWarning")
def test_pickles_hold_no_plan():
    release = mag.microaggregate(PEOPLE, 3, ["age"], rest="drop")
    assert release.plan().names_of("drop")
    with pytest.raises(mag.InputRuntimeError, match="plan needs the release"):
        pickle.loads(pickle.dumps(release)).plan()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("k = ", "must be a plan in TOML; it cannot be read at"),
        ("k = 5", "must be a plan with version = 1"),
        ("version = 1\ncolumns = 3", r"must have tables \[columns\]"),
        ('version = 1\n[columns]\nage = {role = "hide"}', "the role of column 'age' must be one of mask, by, keep"),
        ('version = 1\n[columns]\nage = {role = "mask", agregate = "mean"}', "did you mean 'aggregate'"),
        ('version = 1\n[columns]\nusd = {role = "drop", follow = "wage"}', "with role 'mask'; 'usd' has role 'drop'"),
    ],
)
def test_wrong_plans_are_answered_with_one_sentence(tmp_path, text, sentence):
    path = tmp_path / "plan.toml"
    path.write_text(text)
    with pytest.raises(mag.InputError, match=sentence) as error:
        mag.Plan.read(path)
    assert str(error.value).endswith((".", "?"))


@pytest.mark.filterwarnings("ignore::mag.UnitsWarning")
def test_wrong_tables_are_answered_with_one_sentence(tmp_path):
    with pytest.raises(mag.InputValueError, match="k must be"):
        mag.plan(PEOPLE, k=0)
    with pytest.raises(mag.InputTypeError, match="columns must have text as names"):
        str(mag.plan(pd.DataFrame({0: [1.0, 2.0], 1: [1.0, 3.0]}), k=1))
    shuffled = mag.microaggregate(PEOPLE, 3, ["age"], rest="drop", shuffle=True, random_state=np.random.default_rng(1))
    with pytest.raises(mag.InputTypeError, match="random_state must be text"):
        str(shuffled.plan())
    two = mag.Plan.read(_written(tmp_path, 'version = 1\nk = 2\n[columns]\na = {role = "unit"}\nb = {role = "unit"}'))
    with pytest.raises(mag.InputValueError, match="one column with role 'unit'"):
        two.keywords()


def _written(folder, text):
    path = folder / "plan.toml"
    path.write_text(text)
    return path
