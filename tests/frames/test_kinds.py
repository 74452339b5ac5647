"""Kinds of columns: numbers, decimals, times and arrays keep their dtype, their unit and their library."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import mag
from tests.data.frames import LIBRARIES, cells, dtypes, smallest_class


def test_nullable_integers_stay_nullable_integers():
    table = pd.DataFrame({"x": pd.array([1, 2, None, 4, 5, None], dtype="Int64")})
    release = mag.microaggregate(table, 2, "x", missing="group")
    assert release.data["x"].dtype == "Int64"
    assert release.data["x"].isna().tolist() == [False, False, True, False, False, True]
    assert release.data["x"].dropna().tolist() == [2, 2, 5, 5]  # 1.5 and 4.5, half away from zero


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "int32", "int64", "uint64", "float32", "float64"])
@pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)
def test_numbers_keep_their_dtype(make, kind):
    if kind == "float32" and make is LIBRARIES["pandas nullable"]:
        kind = "float64"  # convert_dtypes makes integers of whole floats
    table = make({"x": np.array([1, 2, 100, 101], kind), "y": np.array([4, 3, 2, 1], kind)})
    release = mag.microaggregate(table, 2, ["x", "y"])
    assert dtypes(release.data) == dtypes(table)
    assert smallest_class(release.data, ["x", "y"]) == 2


def test_halves_are_rounded_away_from_zero():
    table = {"x": np.array([1, 2, -1, -2, 7, 7])}
    assert mag.microaggregate(table, 2, "x").data["x"].tolist() == [2, 2, -2, -2, 7, 7]


@pytest.mark.parametrize("aggregate", ["mean", "median", "mid_range"])
@pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)
def test_integers_beyond_float64_are_exact(make, aggregate):
    base = 2**60
    table = make({"x": np.array([base + 1, base + 4, base + 1000, base + 1003]), "y": np.zeros(4)})
    release = mag.microaggregate(table, 2, ["x", "y"], aggregate=aggregate)
    assert cells(release.data, "x") == [base + 3, base + 3, base + 1002, base + 1002]
    ends = make({"x": np.array([-(2**63), 2**63 - 1, -(2**63), 2**63 - 1])})
    assert cells(mag.microaggregate(ends, 4, "x").data, "x") == [-1] * 4


@pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)
def test_unsigned_integers_beyond_signed_ones_are_exact(make):
    table = make({"x": np.array([2**64 - 1, 2**64 - 2, 2**63 + 5, 2**63 + 7], np.uint64), "y": np.zeros(4)})
    release = mag.microaggregate(table, 2, ["x", "y"])
    assert cells(release.data, "x") == [2**64 - 1, 2**64 - 1, 2**63 + 6, 2**63 + 6]
    alone = mag.microaggregate(table, 2, "x", drop="y")
    assert cells(alone.data, "x") == [2**64 - 1, 2**64 - 1, 2**63 + 6, 2**63 + 6]


def decimals():
    return [Decimal("1.10"), Decimal("1.15"), Decimal("900.00"), Decimal("900.01"), None, None]


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"x": pd.Series(decimals(), dtype=object)}),
        pd.DataFrame({"x": pd.array(decimals(), dtype=pd.ArrowDtype(pa.decimal128(12, 2)))}),
        pl.DataFrame({"x": pl.Series(decimals(), dtype=pl.Decimal(12, 2))}),
        pa.table({"x": pa.array(decimals(), pa.decimal128(12, 2))}),
        pa.table({"x": pa.array(decimals(), pa.decimal256(50, 2))}),
        {"x": np.array(decimals(), dtype=object)},
    ],
    ids=["pandas", "pandas arrow", "polars", "pyarrow", "pyarrow 256", "dict"],
)
def test_decimals_are_rounded_to_their_scale(table):
    release = mag.microaggregate(table, 2, "x", missing="group")
    expected = [Decimal("1.13"), Decimal("1.13"), Decimal("900.01"), Decimal("900.01")]
    assert [str(cell) for cell in cells(release.data, "x")[:4]] == [str(cell) for cell in expected]
    assert dtypes(release.data) == dtypes(table)
    assert release.numbers()[1]["x"][0] == pytest.approx(1.13)


def test_decimals_of_many_digits_are_exact():
    digits = "123456789012345678901234567"
    table = {"x": np.array([Decimal(digits + end) for end in ("890.12", "890.14", "999.00", "999.1")], dtype=object)}
    release = mag.microaggregate(table, 2, "x").data["x"]
    assert release.tolist() == [Decimal(digits + end) for end in ("890.13", "890.13", "999.05", "999.05")]
    polars = pl.DataFrame({"x": pl.Series(table["x"].tolist(), dtype=pl.Decimal(38, 2))})
    assert mag.microaggregate(polars, 2, "x").data["x"].to_list() == release.tolist()


MOMENTS = [
    datetime.datetime(2020, 1, 1),
    datetime.datetime(2020, 1, 1, 0, 0, 3),
    datetime.datetime(2024, 5, 1),
    None,
    None,
]
MOMENTS.insert(3, datetime.datetime(2024, 5, 1, 0, 0, 0, 2))
TIMES = {
    "pandas s": pd.DataFrame({"t": pd.Series(MOMENTS).astype("datetime64[s]")}),
    "pandas ns": pd.DataFrame({"t": pd.Series(MOMENTS).astype("datetime64[ns]")}),
    "pandas zone": pd.DataFrame({"t": pd.Series(MOMENTS).astype("datetime64[us]").dt.tz_localize("Europe/Berlin")}),
    "pandas arrow": pd.DataFrame({"t": pd.Series(MOMENTS).astype(pd.ArrowDtype(pa.timestamp("us", "Asia/Tokyo")))}),
    "polars ms": pl.DataFrame({"t": pl.Series(MOMENTS, dtype=pl.Datetime("ms"))}),
    "polars zone": pl.DataFrame({"t": pl.Series(MOMENTS, dtype=pl.Datetime("us", "UTC"))}),
    "pyarrow": pa.table({"t": pa.array(MOMENTS, pa.timestamp("ns"))}),
    "dict": {"t": np.array(MOMENTS, "datetime64[us]")},
}
DAYS = [
    datetime.date(1950, 1, 1),
    datetime.date(1950, 1, 4),
    datetime.date(2000, 1, 1),
    datetime.date(2000, 1, 3),
    None,
    None,
]
TIMES |= {
    "dates of polars": pl.DataFrame({"t": DAYS}),
    "dates of pyarrow": pa.table({"t": pa.array(DAYS)}),
    "dates of 64 bits": pa.table({"t": pa.array(DAYS, pa.date64())}),
    "dates of pandas": pd.DataFrame({"t": pd.Series(DAYS, dtype=object)}),
    "dates of pandas arrow": pd.DataFrame({"t": pd.Series(DAYS).astype(pd.ArrowDtype(pa.date32()))}),
    "days of numpy": {"t": np.array(DAYS, "datetime64[D]")},
}
SPANS = [
    datetime.timedelta(0),
    datetime.timedelta(seconds=3),
    datetime.timedelta(9),
    datetime.timedelta(9, 2),
    None,
    None,
]
TIMES |= {
    "durations of pandas": pd.DataFrame({"t": pd.Series(SPANS)}),
    "durations of polars": pl.DataFrame({"t": SPANS}),
    "durations of pyarrow": pa.table({"t": pa.array(SPANS, pa.duration("ms"))}),
    "durations of numpy": {"t": np.array(SPANS, "timedelta64[ms]")},
}


@pytest.mark.parametrize("table", TIMES.values(), ids=TIMES)
def test_times_keep_their_unit_and_zone(table):
    release = mag.microaggregate(table, 2, "t", missing="group")
    assert dtypes(release.data) == dtypes(table)
    assert smallest_class(release.data, ["t"]) == 2
    before, after = release.numbers()
    assert np.abs(before["t"] - after["t"])[:4].max() <= 2 * 86400
    assert np.isnan(after["t"]).tolist() == [False] * 4 + [True] * 2


def test_a_mean_of_times_is_a_time():
    first, second = datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 1, 0, 0, 3)
    table = pl.DataFrame({"t": pl.Series([first, second], dtype=pl.Datetime("us"))})
    assert mag.microaggregate(table, 2, "t").data["t"].to_list() == [datetime.datetime(2020, 1, 1, 0, 0, 1, 500000)] * 2
    whole = table.cast(pl.Datetime("ms")).to_pandas().astype("datetime64[s]")
    assert mag.microaggregate(whole, 2, "t").data["t"].tolist() == [pd.Timestamp("2020-01-01 00:00:02")] * 2


@pytest.mark.parametrize(
    ("column", "what"),
    [
        ([True, False] * 3, "booleans"),
        (list("abcabc"), "strings"),
        ([[1], [2]] * 3, "List|Python objects"),
    ],
)
def test_what_has_no_mean_is_refused(column, what):
    for table in (pl.DataFrame({"x": column}), pd.DataFrame({"x": column})):
        with pytest.raises(TypeError, match=f"'x' holds ({what})"):
            mag.microaggregate(table, 2, "x", scope="per-column")


def test_integers_of_128_bits_are_exact():
    table = pl.DataFrame({"x": pl.Series([2**100, 2**100 + 4, 0, 2], dtype=pl.Int128), "g": [2**101] * 4})
    release = mag.microaggregate(table.cast({"g": pl.Int128}), 2, "x", by="g")
    assert release.data["x"].to_list() == [2**100 + 2] * 2 + [1, 1]
    assert release.data["x"].dtype == pl.Int128


def test_series_of_a_dictionary_stay_series():
    table = {
        "x": pd.Series([1.0, 2.0, 9.0, 8.0], index=list("abcd")),
        "y": pl.Series([1, 2, 3, 4]),
        "z": pa.chunked_array([[1, 2], [3, 4]]),
    }
    release = mag.microaggregate(table, 2, ["x", "y"], by="z", small_strata="merge")
    assert {name: type(column) for name, column in release.data.items()} == {
        name: type(column) for name, column in table.items()
    }
    assert release.data["x"].index.tolist() == list("abcd")
    assert release.data["z"].null_count == 4


def test_what_is_withheld_shows_in_an_index():
    table = pd.DataFrame({"x": [1.0, None, 2.0]})
    assert any("withheld" in warning for warning in mag.microaggregate(table, 2, "x", missing="drop").warnings)
    assert not mag.microaggregate(table, 2, "x", missing="drop", shuffle=True).warnings


def test_arrays_of_a_dictionary_stay_in_their_library(xp):
    table = {"x": xp.make(np.array([1.0, 2.0, 10.0, 11.0])), "g": xp.make(np.array([1, 1, 1, 1])), "y": [1, 2, 3, 4]}
    release = mag.microaggregate(table, 2, ["x", "y"], by="g")
    assert isinstance(release.data["x"], xp.kind)
    assert isinstance(release.data["g"], xp.kind)
    assert xp.numpy(release.data["x"]).tolist() == [1.5, 1.5, 10.5, 10.5]
    assert release.data["y"].tolist() == [2, 2, 4, 4]
