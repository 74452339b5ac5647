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
from distributed import Client, KilledWorker, LocalCluster

import mag
import mag.distributed


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
        LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, memory_limit="1GiB"
        ) as cluster,
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
    "columns": lambda X: mag.distributed.columns(X, 5).labels,
    "univariate": lambda X: mag.distributed.univariate(X[:, 0], 5).labels,
    "multivariate": lambda X: mag.distributed.multivariate(X, 5, parts=4).labels,
}


@pytest.mark.parametrize(
    "run", ["univariate", *(pytest.param(run, marks=pytest.mark.long) for run in ("columns", "multivariate"))]
)
def test_a_killed_worker_changes_nothing(client, run, tmp_path):
    X = normal(2000, 3)
    wanted = RUNS[run](X).compute()
    killed: list[int] = []
    killer = threading.Thread(target=kill_the_victim, args=(tmp_path, killed))
    killer.start()
    found = RUNS[run](X.map_blocks(wait_once, str(tmp_path), meta=X._meta)).compute()
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
