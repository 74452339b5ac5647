"""`mag.suppress` with units, whose records k counts once, and with strata, which no class mixes."""

import itertools
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mag
from mag.tables.suppression import READINGS, Demand
from mag.tables.suppression import cells as steps
from mag.tables.suppression._moves import MAX_SCANNED
from tests.oracles import suppression

READING = st.sampled_from(["value", "wildcard"])


@st.composite
def tables(draw):
    """Records with a unit and a stratum each, the frame of them, and the names of the quasi-identifiers."""
    n, m = draw(st.integers(2, 24)), draw(st.integers(1, 3))
    cell = st.one_of(st.none(), st.integers(0, 2))
    records = [tuple(draw(cell) for _ in range(m)) for _ in range(n)]
    units = [draw(st.integers(0, 6)) for _ in range(n)]
    strata = [draw(st.sampled_from(["N", "S"])) for _ in range(n)]
    columns = [f"q{j}" for j in range(m)]
    table = pl.DataFrame(records, schema=dict.fromkeys(columns, pl.Int64), orient="row")
    return table.with_columns(unit=pl.Series(units), place=pl.Series(strata)), columns


@given(tables(), READING, st.integers(1, 5))
def test_every_record_equals_k_units_by_plain_counting(made, missing, k):
    table, columns = made
    units = table["unit"].to_list()
    k = min(k, len(set(units)))
    release = mag.suppress(table, k, columns, unit="unit", missing=missing, drop="place")
    assert "unit" not in release.data.columns
    every, published = range(len(columns)), release.data.rows()
    least = suppression.count(published, every, missing == "wildcard", units)
    assert least >= k
    assert release.guarantee.sets[0].smallest_units == least
    assert release.guarantee.sets[0].smallest == suppression.count(published, every, missing == "wildcard")
    assert all(b is None or a == b for a, b in zip(cells(table, columns), cells(release.data, columns), strict=True))


@given(tables(), READING, st.integers(1, 4), st.booleans(), st.sampled_from(["merge", "suppress"]))
def test_no_class_mixes_strata(made, missing, k, with_units, small_strata):
    table, columns = made
    k = min(k, table["unit"].n_unique() if with_units else table.height)
    options = {"unit": "unit"} if with_units else {"drop": "unit"}
    try:
        release = mag.suppress(table, k, columns, by="place", missing=missing, small_strata=small_strata, **options)
    except mag.InputValueError:
        assert small_strata == "suppress"  # no stratum is large enough
        return
    rows = np.setdiff1d(np.arange(table.height), release.withheld_rows())
    assert release.guarantee.withheld == table.height - rows.size
    units = table["unit"].gather(rows).to_list() if with_units else None
    published, places = release.data.select(columns).rows(), release.data["place"].to_list()
    assert suppression.count(published, range(len(columns)), missing == "wildcard", units, places) >= k
    if small_strata == "suppress":
        assert places == table["place"].gather(rows).to_list()


@given(tables(), READING, st.data())
def test_units_of_sets_and_subsets(made, missing, data):
    table, columns = made
    units = table["unit"].to_list()
    most = len(set(units))
    sets = [([name], data.draw(st.integers(1, min(4, most)))) for name in columns]
    pairs = {min(2, len(columns)): data.draw(st.integers(1, min(3, most)))}
    release = mag.suppress(table, 1, columns, unit="unit", sets=sets, subsets=pairs, missing=missing, drop="place")
    demands = [((j,), k) for j, (_, k) in enumerate(sets)]
    demands += [(own, k) for size, k in pairs.items() for own in itertools.combinations(range(len(columns)), size)]
    assert suppression.holds(release.data.rows(), demands, missing == "wildcard", units)


def cells(table, columns):
    return itertools.chain(*table.select(columns).rows())


@pytest.mark.parametrize("missing", ["value", "wildcard"])
def test_without_repeats_units_change_nothing(missing):
    generator = np.random.default_rng(5)
    table = pl.DataFrame({name: generator.integers(0, 6, 200) for name in "abc"}).with_columns(
        unit=pl.Series(generator.permutation(200))
    )
    plain = mag.suppress(table, 4, list("abc"), missing=missing, drop="unit")
    assert plain.data.equals(mag.suppress(table, 4, list("abc"), missing=missing, unit="unit").data)


def test_five_records_of_one_person_are_no_class():
    table = {"person": ["ann"] * 5 + list("bcdef"), "age": [31] * 5 + [52] * 5}
    assert mag.suppress(table, 5, "age", drop="person").suppressed == {"age": 0}
    release = mag.suppress(table, 5, "age", unit="person")
    assert release.suppressed["age"] >= 5
    assert set(release.data["age"].tolist()[:5]) == {None}
    assert mag.verify.count_units(release.data, ["age"], table["person"])[0] == [6]


@pytest.mark.parametrize("missing", ["value", "wildcard"])
def test_one_unit_of_very_many_records(missing):
    """More of them than are scanned for others to join."""
    n = MAX_SCANNED + 50
    codes = np.concatenate([np.arange(1, n + 1), np.full(4, n + 1)])[:, None]
    units = np.append(np.zeros(n, np.int64), [1, 2, 3, 4])
    found = READINGS[missing](codes, [Demand((0,), 2)], np.ones(1), units)[:, 0]
    records = [(code or None,) for code in found[-40:].tolist()]
    assert suppression.holds(records, [((0,), 2)], missing == "wildcard", units[-40:].tolist())


def test_a_suppression_that_counts_records_is_caught(monkeypatch):
    for missing, count in READINGS.items():
        monkeypatch.setitem(
            steps.READINGS, missing, lambda codes, demands, prices, units, count=count: count(codes, demands, prices)
        )
    table = {"person": [1, 1, 2, 3, 4], "age": [31, 31, 52, 52, 52]}
    for missing in READINGS:
        with pytest.raises(mag.NotAnonymousError, match="class of 1 units in age where k=2 units"):
            mag.suppress(table, 2, "age", unit="person", missing=missing)


def test_pickles_hold_no_unit():
    table = pd.DataFrame({"person": ["canary-unit", "b", "c"] * 2, "age": [31, 31, 31, 52, 52, 52]})
    release = mag.suppress(table, 3, "age", unit="person")
    assert release.units() == table["person"].tolist()
    assert b"canary-unit" not in pickle.dumps(release)
    with pytest.raises(
        mag.InputError, match=r"suppressed, units, withheld_rows and an internal report need the original"
    ):
        pickle.loads(pickle.dumps(release)).units()


def test_shuffled_units_follow_their_records():
    table = pl.DataFrame({"person": [1, 1, 2, 3, 4, 5], "age": [31, 31, 52, 52, 40, 40], "id": range(6)})
    release = mag.suppress(table, 2, "age", unit="person", keep="id", shuffle=True, random_state=3)
    assert release.units() == [table["person"][place] for place in release.data["id"].to_list()]


MISTAKES = {
    "unit must not have missing cells; got 1 in 'person'.": {"unit": "person", "drop": ["home"]},
    "k must be an integer in [1, the number of units=2]; got 3.": {"unit": "home", "k": 3, "drop": ["person"]},
    "every stratum must have at least k=3 records: 1 of 2 strata is too small, with 2 of 5 records in all; pass "
    "small_strata='merge' or 'suppress', or a smaller k.": {"by": "home", "k": 3, "drop": ["person"]},
    "every stratum must have at least k=2 units: ": {"by": "age", "unit": "home", "columns": "job", "rest": "drop"},
    "small_strata is not used without by=; got 'merge'.": {"small_strata": "merge", "rest": "drop"},
    "small_strata must be one of 'error', 'merge', 'suppress'; got 'pool'.": {"small_strata": "pool", "rest": "drop"},
    "unit must name one column of the table; got 2.": {"unit": ["home", "person"]},
    "a column must be in one of columns, by, keep, drop and unit; 'age' is in columns and unit.": {
        "unit": "age",
        "rest": "drop",
    },
}


@pytest.mark.parametrize("sentence", MISTAKES)
def test_mistakes_are_one_sentence(sentence):
    table = {
        "age": [31, 31, 31, 52, 52],
        "job": list("aabbb"),
        "home": ["x", "x", "x", "y", "y"],
        "person": ["a", "b", None, "d", "e"],
    }
    options = {"k": 2, "columns": ["age", "job"]} | MISTAKES[sentence]
    with pytest.raises(mag.InputError) as error:
        mag.suppress(table, options.pop("k"), options.pop("columns"), **options)
    assert str(error.value).startswith(sentence), str(error.value)
