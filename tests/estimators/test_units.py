"""`mag.Microaggregator` where k counts people or households that `fit` gets."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mag
from mag.estimators import _owners


def visits(seed=0, n=200):
    """Two numbers of each visit, whose it is, and the household of each person."""
    rng = np.random.default_rng(seed)
    person = np.minimum(rng.geometric(0.03, n), 60)
    return np.stack([20.0 + person % 30, rng.lognormal(3, 1, n)], axis=1), person, person // 3


def fewest(masked, owners):
    """The smallest number of different owners of equal rows, counted plainly."""
    found = {}
    for row, own in zip(np.asarray(masked, object).tolist(), owners, strict=True):
        found.setdefault(tuple(row), set()).add(own)
    return min(map(len, found.values()))


@pytest.mark.parametrize("make", [np.array, list, pd.Series, pl.Series, lambda own: [f"p{cell}" for cell in own]])
@pytest.mark.parametrize("seed", range(3))
def test_every_class_has_k_units(make, seed):
    X, person, _ = visits(seed)
    estimator = mag.Microaggregator(k=4)
    masked = estimator.fit_transform(X, unit=make(person.tolist()))
    assert fewest(masked, person) == estimator.smallest_units_ >= 4
    assert estimator.sizes_.min() >= 4
    np.testing.assert_array_equal(masked, estimator.cluster_centers_[estimator.labels_])
    table = {"age": X[:, 0], "cost": X[:, 1], "person": person}
    release = mag.microaggregate(table, 4, ["age", "cost"], unit="person")
    assert estimator.information_loss_ == pytest.approx(release.utility(False)["information_loss"])
    assert np.array_equal(estimator.labels_, release.grouping.labels)
    estimator.fit(X)
    assert not hasattr(estimator, "smallest_units_")
    assert fewest(estimator.cluster_centers_[estimator.labels_], person) < 4


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
@pytest.mark.parametrize("columns", [1, 2])
def test_households_weights_and_narrow_numbers(dtype, columns):
    X, person, home = visits()
    weights = np.random.default_rng(0).random(len(X))
    estimator = mag.Microaggregator(k=5, k_household=3)
    masked = estimator.fit_transform(X[:, :columns].astype(dtype), sample_weight=weights, unit=person, household=home)
    assert masked.dtype == (np.float32 if dtype == np.float32 else np.float64)
    assert (fewest(masked, person), fewest(masked, home)) == (
        estimator.smallest_units_,
        estimator.smallest_households_,
    )
    assert (estimator.smallest_units_, estimator.smallest_households_) >= (5, 3)
    assert mag.Microaggregator(k=5).fit(X, household=home).smallest_households_ >= 5


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_frames_with_categories(library):
    X, person, home = visits()
    frame = library({"age": X[:, 0], "unit": np.random.default_rng(0).choice(["a", "b", "c"], len(X))})
    estimator = mag.Microaggregator(k=4, aggregate={"unit": "mode"}, k_household=2)
    masked = estimator.fit_transform(frame, unit=person, household=home)
    assert list(masked.columns) == ["age", "unit"]
    assert fewest(pl.DataFrame(masked).rows(), person) == estimator.smallest_units_ >= 4
    assert fewest(pl.DataFrame(masked).rows(), home) == estimator.smallest_households_ >= 2


def test_units_are_routed_through_pipelines_and_not_stored():
    X, person, _ = visits()
    names = np.array([f"resident-{own}" for own in person])
    with config_context(enable_metadata_routing=True):
        model = make_pipeline(StandardScaler(), mag.Microaggregator(k=4).set_fit_request(unit=True))
        masked = model.fit_transform(X, unit=names)
    assert fewest(masked, person) >= 4
    assert b"resident" not in pickle.dumps(model)
    assert clone(mag.Microaggregator(k_household=2)).get_params()["k_household"] == 2


def test_a_grouping_of_too_few_units_is_refused(monkeypatch):
    X, person, _ = visits()
    group = _owners.group

    def ignore(values, k, owners, *others):
        return group(values, k, {"unit": np.arange(len(values)).astype(object)}, *others)

    monkeypatch.setattr(_owners, "group", ignore)
    with pytest.raises(mag.NotAnonymousError, match="a class of 1 units in column 0, column 1 where k=4 units are"):
        mag.Microaggregator(k=4).fit(X, unit=person)


@pytest.mark.parametrize(
    ("parameters", "fitted", "sentence"),
    [
        ({}, {"unit": [1, 2]}, "unit must have as many records as X, n=200; got 2."),
        ({}, {"unit": "person"}, "unit must hold a value for each record of X; got 'person'."),
        ({}, {"unit": 7}, "unit must hold a value for each record of X; got 7."),
        ({}, {"unit": [None] * 200}, "unit must not have missing cells; got 200 in 'unit'."),
        ({"diversity": 2}, {"unit": [1] * 200, "sensitive": [1] * 200}, "unit is not used with sensitive values,"),
        ({"k": 70}, {"unit": visits()[1]}, "k must be an integer in [1, the number of units=57]; got 70."),
        ({"k_household": 2}, {"unit": visits()[1]}, "k_household is not used without household; pass house"),
    ],
)  # fmt: skip
def test_wrong_units_are_one_sentence(parameters, fitted, sentence):
    with pytest.raises(mag.InputError) as error:
        mag.Microaggregator(**parameters).fit(visits()[0], **fitted)
    assert sentence in str(error.value)


def test_arrays_get_no_advice_about_columns_of_tables():
    codes = np.random.default_rng(0).choice([1, 2, 3, 9], (200, 2))
    estimator = mag.Microaggregator(k=4).fit(codes, unit=np.arange(200) // 2)  # a warning would be an error here
    assert estimator.smallest_units_ >= 4
