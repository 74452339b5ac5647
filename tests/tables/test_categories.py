"""Categories in columns: the embedding, representatives, dtypes, the guarantee, and no leaks."""

import itertools
import json
import pickle
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mag
from mag.commands.cli import main
from mag.frames import frame_of
from mag.frames.categories import categories_of
from tests.data.frames import CATEGORICAL, LIBRARIES, cells
from tests.data.hierarchies import ADULT, JOBS, LEVELS, TREE, adult, rows

JOB = ["baker", "painter", "baker", "dentist", "surgeon", "surgeon", "dentist", "painter"]
AGE = [20, 21, 22, 60, 61, 62, 63, 23]


def embedded(values, tree=None, order=None):
    return categories_of(frame_of({"x": values}).column("x"), "x", tree, order)


@given(rows())
def test_squared_distances_are_losses_of_common_ancestors(listed):
    tree = mag.Hierarchy.from_levels(listed)
    column = embedded([row[0] for row in listed], tree)
    points = column.embedding()
    for one, other in itertools.combinations(range(len(listed)), 2):
        (node,) = tree.common_ancestors(column.leaves[[one, other]], np.array([0, 0]))
        assert np.square(points[one] - points[other]).sum() == pytest.approx(tree.loss[node])


def test_distances_without_a_tree_are_equal_and_those_of_ranks_are_not():
    flat = embedded(["a", "b", "c"]).embedding()
    assert [np.square(flat[i] - flat[j]).sum() for i, j in ((0, 1), (0, 2), (1, 2))] == pytest.approx([1, 1, 1])
    ranks = embedded(["low", "high", "middle"], order=LEVELS)
    assert ranks.labels == LEVELS
    assert ranks.embedding()[:, 0].tolist() == [0, 0.5, 1]


def closest(jobs):
    """The first label that all share, by the rows."""
    paths = [next(row for row in JOBS if row[0] == job) for job in jobs]
    return next(path[0] for path in zip(*paths, strict=True) if len(set(path)) == 1)


@pytest.mark.parametrize("library", LIBRARIES)
def test_ancestors_are_true_for_every_record(library):
    table = LIBRARIES[library]({"age": AGE, "job": JOB})
    release = mag.microaggregate(table, 2, ["age", "job"], hierarchies={"job": TREE})
    labels = release.grouping.labels
    expected = [closest([job for job, other in zip(JOB, labels, strict=True) if other == own]) for own in labels]
    assert cells(release.data, "job") == expected
    assert release.guarantee.generalized == ("job",)
    assert release.guarantee.replaced == ("age",)
    assert "job is generalized: true for every record. age is replaced by one value for each group." in str(
        release.guarantee
    )
    assert min(Counter(zip(cells(release.data, "age"), cells(release.data, "job"), strict=True)).values()) >= 2
    assert type(release.data) is type(table)


def test_the_thesis_table_3_3():
    table = {
        "job": ["dentist", "dentist", "baker", "painter", "painter", "surgeon", "unknown"],
        "g": [0, 0, 1, 1, 2, 2, 2],
    }
    release = mag.microaggregate(table, 2, "job", by="g", hierarchies={"job": TREE})
    assert release.data["job"].tolist() == ["dentist"] * 2 + ["crafts"] * 2 + ["*"] * 3
    assert release.ncp() == pytest.approx((2 * 0.4 + 3) / 7)


def test_modes_medians_medoids_and_ranges_by_hand():
    table = {"x": ["b", "a", "a", "c", "b", "c", "c"], "g": [0, 0, 0, 0, 1, 1, 1]}
    mode = mag.microaggregate(table, 3, "x", by="g", aggregate="mode")
    assert mode.data["x"].tolist() == ["a"] * 4 + ["c"] * 3
    assert mode.guarantee.replaced == ("x",)
    tie = mag.microaggregate({"x": ["b", "a", "b", "b"], "g": [0, 0, 1, 1]}, 2, "x", by="g", aggregate="mode")
    assert tie.data["x"].tolist() == ["b"] * 4  # which more records of the table have
    ranks = {"x": ["low", "high", "middle", "low"], "g": [0] * 4}
    for how, expected in {
        "median": "low", "max": "high", "min": "low", "mode": "low", "medoid": "middle", "range": "[low, high]",
    }.items():  # fmt: skip
        release = mag.microaggregate(ranks, 4, "x", by="g", order={"x": LEVELS}, aggregate=how)
        assert release.data["x"].tolist() == [expected] * 4
    jobs = {"x": ["baker", "painter", "surgeon"], "g": [0] * 3}
    medoid = mag.microaggregate(jobs, 3, "x", by="g", hierarchies={"x": TREE}, aggregate="medoid")
    assert medoid.data["x"].tolist() == ["baker"] * 3
    weighted = mag.microaggregate(table, 3, "x", by="g", aggregate="mode", weights=[9, 1, 1, 1, 1, 1, 1])
    assert weighted.data["x"].tolist() == ["b"] * 4 + ["c"] * 3


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=2, max_size=20))
def test_representatives_equal_their_definitions(pairs):
    groups, codes = ([pair[i] for pair in pairs] for i in (0, 1))
    present = [LEVELS[0], *LEVELS[1:], "top"]
    values = [present[code] for code in codes]
    sizes = Counter(groups)
    table = {"x": values, "g": groups}
    for how in ("median", "mode", "min", "max"):
        release = mag.microaggregate(table, min(sizes.values()), "x", by="g", order={"x": present}, aggregate=how)
        labels = release.grouping.labels.tolist()
        for label in set(labels):
            own = sorted(code for code, other in zip(codes, labels, strict=True) if other == label)
            ways = {
                "median": own[(len(own) - 1) // 2],
                "min": own[0],
                "max": own[-1],
                "mode": min(own, key=lambda code: (-own.count(code), -codes.count(code), code)),
            }
            published = {cell for cell, other in zip(release.data["x"].tolist(), labels, strict=True) if other == label}
            assert published == {present[ways[how]]}


def test_ranges_of_numbers_and_of_dates_are_text():
    days = np.array(["2026-01-05", "2026-01-01", "2026-03-01", "2026-02-01"], "M8[D]")
    table = {"age": [30, 20, 61, 60], "day": days, "income": [1.26, 1.0, 5.0, 5.04]}
    release = mag.microaggregate(table, 2, ["age", "day", "income"], aggregate="range", round={"income": 1})
    assert release.data["age"].tolist() == ["[20, 30]"] * 2 + ["[60, 61]"] * 2
    assert release.data["day"].tolist() == ["[2026-01-01, 2026-01-05]"] * 2 + ["[2026-02-01, 2026-03-01]"] * 2
    assert release.data["income"].tolist() == ["[1, 1.3]"] * 2 + ["[5, 5.1]"] * 2  # rounded outwards
    assert "Published as text: age, day, income." in release.warnings
    single = mag.microaggregate({"age": [30, 20, 61, 60]}, 2, "age", aggregate="range")
    assert single.data["age"].tolist() == ["[20, 30]"] * 2 + ["[60, 61]"] * 2


# ---- dtypes


@pytest.mark.parametrize("how", ["ancestor", "mode"])
@pytest.mark.parametrize("library", CATEGORICAL)
def test_categoricals_stay_categorical_without_unused_categories(library, how):
    kinds = ["unused secret", *(row[0] for row in JOBS)]
    table = CATEGORICAL[library](JOB, kinds)
    release = mag.microaggregate(table, 4, "x", hierarchies={"x": TREE}, aggregate=how)
    column, before = release.data["x"], table["x"]
    published = cells(release.data, "x")
    assert set(published) <= {"crafts", "medicine", "*", "baker", "painter", "dentist", "surgeon"}
    assert pickle.dumps(release).find(b"secret") < 0
    if library.startswith("pandas"):
        assert isinstance(column.dtype, pd.CategoricalDtype)
        assert sorted(column.dtype.categories) == sorted(set(published))
    elif library == "polars Enum":
        assert sorted(column.dtype.categories.to_list()) == sorted(set(published))
    elif library == "polars":
        assert column.dtype == before.dtype
    else:
        assert column.type == before.type
        assert sorted(column.chunk(0).dictionary.to_pylist()) == sorted(set(published))


def test_ordered_categories_keep_their_order():
    kind = pd.CategoricalDtype([*LEVELS, "unused"], ordered=True)
    table = pd.DataFrame({"x": pd.Categorical(["high", "low", "middle", "high", "low", "low"], dtype=kind)})
    release = mag.microaggregate(table, 3, "x")
    assert release.data["x"].tolist() == ["high", "low", "high", "high", "low", "low"]
    assert release.data["x"].dtype == pd.CategoricalDtype(["low", "high"], ordered=True)
    assert release.grouping.method == "univariate"
    polars = pl.DataFrame({"x": pl.Series(table["x"].tolist(), dtype=pl.Enum([*LEVELS, "unused"]))})
    assert mag.microaggregate(polars, 3, "x").data["x"].dtype == pl.Enum(["low", "high"])


def test_booleans_and_numbers_with_a_tree():
    release = mag.microaggregate(pl.DataFrame({"x": [True, True, False, True]}), 4, "x", aggregate="mode")
    assert release.data["x"].to_list() == [True] * 4
    tree = mag.Hierarchy.intervals(0, 100, [10, 50])
    aged = mag.microaggregate(pa.table({"age": AGE, "y": AGE}), 4, ["age", "y"], hierarchies={"age": tree})
    assert set(aged.data["age"].to_pylist()) == {"[20, 30)", "[60, 70)"}
    assert aged.data["age"].type == pa.string()
    assert aged.utility()["records"] == 8
    assert list(aged.numbers()[0]) == ["y"]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("how", ["ancestor", "mode"])
def test_missing_categories_are_grouped_or_withheld(library, how):
    table = LIBRARIES[library]({"x": [*JOB, None, None], "y": [*AGE, 1, 2]})
    options = {"hierarchies": {"x": TREE}, "aggregate": {"x": how}}
    with pytest.raises(ValueError, match="missing values: 2 in 'x'"):
        mag.microaggregate(table, 2, ["x", "y"], **options)
    grouped = mag.microaggregate(table, 2, ["x", "y"], missing="group", **options)
    published = cells(grouped.data, "x")
    assert [i for i, cell in enumerate(published) if cell is None or cell != cell] == [8, 9]
    assert 0 < grouped.ncp() < 1
    assert mag.microaggregate(table, 2, ["x", "y"], missing="drop", **options).withheld == 2


def test_shuffled_records_stay_together():
    table = pl.DataFrame({"x": JOB, "y": AGE, "id": range(8)})
    release = mag.microaggregate(
        table, 2, ["x", "y"], keep="id", hierarchies={"x": TREE}, shuffle=True, aggregate={"y": "range"}
    )
    for job, age, number in release.data.rows():
        row = next(row for row in JOBS if row[0] == JOB[number])
        low, high = age.strip("[]").split(", ") if "[" in age else (age, age)
        assert job in row
        assert int(low) <= AGE[number] <= int(high)
    plain = mag.microaggregate(table, 2, ["x", "y"], keep="id", hierarchies={"x": TREE})
    assert release.ncp() == pytest.approx(plain.ncp())


def test_importance_decides_what_is_kept():
    table = {"x": ["a", "b", "a", "b"] * 4, "y": [0.0, 0.0, 9.0, 9.0] * 4}
    for name, other in (("x", "y"), ("y", "x")):
        release = mag.microaggregate(
            table, 8, ["x", "y"], importance={name: 10}, method="mdav", aggregate={"x": "mode"}
        )
        before, after = table[name], release.data[name].tolist()
        assert after == before
        assert release.data[other].tolist() != table[other]


TABLE = {"x": JOB, "y": AGE}
MISTAKES = {
    "hierarchies must name columns that are masked; got 'z'.": {"hierarchies": {"z": TREE}},
    "hierarchies must be a dictionary by column; got 'x'.": {"hierarchies": "x"},
    "hierarchies['x'] has no leaf for 2 values of 4 records; its method check lists them, and other='root' or its "
    "method with_other publishes them as its root.": {
        "hierarchies": {"x": mag.Hierarchy.flat(["baker", "painter"])}
    },
    "order['x'] must hold every value of the column; 3 values of 6 records are not in it.": {"order": {"x": ["baker"]}},
    "aggregate of 'x' (nominal) must be one of 'medoid', 'mode'; got 'mean'.": {"aggregate": "mean"},
    "aggregate of 'y' (number) must be one of 'max', 'mean', 'median', 'mid_range', 'min', 'range'; got "
    "'ancestor'.": {"aggregate": {"x": "mode", "y": "ancestor"}},
    "importance['y'] must be a positive number; got 0.": {"importance": {"y": 0}, "aggregate": {"x": "mode"}},
    "hierarchies is not used by numbers that are grouped by themselves; leave it out.": {
        "hierarchies": {"x": TREE}, "scope": "per-column",
    },
}  # fmt: skip


@pytest.mark.parametrize("sentence", MISTAKES)
def test_mistakes_are_one_sentence(sentence):
    with pytest.raises(mag.InputError) as error:
        mag.microaggregate(TABLE, 2, ["x", "y"], **MISTAKES[sentence])
    assert str(error.value) == sentence


def test_the_manifest_names_columns_and_no_labels():
    release = mag.microaggregate(TABLE, 2, ["x", "y"], hierarchies={"x": TREE})
    manifest = release.manifest()
    assert manifest["options"]["hierarchies"] == ["x"]
    assert manifest["guarantee"]["generalized"] == ["x"]
    plain = mag.microaggregate({"y": AGE}, 2, "y").manifest()
    assert not {"hierarchies", "order", "importance"} & set(plain["options"])
    assert not {"generalized", "replaced"} & set(plain["guarantee"])


def test_reports_and_manifests_of_categories(tmp_path):
    options = {"hierarchies": {"x": TREE}, "aggregate": {"x": "mode", "y": "median"}, "importance": {"y": 2}}
    release = mag.microaggregate(TABLE, 2, ["x", "y"], **options)
    json.dumps(release.manifest())
    assert "x, y are replaced by one value for each group" in release.report(tmp_path / "report.html").read_text()
    copied = pickle.loads(pickle.dumps(release))
    with pytest.raises(RuntimeError, match="ncp can only be asked of a joint release"):
        copied.ncp()


# ---- random tables


def category_table(library, x, y, order):
    """A column of jobs, one of numbers and one of ranks, with categories that no record has."""
    jobs, ranks = ["unused secret", *(row[0] for row in JOBS)], [*LEVELS, "never"]
    if library == "pandas":
        ordered = pd.Categorical(order, ranks, ordered=True)
        return pd.DataFrame({"x": pd.Categorical(x, jobs), "y": y, "o": ordered})
    if library == "pandas arrow":
        kind = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
        return pd.DataFrame({"x": pd.Series(x, dtype=kind), "y": y, "o": pd.Categorical(order, ranks, ordered=True)})
    if library == "polars":
        return pl.DataFrame(
            {"x": pl.Series(x, dtype=pl.Categorical), "y": y, "o": pl.Series(order, dtype=pl.Enum(ranks))}
        )
    codes = pa.array([ranks.index(rank) for rank in order], pa.int8())
    parts = [pa.array(part, pa.string()).dictionary_encode() for part in (x[:3], x[3:])]
    ordered = pa.DictionaryArray.from_arrays(codes, pa.array(ranks), ordered=True)
    return pa.table({"x": pa.chunked_array(parts), "y": y, "o": ordered})


@pytest.mark.parametrize("library", ["pandas", "pandas arrow", "polars", "pyarrow"])
def test_random_tables_are_anonymous_and_true(library):
    rng = np.random.default_rng(0)
    for _ in range(40):
        n, k = int(rng.integers(4, 40)), int(rng.integers(1, 5))
        x = [None if rng.random() < 0.1 else JOBS[i][0] for i in rng.integers(0, 5, n)]
        order, y = [LEVELS[i] for i in rng.integers(0, 3, n)], rng.integers(0, 30, n).tolist()
        how = {
            "x": "ancestor",
            "o": rng.choice(["median", "range", "mode", "max", "medoid"]),
            "y": rng.choice(["mean", "range"]),
        }
        options = {"aggregate": {name: str(word) for name, word in how.items()}, "hierarchies": {"x": TREE}}
        table = category_table(library, x, y, order)
        release = mag.microaggregate(table, k, ["x", "y", "o"], missing="group", small_strata="suppress", **options)
        published = [["" if pd.isna(cell) else cell for cell in cells(release.data, name)] for name in "xyo"]
        assert min(Counter(zip(*published, strict=True)).values()) >= k
        rows_left = np.setdiff1d(np.arange(n), release.withheld_rows())
        paths = {None: [""], **{row[0]: row for row in JOBS}}
        assert all(cell in paths[x[row]] for row, cell in zip(rows_left.tolist(), published[0], strict=True))
        stored = pickle.dumps(release)
        assert b"secret" not in stored
        assert b"never" not in stored


def test_the_command_takes_hierarchies(tmp_path):
    people = pl.DataFrame({"job": JOB * 4, "age": AGE * 4})
    people.write_csv(tmp_path / "in.csv")
    TREE.to_arx(tmp_path / "jobs.csv")
    words = ["mask", tmp_path / "in.csv", "-o", tmp_path / "out.csv", "-k", "3", "-c", "job", "-c", "age"]
    assert main([*map(str, words), "--hierarchy", f"job={tmp_path / 'jobs.csv'}"]) == 0
    out = pl.read_csv(tmp_path / "out.csv")
    assert set(out["job"]) <= {label for row in JOBS for label in row}
    assert out.group_by("job", "age").len()["len"].min() >= 3


def test_categories_and_ranges_are_measured_by_their_loss_unless_the_caller_says_otherwise():
    random = np.random.default_rng(0)
    table = pl.DataFrame({"age": random.integers(18, 90, 300), "job": random.choice(JOB, 300, p=[0.65, *[0.05] * 7])})
    options = {"columns": ["age", "job"], "hierarchies": {"job": TREE}, "aggregate": {"age": "range"}}
    releases = {how: mag.microaggregate(table, 5, standardize=how, **options) for how in (None, "range", True)}
    labels = {how: release.grouping.labels.tolist() for how, release in releases.items()}
    assert labels[None] == labels["range"] != labels[True]
    recorded = {how: release.manifest()["options"]["standardize"] for how, release in releases.items()}
    assert recorded == {None: "range", "range": "range", True: True}
    averaged = mag.microaggregate(table, 5, **options | {"aggregate": None})
    assert averaged.grouping.labels.tolist() == labels[True]
    assert averaged.manifest()["options"]["standardize"] is True


# ---- Adult


@adult
def test_ona_star_loses_less_than_mondrian_with_pooled_children():
    names = ["sex", "age", "race", "marital-status", "education", "native-country"]
    people = pl.read_csv(ADULT / "adult.csv", separator=";").select(names).head(4000)
    trees = {name: ADULT / f"adult_hierarchy_{name}.csv" for name in names if name != "age"}
    options = {"hierarchies": trees, "aggregate": {"age": "range"}, "standardize": "range"}
    release = mag.microaggregate(people, 5, names, method="ona_star", **options)
    assert release.ncp() < 0.0702  # of Mondrian over trees, on 4000 records
    assert release.guarantee.smallest >= 5
