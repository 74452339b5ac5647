"""`Release.compare`: the same as plain computations on the two tables."""

import numpy as np
import pandas as pd
import pytest

import mag

RNG = np.random.default_rng(11)
N = 200
PEOPLE = pd.DataFrame(
    {
        "age": RNG.integers(20, 70, N).astype(float),
        "income": RNG.lognormal(8, 0.5, N),
        "region": RNG.choice(["north", "south", "west"], N),
        "job": RNG.choice(["baker", "cook", "dentist"], N),
        "weight": RNG.uniform(1, 3, N),
    }
)
OPTIONS = {"columns": ["age", "income"], "keep": ["region", "weight"], "drop": "job"}


@pytest.fixture(scope="module")
def release():
    return mag.microaggregate(PEOPLE, 5, **OPTIONS)


def least_squares(table, weights=None):
    dummies = [(table["region"] == level).astype(float) for level in ("south", "west")]
    X = np.column_stack([np.ones(len(table)), table["age"], *dummies])
    root = np.sqrt(np.ones(len(table)) if weights is None else weights)
    return np.linalg.lstsq(
        X * root.to_numpy()[:, None] if weights is not None else X, np.log(table["income"]) * root, rcond=None
    )[0]


@pytest.mark.parametrize("weights", [None, "weight"])
def test_coefficients_are_those_of_both_tables(release, weights):
    own = None if weights is None else PEOPLE[weights]
    compared = release.compare("log(income) ~ age + region", weights=weights)
    assert list(compared.coefficients) == ["(constant)", "age", "region=south", "region=west"]
    found = np.array([(one.before, one.after) for one in compared.coefficients.values()]).T
    np.testing.assert_allclose(found[0], least_squares(PEOPLE, own), rtol=1e-8)
    np.testing.assert_allclose(found[1], least_squares(release.data, own), rtol=1e-8)
    assert all(one.overlap <= 1 for one in compared.coefficients.values())


def test_means_quantiles_and_domains(release):
    compared = release.compare(by="region", weights=PEOPLE["weight"].to_numpy())
    assert compared.means["income"].before == pytest.approx(np.average(PEOPLE["income"], weights=PEOPLE["weight"]))
    assert compared.means["income"].after == pytest.approx(np.average(release.data["income"], weights=PEOPLE["weight"]))
    assert ("income", 0.5) in compared.quantiles
    north = PEOPLE["region"] == "north"
    expected = np.average(release.data["age"][north], weights=PEOPLE["weight"][north])
    assert compared.domains[("north",), "age"].after == pytest.approx(expected)
    assert 0 < compared.gini["income"].after < compared.gini["income"].before
    assert compared.propensity_ratio == pytest.approx(
        mag.metrics.propensity_ratio(PEOPLE[["age", "income"]].to_numpy(), release.data[["age", "income"]].to_numpy())
    )


def test_a_table_that_is_not_changed_has_equal_estimates():
    twins = pd.concat([PEOPLE] * 3, ignore_index=True)
    release = mag.microaggregate(twins, 3, method="mdav", **OPTIONS)
    compared = release.compare("income ~ age:region", by=["region"])
    for one in [*compared.coefficients.values(), *compared.means.values(), *compared.domains.values()]:
        assert one.after == pytest.approx(one.before, rel=1e-9)
    assert min(one.overlap for one in compared.coefficients.values()) > 1 - 1e-6


def test_shares_of_categories_and_withheld_records():
    table = PEOPLE.assign(age=np.where(np.arange(N) < 3, np.nan, PEOPLE["age"]))
    options = {"columns": ["age", "job"], "keep": "income", "drop": ["region", "weight"], "aggregate": {"job": "mode"}}
    release = mag.microaggregate(table, 4, missing="drop", shuffle=True, random_state=1, **options)
    compared = release.compare("income ~ job + age")
    assert compared.records == N - 3
    assert compared.shares["job", "cook"].before == pytest.approx((table["job"][3:] == "cook").mean())
    assert compared.shares["job", "cook"].after == pytest.approx((release.data["job"] == "cook").mean())
    expected = np.polyfit(table["age"][3:], table["income"][3:], 1)
    line = release.compare("income ~ age").coefficients
    np.testing.assert_allclose([line["age"].before, line["(constant)"].before], expected)
    assert "coefficient" in repr(compared)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"formula": "income ~ agee"}, "formula must name columns that are published; got 'agee', did you mean 'age'"),
        ({"formula": "income ~ job"}, "got 'job'; its columns are"),
        ({"formula": "region ~ age"}, "formula needs numbers in 'region'"),
        ({"by": "regoin"}, "by must name columns that are published; got 'regoin', did you mean 'region'"),
        ({"weights": [1.0]}, "weights must"),
    ],
)
def test_wrong_arguments_are_one_sentence(release, options, sentence):
    with pytest.raises(mag.InputError, match=sentence):
        release.compare(**options)


def test_functions_without_values_and_large_models_are_refused(release):
    negative = mag.microaggregate(PEOPLE.assign(age=PEOPLE["age"] - 40), 5, **OPTIONS)
    with pytest.raises(mag.InputValueError, match=r"'log\(age\)' of formula is not a number for \d+ records"):
        negative.compare("income ~ log(age)")
    few = mag.microaggregate(PEOPLE[:4], 2, **OPTIONS)
    with pytest.raises(mag.InputValueError, match="fewer terms than records"):
        few.compare("income ~ age + square(age) + sqrt(age) + weight")


def test_ranges_are_compared_by_their_middles():
    options = OPTIONS | {"aggregate": {"age": "range", "income": "mean"}}
    release = mag.microaggregate(PEOPLE, 5, **options)
    compared = release.compare("income ~ age")
    ends = release.data["age"].str.strip("[]").str.split(", ", expand=True).astype(float)
    line = np.polyfit(ends.mean(axis=1), release.data["income"], 1)
    np.testing.assert_allclose([compared.coefficients[name].after for name in ("age", "(constant)")], line)
    assert compared.means["age"].after == pytest.approx(ends.mean(axis=1).mean())


def test_labels_of_numbers_have_no_coefficient():
    tree = mag.Hierarchy.intervals(0, 100, [5, 20])
    release = mag.generalize(PEOPLE.round({"age": 0}), 5, "age", keep="income", rest="drop", hierarchies={"age": tree})
    assert repr(release.compare()).startswith("200 records")
    with pytest.raises(mag.InputValueError, match="'age' holds numbers before and labels after"):
        release.compare("income ~ age")
