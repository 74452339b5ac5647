"""Lazy frames are counted in their engines as the recount counts frames in memory, on cells that engines confuse."""

import datetime
import decimal
import pathlib
import struct

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import mag
from mag import verify
from mag.frames.lazy import in_one_sentence
from mag.verify import engines
from tests.data.arrow_types import TYPES, array_of


def nan(bits):
    return struct.unpack("d", struct.pack("Q", 0x7FF8000000000000 | bits))[0]


FLOATS = np.array([0.0, -0.0, nan(0), nan(1), nan(1), 0.0, 1.5, -0.0])
DAY = datetime.date(2001, 2, 3)
HOSTILE = pa.table(
    {
        "zeros and NaN": pa.array(FLOATS),
        "NaN and null": pa.array(FLOATS, mask=np.array([0, 0, 0, 0, 0, 1, 1, 1], bool)),
        "narrow": pa.array(FLOATS.astype("f4")),
        "text": ["a", "A", "a", "A", None, None, "", "é"],
        "integer": pa.array([1, None, 1, None, 2**63 - 1, 2, 2, 2]),
        "boolean": [True, False, None, None] * 2,
        "day": [DAY, None] * 4,
        "moment": pa.array([1, 2, None, 1] * 2, pa.timestamp("us", "UTC")),
        "price": [decimal.Decimal("1.10"), decimal.Decimal("1.10"), None, None] * 2,
        "bytes": pa.array([b"a", b"\0", b"a\0", None] * 2),
        "list": pa.array([[x] for x in FLOATS]),
        "texts": pa.array([["a"], ["A"], None, [None], [], [], ["a"], ["a"]]),
        "struct": pa.array([{"x": x, "y": y} for x, y in zip(FLOATS, "aAaAaaaa", strict=True)]),
    }
)
NESTED = ["list", "texts", "struct"]
NOT_IN_DASK = ["bytes", *NESTED]


def duckdb_relation(table):
    connection = pytest.importorskip("duckdb").connect()
    connection.execute("pragma default_collation=NOCASE")
    return connection.from_arrow(table)


def dask_frame(table):
    dask = pytest.importorskip("dask.dataframe")
    return dask.from_pandas(table.to_pandas(types_mapper=pd.ArrowDtype), npartitions=3)


def on_ibis(backend):
    def make(table):
        ibis = pytest.importorskip("ibis", reason="ibis-framework is not installed")
        if backend == "polars":
            return ibis.polars.connect({"people": pl.from_arrow(table).lazy()}).table("people")
        pytest.importorskip("duckdb")
        return ibis.memtable(table)

    return make


@pytest.fixture(scope="module")
def spark():
    """A session on this machine that no other one can reach."""
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    mine = sql.SparkSession.getActiveSession() is None
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
    }
    try:
        session = sql.SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    except Exception as error:  # there is no Java, or an older one
        pytest.skip(f"Spark does not start: {type(error).__name__}")
    yield session
    if mine:
        session.stop()


LAZY = {
    "polars": lambda table: pl.from_arrow(table).lazy(),
    "duckdb": duckdb_relation,
    "dask": dask_frame,
    "ibis on duckdb": on_ibis("duckdb"),
    "ibis on polars": on_ibis("polars"),
}


def sizes(table, columns):
    return sorted(verify.sizes_of_classes(table, columns).tolist())


def lazy_sizes(table, columns):
    return sorted(verify.count_lazily(table, columns).records.tolist())


@pytest.mark.parametrize("name", HOSTILE.column_names)
@pytest.mark.parametrize("library", LAZY)
def test_engines_distinguish_what_the_recount_distinguishes(library, name):
    if library == "dask" and name in NOT_IN_DASK:
        with pytest.raises(mag.InputTypeError, match=rf"column '{name}' holds .* cannot compare exactly"):
            lazy_sizes(dask_frame(HOSTILE), [name])
        return
    assert lazy_sizes(LAZY[library](HOSTILE), [name]) == sizes(HOSTILE, [name])


def test_a_collation_merges_no_values():
    relation = duckdb_relation(pa.table({"age": [31, 31, 31], "name": ["ann", "Ann", None]}))
    assert verify.distinct(relation, ["age"], "name") == 3
    assert verify.recount(relation.filter("name is not null"), ["age"], unit="name") == 2


def test_objects_in_dask_are_texts_and_kinds_of_missing_cells():
    """Where Dask does not make them strings; pandas would take None and NaN for one."""
    dask, frames = pytest.importorskip("dask"), pytest.importorskip("dask.dataframe")
    table = pd.DataFrame({"text": pd.Series(["a", None, np.nan, "A", "float", None], dtype=object), "other": object()})
    with dask.config.set({"dataframe.convert-string": False}):
        frame = frames.from_pandas(table, npartitions=3, sort=False)
        assert lazy_sizes(frame, ["text"]) == sizes(table, ["text"]) == [1, 1, 1, 1, 2]
        with pytest.raises(mag.InputTypeError, match="column 'other' holds Python objects, which its engine cannot"):
            lazy_sizes(frame, ["other"])


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning", "ignore::DeprecationWarning")
def test_spark_distinguishes_what_the_recount_distinguishes(spark):
    """One test: a session takes as long to start as all columns to count."""
    plain = HOSTILE.drop_columns(NESTED)
    frame = spark.createDataFrame(plain)
    for names in (["zeros and NaN"], ["text", "day"]):
        assert lazy_sizes(frame, names) == sizes(HOSTILE, names), names
    assert lazy_sizes(frame, plain.column_names) == sizes(HOSTILE, plain.column_names)
    with pytest.raises(mag.InputTypeError, match="column 'list' holds the type array of Spark"):
        lazy_sizes(spark.createDataFrame(HOSTILE), ["list"])
    names = ["integer", "text"]
    found, expected = (mag.check(table, 2, names, sensitive="NaN and null") for table in (frame, HOSTILE))
    assert repr(found) == repr(expected)
    stream = spark.readStream.format("rate").load()
    with pytest.raises(mag.InputTypeError, match="got a streaming frame of Spark, check its batches"):
        mag.check(stream, 2, ["value"])


@pytest.mark.parametrize("name", [name for name in TYPES if "view" not in name])
def test_types_of_arrow_are_counted_by_polars_or_refused(name):
    """Polars has fewer types; what it reads, it counts as the recount of the frame in memory does."""
    try:
        frame = pl.from_arrow(pa.table({"x": array_of(name, [0, 1, 0, 2, 2, 1, 1])}))
    except BaseException as error:  # of a type that polars does not have, which may be a panic
        pytest.skip(f"polars cannot read it: {type(error).__name__}")
    assert lazy_sizes(frame.lazy(), ["x"]) == sizes(frame, ["x"])


def test_intervals_are_compared_as_they_are_stored():
    relation = duckdb_relation(HOSTILE).query("t", "select unnest([interval 1 month, interval 30 days]) as x")
    assert lazy_sizes(relation, ["x"]) == [1, 1]


@pytest.mark.filterwarnings("ignore::pandas.errors.Pandas4Warning")  # of what Ibis imports
def test_other_backends_of_ibis_compare_few_types_as_we_do(tmp_path):
    ibis = pytest.importorskip("ibis", reason="ibis-framework is not installed")
    backend = ibis.sqlite.connect(tmp_path / "people.db")
    backend.create_table("people", schema=ibis.schema({"age": "int64", "income": "float64", "job": "string"}))
    backend.raw_sql("insert into people values (1, 0.0, 'a'), (1, -0.0, 'A'), (2, 1.5, 'a')").close()
    people = backend.table("people")
    assert lazy_sizes(people, ["age"]) == [1, 2]
    for name in ("income", "job"):
        with pytest.raises(mag.InputTypeError, match=rf"column '{name}' holds \w+ in sqlite, which .* compare exactly"):
            mag.check(people, 2, name)


@pytest.mark.parametrize("library", LAZY)
def test_recount_and_distinct_take_lazy_frames(library):
    rows = pa.table({"a": [1, 1, 1, 2, 2], "who": [1.0, -0.0, 0.0, 5.0, 5.0], "ill": [0.0, -0.0, None, np.nan, None]})
    lazy = LAZY[library](rows)
    assert verify.recount(lazy, ["a"]) == verify.recount(rows, ["a"]) == 2
    assert verify.recount(lazy, ["a"], unit="who") == verify.recount(rows, ["a"], unit="who") == 1
    assert verify.distinct(lazy, ["a"], "ill") == verify.distinct(rows, ["a"], "ill") == 1
    assert verify.recount(LAZY[library](rows.slice(0, 0)), ["a"]) == 0
    with pytest.raises(mag.InputValueError, match="columns must name columns of the table; got 'b'"):
        verify.recount(lazy, ["b"])
    with pytest.raises(mag.InputValueError, match="unit must not have missing cells; got 3 in 'ill'"):
        verify.recount(lazy, ["a"], unit="ill")


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64()], ids=str)
def test_names_are_no_patterns_and_no_sql(kind):
    names = ["^a$", 'x" from', "key0", "value0", "n", "classes", "`b`", ""]
    table = pa.table([pa.array([place, 2, 2], kind) for place in range(len(names))], names=names)
    for make in LAZY.values():
        if make is on_ibis or "ibis" in getattr(make, "__qualname__", ""):
            continue  # whose own SQL does not quote all of them
        for place, name in enumerate(names[:-1]):
            assert lazy_sizes(make(table), [name]) == ([3] if place == 2 else [1, 2]), name


def test_an_error_of_an_engine_is_one_sentence_without_its_cells():
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    relation = connection.sql("select cast(x as integer) as x from (values ('canary'), ('1')) as t(x)")
    with pytest.raises(mag.InputTypeError, match=r"duckdb raised ConversionException, run its query") as raised:
        mag.check(relation, 2, "x")
    assert "canary" not in str(raised.value)
    connection.close()
    with pytest.raises(mag.InputTypeError, match=r"raised ConnectionException, .* whether its connection is open\.$"):
        mag.check(relation, 2, "x")
    frame = pl.LazyFrame({"x": ["canary"]}).select(pl.col("x").cast(pl.Int64))
    with pytest.raises(mag.InputTypeError, match="polars raised InvalidOperationError") as raised:
        mag.check(frame, 2, "x")
    assert "canary" not in str(raised.value)


def test_interrupts_pass_an_engine():
    with pytest.raises(KeyboardInterrupt), in_one_sentence(pl.LazyFrame()):
        raise KeyboardInterrupt


def test_engines_are_the_files_of_their_package():
    (folder,) = engines.__path__
    assert sorted(path.stem for path in pathlib.Path(folder).glob("[a-z]*.py")) == sorted(engines.ENGINES)
