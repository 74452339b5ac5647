"""Top and bottom coding and rounding: limits, steps, dtypes, and sentences about mistakes."""

import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import mag
from mag.protect import bottom_code, round_to, top_code

VALUES = [5, -3, 40, 7, 900, 12]


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_limits_in_every_library(make):
    table = make({"x": np.array(VALUES), "y": np.array(VALUES)})
    coded = bottom_code(top_code(table, "x", value=40), ["x"], value=0)
    assert type(coded) is type(table)
    assert list(pl.DataFrame(dict(coded) if make is dict else coded)["x"]) == [5, 0, 40, 7, 40, 12]
    assert list(pl.DataFrame(dict(coded) if make is dict else coded)["y"]) == VALUES


def test_a_quantile_is_the_share_that_changes():
    table = {"x": np.arange(200.0)}
    assert (top_code(table, "x", quantile=0.99)["x"] != table["x"]).sum() == 2
    assert top_code(table, "x", quantile=0.99)["x"].max() == 197
    assert (bottom_code(table, "x", quantile=0.05)["x"] != table["x"]).sum() == 10
    assert bottom_code(table, "x", quantile=0.05)["x"].min() == 10
    assert (top_code(table, "x", quantile=1)["x"] == table["x"]).all()


def test_decimals_and_missing_cells():
    cells = [decimal.Decimal("1.25"), None, decimal.Decimal("9.99")]
    table = pl.DataFrame({"x": cells}, schema={"x": pl.Decimal(6, 2)})
    assert top_code(table, "x", value=2.5)["x"].to_list() == [decimal.Decimal("1.25"), None, decimal.Decimal("2.50")]
    assert round_to(table, "x", 0.5)["x"].to_list() == [decimal.Decimal("1.50"), None, decimal.Decimal("10.00")]
    floats = pl.DataFrame({"x": [1.25, None, -7.5]})
    assert round_to(floats, "x", 0.5)["x"].to_list() == [1.5, None, -7.5]


def test_halves_are_rounded_away_from_zero():
    table = {"x": np.array([25, -25, 24, 2**62 + 1])}
    assert round_to(table, "x", 50)["x"].tolist()[:3] == [50, -50, 0]
    assert round_to(table, "x", 2)["x"].tolist()[3] == 2**62 + 2  # integers are rounded exactly


def test_a_manifest_gets_an_entry():
    manifest = {}
    top_code({"x": [1, 2]}, "x", value=1, manifest=manifest)
    round_to({"x": [1, 2]}, "x", 2, manifest=manifest)
    first, second = manifest["protected"]
    assert first == {"function": "top_code", "columns": ["x"], "options": {"value": 1}, "note": second["note"]}
    assert "no k" in first["note"]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: top_code({"x": [1]}, "x"), "either value or quantile must be passed; got none."),
        (
            lambda: top_code({"x": [1]}, "x", value=1, quantile=0.5),
            "either value or quantile must be passed; got both.",
        ),
        (
            lambda: top_code({"x": [1]}, "x", value=0, quantile=0.5),
            "either value or quantile must be passed; got both.",
        ),
        (lambda: top_code({"x": [1]}, "x", value="1"), "value must be a finite number; got '1'."),
        (lambda: top_code({"x": [1]}, "x", value=1.5), "value must be a multiple of the column's step, 1; got 1.5."),
        (lambda: top_code({"x": [1]}, "x", quantile=2), "quantile must be "),
        (lambda: top_code({"x": [1]}, "y", value=1), "columns must name columns of the table; got 'y'"),
        (lambda: top_code({"x": ["a"]}, "x", value=1), "columns must hold numbers; 'x' holds "),
        (
            lambda: top_code({"x": np.array([1], np.uint8)}, "x", value=-1),
            "value must leave numbers that the column can",
        ),
        (lambda: round_to({"x": [1]}, "x", 0), "base must be "),
        (lambda: round_to({"x": [1]}, "x", 0.3), "base must be a multiple of the column's step, 1; got 0.3."),
        (lambda: round_to({"x": [1]}, "x", 1e-10), "base must be a multiple of the column's step, 1; got 1e-10."),
        (lambda: round_to({"x": [1]}, "x", 2, manifest=[]), "manifest must be a dictionary; got "),
    ],
)
def test_mistakes_are_one_sentence(call, sentence):
    with pytest.raises(mag.InputError) as error:
        call()
    assert str(error.value).startswith(sentence)


def test_limits_of_large_decimals_are_exact():
    """A step of 0.01 is no float: 1234567.89 has as many of them as its digits say."""
    amounts = [decimal.Decimal("1234567.90"), decimal.Decimal("7.00")]
    coded = top_code({"x": amounts}, "x", value=1234567.89)
    assert [str(cell) for cell in coded["x"]] == ["1234567.89", "7.00"]
