"""`mag.distributed` on a real session of Spark, whose Python workers are killed now and then."""

import itertools
import os
import pathlib
import re
import signal
import subprocess
import sys
import textwrap

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import mag
import mag.distributed
from mag import verify
from mag._lib.rowhash import count_classes
from mag.distributed._cells import hash_records
from tests.data.needles import Needles, files_with
from tests.data.paths import PROJECT

pytest.importorskip("pyspark.sql", reason="pyspark is not installed")

from pyspark.sql import SparkSession
from pyspark.sql import functions as sql

from mag.distributed.spark import _frames, _graph
from mag.distributed.spark._wave import Wave

pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning", "ignore::UserWarning", "ignore::DeprecationWarning", "ignore::ResourceWarning"
)


def settings(folder):
    """Everything that Spark writes goes to this folder; nothing listens but to this machine."""
    for name in ("events", "local", "temporary"):
        (folder / name).mkdir()
    return {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={folder / 'temporary'}",
        "spark.driver.host": "127.0.0.1",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": (folder / "events").as_uri(),
        "spark.eventLog.enabled": "true",
        "spark.local.dir": str(folder / "local"),
        "spark.shuffle.compress": "false",  # so that values can be found
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": (folder / "warehouse").as_uri(),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("spark")


@pytest.fixture(scope="module")
def spark(folder):
    """Two threads with Python workers of their own; a task may fail four times, as on a cluster."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("PYTHONPATH", str(PROJECT), prepend=os.pathsep)
        patch.setenv("TMPDIR", str(folder / "temporary"))
        try:
            session = SparkSession.builder.master("local[2,4]").config(map=settings(folder)).getOrCreate()
        except Exception as error:  # there is no Java, or an older one
            pytest.skip(f"Spark does not start: {type(error).__name__}")
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()


def people(n=400, seed=0):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "id": np.arange(n),
            "age": rng.integers(0, 90, n).astype(np.int16),
            "income": rng.lognormal(3, 1, n),
            "height": rng.normal(1.7, 0.1, n).astype(np.float32),
            "ward": pa.array(rng.choice(["north", "south"], n)),
            "person": rng.integers(0, n // 2, n),
        }
    )


ROLES = {"keep": ["id", "ward", "person"]}


def edges_of(n, partitions):
    return [n * p // partitions for p in range(partitions + 1)]


def on_spark(session, table, partitions):
    """A frame with these partitions, made on the workers."""
    edges = edges_of(table.num_rows, partitions)

    def slices(batches):
        for batch in batches:
            for p in batch.column("id").to_pylist():
                yield from table.slice(edges[p], edges[p + 1] - edges[p]).to_batches()

    schema = session.createDataFrame(table.slice(0, 1)).schema
    return session.range(0, partitions, numPartitions=partitions).mapInArrow(slices, schema)


def on_dask(table, partitions):
    edges = edges_of(table.num_rows, partitions)
    slices = [table.slice(a, b - a).to_pandas(types_mapper=pd.ArrowDtype) for a, b in itertools.pairwise(edges)]
    return dd.from_delayed([dask.delayed(lambda part: part)(part) for part in slices])


def arrow(frame):
    """The records of a frame of Spark or Dask, in the order of their ids."""
    if hasattr(frame, "toArrow"):
        return frame.toArrow().sort_by("id")
    with dask.config.set(scheduler="threads", num_workers=2):
        return pa.Table.from_pandas(frame.compute(), preserve_index=False).sort_by("id")


def assert_same(frame, other):
    """Equal to the last bit."""
    one, two = arrow(frame), arrow(other)
    assert one.column_names == two.column_names
    assert one.equals(two.cast(one.schema).replace_schema_metadata(None))


def kill_in_every_wave(monkeypatch, folder):
    """The first worker that has run tasks of a wave is killed before it can write all of its results."""
    prepare, waves = _graph.SparkTasks._prepare, []

    def prepare_with_kills(self, wave, outputs):
        rows, plan = prepare(self, wave, outputs)
        mark = folder / f"wave-{len(waves)}"
        waves.append(mark)

        class DyingWave(Wave):  # local, so that it travels by value
            def _run(self, home, known):
                yield from super()._run(home, known)
                try:
                    mark.touch(exist_ok=False)
                except FileExistsError:
                    return
                os.kill(os.getpid(), signal.SIGKILL)

        return rows, DyingWave(**vars(plan))

    monkeypatch.setattr(_graph.SparkTasks, "_prepare", prepare_with_kills)
    return waves


# ---- the groups of other engines, whatever the partitions, and whoever dies


MORE = [pytest.param(partitions, marks=pytest.mark.long) for partitions in (1, 7)]
KILLED = [pytest.param(partitions, True, marks=pytest.mark.long) for partitions in (1, 2, 7)]


@pytest.mark.parametrize(("partitions", "kills"), [(2, False), *KILLED])
def test_columns_are_those_of_dask(spark, partitions, kills, monkeypatch, tmp_path):
    waves = kill_in_every_wave(monkeypatch, tmp_path) if kills else []
    table = people()
    found = mag.distributed.columns(on_spark(spark, table, partitions), 5, **ROLES, cost=["sae", "sse", "maxdist"])
    wanted = mag.distributed.columns(on_dask(table, partitions), 5, **ROLES, cost=["sae", "sse", "maxdist"])
    assert_same(found.masked, wanted.masked)
    labels = arrow(found.labels)
    assert labels.column_names == table.column_names
    np.testing.assert_array_equal(found.n_groups, wanted.n_groups.compute())
    for name, cost in (("age", "sae"), ("income", "sse")):
        own = mag.univariate(table[name].to_numpy(), 5, cost=cost)
        np.testing.assert_array_equal(labels[name].to_numpy(), own.labels)
    assert len(waves) >= 2 * kills
    assert all(mark.exists() for mark in waves)


@pytest.mark.parametrize(("partitions", "kills"), [(2, False), *KILLED])
def test_a_column_is_that_of_memory_though_workers_are_killed(spark, partitions, kills, monkeypatch, tmp_path):
    waves = kill_in_every_wave(monkeypatch, tmp_path) if kills else []
    table = people(700)
    found = mag.distributed.univariate(
        on_spark(spark, table.select(["id", "income"]), partitions), 3, ranges=2, keep="id"
    )
    wanted = mag.univariate(table["income"].to_numpy(), 3)
    masked, labels = arrow(found.masked), arrow(found.labels)
    assert masked["income"].to_numpy().tobytes() == wanted.masked.tobytes()
    np.testing.assert_array_equal(labels["income"].to_numpy(), wanted.labels)
    assert found.n_groups == wanted.n_groups
    assert found.cost == pytest.approx(wanted.cost, rel=1e-12)
    assert not kills or len(waves) >= 10
    assert all(mark.exists() for mark in waves)


@pytest.mark.parametrize("partitions", [2, *MORE])
def test_records_are_those_of_dask_though_workers_are_killed(spark, partitions, monkeypatch, tmp_path):
    waves = kill_in_every_wave(monkeypatch, tmp_path)
    table = people()
    options = {**ROLES, "parts": 4, "random_state": 3}
    found = mag.distributed.multivariate(on_spark(spark, table, partitions), 6, **options)
    wanted = mag.distributed.multivariate(on_dask(table, partitions), 6, **options)
    assert_same(found.masked, wanted.masked)
    np.testing.assert_array_equal(arrow(found.labels)["group"].to_numpy(), wanted.labels.compute().to_numpy())
    assert found.information_loss == wanted.information_loss.compute()
    assert all(mark.exists() for mark in waves)


def test_integers_are_rounded_as_in_columns(spark):
    table = people().select(["id", "age"])
    X = on_spark(spark, table, 2)
    for cost in ("sse", "sae"):
        found = mag.distributed.univariate(X, 4, cost=cost, ranges=1, keep="id")
        assert_same(found.masked, mag.distributed.columns(on_dask(table, 2), 4, cost=cost, keep="id").masked)


def sampled(release):
    """The records of the sample of a report."""
    sample = release._sample
    sides = [pd.concat(map(pd.DataFrame, tables), ignore_index=True) for tables in (sample.before, sample.after)]
    return pd.concat([pd.Series(np.concatenate(sample.labels)), *sides], axis=1, ignore_index=True)


@pytest.mark.parametrize("kills", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_release_of_units_in_strata_is_counted(spark, kills, monkeypatch, tmp_path):
    waves = kill_in_every_wave(monkeypatch, tmp_path) if kills else []
    table = people()
    options = {"keep": "id", "drop": "height", "by": "ward", "unit": "person", "parts": 2}
    found = mag.distributed.microaggregate(on_spark(spark, table, 2), 4, **options)
    wanted = mag.distributed.microaggregate(on_dask(table, 2), 4, **options)
    assert found.smallest == wanted.smallest >= 4
    assert found.data.columns == ["id", "age", "income", "ward"]
    assert_same(found.data, wanted.data)
    assert (found.n_groups, found.information_loss) == (wanted.n_groups, wanted.information_loss)
    assert found.guarantee == wanted.guarantee
    pd.testing.assert_frame_equal(sampled(found), sampled(wanted), check_exact=True)
    assert len(waves) >= 8 * kills  # of masking, and of the recount
    assert all(mark.exists() for mark in waves)
    page = found.report(tmp_path / "r.html").read_text(encoding="utf-8")
    assert f"At least {found.smallest} units (person) share each published combination" in page
    with pytest.raises(mag.NotAnonymousError, match=r"must have k=50 records or more; got \d+, in \d+ of \d+ classes"):
        mag.distributed.verify(found.data, 50, columns=["age", "income"])


# ---- cells


HOSTILE = pa.table(
    {
        "zeros and NaN": pa.array(
            np.array([0, 1 << 63, 0x7FF8 << 48, (0x7FF8 << 48) + 1, 0, 0], np.uint64).view(float),
            mask=np.array([False] * 4 + [True] * 2),
        ),
        "float": pa.array([0.0, -0.0, 1.0, 1.0, None, None], pa.float32()),
        "decimal": pa.array([1, 2, 1, 1, None, None]).cast(pa.decimal128(20, 0)).cast(pa.decimal128(22, 2)),
        "moment": pa.array([0, 1, 1, 1, None, None], pa.timestamp("us", "UTC")),
        "local moment": pa.array([0, 1, 1, 1, None, None], pa.timestamp("us")),
        "day": pa.array([0, 1, 1, 1, None, None], pa.date32()),
        "text": ["a", "A", "A", "A", None, ""],
        "bytes": pa.array([b"a", b"\0", b"\0", b"\0", None, b""]),
        "truth": [True, False, False, False, None, None],
        "list": [[1], [1, 2], [1, 2], [1, 2], None, []],
        "structure": [{"x": 1.0}, {"x": -0.0}, {"x": 0.0}, {"x": 0.0}, None, {"x": None}],
    }
)


@pytest.mark.parametrize("name", HOSTILE.column_names)
def test_cells_are_equal_where_the_recount_of_tables_says_so(name):
    counted = count_classes(hash_records(_frames.as_pandas(HOSTILE, [name])))
    assert sorted(counted.sizes.tolist()) == sorted(verify.sizes_of_classes(HOSTILE, [name]).tolist())


def test_spark_hands_over_cells_as_they_are_stored(spark):
    """One run for all columns; a class of Spark's own group-by has both zeros, and all NaN."""
    twice = pa.concat_tables([HOSTILE, HOSTILE])
    X = on_spark(spark, twice.append_column("id", pa.array(range(12))), 3).drop("id")
    assert mag.distributed.verify(X, 2) == 2
    assert mag.distributed.verify(X.select("zeros and NaN"), 2) == 2
    assert X.groupBy("zeros and NaN").count().toArrow()["count"].to_pylist() == [4, 4, 4]


def test_the_how_to_page(spark, tmp_path, monkeypatch, capsys):
    page = PROJECT / "docs" / "howto" / "spark.md"
    if not page.is_file():
        pytest.skip("an installed package has no docs")
    (code,) = re.findall(r"^```python\n# release.py\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    monkeypatch.chdir(tmp_path)
    on_spark(spark, people(), 2).select(
        "age", "income", "person", *(sql.col("ward").alias(name) for name in ("region", "name"))
    ).write.parquet((tmp_path / "people").as_uri())
    code = code.replace('"people"', repr((tmp_path / "people").as_uri()))
    exec(code.replace('"release"', repr((tmp_path / "release").as_uri())), {"spark": spark})
    assert float(capsys.readouterr().out.split()[0]) >= 5
    written = spark.read.parquet((tmp_path / "release").as_uri())
    assert sorted(written.columns) == ["age", "income", "region"]
    assert mag.check(written, 5, ["age", "income", "region"])


def test_records_on_the_driver_and_united_frames_are_all_counted(spark):
    """Spark gives the partitions of the first no numbers, and those of the second numbers of other frames."""
    local = spark.createDataFrame(pa.table({"a": [1.0, 2.0, 3.0]}))
    t = _graph.SparkTasks("verify", local)
    assert sum(t.sizes) == 3
    t = _graph.SparkTasks("verify", spark.range(3, numPartitions=3).unionAll(spark.range(5, numPartitions=2)))
    assert t.sizes == [1, 1, 1, 2, 3]


# ---- mistakes


def frame_of(spark, **columns):
    return spark.createDataFrame(pa.table(columns))


def test_mistakes_are_one_sentence(spark, monkeypatch):
    X = frame_of(spark, a=[1.0, 2.0, 3.0], b=[1, 2, 3], text=["x", "y", "z"])
    numbers = X.select("a", "b")
    for call, message in [
        (lambda: mag.distributed.columns(X, 2), r"got dtype string in column 'text', keep or drop it\.$"),
        (lambda: mag.microaggregate(X, 2, ["a", "b"]), r"got a Spark frame, use mag\.distributed\.microaggregate, or"),
        (lambda: mag.distributed.columns(X, 2, keep="name"), r"keep must name columns of X; got 'name'"),
        (lambda: mag.distributed.columns(X["a"], 2), r"or a Spark DataFrame; got a Column, use mag itself"),
        (
            lambda: mag.distributed.columns(numbers, 2, cost="sse_int"),
            r"got double\S* in column 'a', round it first\.$",
        ),
        (lambda: mag.distributed.univariate(numbers, 2), r"x must have one column that is not in keep; got 2\.$"),
        (lambda: mag.distributed.univariate(X.select("a"), 4), r"k must be an integer in \[1, n=3\]; got 4\.$"),
        (lambda: mag.distributed.multivariate(numbers, 4), r"k must be an integer in \[1, n=3\]; got 4\.$"),
        (lambda: mag.distributed.multivariate(X.select("a"), 2), r"X must have two columns or more; got one"),
        (
            lambda: mag.distributed.multivariate(X.withColumnRenamed("text", "group"), 2, keep="group"),
            r"X must not publish a column 'group', which labels have; rename it\.$",
        ),
        (lambda: mag.distributed.multivariate(numbers, 2, weights="w"), r"weights must name a column of X; got 'w'\.$"),
        (lambda: mag.distributed.microaggregate(X, 2, drop="x"), r"drop must name columns of X; got 'x'\.$"),
        (lambda: mag.distributed.verify(X, 2, columns="x"), r"columns must name columns of X; got 'x', which it does"),
        (lambda: mag.distributed.verify(X, 2, columns=[]), r"columns must name at least one column of X; got none\.$"),
        (lambda: mag.distributed.verify(X["a"], 2), r"or a Spark DataFrame; got a Column, use mag itself"),
        (lambda: mag.distributed.verify(X, 2, unit="x"), r"unit must name a column of X; got 'x'\.$"),
        (
            lambda: mag.distributed.verify(X, 2, unit="a", columns="b"),
            r"unit must hold integers or text; got .* in 'a'",
        ),
        (
            lambda: mag.distributed.columns(spark.readStream.format("rate").load(), 2),
            r"X must be a frame with an end; got a streaming frame of Spark, mask its batches\.$",
        ),
        (
            lambda: mag.distributed.verify(spark.sql("select interval 1 month as m"), 1),
            r"X must hold cells that Arrow has; got type yearmonthinterval in column 'm', cast or drop it\.$",
        ),
        (lambda: mag.distributed.verify(X.where("a > 5"), 1), r"X must hold at least one record; got none\.$"),
        (
            lambda: mag.distributed.verify(spark.sql("select cast('Jane' as int) as age"), 1),
            r"^X must be a frame that Spark can read; it raised NumberFormatException, run its query by itself to see",
        ),
        (lambda: mag.distributed.columns(X.select("a", "a"), 1), r"X must not hold two columns of one name; got 'a'"),
    ]:
        with pytest.raises(mag.InputError, match=message):
            call()


def test_missing_values_of_all_partitions_are_one_error(spark):
    table = pa.table({"a": [1.0, None, 2.0, np.nan], "b": [1.0, np.inf, 2.0, 3.0]})
    with pytest.raises(mag.InputValueError, match=r"^column 'a' contains 2 NaN values; drop or impute them first\.$"):
        mag.distributed.multivariate(on_spark(spark, table, 2), 1)


def test_a_partition_that_differs_the_next_time_is_an_error(spark, tmp_path):
    def chance(batches):
        for batch in batches:
            drawn = np.frombuffer(os.urandom(8 * batch.num_rows), np.int64)
            yield pa.record_batch([pa.array(drawn)], ["x"])

    def fewer(batches):
        for batch in batches:
            some = batch.slice(0, 0) if (tmp_path / "seen").exists() else batch
            yield some.rename_columns(["x"])

    for change in (fewer, chance):
        t = _graph.SparkTasks("columns", spark.range(4, numPartitions=1).mapInArrow(change, "x long"))
        (tmp_path / "seen").touch()
        t._frames[0].unpersist()  # as if its executor were lost
        read = t.each("read", _frames.as_pandas, t.partitions, ["x"])
        with pytest.raises(mag.InputRuntimeError, match=r"^X must have the same records in the same order whenever"):
            t.run([], [t.decide("lengths", [], len, t.each("length", len, read))])


def test_engines_that_are_not_installed_are_named(monkeypatch):
    from mag.distributed import _engines

    monkeypatch.setitem(sys.modules, "mag.distributed.spark.columns", None)
    monkeypatch.setitem(_engines.ENGINE_OF_LIBRARY, "numpy", "spark")
    missing = ModuleNotFoundError("No module named 'pyarrow'", name="pyarrow")

    def fail(name):
        raise missing

    monkeypatch.setattr(_engines, "import_module", fail)
    with pytest.raises(ModuleNotFoundError, match=r"^mag.distributed needs pyarrow; pip install 'mag-sdc\[spark\]'\.$"):
        mag.distributed.columns(np.zeros(3), 2)


# ---- what stays


CLUSTER = """
import os, signal, pathlib, sys
import numpy as np, pyarrow as pa
from pyspark.sql import SparkSession
import mag, mag.distributed
from mag.distributed.spark import _graph
from mag.distributed.spark._wave import Wave
from tests.distributed import test_spark as tests

folder = pathlib.Path(sys.argv[1])
settings = tests.settings(folder) | {"spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"]}
session = SparkSession.builder.master("local-cluster[2,1,1024]").config(map=settings).getOrCreate()
session.sparkContext.setLogLevel("OFF")
prepare, waves = _graph.SparkTasks._prepare, []


def prepare_with_kills(self, wave, outputs):
    rows, plan = prepare(self, wave, outputs)
    waves.append(folder / f"wave-{len(waves)}")
    mark = waves[-1] if len(waves) in (3, 6) else None

    class DyingWave(Wave):
        def _run(self, home, known):
            yield from super()._run(home, known)
            if mark is not None and not mark.exists():
                mark.touch()
                daemon = pathlib.Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()
                os.kill(int(daemon[1]), signal.SIGKILL)  # the executor, with all that it has stored
                os.kill(os.getpid(), signal.SIGKILL)

    return rows, DyingWave(**vars(plan))


_graph.SparkTasks._prepare = prepare_with_kills
table = tests.people()
options = {**tests.ROLES, "parts": 4, "random_state": 3}
found = mag.distributed.multivariate(tests.on_spark(session, table, 3), 6, **options)
tests.assert_same(found.masked, mag.distributed.multivariate(tests.on_dask(table, 3), 6, **options).masked)
assert sum(mark.exists() for mark in waves) == 2
session.stop()
print("the same")
"""


@pytest.mark.long
def test_lost_executors_lose_nothing(tmp_path):
    pyspark = pytest.importorskip("pyspark")
    work = pathlib.Path(pyspark.__file__).parent / "work"  # where local clusters keep the logs of executors
    before = set(work.glob("*"))
    environment = os.environ | {
        "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONPATH": str(PROJECT),
    }  # fmt: skip
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(CLUSTER), str(tmp_path)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=600)
    for path in set(work.glob("*")) - before:
        subprocess.run(["rm", "-r", str(path)], check=True)
    assert run.stdout.endswith("the same\n"), run.stderr[-2000:]


def test_nothing_of_the_original_is_left_behind(spark, folder, tmp_path, monkeypatch):
    """The last test of this file: it stops the session, and looks into everything that Spark has written."""
    monkeypatch.chdir(tmp_path)
    table = people().append_column("name", pa.array(["zQxnames"] * 400))
    numbers = table["income"].to_numpy().copy()
    numbers[::40] = 8.250170917301713e175
    needles = Needles()
    for value in (float(numbers[0]), "zQxnames"):
        needles.add(value, "the original")
    table = table.set_column(2, "income", pa.array(numbers))
    X = on_spark(spark, table, 2).withColumn("term", sql.expr("interval 1 month"))  # Arrow has none
    release = mag.distributed.microaggregate(X, 20, keep=["id", "ward"], drop=["name", "person", "term"])
    release.data.write.parquet(str(folder / "out"))
    assert files_with(folder / "local", needles)  # shuffles and stored partitions, while the session lives
    spark.stop()
    assert list((folder / "events").iterdir())
    assert list((folder / "out").iterdir())
    assert not [path for path in (folder / "local").rglob("*") if path.is_file()]
    assert not files_with(folder, needles)
    assert not list(tmp_path.iterdir())
