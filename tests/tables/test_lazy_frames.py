"""Lazy frames are masked: of polars, DuckDB and Ibis the columns that are needed are collected, by one query."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import mag

CELLS = {
    "age": [31, 52, 30, 55, 41, 29, 44, 33],
    "income": [2500.0, 4000.0, 2100.0, 4400.0, 3900.0, 2300.0, 3500.0, 2700.0],
    "job": ["cook", "baker"] * 4,
    "^a.*$": [1.0, 2.0] * 4,
    "name": ["canary"] * 8,
}
TABLE = pa.table(CELLS)
OPTIONS = {"columns": ["age", "income"], "by": "job", "keep": "^a.*$", "drop": "name"}


def duckdb_relation(table):
    return pytest.importorskip("duckdb").connect().from_arrow(table)


def ibis_table(table):
    ibis = pytest.importorskip("ibis", reason="ibis-framework is not installed")
    return ibis.memtable(table)


def polars_frame(table):
    return pl.from_arrow(table).lazy()


LAZY = {"polars": polars_frame, "duckdb": duckdb_relation, "ibis": ibis_table}


@pytest.mark.parametrize("library", LAZY)
def test_a_lazy_frame_is_published_as_its_rows_in_memory_are(library):
    eager = polars_frame(TABLE).collect() if library == "polars" else TABLE
    found, expected = (mag.microaggregate(table, 2, **OPTIONS) for table in (LAZY[library](TABLE), eager))
    assert type(found.data) is (pl.DataFrame if library == "polars" else pa.Table)
    assert found.data.equals(expected.data)
    manifests = [release.manifest() for release in (found, expected)]
    for manifest in manifests:
        manifest.pop("seconds")
        manifest.pop("created", None)
    assert manifests[0] == manifests[1]
    assert found.plan().keywords() == expected.plan().keywords()
    assert found.risk() == expected.risk()
    for function in (mag.generalize, mag.suppress):
        options = {"columns": ["job"], "keep": "age", "rest": "drop"}
        assert function(LAZY[library](TABLE), 2, **options).data.equals(function(eager, 2, **options).data)


class Watched:
    """Which columns a query was asked for."""

    def __init__(self):
        self.columns = []

    def frame(self, table):
        def read(with_columns, predicate, n_rows, batch_size):
            self.columns.append(with_columns)
            frame = pl.from_arrow(table)
            yield (
                frame if with_columns is None else frame.select([pl.nth(frame.columns.index(c)) for c in with_columns])
            )

        from polars.io.plugins import register_io_source

        return register_io_source(read, schema=pl.from_arrow(table).schema)


def test_one_query_reads_the_columns_that_are_used():
    """Dropped columns stay where they are, but for weights and names of units, which the caller is warned of."""
    watched = Watched()
    release = mag.microaggregate(watched.frame(TABLE), 2, **OPTIONS)
    assert [sorted(columns) for columns in watched.columns] == [sorted(name for name in CELLS if name != "name")]
    assert "canary" not in repr(release)
    watched = Watched()
    mag.microaggregate(watched.frame(TABLE), 2, "age", weights="income", rest="drop")
    assert [sorted(columns) for columns in watched.columns] == [["age", "income"]]
    people = TABLE.append_column("person_id", pa.array([1, 1, 2, 2, 3, 3, 4, 4]))
    with pytest.warns(mag.UnitsWarning, match="column 'person_id' looks like the names of 4 people"):
        mag.microaggregate(polars_frame(people), 2, "age", rest="drop")


def test_units_and_sensitive_columns_of_lazy_frames():
    people = polars_frame(pa.table({"age": [31, 31, 52, 52, 40, 40], "who": [1, 1, 2, 2, 3, 4], "ill": list("abcabc")}))
    release = mag.microaggregate(people, 2, "age", unit="who", rest="drop")
    assert release.guarantee.unit == "who"
    assert release.data.columns == ["age"]
    diverse = mag.microaggregate(people, 2, "age", diversity={"ill": 2}, rest="drop")
    assert mag.check(diverse.data.lazy(), 2, "age", diversity={"ill": 2})


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"columns": "wage"}, r"columns must name columns of the table; got 'wage'"),
        ({"columns": "age"}, r"every column must be in columns, by, keep or drop"),
        ({"columns": "age", "drop": "wage", "rest": "drop"}, r"drop must name columns of the table; got 'wage'"),
        ({"columns": "age", "rest": "drop", "k": 99}, r"k must be"),
    ],
)
@pytest.mark.parametrize("library", LAZY)
def test_mistakes_are_one_sentence(library, arguments, sentence):
    with pytest.raises(mag.InputError, match=sentence):
        mag.microaggregate(LAZY[library](TABLE), **{"k": 2} | arguments)


def test_engines_that_mag_does_not_collect_are_refused():
    dask = pytest.importorskip("dask.dataframe")
    frame = dask.from_pandas(pd.DataFrame({"age": [1, 2]}), npartitions=1)
    with pytest.raises(mag.InputTypeError, match=r"got a Dask frame, use mag\.distributed\.microaggregate"):
        mag.microaggregate(frame, 2, "age")
    for function in (mag.look, mag.plan):
        with pytest.raises(mag.InputTypeError, match="got a lazy LazyFrame, collect it first"):
            function(pl.LazyFrame({"age": [1]}))


def test_a_closed_connection_is_named_without_cells():
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    relation = connection.sql("select 'canary' as job, 1 as age")
    connection.close()
    for call in (
        lambda: mag.microaggregate(relation, 2, "age", drop="job"),
        lambda: mag.check(relation, 2, "age"),
        lambda: mag.assess(relation, "age"),
        lambda: mag.verify.recount(relation, ["age"]),
    ):
        with pytest.raises(
            mag.InputTypeError, match=r"duckdb raised ConnectionException.*connection is open"
        ) as raised:
            call()
        assert "canary" not in str(raised.value)
