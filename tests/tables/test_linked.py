"""`follow=` and `sums=`: columns that follow from masked ones; and kept columns that nearly give a masked one."""

import decimal
import json
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mag
from mag.commands.cli import main
from mag.tables import _pipeline

N = 60
GENERATOR = np.random.default_rng(0)
WAGE, RENT = GENERATOR.integers(0, 5000, (2, N))
PEOPLE = {"age": GENERATOR.integers(18, 90, N), "wage": WAGE, "rent": RENT, "usd": WAGE * 1.1, "total": WAGE + RENT}
LINKS = {"follow": {"usd": "wage"}, "sums": {"total": ["wage", "rent"]}}


def columns_of(data):
    return {name: np.asarray(data[name]) for name in PEOPLE}


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("shuffle", [False, True])
def test_followers_are_means_of_groups_and_sums_add_up(make, shuffle):
    release = mag.microaggregate(make(PEOPLE), 3, ["age", "wage", "rent"], shuffle=shuffle, random_state=1, **LINKS)
    data = columns_of(release.data)
    assert (data["total"] == data["wage"] + data["rent"]).all()
    assert mag.verify.recount(release.data, list(PEOPLE)) >= 3
    if not shuffle:
        for group in range(release.grouping.n_groups):
            own = release.grouping.labels == group
            assert np.allclose(data["usd"][own], PEOPLE["usd"][own].mean(), rtol=1e-14)
    assert release.guarantee.columns == ("age", "wage", "rent", "usd", "total")
    assert release.manifest()["options"]["columns"] == ["age", "wage", "rent"]


def test_followers_have_no_say_in_the_groups():
    alone = mag.microaggregate(PEOPLE, 3, ["wage"], rest="drop")
    noise = {**PEOPLE, "usd": GENERATOR.normal(size=N)}
    release = mag.microaggregate(noise, 3, ["wage"], follow={"usd": "wage"}, rest="drop")
    assert (release.grouping.labels == alone.grouping.labels).all()
    assert (release.data["wage"] == alone.data["wage"]).all()


CENTS = st.integers(-(10**6), 10**6)


@given(st.lists(st.tuples(CENTS, CENTS), min_size=6, max_size=30), st.integers(2, 3))
def test_sums_of_decimals_and_integers_are_exact(cells, k):
    rent, fee = zip(*cells, strict=True)
    table = pl.DataFrame(
        {
            "rent": [decimal.Decimal(cell).scaleb(-2) for cell in rent],
            "fee": fee,
            "total": [decimal.Decimal(0)] * len(fee),
        },
        schema={"rent": pl.Decimal(12, 2), "fee": pl.Int64, "total": pl.Decimal(12, 2)},
    )
    data = mag.microaggregate(table, k, ["rent", "fee"], sums={"total": ["rent", "fee"]}).data
    assert data["total"].to_list() == [a + b for a, b in zip(data["rent"], data["fee"], strict=True)]


def test_sums_are_rounded_to_the_decimals_of_their_column():
    table = {
        "a": GENERATOR.normal(size=N),
        "b": GENERATOR.normal(size=N),
        "total": np.zeros(N),
        "whole": np.zeros(N, int),
    }
    sums = {"total": ["a", "b"], "whole": ["a", "b"]}
    data = mag.microaggregate(table, 4, ["a", "b"], sums=sums, round={"total": 1}).data
    exact = data["a"] + data["b"]
    assert np.allclose(data["total"] * 10, np.round(data["total"] * 10))
    assert np.abs(data["total"] - exact).max() <= 0.05 + 1e-12
    assert np.abs(data["whole"] - exact).max() <= 0.5


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize(("part", "whole"), [("f4", "f8"), ("f8", "f4"), ("f4", "f4"), ("f2", "f4"), ("f8", "f2")])
def test_sums_of_narrow_floats_are_those_of_published_parts(make, part, whole):
    table = {"a": GENERATOR.normal(50, 9, N).astype(part), "b": GENERATOR.normal(50, 9, N), "total": np.ones(N, whole)}
    data = mag.microaggregate(make(table), 3, ["a", "b"], sums={"total": ["a", "b"]}).data
    a, b, total = (np.asarray(data[name]) for name in table)
    assert total.dtype == np.dtype(whole)
    assert (total == (a.astype(float) + b).astype(whole)).all()


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize(
    ("cells", "dtype"),
    [([100, 120], "i1"), ([-9, 3], "u2"), ([2**62, 2**62], "i8"), ([1e308] * 2, "f8"), ([9e4] * 2, "f2")],
)
def test_sums_beyond_their_column_are_an_error_without_figures(make, cells, dtype):
    table = make({"a": np.repeat(cells[:1], N), "b": np.repeat(cells[1:], N), "total": np.ones(N, dtype)})
    with pytest.raises(mag.InputValueError, match="can hold the sums of a, b; some are beyond it") as caught:
        mag.microaggregate(table, 3, ["a", "b"], sums={"total": ["a", "b"]})
    assert not any(character.isdigit() for character in str(caught.value))


def test_missing_parts_make_missing_sums():
    rent = [None if i % 5 == 0 else float(cell) for i, cell in enumerate(RENT.tolist())]
    table = pl.DataFrame({"wage": WAGE, "rent": rent, "total": (WAGE + RENT).astype(float)})
    release = mag.microaggregate(table, 3, ["wage", "rent"], sums={"total": ["wage", "rent"]}, missing="group")
    assert release.data["total"].is_nan().to_list() == [cell is None for cell in rent]
    assert mag.verify.recount(release.data, ["wage", "rent", "total"]) >= 3


def test_a_sum_that_does_not_add_up_is_caught(monkeypatch):
    monkeypatch.setattr(_pipeline, "publish_sum", lambda column, *others: column.take(np.arange(N)))
    with pytest.raises(mag.NotAnonymousError, match="total is the sum of wage, rent, which it is not for"):
        mag.microaggregate(PEOPLE, 3, ["wage", "rent"], sums=LINKS["sums"], rest="drop")


def test_the_command(tmp_path):
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    pl.DataFrame(PEOPLE).write_csv(source)
    words = ["-c", "wage", "-c", "rent", "--follow", "usd=wage", "--sum", "total=wage+rent", "--drop", "age", "-k", "4"]
    assert main(["mask", str(source), "-o", str(out), *words]) == 0
    data = pl.read_csv(out)
    assert (data["total"] == data["wage"] + data["rent"]).all()
    assert data.group_by(data.columns).len()["len"].min() >= 4


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"follow": {"usd": "age"}}, "follow['usd'] must be a column that is masked; got 'age'."),
        ({"follow": {"euro": "wage"}}, "follow must name columns of the table; got 'euro'."),
        ({"follow": {"rent": "wage"}}, "follow must name columns that are not masked otherwise; got 'rent'."),
        ({"follow": "usd"}, "follow must be a dictionary by column; got 'usd'."),
        ({"sums": {"total": []}}, "sums['total'] must be columns that are masked, or follow one; got none."),
        ({"sums": {"total": ["age"]}}, "sums['total'] must be columns that are masked, or follow one; got 'age'."),
        ({"sums": {"total": ["wage"]}, "special": {"wage": [0]}}, "sums['total'] must be columns of numbers without"),
        ({"sums": {"total": ["wage"]}, "scope": "per-column"}, "follow and sums are for scope='joint'; got scope="),
        ({"follow": {"usd": "wage"}, "sets": [["wage", "rent"]]}, "follow and sums are not used with sets; leave one"),
    ],
)
def test_mistakes_are_one_sentence(options, sentence):
    with pytest.raises(mag.InputError) as error:
        mag.microaggregate(PEOPLE, 3, ["wage", "rent"], rest="drop", **options)
    assert str(error.value).startswith(sentence)


# ---- kept columns


def noted(kept, masked="wage"):
    table = {"wage": WAGE, "job": np.array(list("abc"))[WAGE % 3], "kept": kept}
    how = {"job": "mode"} if masked == "job" else None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        release = mag.microaggregate(table, 3, [masked], keep="kept", rest="drop", aggregate=how)
    told = [str(one.message) for one in caught if one.category is mag.LinkedColumnsWarning]
    assert [sentence for sentence in release.warnings if "nearly gives" in sentence] == told
    return release, told


def test_a_kept_column_of_the_same_order_is_named_with_its_correlation(tmp_path):
    release, told = noted(-(WAGE**3.0))
    assert told == ["kept is published unchanged, and nearly gives wage: rank correlation -1.000."]
    page = release.report(tmp_path / "report.html").read_text()
    assert "nearly gives wage" in page.partition("Not guaranteed")[2]


def test_no_manifest_and_no_pickle_holds_a_figure_that_only_the_original_gives(tmp_path):
    """Canaries: a correlation, a share of guesses and a count of zeros."""
    zeros = np.where(np.arange(400) < 103, 0.0, np.random.default_rng(0).lognormal(8, 1, 400))
    noise, other = np.random.default_rng(1).normal(size=(2, 400))
    amounts = {"x": zeros, "y": other, "kept": 3 * zeros + 30 * noise}
    with pytest.warns(mag.LinkedColumnsWarning):
        release = mag.microaggregate(amounts, 5, ["x", "y"], keep="kept")
    [correlation] = [warning for warning in release.warnings if "rank correlation" in warning]
    [lost] = [warning for warning in release.warnings if "Zeros of x: " in warning]
    figures = [correlation.rpartition(" ")[2][:-1], lost.partition(": ")[2].partition(" were")[0]]
    assert all(figure and any(map(str.isdigit, figure)) for figure in figures)
    manifest = release.manifest()
    copied = pickle.loads(pickle.dumps(release))
    for text in (json.dumps(manifest), str(copied), json.dumps(copied.manifest())):
        assert not any(figure in text for figure in figures)
        assert "kept is published unchanged, and nearly gives x." in text
        assert "Zeros of x were averaged with other numbers." in text
    page = release.report(tmp_path / "internal.html").read_text()
    assert figures[0] in page
    external = release.report(tmp_path / "external.html", audience="external").read_text()
    assert not any(figure in external for figure in figures)
    _, told = noted(np.array([f"c{code}" for code in WAGE % 3 + 10 * (np.arange(N) % 4)]), "job")
    assert "100.0 %" in told[0]
    release, _ = noted(np.array([f"c{code}" for code in WAGE % 3 + 10 * (np.arange(N) % 4)]), "job")
    assert "100.0 %" not in json.dumps(release.manifest())


def test_a_kept_column_that_determines_a_masked_one_is_named_with_the_share():
    codes = WAGE % 3 + 10 * (np.arange(N) % 4)
    _, told = noted(np.array([f"c{code}" for code in codes]), "job")
    assert told == [
        "kept is published unchanged, and nearly gives job: its value determines that of 100.0 % of the records."
    ]


@pytest.mark.parametrize(
    "kept", [GENERATOR.normal(size=N), np.arange(N), np.zeros(N), np.array([f"id{i}" for i in range(N)])]
)
def test_other_columns_are_not_named(kept):
    assert noted(kept)[1] == noted(kept, "job")[1] == []
