"""`mag.look`: types, shapes, codes and roles of columns of every library; values only on demand."""

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import mag

N = 60
COLUMNS = {
    "id": [f"person {i}" for i in range(N)],
    "sex": ["f", "m"] * (N // 2),
    "age": [20 + i % 37 for i in range(N)],
    "income": [-9.0 if i % 6 == 0 else 1000.25 + 17 * i for i in range(N)],
    "debt": [None if i == 0 else float(i * i - 500) for i in range(N)],
    "roof": [1, 4] * (N // 2),
    "born": [datetime.date(1950, 1, 1) + datetime.timedelta(days=97 * i) for i in range(N)],
    "seen": [datetime.datetime(2026, 1, 1, 12) + datetime.timedelta(minutes=i) for i in range(N)],
    "stay": [datetime.timedelta(hours=i) for i in range(N)],
    "paid": [decimal.Decimal(i * 101) / 100 for i in range(N)],
    "left": [i % 2 == 0 for i in range(N)],
    "wave": [2026] * N,
    "note": [None] * N,
}
LIBRARIES = {
    "pandas": pd.DataFrame,
    "polars": lambda columns: pl.DataFrame(columns, strict=False),
    "pyarrow": pa.table,
    "arrays": lambda columns: {one.name: one.to_numpy() for one in pl.DataFrame(columns, strict=False)},
}
EXPECTED = {  # type, missing, distinct, shape, role
    "id": ("text", 0, N, "8-9 characters", "drop"),
    "sex": ("text", 0, 2, "1 character", "category"),
    "age": ("whole number", 0, 37, "2 digits", "mask"),
    "income": ("number", 0, 51, "± 1-4 digits, 2 decimals", "mask"),
    "debt": ("whole number", 1, 59, "± 2-4 digits", "mask"),
    "roof": ("whole number", 0, 2, "1 digit", "category"),
    "born": ("date", 0, N, "YYYY-MM-DD", "mask"),
    "seen": ("date and time", 0, N, "YYYY-MM-DD hh:mm", "mask"),
    "stay": ("duration", 0, N, "", "mask"),
    "paid": ("number", 0, N, "1-2 digits, 2 decimals", "mask"),
    "left": ("boolean", 0, 2, "", "category"),
    "wave": ("whole number", 0, 1, "4 digits", "keep"),
    "note": ("empty", N, 0, "", "drop"),
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_columns_of_every_library(library):
    looked = mag.look(LIBRARIES[library](COLUMNS))
    assert looked.records == N
    found = {one.name: (one.type, one.missing, one.distinct, one.shape, one.role) for one in looked.columns}
    assert found == EXPECTED


def test_codes_are_counted_and_named_on_demand():
    hidden, shown = (
        {one.name: one for one in mag.look(pl.DataFrame(COLUMNS, strict=False), show=show).columns}
        for show in (False, True)
    )
    assert hidden["income"].codes == 1
    assert hidden["income"].notes == ("1 value in 10 records may be missing codes",)
    assert shown["income"].notes == ("1 value in 10 records may be missing codes: -9 (10 records)",)
    assert hidden["roof"].notes == ("few whole values; means of codes tell nothing",)
    assert (hidden["age"].smallest, hidden["age"].largest) == (None, None)
    assert (shown["age"].smallest, shown["age"].largest) == ("20", "56")
    assert (shown["born"].smallest, shown["born"].largest) == ("1950-01-01", "1965-09-02")


def test_text_and_html_show_no_value_unless_they_are_to():
    table = pl.DataFrame(COLUMNS, strict=False)
    for text in (str(mag.look(table)), mag.look(table)._repr_html_()):
        assert "person" not in text
        assert "2026" not in text
    assert "person 0 to person 9" in str(mag.look(table, show=True))


def test_the_text_is_80_characters_wide_and_short():
    wide = {f"a column with a long name {i}": [i, 2.5, -3e7] for i in range(200)}
    looked = mag.look(wide)
    assert max(map(len, str(looked).splitlines())) <= 80
    assert len(str(looked).splitlines()) > 200
    assert len(repr(looked).splitlines()) < 100
    assert "… and 160 more" in repr(looked)


@pytest.mark.parametrize(
    ("values", "shape"),
    [
        ([10**15, 10**16 - 1], "16 digits"),
        ([-(2**63), 5], "± 1-19 digits"),
        ([2**64 - 1, 0], "1-20 digits"),
        ([0.1 + 0.2, 1.5], "1 digit, 1 decimal"),
        ([1 / 3, 12.0], "1-2 digits, 6+ decimals"),
        ([np.inf, 12.0], "2 digits"),
        ([np.inf, -np.inf], "infinite"),
    ],
)
def test_digits_of_extreme_numbers(values, shape):
    assert mag.look({"x": values}).columns[0].shape == shape


def test_tables_without_records_and_without_columns():
    assert mag.look({"x": np.array([], float)}).columns[0].role == "drop"
    assert str(mag.look(pl.DataFrame())).startswith("0 records, 0 columns")


def test_a_column_of_mixed_objects_is_to_be_converted():
    column = mag.look({"x": np.array([1, "2", 3.5], object)}).columns[0]
    assert (column.type, column.role) == ("object", "drop")
    assert column.notes == ("cells of this type cannot be masked; convert them",)


def test_a_name_does_not_move_the_cursor():
    assert "\x1b" not in str(mag.look({"age\x1b[31m": [1, 2, 3]}))


def test_a_path_is_answered_with_the_command():
    with pytest.raises(mag.InputTypeError, match="use the commands mag look, mag mask and mag check"):
        mag.look("people.csv")
