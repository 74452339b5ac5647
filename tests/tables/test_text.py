"""Text is masked where the caller says how, and never by its mode unasked."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import mag

AGE = [31, 52, 30, 55, 29, 51]
JOBS = ["baker", "nurse", "baker", "nurse", "baker", "nurse"]


@pytest.mark.parametrize("library", [dict, pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (JOBS, "'job' holds text: list it in by=, keep= or drop=, or pass"),
        (
            ["1", "2.5", "3", "4", "-5e3", "6"],
            "'job' holds numbers as text: convert them, such as by pandas.to_numeric",
        ),
        ([True, False] * 3, "'job' holds booleans: convert them to 0 and 1"),
    ],
)
def test_text_is_refused_with_the_remedy(library, cells, words):
    table = library({"age": AGE, "job": cells})
    for columns, options in ((["age", "job"], {}), ("job", {"drop": "age"})):
        with pytest.raises(mag.InputTypeError) as refused:
            mag.microaggregate(table, 3, columns, **options)
        assert words in str(refused.value)
        assert str(refused.value).endswith(
            "hierarchies=, order= or aggregate={'job': 'mode'}, which publishes a value of each group."
        )
        assert "baker" not in str(refused.value)


@pytest.mark.parametrize("library", [dict, pd.DataFrame])
def test_mixed_columns_are_refused_with_the_remedy(library):
    mixed = np.array([1, "2", 3.0, None, 5, "6"], object)
    with pytest.raises(mag.InputTypeError, match="holds 2 cells of text and 3 others: convert them to one type"):
        mag.microaggregate(library({"age": AGE, "job": mixed}), 3, ["age", "job"], missing="group")


@pytest.mark.parametrize(
    "options",
    [
        {"aggregate": {"job": "mode"}},
        {"aggregate": {"job": "medoid"}},
        {"order": {"job": ["baker", "nurse"]}},
        {"hierarchies": {"job": mag.Hierarchy.from_parents({"baker": "work", "nurse": "work"})}},
    ],
)
def test_text_is_masked_as_the_caller_says(options):
    release = mag.microaggregate({"age": AGE, "job": JOBS}, 3, ["age", "job"], **options)
    assert release.guarantee.smallest >= 3
    assert mag.microaggregate({"job": JOBS}, 3, "job", **options).guarantee.smallest >= 3


def test_ordered_dtypes_say_how_themselves():
    job = pd.Categorical(JOBS, ["baker", "nurse"], ordered=True)
    assert list(mag.microaggregate(pd.DataFrame({"job": job}), 3, "job").data["job"]) == JOBS


def test_the_estimator_asks_too():
    pytest.importorskip("sklearn")
    frame = pd.DataFrame({"age": AGE, "job": JOBS})
    with pytest.raises(mag.InputTypeError, match="'job' holds text"):
        mag.Microaggregator(3).fit(frame)
    assert list(mag.Microaggregator(3, aggregate={"job": "mode"}).fit_transform(frame)["job"]) == JOBS


def test_ten_thousand_categories_of_thirty_thousand_records_are_grouped():
    generator = np.random.default_rng(0)
    places = generator.integers(0, 10_000, 30_000)
    table = {"age": generator.integers(18, 90, places.size), "place": np.array([f"place {at}" for at in places])}
    for method in ("auto", "mondrian"):
        release = mag.microaggregate(table, 5, ["age", "place"], aggregate={"place": "mode"}, method=method)
        assert release.guarantee.smallest >= 5
    with pytest.raises(mag.InputValueError, match=r"^method=.ona_star. stores a number for every record"):
        mag.microaggregate(table, 5, ["age", "place"], aggregate={"place": "mode"}, method="ona_star")


def test_the_medoid_of_equally_far_values_is_their_mode():
    rng = np.random.default_rng(0)
    table = {"x": rng.integers(0, 9, 300).astype(str), "g": np.arange(300) // 20}
    weights = rng.integers(1, 5, 300)
    mode, medoid = (
        mag.microaggregate(table, 20, "x", by="g", weights=weights, aggregate=how).data["x"]
        for how in ("mode", "medoid")
    )
    assert np.array_equal(mode, medoid)
