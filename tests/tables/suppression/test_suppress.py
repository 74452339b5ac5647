"""`mag.suppress`: classes, cells, roles, types, and sentences about mistakes."""

import itertools
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mag
from mag.tables.suppression import READINGS, Demand
from mag.tables.suppression import cells as steps
from tests.oracles import suppression

CELLS = st.one_of(st.none(), st.integers(0, 3))


@st.composite
def tables(draw, most=24, missing=True):
    n, m = draw(st.integers(2, most)), draw(st.integers(1, 4))
    cell = CELLS if missing else st.integers(0, 2)
    return [tuple(draw(cell) for _ in range(m)) for _ in range(n)]


def frame(records):
    columns = [f"q{j}" for j in range(len(records[0]))]
    return pl.DataFrame(records, schema=dict.fromkeys(columns, pl.Int64), orient="row"), columns


@given(tables(), st.integers(1, 6), st.sampled_from(["value", "wildcard"]), st.data())
def test_every_record_equals_k_by_plain_counting(records, k, missing, data):
    k = min(k, len(records))
    table, columns = frame(records)
    importance = {name: data.draw(st.sampled_from([1.0, 0.5, 3.0])) for name in columns}
    release = mag.suppress(table, k, columns, missing=missing, importance=importance)
    published = release.data.rows()
    assert suppression.holds(published, [(range(len(columns)), k)], missing == "wildcard")
    changed = [(a, b) for own, new in zip(records, published, strict=True) for a, b in zip(own, new, strict=True)]
    assert all(b is None or a == b for a, b in changed)
    assert sum(release.suppressed.values()) == sum(a is not None and b is None for a, b in changed)


@given(tables(), st.data(), st.sampled_from(["value", "wildcard"]))
def test_every_set_holds_by_plain_counting(records, data, missing):
    table, columns = frame(records)
    m, n = len(columns), len(records)
    sets = data.draw(st.lists(st.lists(st.sampled_from(columns), min_size=1, unique=True), min_size=1, max_size=3))
    sets += [[name] for name in columns if not any(name in own for own in sets)]
    ks = [data.draw(st.integers(1, min(5, n))) for _ in sets]
    pairs = {min(2, m): data.draw(st.integers(1, min(6, n)))}
    asked = [*zip(sets, ks, strict=True)]
    release = mag.suppress(table, 1, columns, sets=asked, subsets=pairs, missing=missing)
    places = [[columns.index(name) for name in own] for own in sets]
    demands = [*zip(places, ks, strict=True)]
    demands += [(own, k) for size, k in pairs.items() for own in itertools.combinations(range(m), size)]
    assert suppression.holds(release.data.rows(), demands, missing == "wildcard")


def test_the_fewest_cells_are_nearly_found():
    """All patterns of tiny tables: how far the strict reading is from the fewest, and never below them."""
    generator = np.random.default_rng(7)
    found = best = 0
    for _ in range(60):
        n, m, k = int(generator.integers(3, 6)), 2, int(generator.integers(2, 4))
        codes = generator.integers(1, 4, (n, m))
        least = suppression.fewest(list(map(tuple, codes.tolist())), [(range(m), k)], [1, 1], False)
        own = int((READINGS["value"](codes, [Demand(tuple(range(m)), k)], np.ones(m)) == 0).sum())
        assert own >= least
        found, best = found + own, best + least
    assert found <= 1.05 * best


def test_wildcards_cost_no_more_than_values():
    generator = np.random.default_rng(3)
    for _ in range(20):
        codes = generator.integers(1, 6, (60, 3))
        demand = [Demand((0, 1, 2), 3)]
        strict, weak = (READINGS[name](codes, demand, np.ones(3)) for name in ("value", "wildcard"))
        assert (weak == 0).sum() <= (strict == 0).sum()


def test_each_record_of_a_small_class_loses_a_cell_itself():
    """k-1 records without any cell would meet the weaker reading for all others."""
    codes = np.random.default_rng(0).integers(1, 9, (80, 3))
    published = READINGS["wildcard"](codes, [Demand((0, 1, 2), 2)], np.ones(3))
    _, kind, counts = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    alone = counts[kind.ravel()] < 2
    assert ((published == 0).any(axis=1) == alone).all()


PEOPLE = {
    "age": [31, 31, 52, 52, 40, 31],
    "job": ["nurse", "nurse", "cook", "cook", "cook", "cook"],
    "income": [2.0, 2.0, 3.0, 3.0, np.nan, 2.0],
    "name": ["a", "b", "c", "d", "e", "f"],
}


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_every_library(make):
    arrays = {name: np.array(cells) for name, cells in PEOPLE.items()}
    release = mag.suppress(make(arrays), 2, ["age", "job", "income"], drop="name")
    assert type(release.data) is type(make(arrays))
    assert mag.verify.recount(release.data, ["age", "job", "income"]) >= 2
    assert release.guarantee.cells == sum(release.suppressed.values()) > 0


def test_integers_of_numpy_stay_integers():
    table = pd.DataFrame({"age": [31, 31, 52, 40], "member": [True, True, False, False]})
    data = mag.suppress(table, 2, ["age", "member"]).data
    assert data["age"].tolist() == [31, 31, pd.NA, pd.NA]
    assert str(data["age"].dtype) == "Int64"
    assert data["member"].tolist() == [True, True, False, False]


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("missing", ["value", "wildcard"])
def test_nothing_of_a_suppressed_cell_leaves(make, missing):
    secret = 987_654_321_987
    table = {"age": np.array([31, 31, 52, 52, secret]), "job": np.array(["nurse"] * 4 + ["canary-cell"])}
    release = mag.suppress(make(table), 2, ["age", "job"], missing=missing, importance={"age": 0.5})
    left = pickle.dumps(release) + repr(release).encode() + str(release.manifest()).encode()
    for cell, name in ((secret.to_bytes(8, "little"), "age"), (b"canary-cell", "job")):
        if release.suppressed[name]:
            assert cell not in left
    assert release.suppressed["age"]


@pytest.mark.parametrize("missing", ["value", "wildcard"])
def test_manifests_and_pickles_do_not_tell_suppressed_cells_from_missing_ones(missing):
    """Two originals that differ in the cells that were missing before, and are published alike."""
    blank = pl.DataFrame({"age": [31, 31, None, None], "job": ["nurse", "nurse", "cook", "cook"]})
    full = blank.with_columns(age=pl.Series([31, 31, 52, 40]))
    releases = [mag.suppress(table, 2, ["age", "job"], missing=missing) for table in (blank, full)]
    assert [release.guarantee.cells for release in releases] == [0, 2]
    known, other = (pickle.loads(pickle.dumps(release)) for release in releases)
    assert known.data.equals(other.data)
    assert known.guarantee == other.guarantee
    assert str(known.guarantee) == str(other.guarantee) == known.guarantee.promise
    assert known.manifest()["guarantee"] == releases[1].manifest()["guarantee"]
    with pytest.raises(mag.InputError, match="suppressed, units, withheld_rows and an internal report need the orig"):
        other.suppressed  # noqa: B018 - raises


def test_importance_decides_which_column_is_suppressed():
    table = {"a": [1, 1, 1, 1], "b": [1, 2, 3, 4], "c": [1, 1, 2, 2]}
    cheap = mag.suppress(table, 4, ["b", "c"], importance={"b": 1, "c": 5}, drop="a")
    assert cheap.suppressed == {"b": 4, "c": 4}
    pairs = {"b": [1, 2, 1, 2], "c": [1, 1, 2, 2]}
    assert mag.suppress(pairs, 2, ["b", "c"], importance={"b": 3}).suppressed == {"b": 0, "c": 4}
    assert mag.suppress(pairs, 2, ["b", "c"], importance={"c": 3}).suppressed == {"b": 4, "c": 0}


def test_missing_cells_count_as_suppressed():
    table = pl.DataFrame({"a": [1, 1, None, None], "b": [1, 1, 2, 2]})
    release = mag.suppress(table, 2, ["a", "b"])
    assert release.guarantee.cells == 0
    assert "Cells that were missing before are" in " ".join(release.warnings)


def test_a_broken_suppression_is_caught(monkeypatch):
    monkeypatch.setitem(steps.READINGS, "value", lambda codes, demands, prices, units: codes)
    with pytest.raises(mag.NotAnonymousError, match="class of 1 equal records in age where k=2"):
        mag.suppress({"age": [1, 1, 2]}, 2, "age")


def test_the_manifest_holds_options_and_what_can_be_counted():
    release = mag.suppress(PEOPLE, 2, ["age", "job"], keep="income", drop="name", subsets={1: 3})
    manifest = release.manifest()
    assert manifest["options"]["drop"] == 1
    assert manifest["options"]["subsets"] == {"1": 3} or manifest["options"]["subsets"] == {1: 3}
    assert not {"suppressed", "changed"} & {*manifest["guarantee"]}
    assert manifest["guarantee"]["text"] == release.guarantee.promise
    assert manifest["untouched"] == ["income"]
    assert release.count_with_kept() is not None


def test_shuffled_records_are_the_same_records():
    table = pl.DataFrame({"age": [31, 31, 52, 52, 40, 40], "id": range(6)})
    plain = mag.suppress(table, 2, "age", keep="id").data
    shuffled = mag.suppress(table, 2, "age", keep="id", shuffle=True, random_state=1).data
    assert shuffled["id"].to_list() != plain["id"].to_list()
    assert shuffled.sort("id").equals(plain)


MISTAKES = {
    "missing must be one of 'value', 'wildcard'; got 'group'.": {"missing": "group"},
    "k must be an integer in [1, n=6]; got 7.": {"k": 7},
    "importance['age'] must be ": {"importance": {"age": 0}},
    "importance must name columns that are quasi-identifiers; got 'name'": {"importance": {"name": 1}},
    "sets must be a list of lists of column names; got 'age'.": {"sets": "age"},
    "sets must together name all of columns; they lack 'job'.": {"sets": [["age"]]},
    "subsets must be a dictionary of k by size; got 2.": {"subsets": 2},
    "the sizes of subsets must be an integer in [1, the number of columns=2]; got 3.": {"subsets": {3: 2}},
    "subsets[2] must be an integer in [1, n=6]; got 0.": {"subsets": {2: 0}},
    "every column must be in columns, by, keep or drop; 'income', 'name' in none": {"rest": "error"},
}


@pytest.mark.parametrize("sentence", MISTAKES)
def test_mistakes_are_one_sentence(sentence):
    options = {"k": 2, "rest": "drop"} | MISTAKES[sentence]
    with pytest.raises(mag.InputError) as error:
        mag.suppress(PEOPLE, options.pop("k"), ["age", "job"], **options)
    assert str(error.value).startswith(sentence)
