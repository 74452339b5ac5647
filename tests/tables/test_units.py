"""k counts units, such as people or households, where `unit=` names their column."""

import json
import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import mag
from mag.tables import _owners, _pipeline
from tests.data.paths import DATA
from tests.data.units import LEVELS, random_options, random_people

SURVEY = DATA / "survey.csv"


def visits(n=40, n_units=12, seed=0, **more):
    """Visits of patients, of which some have many."""
    rng = np.random.default_rng(seed)
    patient = rng.integers(0, n_units, n)
    patient[:n_units] = np.arange(n_units)
    frame = {"patient": patient, "age": 20 + 3 * patient, "cost": rng.lognormal(3, 1, n).round(1)}
    return pd.DataFrame(frame | {"ward": rng.choice(["a", "b"], n)} | more)


def least_units(published, units, columns):
    """The smallest number of units of a class, by pandas."""
    frame = pd.DataFrame(published).assign(own_unit=np.asarray(units))
    return int(frame.groupby(columns, dropna=False, observed=True)["own_unit"].nunique().min())


@pytest.mark.skipif(not SURVEY.exists(), reason="no data")
@pytest.mark.parametrize("columns", [["hhinc", "hhexp"], ["income", "expend"], ["hhinc"]], ids="-".join)
def test_classes_of_the_survey_have_enough_households(columns):
    total = {name: pl.col(column).sum().over("ori_hid") for name, column in (("hhinc", "income"), ("hhexp", "expend"))}
    survey = pl.read_csv(SURVEY).with_columns(**total).head(1500)
    release = mag.microaggregate(survey, 5, columns, unit="ori_hid", by="sex", rest="drop")
    counted = release.data.with_columns(own=survey["ori_hid"]).group_by("sex", *columns).agg(pl.col("own").n_unique())
    assert counted["own"].min() == release.guarantee.smallest_units >= 5
    assert release.data.columns == [name for name in survey.columns if name in ("sex", *columns)]
    assert release.utility()["information_loss"] < 0.1
    with pytest.warns(mag.UnitsWarning, match="'ori_hid' looks like the names of 321 people"):
        without = mag.microaggregate(survey, 5, ["hhinc", "hhexp"], by="sex", rest="drop")
    assert least_units(without.data.to_pandas(), survey["ori_hid"], ["sex", "hhinc", "hhexp"]) < 5


@pytest.mark.filterwarnings("ignore::mag.CodesWarning")
@pytest.mark.parametrize("first", range(0, 500, 100))
def test_every_class_of_random_tables_has_k_units(first):
    refused = 0
    for seed in range(first, first + 100):
        rng = np.random.default_rng(seed)
        k, n_units = int(rng.integers(1, 5)), int(rng.integers(4, 15))
        table = visits(int(rng.integers(n_units, 60)), n_units, seed, region=None)
        table["region"] = rng.choice(["n", "s"], len(table))
        if seed % 2:
            table.loc[rng.random(len(table)) < 0.2, "cost"] = np.nan
        columns = [["age", "cost"], ["cost"], ["cost", "age", "ward"]][seed % 3]
        options = {"by": "region"} if seed % 5 else {}
        options |= {"missing": "group", "small_strata": ["suppress", "merge"][seed // 2 % 2]}
        options |= {"aggregate": {"ward": "mode"}} if "ward" in columns else {}
        options |= {"shuffle": True, "random_state": seed} if seed % 7 == 0 else {}
        try:
            release = mag.microaggregate(table, k, columns, unit="patient", rest="drop", **options)
        except mag.InputValueError:
            refused += 1
            continue
        units, classes = release.units(), [*(["region"] if "by" in options else []), *columns]
        assert least_units(release.data, units, classes) >= k
        assert "patient" not in release.data
        if not options.get("shuffle"):
            published = np.setdiff1d(np.arange(len(table)), release.withheld_rows())
            assert units == table["patient"].iloc[published].tolist()
    assert refused < 50


@pytest.mark.filterwarnings("ignore::mag.CodesWarning")
@pytest.mark.parametrize(
    "seeds",
    [range(100)] + [pytest.param(range(i, i + 500), marks=pytest.mark.long) for i in range(500, 4000, 500)],
    ids=lambda seeds: str(seeds.start),
)
def test_every_class_of_hostile_tables_has_k_units(seeds):
    """Ties, weights, hierarchies, methods, missing cells, and people who have most of the records."""
    masked = 0
    for seed in seeds:
        rng, table = random_people(seed)
        k, columns, options = random_options(rng, table)
        if "hierarchies" in options:
            options["hierarchies"] = {"job": mag.Hierarchy(LEVELS)}
        try:
            release = mag.microaggregate(table, k, columns, unit="person", **options)
        except mag.InputValueError:
            continue
        masked += 1
        classes = [*(["region"] if "by" in options else []), *columns]
        assert least_units(release.data, release.units(), classes) == release.guarantee.smallest_units >= k
    assert masked > 0.4 * len(seeds)


def test_a_unit_for_each_record_changes_nothing():
    table = visits().assign(patient=np.arange(40))
    plain = mag.microaggregate(table, 3, ["age", "cost"], rest="drop")
    release = mag.microaggregate(table, 3, ["age", "cost"], unit="patient", rest="drop")
    pd.testing.assert_frame_equal(plain.data, release.data)
    assert release.guarantee.smallest_units == release.guarantee.smallest == plain.guarantee.smallest


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.DataFrame, pa.table, dict], ids=["pandas", "polars", "arrow", "dict"]
)
@pytest.mark.parametrize("kind", [str, int, float])
def test_units_of_every_library(make, kind):
    table = visits().to_dict("list")
    table["patient"] = [kind(own) for own in table["patient"]]
    release = mag.microaggregate(make(table), 3, ["age", "cost"], unit="patient", drop=["ward", "patient"])
    frame = {name: np.asarray(release.data[name]) for name in ("age", "cost")}
    assert least_units(frame, table["patient"], ["age", "cost"]) == release.guarantee.smallest_units >= 3


def test_the_guarantee_counts_units():
    release = mag.microaggregate(visits(), 3, ["age", "cost"], unit="patient", keep="ward")
    least = release.guarantee.smallest_units
    assert str(release.guarantee).startswith(
        "Every record shares its values of age, cost with records of at least 2 other units (patient): k = 3 units, "
        f"counted on the published table, smallest class {least} units, of 40 records."
    )
    manifest = release.manifest()
    assert manifest["guarantee"]["unit"] == manifest["options"]["unit"] == "patient"
    assert manifest["guarantee"]["smallest_units"] == least
    assert manifest["table"]["columns"] == ["age", "cost", "ward"]
    assert json.dumps(manifest)
    smallest, below = release.count_with_kept()
    counted = release.data.assign(own=visits()["patient"]).groupby(["age", "cost", "ward"])["own"]
    assert (smallest, below) == (counted.nunique().min(), int((counted.transform("nunique") < 3).sum()))


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"unit": "patient"}, "number of units"),
        ({"household": "patient"}, "number of households"),
        ({"diversity": {"ward": 2}}, "diversity"),
    ],
    ids=str,
)
def test_only_the_holder_learns_how_many_groups_were_changed(options, what):
    release = mag.microaggregate(visits(), 3, ["age", "cost"], **options, rest="drop")
    (note,) = [warning for warning in release.warnings if warning.startswith("Groups were changed")]
    assert re.fullmatch(rf"Groups were changed to meet the required {what}: \d+ before, \d+ after\.", note)
    for public in (release.manifest()["warnings"], pickle.loads(pickle.dumps(release)).warnings):
        assert f"Groups were changed to meet the required {what}." in public


def test_the_report_says_what_k_counts(tmp_path):
    for unit, says in (("patient", "units (patient) share"), (None, "k counts records")):
        release = mag.microaggregate(visits(), 3, ["age", "cost"], unit=unit, rest="drop")
        release.report(tmp_path / "report.html", overwrite=True)
        page = (tmp_path / "report.html").read_text()
        assert says in page
        assert ("k counts records" in page) == (unit is None)


def test_a_broken_grouping_is_refused(monkeypatch):
    def break_labels(*arguments):
        return _pipeline.group_jointly(*arguments[:2], arguments[3], arguments[4])  # which counts records

    monkeypatch.setattr(_pipeline, "group_owners", break_labels)
    table = visits().assign(cost=1.0)
    with pytest.raises(mag.NotAnonymousError, match=r"a class of \d units in age, cost where k=3 units are promised"):
        mag.microaggregate(table, 3, ["age", "cost"], unit="patient", rest="drop")


def test_units_that_are_read_wrongly_are_refused(monkeypatch):
    monkeypatch.setattr(_pipeline, "read_owners", lambda frame, *names: _owners.Owners(np.arange(frame.n)))
    with pytest.raises(mag.NotAnonymousError, match="units are promised: nothing is published"):
        mag.microaggregate(visits().assign(cost=1.0), 3, ["age", "cost"], unit="patient", rest="drop")


def test_units_whose_records_are_alike_stay_together_where_that_loses_less(monkeypatch):
    table = visits(120, 12).assign(cost=1.0)
    monkeypatch.setattr(_owners, "constrain_groups", lambda groups, *others: _everyone(groups))
    release = mag.microaggregate(table, 3, ["age", "cost"], unit="patient", rest="drop")
    assert release.data.assign(own=table["patient"]).groupby("own")["age"].nunique().max() == 1
    assert release.guarantee.n_groups > 1


def _everyone(groups):
    return _owners.TableGroups(np.zeros_like(groups.labels), [1], "one group", True)


@pytest.mark.filterwarnings("ignore::mag.CodesWarning")
@pytest.mark.parametrize("first", range(0, 120, 40))
def test_every_value_of_every_column_has_k_units_per_column(first):
    refused = 0
    for seed in range(first, first + 40):
        rng, table = random_people(seed)
        ks = {"age": int(rng.integers(1, 5)), "cost": int(rng.integers(1, 5))}
        options = {"by": "region"} if seed % 3 else {}
        options |= {"missing": "group"} | ({"small_strata": "suppress"} if options else {})
        options |= {"weights": table["weight"].to_numpy()} if seed % 5 == 0 and table["weight"].any() else {}
        options |= {"shuffle": True, "random_state": 1} if seed % 7 == 0 else {}
        try:
            release = mag.microaggregate(table, ks, [*ks], scope="per-column", unit="person", rest="drop", **options)
        except mag.InputValueError:
            refused += 1
            continue
        by = ["region"] if "by" in options else []
        found = {name: least_units(release.data, release.units(), [*by, name]) for name in ks}
        assert found == release.guarantee.smallest_units_by_column
        assert all(found[name] >= k for name, k in ks.items())
        union = least_units(release.data, release.units(), [*by, *ks])
        assert union == release.guarantee.smallest_units == release.manifest()["guarantee"]["smallest_units"]
    assert refused < 25


def test_a_broken_column_is_refused(monkeypatch):
    group = _owners.group_owners

    def of_records(comparable, strata, owners, weights, request):
        return group(comparable, strata, _owners.Owners(np.arange(strata.rows.size)), weights, request)

    monkeypatch.setattr(_owners, "group_owners", of_records)
    with pytest.raises(mag.NotAnonymousError, match=r"a class of \d units in age where k=4 units are promised"):
        mag.microaggregate(visits(), 4, ["age", "cost"], unit="patient", scope="per-column", rest="drop")


def test_the_guarantee_of_columns_counts_units(tmp_path):
    release = mag.microaggregate(visits(), 3, ["age", "cost"], unit="patient", scope="per-column", rest="drop")
    assert str(release.guarantee).startswith(
        "Every published value of age, cost is shared by at least 3 units (patient). This is not joint k-anonymity: "
    )
    page = release.report(tmp_path / "report.html").read_text()
    assert "At least 3 units (patient) share each published value of" in page
    assert "k counts records" not in page


def test_compare_counts_units_and_households():
    table = visits().assign(home=lambda own: own["patient"] // 2)
    compared = mag.compare(table, [2, 3], ["age", "cost"], methods=["mdav", "zscore"], unit="patient")
    assert (compared["units"] >= compared["k"]).all()
    plain = mag.compare(table, [2, 3], ["age", "cost"], methods=["mdav", "zscore"])
    assert "units" not in plain
    options = {"methods": "mdav", "household": "home", "k_household": 2}
    compared = mag.compare(table, [3], ["age", "cost"], **options)
    assert (compared["smallest"] >= 3).all()
    assert (compared["households"] >= 2).all()


@pytest.mark.parametrize(
    ("options", "sentence"),
    {
        "an unknown column": ({"unit": "person"}, "unit must name columns of the table; got 'person'"),
        "two columns": ({"unit": ["patient", "ward"]}, "unit must name one column of the table; got 2."),
        "kept": ({"unit": "patient", "keep": "patient"}, "'patient' is in keep and unit."),
        "a stratum": ({"unit": "patient", "by": "patient"}, "'patient' is in by and unit."),
        "masked": ({"unit": "age"}, "'age' is in columns and unit."),
        "per column": ({"household": "patient", "scope": "per-column"}, "household is for scope='joint'; got"),
        "a cost per column": ({"unit": "patient", "scope": "per-column", "cost": "sae"}, "unit is for the cost 'sse'"),
        "few in a gap": (
            {"unit": "patient", "columns": ["age", "gap"], "scope": "per-column", "missing": "group"},
            "must have at least k=3 units: 1 of 1 strata is too small",
        ),
        "diversity": ({"unit": "patient", "diversity": {"ward": 2}}, "unit is not used with diversity or closeness"),
        "a cost": ({"unit": "patient", "columns": "cost", "cost": "sae"}, "unit is for the cost 'sse'; got"),
        "too few": ({"unit": "patient", "k": 13}, "k must be an integer in [1, the number of units=12]; got 13."),
        "small strata": ({"unit": "patient", "by": "day"}, "must have at least k=3 units: 12 of 12 strata"),
        "missing": ({"unit": "gap"}, "unit must not have missing cells; got 2 in 'gap'."),
        "lists": ({"unit": "list"}, "unit must hold values that can be hashed; 'list' holds lists or similar."),
    }.values(),
)  # fmt: skip
def test_wrong_calls_are_one_sentence(options, sentence):
    table = visits()
    table = table.assign(day=table["patient"], gap=table["patient"].where(table.index > 1), list=[[1]] * 40)
    options = {"k": 3, "columns": ["age", "cost"], "rest": "drop"} | options
    with pytest.raises(mag.InputError) as error:
        mag.microaggregate(table, **options)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


NEEDLE = 86421357
CALLS = {
    "microaggregate": lambda table, unit: mag.microaggregate(table, 3, ["age", "cost"], unit=unit, rest="drop"),
    "household": lambda table, unit: mag.microaggregate(table, 3, ["age", "cost"], household=unit, rest="drop"),
    "compare": lambda table, unit: mag.compare(table, 3, ["age", "cost"], unit=unit),
    "generalize": lambda table, unit: mag.generalize(
        table, 3, "ward", hierarchies={"ward": mag.Hierarchy([["a", "*"], ["b", "*"]])}, unit=unit, rest="drop"
    ),
    "suppress": lambda table, unit: mag.suppress(table, 3, ["age", "ward"], unit=unit, rest="drop"),
    "check": lambda table, unit: mag.check(table, 3, "age", unit=unit),
    "check of a lazy frame": lambda table, unit: mag.check(pl.from_pandas(table).lazy(), 3, "age", unit=unit),
    "assess": lambda table, unit: mag.assess(table, "age", unit=unit),
    "household of assess": lambda table, unit: mag.assess(table, "age", household=unit),
    "recount": lambda table, unit: mag.verify.recount(table, ["age"], unit=unit),
    "recount of a lazy frame": lambda table, unit: mag.verify.recount(pl.from_pandas(table).lazy(), ["age"], unit=unit),
    "wildcard": lambda table, unit: mag.verify.recount_wildcard(table, ["age"], unit=unit),
}


@pytest.mark.parametrize("form", ["array", "series", "list", "none"])
@pytest.mark.parametrize("call", CALLS)
def test_cells_in_place_of_a_name_are_refused_and_not_quoted(call, form):
    table = visits()
    table["patient"] += NEEDLE
    unit = {"array": table["patient"].to_numpy(), "series": table["patient"], "list": table["patient"].tolist()}
    with pytest.raises(mag.InputError) as error:
        CALLS[call](table, unit.get(form, []))
    counted = 40 if form in unit else 0
    option = "household" if "household" in call else "unit"
    assert str(error.value) == f"{option} must name one column of the table; got {counted}."


@pytest.mark.parametrize(
    "call",
    {
        "estimator": lambda: mag.Microaggregator(3, unit="patient").fit_transform(visits()[["age", "cost"]]),
        "array": lambda: mag.multivariate(visits()[["age", "cost"]], 3, unit="patient"),
    }.values(),
)
def test_others_refuse_units_by_name(call):
    with pytest.raises(TypeError, match="unit"):
        call()
