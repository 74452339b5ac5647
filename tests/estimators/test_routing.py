"""Weights, sensitive values and units reach the estimator through pipelines and searches; frames come out as asked."""

import inspect

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mag
from tests.data.people import mixed_people
from tests.data.records import records

N = 90
RNG = np.random.default_rng(3)
X = records(N)
Y = RNG.integers(0, 2, N)
METADATA = {
    "sample_weight": RNG.uniform(1, 2, N),
    "sensitive": np.array(["flu", "gout", "cough"])[RNG.integers(0, 3, N)],
    "unit": np.arange(N) // 2,
    "household": np.arange(N) // 2,
}
OFFERED = [name for name in list(inspect.signature(mag.Microaggregator.fit).parameters)[3:] if name in METADATA]


class Recording(mag.Microaggregator):
    """Keeps what `fit` was given, where tests can see it."""

    calls: list = []  # noqa: RUF012 - shared by clones

    def fit_transform(self, X, y=None, **given):
        self.calls.append((len(X), given))
        return super().fit_transform(X, y, **given)


Recording.fit_transform.__signature__ = inspect.signature(mag.Microaggregator.fit_transform)
Recording.fit = mag.Microaggregator.fit


def estimator(names, **options):
    own = Recording(3, method="mdav", diversity=2 if "sensitive" in names else None, **options)
    return own.set_fit_request(**dict.fromkeys(names, True))


def test_all_metadata_is_covered_here():
    assert set(list(inspect.signature(mag.Microaggregator.fit).parameters)[3:]) <= set(METADATA)


@pytest.mark.parametrize("names", [[name] for name in OFFERED] + [["sample_weight", "sensitive"]], ids="+".join)
def test_a_search_routes_metadata_by_folds(names):
    if names[0] in ("unit", "household"):
        pytest.skip("folds that cut units apart are refused")
    given = {name: METADATA[name] for name in names}
    Recording.calls.clear()
    with config_context(enable_metadata_routing=True):
        scaler, model = StandardScaler(), LogisticRegression()
        if "sample_weight" in names:
            scaler.set_fit_request(sample_weight=False)
            model.set_fit_request(sample_weight=False)
            model.set_score_request(sample_weight=True)
        pipeline = make_pipeline(scaler, estimator(names), model)
        grid = {"recording__k": [2, 5], "recording__standardize": [True, False]}
        search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(X, Y, **given)
    assert len(Recording.calls) == 4 * 2 + 1
    for rows, received in Recording.calls:
        assert {name for name, values in received.items() if values is not None} == set(names)
        assert all(len(received[name]) == rows for name in names)
    for name in names:  # the last fit has all records
        np.testing.assert_array_equal(Recording.calls[-1][1][name], METADATA[name])
    best = search.best_estimator_[1]
    assert best.sizes_.min() >= search.best_params_["recording__k"]
    if "sensitive" in names:
        assert [promise.counted >= 2 for promise in best.promises_] == [True]
    alone = mag.Microaggregator(best.k, standardize=best.standardize, method="mdav", diversity=best.diversity)
    expected = alone.fit_transform(StandardScaler().fit_transform(X), **given)
    np.testing.assert_array_equal(best.cluster_centers_[best.labels_], expected)


def test_metadata_that_nobody_asked_for_is_refused_by_scikit_learn():
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(mag.Microaggregator(3, diversity=2), LogisticRegression())
        with pytest.raises(ValueError, match="sensitive"):
            pipeline.fit(X, Y, sensitive=METADATA["sensitive"])


def test_column_transformers_route_sensitive_values():
    with config_context(enable_metadata_routing=True):
        masking = ColumnTransformer([("masked", estimator(["sensitive"]), [0, 1])], remainder="drop")
        masked = masking.fit_transform(X, sensitive=METADATA["sensitive"])
    assert mag.check(
        {"a": masked[:, 0], "b": masked[:, 1], "ill": METADATA["sensitive"]}, 3, ["a", "b"], sensitive="ill"
    )


LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame}


def as_rows(table):
    return pl.DataFrame(table).rows() if not isinstance(table, np.ndarray) else [tuple(row) for row in table.tolist()]


@pytest.mark.parametrize("output", ["default", *LIBRARIES])
@pytest.mark.parametrize("library", LIBRARIES)
def test_numbers_come_out_in_the_library_that_is_asked_for(library, output):
    frame = LIBRARIES[library](dict(zip("abc", X.T, strict=True)))
    own = mag.Microaggregator(3, method="mdav").set_output(transform=output)
    for found, expected in (
        (own.fit_transform(frame), mag.Microaggregator(3, method="mdav").fit_transform(X)),
        (own.transform(frame), mag.Microaggregator(3, method="mdav").fit(X).transform(X)),
    ):
        assert type(found) is (np.ndarray if output == "default" else LIBRARIES[output])
        assert as_rows(found) == as_rows(expected)
        if output != "default":
            assert list(found.columns) == ["a", "b", "c"]


@pytest.mark.parametrize("output", ["default", *LIBRARIES])
@pytest.mark.parametrize("library", LIBRARIES)
def test_categories_come_out_in_the_library_that_is_asked_for(library, output):
    columns = mixed_people(60).select("age", "party").to_dict(as_series=False)
    frame = LIBRARIES[library](columns)
    options = {"aggregate": {"party": "mode"}, "method": "mdav"}
    own = mag.Microaggregator(3, **options).set_output(transform=output)
    expected = mag.Microaggregator(3, **options).fit_transform(frame)
    found = own.fit_transform(frame)
    assert type(found) is LIBRARIES[library if output == "default" else output]
    assert as_rows(found) == as_rows(expected)
    assert mag.check(found, 3, ["age", "party"])
    assert type(own.transform(frame)) is type(found)
