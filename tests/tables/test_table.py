"""Tables in, tables out: every record like k - 1 others, nothing else changed, or a sentence that says why not."""

import json
import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import mag
from tests.data.frames import LIBRARIES, cells, dtypes, names, smallest_class
from tests.data.people import people


@pytest.fixture(params=LIBRARIES)
def make(request):
    return LIBRARIES[request.param]


# ---- what is promised


@pytest.mark.parametrize("by", [None, "region"])
@pytest.mark.parametrize("scope", ["joint", "per-column"])
def test_records_are_alike_and_the_rest_is_as_it_was(make, scope, by):
    table = make(people())
    others = ["name"] if by else ["region", "name"]
    release = mag.microaggregate(table, 5, ["income", "age"], by=by, keep=others, scope=scope)
    strata = [by] if by else []
    assert type(release.data) is type(table)
    assert names(release.data) == names(table)
    assert dtypes(release.data) == dtypes(table)
    for name in [*others, *strata]:
        assert cells(release.data, name) == cells(table, name)
    for name in ("income", "age"):
        assert cells(release.data, name) != cells(table, name)
        assert smallest_class(release.data, [*strata, name]) >= 5
    joint = smallest_class(release.data, [*strata, "income", "age"])
    assert release.guarantee.smallest == joint
    assert joint >= 5 if scope == "joint" else joint < 5
    assert release.guarantee.holds
    assert release.grouping.labels.shape == ((200,) if scope == "joint" else (200, 2))


def test_groups_do_not_cross_strata_and_means_are_kept():
    table = pl.DataFrame(people())
    release = mag.microaggregate(table, 4, ["income", "age"], by="region", drop="name")
    labels, regions = release.grouping.labels, np.array(table["region"].to_list())
    for g in range(release.grouping.n_groups):
        inside = labels == g
        assert len(set(regions[inside])) == 1
        assert release.data["income"].to_numpy()[inside] == pytest.approx(table["income"].to_numpy()[inside].mean())
    assert release.grouping.sizes.tolist() == np.bincount(labels).tolist()
    assert release.grouping.sizes.min() >= 4


def test_one_column_is_the_optimum_of_univariate():
    values = people()["income"]
    release = mag.microaggregate({"income": values}, 4, "income")
    assert np.allclose(release.data["income"], mag.univariate(values, 4).masked, rtol=1e-12)
    assert release.grouping.method == "univariate"


def test_columns_by_themselves_are_the_optimum_of_columns():
    table = people()
    release = mag.microaggregate(
        table, {"income": 3, "age": 7}, ["income", "age"], drop=["region", "name"], scope="per-column"
    )
    assert np.allclose(release.data["income"], mag.univariate(table["income"], 3).masked, rtol=1e-12)
    assert release.guarantee.smallest_by_column["income"] >= 3
    assert release.guarantee.smallest_by_column["age"] >= 7
    assert release.guarantee.k == {"income": 3, "age": 7}
    assert "not joint k-anonymity" in str(release.guarantee)
    assert f"is {release.guarantee.smallest}" in str(release.guarantee)


def test_joint_groups_are_those_of_multivariate():
    table = people()
    X = np.column_stack([table["income"], table["age"]])
    expected = mag.multivariate(X, 5, method="mdav")
    release = mag.microaggregate(table, 5, ["income", "age"], method="mdav", drop=["region", "name"])
    assert release.grouping.labels.tolist() == expected.labels.tolist()
    assert np.allclose(release.data["income"], expected.masked[:, 0], rtol=1e-12)


# ---- strata


def test_a_stratum_of_one_record(make):
    table = people()
    table["region"][17] = "moon"
    table = make(table)
    with pytest.raises(ValueError, match="1 of 5 strata is too small, with 1 of 200 records") as error:
        mag.microaggregate(table, 5, ["income", "age"], by="region", drop="name")
    assert "moon" not in str(error.value)
    withheld = mag.microaggregate(table, 5, ["income", "age"], by="region", drop="name", small_strata="suppress")
    assert withheld.withheld == 1
    assert len(cells(withheld.data, "region")) == 199
    assert "moon" not in cells(withheld.data, "region")
    if isinstance(table, dict):
        with pytest.raises(ValueError, match="cells of 'region' missing, but its dtype is str"):
            mag.microaggregate(table, 5, ["income", "age"], by="region", drop="name", small_strata="merge")
        return
    merged = mag.microaggregate(table, 5, ["income", "age"], by="region", drop="name", small_strata="merge")
    assert merged.withheld == 0
    assert "moon" not in map(str, cells(merged.data, "region"))
    assert smallest_class(merged.data, ["region", "income", "age"]) >= 5
    assert dtypes(merged.data) == dtypes(
        mag.microaggregate(table, 5, ["income", "age"], keep="region", drop="name").data
    )


def test_small_strata_are_pooled_with_each_other_first():
    table = pd.DataFrame({"x": np.arange(30.0), "a": ["p"] * 20 + ["q"] * 4 + ["r"] * 6, "b": ["u"] * 30})
    release = mag.microaggregate(table, 7, "x", by=["a", "b"], small_strata="merge")
    assert release.data["a"].isna().tolist() == [False] * 20 + [True] * 10
    assert release.data["b"].tolist() == ["u"] * 30  # all of the pool have it
    assert any("pooled" in warning for warning in release.warnings)


def test_a_pool_that_is_small_takes_the_next_smallest():
    table = pd.DataFrame({"x": np.arange(30.0), "a": ["p"] * 20 + ["q"] * 8 + ["r"] * 2})
    release = mag.microaggregate(table, 5, "x", by="a", small_strata="merge")
    assert release.data["a"].isna().tolist() == [False] * 20 + [True] * 10


def test_merging_needs_a_dtype_that_can_be_missing():
    table = pd.DataFrame({"x": np.arange(10.0), "code": [1] * 8 + [2] * 2})
    with pytest.raises(ValueError, match="cells of 'code' missing, but its dtype is int64"):
        mag.microaggregate(table, 3, "x", by="code", small_strata="merge")
    nullable = table.astype({"code": "Int64"})
    assert mag.microaggregate(nullable, 3, "x", by="code", small_strata="merge").data["code"].isna().all()
    required = pa.schema([pa.field("x", pa.float64()), pa.field("code", pa.int64(), nullable=False)])
    with pytest.raises(ValueError, match="cells of 'code' missing"):
        mag.microaggregate(pa.Table.from_pandas(table, schema=required), 3, "x", by="code", small_strata="merge")


def test_k_larger_than_every_stratum(make):
    table = make({"x": np.arange(8.0), "g": list("aabbccdd")})
    with pytest.raises(ValueError, match="4 of 4 strata are too small, with 8 of 8 records"):
        mag.microaggregate(table, 3, "x", by="g")
    with pytest.raises(ValueError, match="at least one record"):
        mag.microaggregate(table, 3, "x", by="g", small_strata="suppress")


def test_k_larger_than_the_table(make):
    with pytest.raises(ValueError, match=r"k must be an integer in \[1, n=4\]; got 5"):
        mag.microaggregate(make({"x": np.arange(4.0)}), 5, "x")
    with pytest.raises(ValueError, match="even all 4 records together are too few"):
        mag.microaggregate(pd.DataFrame({"x": np.arange(4.0), "g": list("abcd")}), 5, "x", by="g", small_strata="merge")


def test_strata_that_collide_when_put_together(make):
    table = make({"x": np.arange(12.0), "a": ["a", "ab"] * 6, "b": ["bc", "c"] * 6})
    labels = mag.microaggregate(table, 3, "x", by=["a", "b"]).grouping.labels
    assert not set(labels[::2]) & set(labels[1::2])
    numbers = make({"x": np.arange(12.0), "a": [1, 11] * 6, "b": [11, 1] * 6})
    labels = mag.microaggregate(numbers, 3, "x", by=["a", "b"]).grouping.labels
    assert not set(labels[::2]) & set(labels[1::2])


def test_missing_strata_are_strata():
    for table in (
        pl.DataFrame({"x": np.arange(9.0), "g": ["a"] * 3 + [None] * 3 + ["b"] * 3}),
        pd.DataFrame({"x": np.arange(9.0), "g": ["a"] * 3 + [None] * 3 + ["b"] * 3}),
        pd.DataFrame({"x": np.arange(9.0), "g": [1.0] * 3 + [np.nan] * 3 + [2.0] * 3}),
    ):
        labels = mag.microaggregate(table, 3, "x", by="g").grouping.labels
        assert len({tuple(labels[i : i + 3]) for i in (0, 3, 6)}) == 3


def test_objects_that_print_otherwise_are_other_strata():
    mixed = [None, float("nan"), pd.NA, pd.NaT, 1, True, 1.0, "1", Decimal("0.1"), Decimal("0.10"), Decimal("NaN")]
    table = pd.DataFrame({"x": np.arange(3.0 * len(mixed)), "g": pd.Series(mixed * 3, dtype=object)})
    release = mag.microaggregate(table, 3, "x", by="g")
    assert release.grouping.n_groups == len(mixed)
    assert smallest_class(release.data, ["g", "x"]) == 3


def test_zeros_of_both_signs_are_two_strata(make):
    release = mag.microaggregate(make({"x": np.arange(9.0), "g": np.array([0.0, -0.0, np.nan] * 3)}), 3, "x", by="g")
    assert release.grouping.n_groups == 3


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table, dict])
def test_nans_of_other_bits_are_other_strata(make):
    other = np.array([0xFFF8000000000001], np.uint64).view(float)[0]
    release = mag.microaggregate(make({"x": np.arange(6.0), "g": np.array([np.nan, other] * 3)}), 3, "x", by="g")
    assert release.grouping.n_groups == 2


def test_unused_categories_go_and_others_keep_their_names():
    kind = pd.CategoricalDtype(["unused", "a", "b", "also unused"], ordered=True)
    table = pd.DataFrame({"x": np.arange(8.0), "g": pd.Categorical(list("aabbabab"), dtype=kind)})
    release = mag.microaggregate(table, 4, "x", by="g")
    assert release.data["g"].dtype == pd.CategoricalDtype(["a", "b"], ordered=True)
    assert release.data["g"].tolist() == table["g"].tolist()
    assert release.grouping.n_groups == 2
    polars = pl.DataFrame({"x": np.arange(8.0), "g": pl.Series(list("aabbabab"), dtype=pl.Enum(["unused", "a", "b"]))})
    assert mag.microaggregate(polars, 4, "x", by="g").data["g"].dtype == pl.Enum(["a", "b"])
    several = pa.chunked_array([pa.array(list("aabb")).dictionary_encode(), pa.array(list("bbaa")).dictionary_encode()])
    arrow = mag.microaggregate(pa.table({"x": np.arange(8.0), "g": several}), 4, "x", by="g")
    assert arrow.grouping.n_groups == 2
    assert arrow.data["g"].to_pylist() == list("aabbbbaa")
    with pytest.raises(TypeError, match="'g' holds categories"):
        mag.microaggregate(table, 4, ["x", "g"], scope="per-column")


# ---- missing cells


def with_holes():
    x = np.arange(12.0)
    y = x[::-1].copy()
    x[:4], y[4:8] = np.nan, np.nan
    return {"x": x, "y": y}


def test_missing_cells_are_counted_in_the_error(make):
    with pytest.raises(ValueError, match="4 in 'x', 4 in 'y'; pass missing='group'"):
        mag.microaggregate(make(with_holes()), 2, ["x", "y"])


def test_missing_cells_are_grouped_with_their_like(make):
    release = mag.microaggregate(make(with_holes()), 2, ["x", "y"], missing="group")
    before, after = release.numbers()
    for name in ("x", "y"):
        assert np.isnan(after[name]).tolist() == np.isnan(before[name]).tolist()
    assert smallest_class(release.data, ["x", "y"]) >= 2
    labels = release.grouping.labels
    assert not set(labels[:4]) & set(labels[4:8])
    assert not set(labels[4:8]) & set(labels[8:])
    with pytest.raises(ValueError, match="3 of 3 strata are too small, with 12 of 12 records"):
        mag.microaggregate(make(with_holes()), 5, ["x", "y"], missing="group")


def test_missing_records_can_be_withheld(make):
    release = mag.microaggregate(make(with_holes()), 2, ["x", "y"], missing="drop")
    assert release.withheld == 8
    assert len(cells(release.data, "x")) == 4


def test_missing_in_every_row_in_different_columns(make):
    values = np.arange(24.0).reshape(8, 3)
    values[np.arange(8), np.arange(8) % 3] = np.nan
    table = make({"a": values[:, 0], "b": values[:, 1], "c": values[:, 2]})
    release = mag.microaggregate(table, 2, ["a", "b", "c"], missing="group")
    assert smallest_class(release.data, ["a", "b", "c"]) >= 2
    with pytest.raises(ValueError, match="at least one record that can be published"):
        mag.microaggregate(table, 2, ["a", "b", "c"], missing="drop")
    with pytest.raises(ValueError, match="even together, 2 records that miss the same cells are too few"):
        mag.microaggregate(table, 3, ["a", "b", "c"], missing="group", small_strata="merge")
    suppressed = mag.microaggregate(table, 3, ["a", "b", "c"], missing="group", small_strata="suppress")
    assert suppressed.withheld == 2


def test_missing_cells_by_column(make):
    release = mag.microaggregate(make(with_holes()), 3, ["x", "y"], missing="group", scope="per-column")
    assert release.guarantee.smallest_by_column["x"] >= 3
    with pytest.raises(ValueError, match="too small"):
        mag.microaggregate(make(with_holes()), 5, ["x", "y"], missing="group", scope="per-column")


def test_null_and_nan_of_polars_are_published_alike():
    table = pl.DataFrame({"x": [1.0, 2.0, float("nan"), None, float("nan"), 3.0]})
    release = mag.microaggregate(table, 3, "x", missing="group")
    assert release.data["x"].null_count() == 3
    only_nan = mag.microaggregate(pl.DataFrame({"x": [1.0, 2.0, float("nan"), float("nan")]}), 2, "x", missing="group")
    assert only_nan.data["x"].null_count() == 0


def test_infinity_is_refused(make):
    with pytest.raises(ValueError, match="column 'x' has 1 infinite value"):
        mag.microaggregate(make({"x": np.array([1.0, np.inf, 2.0])}), 2, "x")


# ---- names and indexes


def test_duplicate_column_names():
    twice = pd.DataFrame([[1.0, 2.0, 3.0]] * 4, columns=["a", "b", "a"])
    with pytest.raises(ValueError, match="more than one column named a"):
        mag.microaggregate(twice, 2, "a")
    with pytest.raises(ValueError, match="more than one column named a"):
        mag.microaggregate(pa.table([[1.0, 2.0], [1.0, 2.0]], names=["a", "a"]), 2, "a")


@pytest.mark.parametrize("index", [[5, 3, 1, 0, 2, 4], [7, 7, 7, 1, 1, 1], list("zyxzyx")])
def test_a_permuted_or_duplicate_index_is_kept(index):
    table = pd.DataFrame({"x": [1.0, 9.0, 2.0, 8.0, 3.0, 7.0], "g": list("abcabc")}, index=pd.Index(index, name="key"))
    release = mag.microaggregate(table, 3, "x", keep="g")
    assert release.data.index.equals(table.index)
    assert release.data.index.name == "key"
    assert release.data["x"].tolist() == [2.0, 8.0] * 3
    assert release.data["g"].tolist() == list("abcabc")
    assert any("index" in warning for warning in release.warnings)


NAMES = ["index", "labels", "literal", "count", "len", "", "level_0", "0", "x bits", "name", "*", "^v.*$", "^$"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("role", ["columns", "by", "keep"])
def test_columns_may_be_called_anything(make, name, role):
    table = make({name: [1, 2, 3, 1, 2, 3], "value": [1.0, 5.0, 2.0, 6.0, 3.0, 7.0]})
    masked = [name, "value"] if role == "columns" else "value"
    release = mag.microaggregate(table, 2, masked, **({} if role == "columns" else {role: name}))
    assert names(release.data) == [name, "value"]
    assert smallest_class(release.data, [name, "value"] if role != "keep" else ["value"]) >= 2


@pytest.mark.parametrize("name", ["*", "^a.*$"])
def test_series_and_fields_may_be_called_like_patterns_of_polars(name):
    cells = pl.DataFrame({name: ["a", "a", "b", "b"], "ab": [1, 1, 2, 2]}).to_struct(name)
    table = {"x": pl.Series(name, [1.0, 2.0, None, None]), "g": cells, "t": pl.Series(name, ["p", "q", None, "r"])}
    release = mag.microaggregate(table, 2, "x", by="g", keep="t", missing="group")
    assert [column.name for column in release.data.values()] == [name] * 3
    assert release.data["g"].equals(cells)
    assert release.data["t"].equals(table["t"])


@pytest.mark.parametrize(
    ("index", "missing", "note"),
    [
        (pd.Index(list("abcd"), name="key"), "error", "index of the table is published unchanged"),
        (None, "drop", "index shows which records are withheld"),
        (None, "error", ""),
    ],
)
def test_the_index_of_series_in_a_dictionary_has_the_note_of_a_frame(index, missing, note):
    x = pd.Series([1.0, 2.0, 8.0, None if missing == "drop" else 9.0], index=index)
    frame = mag.microaggregate(pd.DataFrame({"x": x}), 3, "x", missing=missing)
    for other in (pd.Series([1, 2, 3, 4]), [1, 2, 3, 4]):
        release = mag.microaggregate({"x": x, "y": other}, 3, "x", missing=missing, drop="y")
        assert release.warnings == frame.warnings
        assert bool(release.warnings) == bool(note)
        assert note in "".join(release.warnings)
    assert not mag.microaggregate({"x": x}, 3, "x", missing=missing, shuffle=True).warnings
    assert not mag.microaggregate({"x": x.to_numpy(), "y": x}, 3, "x", missing=missing, drop="y").warnings


def test_versions_are_looked_up_once(monkeypatch):
    told = mag.microaggregate({"x": [1.0, 2.0]}, 2, "x").manifest()["versions"]
    monkeypatch.setattr("mag.tables._manifest.version", None)
    told["numpy"] = "of the caller"
    assert mag.microaggregate({"x": [1.0, 2.0]}, 2, "x").manifest()["versions"]["numpy"] == np.__version__


@pytest.mark.parametrize("role", ["keep", "drop"])
def test_manifest_report_and_pickle_count_dropped_columns_and_do_not_name_them(make, role, tmp_path):
    table = make({"x": [1.0, 2.0, 8.0, 9.0], "secret_weight": [1.0, 2.0, 1.0, 2.0], "secret_name": list("abcd")})
    weight = ["secret_weight"]
    given = {"keep": [], "drop": ["secret_name"]}
    given[role] = given[role] + weight
    release = mag.microaggregate(table, 2, "x", weights="secret_weight", **given)
    told = release.manifest()
    assert told["options"]["drop"] == len(given["drop"])
    assert told["options"]["weights"] == ("secret_weight" if role == "keep" else "not published")
    page = release.report(tmp_path / "report.html").read_text()
    for text in (json.dumps(told), page, repr(pickle.dumps(release)), json.dumps(pickle.loads(pickle.dumps(told)))):
        assert "secret_name" not in text
        assert ("secret_weight" in text) == (role == "keep")


def test_names_of_pandas_may_be_numbers_and_tuples():
    table = pd.DataFrame({0: [1.0, 2.0, 3.0, 4.0], 1: list("abab"), ("a", 1): [1, 2, 3, 4]}, columns=[0, 1, ("a", 1)])
    release = mag.microaggregate(table, 2, 0, by=1, keep=("a", 1))
    assert list(release.data.columns) == [0, 1, ("a", 1)]
    assert release.data[0].tolist() == [2.0, 3.0, 2.0, 3.0]
    levels = pd.DataFrame(np.arange(8.0).reshape(4, 2), columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")]))
    assert mag.microaggregate(levels, 2, [("a", "x"), ("a", "y")]).data.columns.equals(levels.columns)


@pytest.mark.parametrize("scope", ["joint", "per-column"])
def test_the_rest_of_a_wide_table_has_one_role(make, scope):
    table = make(people())
    kept = mag.microaggregate(table, 5, ["income", "age"], drop="name", rest="keep", scope=scope)
    assert kept.guarantee.kept == ("region",)
    assert kept.manifest()["options"]["keep"] == ["region"]
    assert "rest" not in kept.manifest()["options"]
    dropped = mag.microaggregate(table, 5, ["income", "age"], keep="region", rest="drop", scope=scope)
    for release in (kept, dropped):
        assert set(names(release.data)) == {"income", "age", "region"}
    assert mag.microaggregate(table, 5, ["income", "age"], keep="region", drop="name", rest="keep").guarantee.kept == (
        "region",
    )


def test_a_seed_is_ignored_where_nothing_is_random(make):
    table = make(people())
    for options in ({}, {"scope": "per-column"}, {"method": "mdav"}):
        plain, seeded = (
            mag.microaggregate(table, 5, ["income", "age"], rest="drop", random_state=seed, **options)
            for seed in (None, 7)
        )
        np.testing.assert_array_equal(plain.grouping.labels, seeded.grouping.labels)


def test_a_column_has_one_role(make):
    table = make(people())
    with pytest.raises(ValueError, match="'age' is in columns and by"):
        mag.microaggregate(table, 5, ["income", "age"], by="age", drop=["region", "name"])
    with pytest.raises(ValueError, match="'name' is in keep and drop"):
        mag.microaggregate(table, 5, ["income", "age"], by="region", keep="name", drop="name")
    with pytest.raises(ValueError, match="'region', 'name' in none: list them in keep="):
        mag.microaggregate(table, 5, ["income", "age"])
    with pytest.raises(ValueError, match="got 'salary', which it does not have"):
        mag.microaggregate(table, 5, "salary")
    with pytest.raises(ValueError, match="got 'age' more than once"):
        mag.microaggregate(table, 5, ["age", "age"])
    with pytest.raises(ValueError, match="at least one column"):
        mag.microaggregate(table, 5, [])


# ---- options


def test_weights_with_zeros(make):
    table = make({"x": np.array([0.0, 4.0, 10.0, 12.0]), "w": np.array([3.0, 1.0, 0.0, 0.0])})
    assert cells(mag.microaggregate(table, 2, "x", weights="w", drop="w").data, "x") == [1.0, 1.0, 11.0, 11.0]
    both = make({"x": np.array([0, 4, 10, 12]), "y": np.zeros(4), "w": np.array([3.0, 1.0, 0.0, 0.0])})
    joint = mag.microaggregate(both, 2, ["x", "y"], weights="w", keep="w").data
    assert cells(joint, "x") == [1, 1, 11, 11]


def test_weights_that_are_zero_in_a_stratum():
    table = pd.DataFrame({"x": [0.0, 2.0, 10.0, 12.0], "g": list("aabb")})
    release = mag.microaggregate(table, 2, "x", by="g", weights=np.array([1.0, 3.0, 0.0, 0.0]))
    assert release.data["x"].tolist() == [1.5, 1.5, 11.0, 11.0]


def test_wrong_weights():
    table = pd.DataFrame({"x": [0.0, 2.0, 10.0, 12.0], "w": [1.0, -1.0, 1.0, 1.0], "u": [1.0, None, 1.0, 1.0]})
    with pytest.raises(ValueError, match="weights must not be negative"):
        mag.microaggregate(table, 2, "x", weights="w", drop=["u", "w"])
    with pytest.raises(ValueError, match="weights must not have missing cells; got 1 in 'u'"):
        mag.microaggregate(table, 2, "x", weights="u", drop=["u", "w"])
    with pytest.raises(ValueError, match="weights must name a column"):
        mag.microaggregate(table, 2, "x", weights="v", drop=["u", "w"])
    with pytest.raises(ValueError, match="costs 'sae' and 'sse' only"):
        mag.microaggregate(table, 2, "x", weights=[1, 1, 1, 1], cost="maxdist", drop=["u", "w"])


@pytest.mark.parametrize(
    ("aggregate", "expected"), [("mean", 4), ("median", 2), ("mid_range", 6), ("max", 11), ("min", 0)]
)
def test_aggregates(aggregate, expected):
    table = {"x": np.array([0, 1, 2, 11]), "y": np.zeros(4)}
    if aggregate == "median":
        expected = 2  # 1.5, half away from zero
    assert mag.microaggregate(table, 4, ["x", "y"], aggregate=aggregate).data["x"].tolist() == [expected] * 4


@pytest.mark.parametrize(
    ("cost", "expected"), [("sse", 3.5), ("sae", 1.5), ("maxdist", 5.5), ("roundup", 11.0), ("rounddown", 0.0)]
)
def test_costs_decide_what_is_published(cost, expected):
    table = {"x": np.array([0.0, 1.0, 2.0, 11.0])}
    assert mag.microaggregate(table, 4, "x", cost=cost).data["x"].tolist() == [expected] * 4


def test_round_is_counted_after_rounding():
    table = pl.DataFrame({"x": np.linspace(0, 1, 50), "y": np.linspace(5, 6, 50)})
    release = mag.microaggregate(table, 3, ["x", "y"], round={"x": 1, "y": 3})
    assert release.data["x"].to_list() == release.data["x"].round(1).to_list()
    assert "-0.0" not in map(repr, mag.microaggregate({"x": [-0.01, -0.02]}, 2, "x", round=1).data["x"].tolist())
    with pytest.raises(ValueError, match="round is for columns of floats"):
        mag.microaggregate({"x": [1, 2]}, 2, "x", round=1)


def test_minus_zero_is_never_published(make):
    release = mag.microaggregate(make({"x": np.array([-0.0, 0.0, -0.0, 5.0, 6.0])}), 2, "x")
    assert not any(np.signbit(cells(release.data, "x")))


def test_shuffled_records_are_the_same_records():
    table = pd.DataFrame(people(), index=[f"row {i}" for i in range(200)])
    release = mag.microaggregate(table, 5, ["income", "age"], by="region", keep="name", shuffle=True, random_state=7)
    plain = mag.microaggregate(table, 5, ["income", "age"], by="region", keep="name")
    assert release.data["name"].tolist() != plain.data["name"].tolist()
    assert release.data.index.equals(pd.RangeIndex(200))
    ordered = release.data.set_index("name").loc[plain.data["name"]]
    assert ordered["income"].tolist() == plain.data["income"].tolist()
    assert ordered["region"].tolist() == plain.data["region"].tolist()
    before, after = release.numbers()
    where = [int(name.split()[1]) for name in release.data["name"]]
    assert before["income"].tolist() == table["income"].to_numpy()[where].tolist()
    assert after["income"].tolist() == release.data["income"].tolist()
    assert np.bincount(release.grouping.labels).min() >= 5
    again = mag.microaggregate(table, 5, ["income", "age"], by="region", keep="name", shuffle=True, random_state=7)
    assert again.data.equals(release.data)


WRONG = {
    "scope": ({"scope": "column"}, "scope must be one of 'joint', 'per-column'; got 'column'"),
    "missing": ({"missing": "ignore"}, "missing must be one of"),
    "small_strata": ({"small_strata": "ignore"}, "small_strata must be one of"),
    "small_strata without by": ({"small_strata": "merge"}, "small_strata is not used without by= or missing='group'"),
    "method": ({"method": "nothing"}, "method must be one of"),
    "aggregate": ({"aggregate": "mode"}, "aggregate must be one of"),
    "cost of records": ({"cost": "sse"}, "cost is not used by records of several columns"),
    "k": ({"k": 0}, r"k must be an integer in \[1, n=200\]; got 0"),
    "k float": ({"k": 2.0}, "k must be an integer"),
    "k by column": ({"k": {"income": 3, "age": 3}}, "k must be an integer with scope='joint'"),
    "k of one column": ({"k": {"income": 3}, "scope": "per-column"}, "k must have an entry for every one of columns"),
    "k too large": (
        {"k": {"income": 3, "age": 300}, "scope": "per-column"},
        r"k\['age'\] must be an integer in \[1, n=200\]",
    ),
    "method of columns": ({"scope": "per-column", "method": "mdav"}, "method is not used with scope='per-column'"),
    "standardize of columns": ({"scope": "per-column", "standardize": True}, "standardize is not used"),
    "option of columns": ({"scope": "per-column", "gamma": 1.0}, "gamma is not used"),
    "rest": ({"rest": "publish"}, "rest must be one of 'drop', 'error', 'keep'; got 'publish'"),
    "seed of columns": ({"scope": "per-column", "random_state": -1}, "random_state must be an integer in"),
    "seed": ({"random_state": -1}, "random_state must be an integer in"),
    "time of columns": ({"scope": "per-column", "time_limit": 1.0}, "time_limit is not used"),
    "cost and aggregate": (
        {"scope": "per-column", "aggregate": "max"},
        "aggregate must be 'mean' with cost 'sse'; got 'max'",
    ),
    "option of the method": ({"method": "mdav", "gamma": 1.0}, "gamma is not used by method 'mdav'"),
    "wrong option": ({"method": "v_mdav", "gamma": -1.0}, "gamma must be"),
    "integer": ({"method": "zscore", "integer": True}, "integer is not used by microaggregate"),
    "weights": ({"weights": [1.0]}, "weights must hold one weight per record"),
    "shuffle": ({"shuffle": "yes"}, "shuffle must be True or False"),
    "progress": ({"progress": 3}, "progress must be True, False or a function"),
    "round": ({"round": 1.5}, "round must be an integer"),
    "threads": ({"threads": 0}, "threads must be None or a positive integer"),
    "backend": ({"backend": "tpu"}, "backend must be one of"),
}


@pytest.mark.parametrize(("options", "sentence"), WRONG.values(), ids=WRONG)
def test_wrong_options(options, sentence):
    asked = {"k": 5, "columns": ["income", "age"], "drop": ["region", "name"]} | options
    with pytest.raises((TypeError, ValueError), match=sentence):
        mag.microaggregate(people(), **asked)


def test_tables_that_are_none():
    with pytest.raises(TypeError, match="table must be a frame of pandas, polars or pyarrow"):
        mag.microaggregate(np.zeros((3, 3)), 2, "x")
    with pytest.raises(ValueError, match="columns of one length; got 'x' 1, 'y' 2"):
        mag.microaggregate({"x": [1.0], "y": [1.0, 2.0]}, 1, "x")
    with pytest.raises(ValueError, match="at least one record"):
        mag.microaggregate(pd.DataFrame({"x": np.empty(0)}), 1, "x")


def test_progress_and_time_limit():
    seen = []
    table = pl.DataFrame(people(3000))
    release = mag.microaggregate(
        table, 3, ["income", "age"], by="region", drop="name", progress=seen.append, time_limit=1e-6, method="mdav_star"
    )
    assert seen[-1] == 1.0
    assert seen == sorted(seen)
    assert not release.grouping.complete
    assert any("time_limit" in warning for warning in release.warnings)
    assert smallest_class(release.data, ["region", "income", "age"]) >= 3


def test_many_strata_are_grouped_as_each_alone():
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"x": rng.normal(size=600), "y": rng.normal(size=600), "g": np.repeat(np.arange(12), 50)})
    release = mag.microaggregate(table, 4, ["x", "y"], by="g", standardize=False)
    for g in range(12):
        rows = slice(50 * g, 50 * g + 50)
        alone = mag.multivariate(table[["x", "y"]].to_numpy()[rows], 4, standardize=False)
        own = release.grouping.labels[rows]
        assert len(set(zip(own.tolist(), alone.labels.tolist(), strict=True))) == alone.n_groups


def test_random_methods_repeat(make):
    table = make(people())
    found = [
        mag.microaggregate(
            table, 5, ["income", "age"], by="region", drop="name", method="ona", restarts=1, random_state=s
        )
        for s in (1, 1, 2)
    ]
    assert cells(found[0].data, "income") == cells(found[1].data, "income") != cells(found[2].data, "income")


# ---- the release


def test_a_release_tells_what_was_done(make):
    release = mag.microaggregate(make(people()), 5, ["income", "age"], by="region", keep="name")
    assert repr(release).startswith(
        "Every record shares its values of income, age (with region) with at least 4 others"
    )
    assert "not covered: name." in repr(release)
    assert release._repr_html_().startswith("<p><b>Every record")
    manifest = json.loads(json.dumps(release.manifest()))
    assert manifest["table"]["columns"] == names(release.data)
    assert manifest["guarantee"]["smallest"] >= 5
    assert manifest["untouched"] == ["name"]
    assert manifest["options"]["k"] == 5
    assert set(manifest["published"]["sha256"]) == {"income", "age", "region", "name"}
    risk, utility = release.risk(), release.utility()
    assert risk["k_anonymity"] >= 5
    assert 0 < risk["distance_linkage"] <= 1 / 5 + 1e-9
    assert 0 < utility["information_loss"] < 0.2
    assert set(utility["information_loss_by_column"]) == {"income", "age"}
    with pytest.raises(AttributeError, match="read-only"):
        release.data = None


def test_hashes_are_of_the_content_whatever_the_library():
    columns = {"x": [1.0, 2.0, 10.0, 11.0], "n": [1, 2, 3, 4], "g": ["a", "b", "a", "b"]}
    found = []
    for make in LIBRARIES.values():
        release = mag.microaggregate(make(columns), 2, ["x", "n"], keep="g")
        found.append(release.manifest()["published"]["sha256"])
    assert all(one["g"] == found[0]["g"] for one in found)
    assert all(one["n"] == found[0]["n"] for one in found)


def test_releases_can_be_pickled():
    release = mag.microaggregate(pd.DataFrame(people()), 5, ["income", "age"], keep=["region", "name"])
    again = pickle.loads(pickle.dumps(release))
    assert again.data.equals(release.data)
    assert again.guarantee == release.guarantee


def test_the_original_is_not_changed(make):
    table = make(people())
    before = {name: cells(table, name) for name in names(table)}
    mag.microaggregate(table, 5, ["income", "age"], by="region", keep="name", shuffle=True)
    assert {name: cells(table, name) for name in names(table)} == before


def test_a_shuffle_without_a_seed_cannot_be_undone():
    """A known seed would be as good as no shuffle."""
    table = {"x": np.arange(1000.0), "row": np.arange(1000)}
    orders = {tuple(mag.microaggregate(table, 5, "x", keep="row", shuffle=True).data["row"].tolist()) for _ in range(2)}
    assert len(orders) == 2
    assert tuple(np.random.default_rng(0).permutation(1000).tolist()) not in orders
    told = mag.microaggregate(table, 5, "x", keep="row", shuffle=True, random_state=7).manifest()
    assert "withheld" in told["options"]["random_state"]


def test_strata_share_the_time():
    """With a time limit every stratum is annealed, not the first alone."""
    rng = np.random.default_rng(0)
    table = {"x": rng.normal(size=600), "y": rng.normal(size=600), "by": np.repeat(np.arange(3), 200)}
    plain = mag.microaggregate(table, 5, ["x", "y"], by="by")
    mag.microaggregate(table, 5, ["x", "y"], by="by", method="anneal", iterations=1)  # compiled
    timed = mag.microaggregate(table, 5, ["x", "y"], by="by", time_limit=1.5, random_state=1)
    assert timed.grouping.method == "anneal"
    before = [np.column_stack([table["x"], table["y"]])[table["by"] == s] for s in range(3)]
    for s in range(3):
        rows = table["by"] == s
        losses = [
            np.square(before[s] - np.column_stack([one.data["x"], one.data["y"]])[rows]).sum() for one in (plain, timed)
        ]
        assert losses[1] < losses[0]


def test_a_method_for_another_k_is_one_sentence():
    table = {"x": np.arange(12.0), "y": np.arange(12.0) % 5}
    with pytest.raises(ValueError, match="method 'matching' needs k=2; got k=3"):
        mag.microaggregate(table, 3, ["x", "y"], method="matching")
    with pytest.raises(ValueError, match=r"init must be one of 'auto', .*; got 'matching'"):
        mag.microaggregate(table, 3, ["x", "y"], method="anneal", init="matching")
