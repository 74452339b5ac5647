"""The Arrow PyCapsule interface: tables of libraries that mag has never heard of, and releases that others read."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import mag

CELLS = {"age": [31, 52, 30, 55, 41, 29], "job": ["cook", "baker"] * 3}
TABLE = pa.table(CELLS)


class Stream:
    """A table that can be read once, and offers nothing but the protocol."""

    def __init__(self, table):
        self._table, self.reads = table, 0

    def __arrow_c_stream__(self, requested_schema=None):
        self.reads += 1
        assert self.reads == 1, "a stream was read twice"
        return self._table.__arrow_c_stream__(requested_schema)


class Batch:
    def __init__(self, table):
        (self._batch,) = table.combine_chunks().to_batches()

    def __arrow_c_array__(self, requested_schema=None):
        return self._batch.__arrow_c_array__(requested_schema)


def nanoarrow_stream(table):
    return pytest.importorskip("nanoarrow", reason="nanoarrow is not installed").ArrayStream(table)


def arro3_table(table):
    return pytest.importorskip("arro3.core", reason="arro3-core is not installed").Table.from_arrow(table)


def arro3_reader(table):
    return pytest.importorskip("arro3.core", reason="arro3-core is not installed").RecordBatchReader.from_arrow(table)


FOREIGN = {
    "own stream": Stream,
    "own array": Batch,
    "pyarrow reader": pa.Table.to_reader,
    "pyarrow batch": lambda table: table.to_batches()[0],
    "nanoarrow": nanoarrow_stream,
    "arro3": arro3_table,
    "arro3 reader": arro3_reader,
}


@pytest.mark.parametrize("library", FOREIGN)
def test_tables_of_any_library_are_masked_and_checked(library):
    make = FOREIGN[library]
    release = mag.microaggregate(make(TABLE), 2, "age", by="job")
    assert release.data.equals(mag.microaggregate(TABLE, 2, "age", by="job").data)
    assert mag.check(make(TABLE), 3, "job", sensitive="age")
    assert not mag.check(make(TABLE), 2, ["age", "job"], unit=None)
    assert mag.check(make(TABLE), 2, "job", unit="age").smallest == 3
    assert mag.verify.recount(make(TABLE), ["job"]) == 3
    assert mag.verify.recount(make(TABLE), ["job"], unit="age") == 3
    assert mag.verify.distinct(make(TABLE), ["job"], "age") == 3
    assert mag.verify.recount_wildcard(make(TABLE), ["job"]) == 3
    assert mag.assess(make(TABLE), ["job"]).summary["smallest"] == 3
    assert repr(mag.look(make(TABLE))) == repr(mag.look(TABLE))
    assert mag.suppress(make(TABLE), 2, "job", rest="drop").data.equals(TABLE.select(["job"]))
    assert mag.generalize(make(TABLE), 3, "job", rest="drop").data.num_rows == 6


class Failing:
    def __arrow_c_stream__(self, requested_schema=None):
        raise ValueError("canary: Jane Doe")


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (Failing(), r"table must offer Arrow records .* got a Failing, which raised ValueError\.$"),
        (pa.array([1, 2]), r"table must offer Arrow records .* got a Int64Array, which raised ArrowInvalid\.$"),
        (Stream(pa.table([[1], [2]], names=["a", "a"])), "more than one column named a"),
        (object(), "got an object"),
        (pl.Series([1]), "got a Series"),
    ],
)
def test_what_offers_no_table_is_refused_in_one_sentence(table, sentence):
    with pytest.raises(mag.InputError, match=sentence) as raised:
        mag.microaggregate(table, 2, "a")
    assert "canary" not in str(raised.value)
    assert "\n" not in str(raised.value)


def arrays(cells):
    return {name: np.array(own) for name, own in cells.items()}


PUBLISHED = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "arrays": arrays,
    "lists": dict,
    "series": lambda cells: {name: pl.Series(own) for name, own in cells.items()},
}


@pytest.mark.parametrize("library", PUBLISHED)
def test_a_release_is_read_by_any_library(library):
    make = PUBLISHED[library]
    release = mag.microaggregate(make(CELLS), 2, "age", by="job")
    ages = mag.microaggregate(TABLE, 2, "age", by="job").data["age"].to_pylist()
    for read in (pl.DataFrame, pa.table, lambda own: pl.from_arrow(pa.table(own))):
        table = read(release)
        assert (table["age"].to_pylist() if isinstance(table, pa.Table) else table["age"].to_list()) == ages
    assert pa.table(release).column_names == ["age", "job"]
    duckdb = pytest.importorskip("duckdb")
    assert duckdb.sql("select min(age), count(*) from release").fetchall() == [(min(ages), 6)]
    assert mag.check(release, 2, ["age", "job"])
    narrow = pa.schema([("age", pa.int32()), ("job", pa.string())])
    if library == "pyarrow":
        assert pa.RecordBatchReader.from_stream(release, narrow).read_all().schema == narrow


def test_an_index_and_metadata_stay_behind():
    """An index is no column of the release, and would show which records are withheld."""
    people = pd.DataFrame(CELLS | {"gap": [1.0, None, 2.0, 3.0, 4.0, 5.0]}, index=[f"canary {i}" for i in range(6)])
    release = mag.microaggregate(people, 2, ["age", "gap"], missing="drop", rest="drop")
    stream = pa.table(release)
    assert stream.column_names == ["age", "gap"]
    assert stream.schema.metadata is None


def test_a_suppression_is_read_too():
    release = mag.suppress(pl.DataFrame(CELLS), 2, ["age", "job"])
    assert pl.DataFrame(release).equals(release.data)


def test_cells_that_arrow_cannot_hold_are_not_quoted():
    people = pd.DataFrame(CELLS | {"note": pd.Series(["canary", 1, 2.5, None, b"x", "y"], dtype=object)})
    release = mag.microaggregate(people, 2, "age", keep="note", rest="drop")
    with pytest.raises(
        mag.InputTypeError, match=r"a release must hold columns that Arrow can hold; .*Error|Invalid"
    ) as raised:
        pa.table(release)
    assert "canary" not in str(raised.value)
