"""Several sets of quasi-identifiers, each with its own k, which all hold on the published table."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import mag
from mag.tables import _pipeline
from tests.data.units import LEVELS, for_seeds, random_people, random_sets
from tests.oracles.owners import least_owners


def people(n=80, seed=0):
    rng = np.random.default_rng(seed)
    frame = {"age": rng.integers(18, 90, n), "income": rng.lognormal(3, 1, n).round(1), "rent": rng.normal(9, 2, n)}
    return pd.DataFrame(frame | {"size": rng.integers(1, 7, n), "person": rng.integers(0, n // 2, n)})


@pytest.mark.filterwarnings("ignore::mag.CodesWarning")
@for_seeds(200, 5000)
def test_every_set_of_random_tables_has_its_k(seeds):
    masked = 0
    for seed in seeds:
        rng, table = random_people(seed)
        k, columns, options = random_sets(rng, table)
        if "hierarchies" in options:
            options["hierarchies"] = {"job": mag.Hierarchy(LEVELS)}
        try:
            release = mag.microaggregate(table, k, columns, **options)
        except mag.InputValueError:
            continue
        masked += 1
        by, rows = ["region"] if "by" in options else [], range(len(release.data))
        owners = release.units() if "unit" in options else rows
        for own, counted in zip(options["sets"], release.guarantee.sets, strict=True):
            names, own_k = own if isinstance(own, tuple) else (own, k)
            least = least_owners(release.data, owners, [*by, *names])
            assert (least, counted.columns, counted.k) == (
                counted.smallest if "unit" not in options else counted.smallest_units, tuple(names), own_k,
            )  # fmt: skip
            assert least >= own_k
        assert release.guarantee.smallest == least_owners(release.data, rows, [*by, *columns])
    assert masked > 0.4 * len(seeds)


def test_sets_without_common_columns_are_those_of_two_calls():
    table = people()
    release = mag.microaggregate(
        table, 4, ["age", "income", "rent", "size"], sets=[["age", "income"], (["rent", "size"], 3)], drop="person"
    )
    for names, k in ((["age", "income"], 4), (["rent", "size"], 3)):
        alone = mag.microaggregate(table, k, names, rest="drop")
        pd.testing.assert_frame_equal(release.data[names], alone.data)
    assert release.guarantee.k == {"age": 4, "income": 4, "rent": 3, "size": 3}


def test_sets_with_common_columns_lose_less_than_all_columns_together():
    table, columns = people(1500), ["age", "income", "rent", "size"]
    sets = [["age", "income", "rent"], ["rent", "size"]]
    release = mag.microaggregate(table, 4, columns, sets=sets, drop="person")
    together = mag.microaggregate(table, 4, columns, drop="person")
    assert release.utility(False)["information_loss"] < 0.9 * together.utility(False)["information_loss"]
    for names in sets:
        assert release.data.groupby(names).size().min() >= 4
    assert release.data.groupby(columns).size().min() == release.guarantee.smallest


def test_the_guarantee_reports_each_set_and_the_union(tmp_path):
    table, columns = people(), ["age", "income", "rent"]
    release = mag.microaggregate(table, 4, columns, sets=[["age", "income"], (["rent"], 3)], rest="drop")
    one, two = (own.smallest for own in release.guarantee.sets)
    assert str(release.guarantee) == (
        f"Records are alike in every set of columns: age, income: k = 4 records, smallest class {one}; rent: k = 3 "
        f"records, smallest class {two}. This is not joint k-anonymity: the smallest number of records alike in all of "
        f"them is {release.guarantee.smallest}, of 80 records."
    )
    manifest = release.manifest()
    assert manifest["options"]["sets"] == [[["age", "income"], 4], [["rent"], 3]]
    assert [own["k"] for own in manifest["guarantee"]["sets"]] == [4, 3]
    page = release.report(tmp_path / "report.html").read_text()
    assert "age, income: k = 4 records" in page
    assert "This is not joint k-anonymity." in page
    assert release.grouping.labels.shape == (80, 3)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, dict], ids=["pandas", "polars", "dict"])
def test_sets_of_categories_and_numbers(make, tmp_path):
    table = people().assign(job=[row[0] for row in LEVELS] * 20).to_dict("list")
    release = mag.microaggregate(
        make(table), 5, ["age", "job", "rent"], sets=[["age", "job"], ["rent", "job"]],
        hierarchies={"job": mag.Hierarchy(LEVELS)}, rest="drop", shuffle=True,
    )  # fmt: skip
    for names in (["age", "job"], ["rent", "job"]):
        assert least_owners(release.data, range(80), names) >= 5
    assert release.guarantee.generalized == ("job",)
    release.report(tmp_path / "report.html")
    assert 0 < release.utility(False)["ncp"] < 1


def test_a_grouping_that_breaks_one_set_is_refused(monkeypatch):
    group = _pipeline.group_sets

    def break_last(*arguments):
        groups = group(*arguments)
        groups.labels[:, -1] = np.arange(len(groups.labels))
        return _pipeline.TableGroups(groups.labels, [*groups.n_groups[:-1], len(groups.labels)], "broken", True)

    monkeypatch.setattr(_pipeline, "group_sets", break_last)
    with pytest.raises(mag.NotAnonymousError, match="a class of 1 equal records in rent where k=3 are promised"):
        mag.microaggregate(people(), 3, ["age", "rent"], sets=[["age"], ["rent"]], rest="drop")


@pytest.mark.parametrize(
    ("options", "sentence"),
    {
        "text": ({"sets": "age"}, "sets must be a list of lists of column names; got 'age'."),
        "left out": ({"sets": [["age"]]}, "sets must together name all of columns; they lack 'rent'."),
        "empty": ({"sets": [["age", "rent"], []]}, "every one of sets must name at least one column; got none."),
        "unknown": ({"sets": [["age", "rend"]]}, "sets must name columns that are masked; got 'rend'"),
        "twice": ({"sets": [["age", "age"], ["rent"]]}, "a set must name every column once; got 'age' more than once."),
        "k as text": ({"sets": [(["age", "rent"], "3")]}, "k of a set must be an integer; got '3'."),
        "k too large": ({"sets": [["age"], (["rent"], 99)]}, "the set rent must be an integer in [1, n=80]; got 99."),
        "k of 0": ({"sets": [["age"], (["rent"], 0)]}, "k of the set rent must be an integer in [1, n=80]; got 0."),
        "dictionary": ({"k": {"age": 3, "rent": 2}}, "k of a set must be an integer; got a dict."),
        "household": ({"household": "person"}, "household is not used by sets=; leave it out."),
        "per column": ({"scope": "per-column"}, "sets is for scope='joint'; got scope='per-column'."),
        "diversity": ({"diversity": {"size": 2}}, "sets is not used with diversity or closeness"),
    }.values(),
)  # fmt: skip
def test_wrong_calls_are_one_sentence(options, sentence):
    options = {"k": 3, "columns": ["age", "rent"], "sets": [["age"], ["rent"]], "rest": "drop"} | options
    with pytest.raises(mag.InputError) as error:
        mag.microaggregate(people(), **options)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)
