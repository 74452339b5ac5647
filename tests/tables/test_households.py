"""Columns of households and of their members: both counts hold in every class, and a household has one value."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import mag
from mag.tables import _households, _pipeline
from mag.tables._nested import connect
from tests.data.paths import DATA
from tests.data.units import LEVELS, for_seeds, random_households, random_people
from tests.oracles.owners import least_owners, text_of

SURVEY = DATA / "survey.csv"


def members(n=60, n_homes=20, seed=0):
    """Members of households, which have a rent and a number of rooms."""
    rng = np.random.default_rng(seed)
    home = rng.integers(0, n_homes, n)
    rent, rooms = rng.lognormal(6, 1, n_homes).round(), rng.integers(1, 6, n_homes)
    frame = {"home": home, "rent": rent[home], "rooms": rooms[home], "age": rng.integers(0, 90, n)}
    return pd.DataFrame(frame | {"wage": rng.lognormal(3, 1, n).round(1), "sex": rng.choice(["f", "m"], n)})


@pytest.mark.filterwarnings("ignore::mag.CodesWarning")
@for_seeds(200, 5000)
def test_classes_of_random_tables_have_enough_members_and_households(seeds):
    masked = 0
    for seed in seeds:
        rng, table = random_people(seed)
        k, columns, options = random_households(rng, table)
        if "hierarchies" in options:
            options["hierarchies"] = {"job": mag.Hierarchy(LEVELS)}
        try:
            release = mag.microaggregate(table, k, columns, **options)
        except mag.InputValueError:
            continue
        masked += 1
        classes = [*(["region"] if "by" in options else []), *columns]
        people = release.units() if "unit" in options else range(len(release.data))
        homes, guarantee = release.households(), release.guarantee
        assert least_owners(release.data, people, classes) >= k
        assert least_owners(release.data, homes, classes) == guarantee.smallest_households >= guarantee.k_household
        for name in options["household_columns"]:
            cells = pd.Series([text_of(cell) for cell in release.data[name]])
            assert cells.groupby(homes).nunique().max() == 1
        assert not {"home", "person"} & {*release.data}
    assert masked > 0.3 * len(seeds)


@pytest.mark.skipif(not SURVEY.exists(), reason="no data")
def test_classes_of_the_survey_have_members_of_several_households():
    own = {name: pl.col(column).sum().over("ori_hid") for name, column in (("hhinc", "income"), ("hhexp", "expend"))}
    survey = pl.read_csv(SURVEY).with_columns(**own).head(1500)
    columns = ["hhinc", "hhexp", "age", "income"]
    release = mag.microaggregate(
        survey, 5, columns, household="ori_hid", household_columns=columns[:2], k_household=3, by="sex", rest="drop"
    )
    homes = survey["ori_hid"]
    assert least_owners(release.data, homes, ["sex", *columns]) == release.guarantee.smallest_households >= 3
    assert least_owners(release.data, range(1500), ["sex", *columns]) == release.guarantee.smallest >= 5
    assert release.utility(False)["information_loss"] < 0.2


def test_a_household_counts_once_in_the_value_of_its_group():
    table = pd.DataFrame({"home": [0, 0, 0, 0, 1, 2, 3], "rent": [1, 1, 1, 1, 4, 100, 200], "age": range(7)})
    release = mag.microaggregate(
        table, 2, ["rent", "age"], household="home", household_columns="rent", k_household=2, aggregate="mean"
    )
    assert sorted(set(release.data["rent"])) == [3, 150]  # (1 + 4) / 2, half away from zero; not (4 · 1 + 4) / 5
    labels = release.grouping.labels
    assert release.guarantee.n_groups == len(set(labels)) == release.data.drop_duplicates().shape[0]


def test_only_household_columns():
    table = members()
    release = mag.microaggregate(
        table, 4, ["rent", "rooms"], household="home", household_columns=["rent", "rooms"], rest="drop"
    )
    assert least_owners(release.data, table["home"], ["rent", "rooms"]) == release.guarantee.smallest_households >= 4


def test_households_without_columns_of_their_own():
    table = members()
    release = mag.microaggregate(table, 2, ["age", "wage"], household="home", k_household=4, rest="drop")
    assert least_owners(release.data, table["home"], ["age", "wage"]) == release.guarantee.smallest_households >= 4


def test_the_guarantee_and_the_report_count_both(tmp_path):
    table = members()
    options = {"household": "home", "household_columns": "rent", "k_household": 3, "rest": "drop"}
    release = mag.microaggregate(table, 4, ["rent", "age"], **options)
    guarantee = release.guarantee
    assert str(guarantee) == (
        "Every published combination of rent, age has at least 4 records of at least 3 households (home), counted on "
        f"the published table, smallest class {guarantee.smallest} records, and {guarantee.smallest_households} "
        "households, of 60 records. Every household has one value of rent."
    )
    manifest = release.manifest()
    assert manifest["guarantee"]["smallest_households"] == guarantee.smallest_households
    assert manifest["options"]["household"] == "home"
    assert manifest["options"]["household_columns"] == ["rent"]
    assert manifest["table"]["columns"] == ["rent", "age"]
    page = release.report(tmp_path / "report.html").read_text()
    assert f"records of at least {guarantee.smallest_households} households share" in page
    assert 0 < release.ncp() < 1


def test_the_penalty_is_that_of_the_groups_of_each_column():
    table = members(200, 60).assign(age=np.random.default_rng(1).normal(size=200))
    options = {"household": "home", "household_columns": "rent", "k_household": 2, "rest": "drop"}
    release = mag.microaggregate(table, 3, ["rent", "age"], **options)
    each = []
    for name in ("rent", "age"):
        ranges = table.groupby(release.data[name].to_numpy())[name].agg(np.ptp)
        each.append((ranges.loc[release.data[name]] / np.ptp(table[name])).mean())
    assert release.ncp() == pytest.approx(np.mean(each))


def test_households_that_strata_divide_are_joined():
    edges = connect(np.array([0, 1, 1, 2, 3]), np.array([0, 0, 1, 2, 1]))
    assert edges.tolist() == [0, 0, 0, 1, 0]


def test_a_grouping_that_ignores_households_is_refused(monkeypatch):
    def group_members(units, strata, owners, weights, request):
        return _pipeline.group_jointly(_pipeline.Comparable(units, request.plan), strata, weights, request)

    monkeypatch.setattr(_pipeline, "group_households", group_members)
    with pytest.raises(mag.NotAnonymousError, match=r"a class of \d households in rent, age where k=4 households are"):
        mag.microaggregate(
            members(), 2, ["rent", "age"], household="home", household_columns="rent", k_household=4, rest="drop"
        )


def test_groups_of_too_few_households_join_others(monkeypatch):
    """Members of a sex are few in some groups of households."""
    table = members(300, 100).assign(sex=["f", "m", "m", "m", "m"] * 60)
    joined = []

    def join(outer, *arguments):
        found = _join_short(outer, *arguments)
        joined.append((outer.max(), found.max()))
        return found

    _join_short = _households._join_short
    monkeypatch.setattr(_households, "_join_short", join)
    options = {"household": "home", "household_columns": "rent", "k_household": 2, "by": "sex", "rest": "drop"}
    release = mag.microaggregate(table, 3, ["rent", "age"], **options)
    assert joined[0][1] < joined[0][0]
    assert least_owners(release.data, table["home"], ["sex", "rent", "age"]) >= 2


@pytest.mark.parametrize(
    ("options", "sentence"),
    {
        "no household": ({"household": None}, "household_columns is not used without household=; leave it out."),
        "unknown": ({"household": "house"}, "household must name columns of the table; got 'house'"),
        "not masked": ({"household_columns": "wage"}, "must name columns that are masked; got 'wage'"),
        "twice": ({"household_columns": ["rent", "rent"]}, "household_columns must name every column once; got 'rent'"),
        "several values": ({"household_columns": "age"}, "one value in every household; 'age' has several in 17."),
        "too many": ({"k_household": 99}, "k_household must be an integer in [1, the number of households=19]; got 99"),
        "text": ({"k_household": "3"}, "k_household must be an integer in [1, the number of households=19]; got '3'."),
        "none": ({"k_household": 0}, "k_household must be an integer in [1, the number of households=19]; got 0."),
        "masked": ({"household": "age"}, "'age' is in columns and household."),
        "kept": ({"keep": "home"}, "'home' is in keep and household."),
        "diversity": ({"diversity": {"sex": 2}}, "household is not used with diversity or closeness"),
        "per column": ({"scope": "per-column"}, "household is for scope='joint'; got scope='per-column'."),
        "missing": ({"household": "gap"}, "household must not have missing cells; got 2 in 'gap'."),
        "small strata": ({"by": "home"}, "'home' is in by and household."),
        "few": ({"by": "rooms", "household_columns": ()}, "must have at least k=3 records of 19 households:"),
    }.values(),
)  # fmt: skip
def test_wrong_calls_are_one_sentence(options, sentence):
    table = members()
    table = table.assign(gap=table["home"].where(table.index > 1))
    options = {"household": "home", "household_columns": "rent", "rest": "drop"} | options
    options |= {"k_household": 19} if "few" in sentence or options.get("by") == "rooms" else {}
    with pytest.raises(mag.InputError) as error:
        mag.microaggregate(table, 3, ["rent", "age"], **options)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)
