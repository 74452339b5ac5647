"""`mag.distributed` on a real cluster: two worker processes on the loopback device, which are killed now and then."""

import os
import pathlib
import signal
import threading
import time

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, KilledWorker, LocalCluster, WorkerPlugin

import mag
import mag.distributed
from tests.data.needles import Needles, files_with

LOCAL = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}  # any port: other clusters may be there


@pytest.fixture(scope="module")
def client():
    settings = {
        "distributed.scheduler.allowed-failures": 1,  # a task may lose one worker, not two
        "distributed.worker.memory.terminate": 0.9,
        "distributed.worker.memory.spill": False,
        "distributed.worker.memory.pause": False,
        "distributed.worker.memory.target": False,
    }
    with (
        dask.config.set(settings),
        LocalCluster(n_workers=2, threads_per_worker=1, memory_limit="1GiB", **LOCAL) as cluster,
        Client(cluster, set_as_default=True) as client,
    ):
        yield client


def normal(n, d, seed=0):
    """A dask array that is made where it is needed."""
    return da.random.default_rng(seed).normal(size=(n, d), chunks=(n // 4 + 1, d))


def test_columns_on_a_cluster(client):
    X = normal(3000, 5)
    scaled = mag.distributed.columns(X, 5)
    table, labels, masked = dask.compute(X, scaled.labels, scaled.masked)
    wanted = mag.columns(table, 5)
    np.testing.assert_array_equal(labels, wanted.labels)
    np.testing.assert_array_equal(masked, wanted.masked)


def test_a_long_column_on_a_cluster(client):
    x = da.random.default_rng(0).random(2**21 + 3, chunks=2**19)
    scaled = mag.distributed.univariate(x, 3)
    values, labels, masked = dask.compute(x, scaled.labels, scaled.masked)
    wanted = mag.univariate(values, 3)
    assert labels.tobytes() == wanted.labels.tobytes()
    assert masked.tobytes() == wanted.masked.tobytes()


def test_records_on_a_cluster(client):
    scaled = mag.distributed.multivariate(normal(3000, 3), 6, parts=4)
    assert mag.distributed.verify(scaled.masked, 6) >= 6
    with pytest.raises(RuntimeError, match=r"^The smallest class of equal records must have k=\d+ records or more"):
        mag.distributed.verify(scaled.masked, 200)


def test_a_frame_on_a_cluster(client):
    table = pd.DataFrame({"a": np.arange(200.0), "b": np.arange(200)[::-1], "name": "x"})
    frame = dd.from_pandas(table, npartitions=3)
    scaled = mag.distributed.columns(frame, 4, keep="name")
    pd.testing.assert_series_equal(scaled.masked.dtypes, frame.dtypes)
    assert (scaled.masked.compute().dtypes == frame.compute().dtypes).all()
    assert mag.distributed.verify(scaled.masked, 4, columns="a") >= 4


def test_an_error_of_a_worker_is_one_sentence(client):
    X = da.where((normal(3000, 3) > 2.5) & (np.arange(3) == 1), np.nan, 1.0)
    count = int(da.isnan(X).sum().compute())
    with pytest.raises(ValueError, match=rf"^column 1 contains {count} NaN values; drop or impute them first.$"):
        mag.distributed.multivariate(X, 5).labels.compute()
    with pytest.raises(ValueError, match=rf"^X contains {count} NaN values in column 1; drop or impute them first.$"):
        mag.distributed.columns(X, 5, columns_per_task=1).labels.compute()


def wait_once(block, folder):
    """The first process that gets here leaves its number and waits to be killed."""
    try:
        with (pathlib.Path(folder) / "victim").open("x") as file:
            file.write(str(os.getpid()))
    except FileExistsError:
        return block
    time.sleep(60)
    return block


def kill_the_victim(folder, killed):
    victim = pathlib.Path(folder) / "victim"
    for _ in range(600):
        time.sleep(0.1)
        if victim.exists() and (number := victim.read_text()):
            assert int(number) != os.getpid()
            os.kill(int(number), signal.SIGKILL)
            killed.append(int(number))
            return


RUNS = {
    "columns": lambda X: mag.distributed.columns(X, 5),
    "univariate": lambda X: mag.distributed.univariate(X[:, 0], 5),
    "multivariate": lambda X: mag.distributed.multivariate(X, 5, parts=4),
}


@pytest.mark.parametrize(
    "run", ["univariate", *(pytest.param(run, marks=pytest.mark.long) for run in ("columns", "multivariate"))]
)
def test_a_killed_worker_changes_nothing(client, run, tmp_path):
    X = normal(2000, 3)
    wanted = RUNS[run](X).labels.compute()
    killed: list[int] = []
    killer = threading.Thread(target=kill_the_victim, args=(tmp_path, killed))
    killer.start()
    found = RUNS[run](X.map_blocks(wait_once, str(tmp_path), meta=X._meta)).labels.compute()
    killer.join()
    assert killed
    np.testing.assert_array_equal(found, wanted)
    client.wait_for_workers(2)


def devour(block):
    """More memory than a worker may have."""
    hoard = [np.ones(2**24) for _ in range(10)]
    time.sleep(60)
    return block + hoard[0][0]


def test_workers_out_of_memory_are_one_clear_error(client):
    X = normal(100, 2).rechunk((100, 2)).map_blocks(devour, meta=np.empty((0, 0)))
    with pytest.raises(KilledWorker, match=r"Attempted to run task"):
        mag.distributed.columns(X, 5).labels.compute()
    client.wait_for_workers(2)
    assert mag.distributed.verify(mag.distributed.columns(normal(100, 2), 5).masked[:, 0], 5) == 5


class KillInEveryStage(WorkerPlugin):
    """The first worker that has the result of a stage is killed before anybody can ask for it."""

    name = "kill-in-every-stage"

    def __init__(self, folder, stages=None):
        self.folder, self.stages = pathlib.Path(folder), stages

    def transition(self, key, start, finish, **others):
        if (start, finish) != ("executing", "memory"):
            return
        name = str(key[0] if isinstance(key, tuple) else key)
        stage, ours, _ = name.partition("-mag-")  # Dask joins the names of tasks that it makes one
        if not ours or (self.stages is not None and stage not in self.stages):
            return
        try:
            (self.folder / stage).touch(exist_ok=False)
        except FileExistsError:
            return
        os.kill(os.getpid(), signal.SIGKILL)


def frame_of_numbers(n=400):
    rng = np.random.default_rng(0)
    table = {"age": rng.integers(0, 90, n), "income": rng.lognormal(3, 1, n), "ward": rng.integers(0, 2, n)}
    return dd.from_pandas(pd.DataFrame(table), npartitions=2)


def bytes_of(run):
    """Labels and masked values; of a release the values that were counted."""
    if run == "release":
        release = mag.distributed.microaggregate(frame_of_numbers(), 5, ["age", "income"], by="ward", parts=2)
        results = [release.data["age"], release.data["income"]]
    else:
        scaled = RUNS[run](normal(700, 3))
        results = [scaled.labels, scaled.masked]
    return [np.ascontiguousarray(one).tobytes() for one in dask.compute(*results)]


LEAST_STAGES = {"columns": 3, "univariate": 10, "multivariate": 15, "release": 20}
SOME = ("order", "grouped", "masked-back")


@pytest.mark.parametrize(
    ("run", "stages"),
    [("multivariate", SOME), *(pytest.param(run, None, marks=pytest.mark.long) for run in LEAST_STAGES)],
)
def test_a_worker_is_killed_in_every_stage(run, stages, tmp_path):
    wanted = bytes_of(run)
    patience = {"distributed.scheduler.allowed-failures": 1000}  # a task may be with several of those that are killed
    with (
        dask.config.set(patience),
        LocalCluster(n_workers=2, threads_per_worker=1, **LOCAL) as cluster,
        Client(cluster, set_as_default=True) as client,
    ):
        client.register_plugin(KillInEveryStage(tmp_path, stages))
        found = bytes_of(run)
    assert found == wanted
    killed = {mark.name for mark in tmp_path.iterdir()}
    assert killed == set(stages) if stages else len(killed) >= LEAST_STAGES[run]


def test_nothing_of_the_original_is_left_behind(tmp_path, monkeypatch):
    """Workers spill everything, and one of them is killed with what it has spilled."""
    monkeypatch.chdir(tmp_path)
    spill = {
        "distributed.scheduler.allowed-failures": 10,
        "distributed.worker.memory.target": 1e-9,
        "distributed.worker.memory.spill-compression": False,
        "temporary-directory": str(tmp_path / "spilled"),
    }
    numbers = np.random.default_rng(0).lognormal(3, 1, 4000)
    numbers[::40] = 8.250170917301713e175
    places = np.arange(4000)
    table = pd.DataFrame({"age": places % 90, "income": numbers, "name": "zQxnames", "ward": places % 2})
    needles = Needles()
    for value in (float(numbers[0]), "zQxnames"):
        needles.add(value, "the original")
    with (
        dask.config.set(spill),
        LocalCluster(n_workers=2, threads_per_worker=1, local_directory=tmp_path / "spilled", **LOCAL) as cluster,
        Client(cluster, set_as_default=True) as client,
    ):
        client.register_plugin(KillInEveryStage(tmp_path, ["grouped"]))
        frame = dd.from_pandas(table, npartitions=4, sort=False).persist()
        release = mag.distributed.microaggregate(frame, 120, ["age", "income"], keep="ward", drop="name", parts=2)
        release.data.to_parquet(tmp_path / "out")
        assert files_with(tmp_path / "spilled", needles)  # while the cluster lives
    assert (tmp_path / "grouped").exists()
    assert list((tmp_path / "out").iterdir())
    assert not files_with(tmp_path, needles)
