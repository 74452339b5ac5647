"""`python -m benchmarks.scale -n 10000000 [--engines memory dask spark]`: records beyond memory, by each engine.

A data set of Parquet files is made on the spot, n x 5 values, some of them integers.  Each engine masks it jointly in a
process of its own, writes Parquet, and counts the written files ("memory", the out-of-core driver of
`mag.microaggregate(memory=)`, does so before it returns).  Printed are seconds, processor time and peak memory of all
processes of the engine, and the largest amount of disk that it took in addition to input and output.

The last table is a model, not a measurement: the time of a cluster, by the processor time for each record that was
measured here, the bytes that go over the network, and a second for each wave of tasks.
"""

import argparse
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks._measure import save, show

ROWS_PER_GROUP = 2**18
COLUMNS = 5
FILES = 16
ENGINES = ("memory", "dask", "spark")
GB = 1e9
NODES, CORES, NETWORK = 32, 16, 1.25e9  # of the modeled cluster: nodes, cores of a node, bytes a second of a node
BUSY = 0.7  # the assumed share of the time that cores have work: parts differ in size
TIMES_SENT = 3  # of every cell: to its part, back, and to the partition that it is written to
WAVES, SECONDS_OF_WAVE = 12, 1.0  # waves of tasks in a run, and the time that a scheduler needs for one


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=10**7, help="records")
    parser.add_argument("-k", type=int, default=5, help="group size")
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=ENGINES)
    parser.add_argument("--memory", type=float, default=4.0, help="GB that an engine may take for data")
    parser.add_argument("--workers", type=int, default=2, help="processes of an engine")
    parser.add_argument("--folder", default=tempfile.gettempdir(), help="of data, results and spilled data")
    parser.add_argument("--child", choices=ENGINES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(RUNS[options.child](pathlib.Path(options.folder), options)))
        return
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="mag-scale-") as name:
        folder = pathlib.Path(name)
        generate(folder / "in", options.n)
        rows = []
        for engine in options.engines:
            rows.append({"engine": engine, **measure(engine, folder, options)})
            show(f"{engine}", rows[-1:])
            sys.stdout.flush()
    size = rows[0]["input, GB"]
    show(
        f"{options.n} x {COLUMNS}, k = {options.k}, {8 * COLUMNS * options.n / GB:.2f} GB, {size:.2f} of Parquet", rows
    )
    modeled = [
        model(row["engine"], row["processor, s"] / options.n, n)
        for row in rows
        if row["engine"] != "memory"
        for n in (10**8, 10**9)
    ]
    if modeled:
        show(f"Model, not measured: {NODES} nodes of {CORES} cores, {8 * NETWORK / GB:.0f} Gbit/s each", modeled)
    save("scale", rows)


def model(engine: str, processor: float, n: int) -> dict[str, Any]:
    """Seconds of a cluster for n records, of the processor seconds that a record takes on this machine."""
    compute = processor * n / (NODES * CORES * BUSY)
    network = TIMES_SENT * 8 * COLUMNS * n / (NODES * NETWORK)
    fixed = WAVES * SECONDS_OF_WAVE
    parts = {"compute, s": compute, "network, s": network, "fixed, s": fixed}
    return {"engine": engine, "records": n, **parts, "total, s": compute + network + fixed}


def generate(folder: pathlib.Path, n: int) -> None:
    """Log-normal floats, and an integer column, in files."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir()
    rng = np.random.default_rng(0)
    schema = pa.schema([(f"c{j}", pa.float64() if j else pa.int64()) for j in range(COLUMNS)])
    edges = np.linspace(0, n, FILES + 1).astype(int)
    for number, size in enumerate(np.diff(edges).tolist()):
        with pq.ParquetWriter(folder / f"part-{number:03}.parquet", schema) as writer:
            for first in range(0, size, ROWS_PER_GROUP):
                m = min(ROWS_PER_GROUP, size - first)
                cells = [rng.lognormal(3, 1, m) if j else rng.integers(0, 10**6, m) for j in range(COLUMNS)]
                writer.write_table(pa.table(cells, schema=schema))


def measure(engine: str, folder: pathlib.Path, options: argparse.Namespace) -> dict[str, Any]:
    """One engine in processes of its own, watched from outside."""
    work = folder / engine
    work.mkdir()
    (work / "in").symlink_to(folder / "in")
    command = [sys.executable, "-m", "benchmarks.scale", "--child", engine, "-n", str(options.n), "-k", str(options.k)]
    command += ["--memory", str(options.memory), "--workers", str(options.workers), "--folder", str(work)]
    watch = Watch(work)
    began = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    watch.start(child.pid)
    try:
        output, _ = child.communicate()
    finally:
        watch.stop()
        if child.poll() is None:
            child.send_signal(signal.SIGKILL)
    if child.returncode:
        raise RuntimeError(f"{engine} ended with code {child.returncode}")
    found = {
        "seconds": time.perf_counter() - began,
        "processor, s": watch.processor,
        **json.loads(output.splitlines()[-1]),
    }
    disk = watch.disk - bytes_in(work / "out")
    found |= {"peak memory, GB": watch.memory / GB, "disk besides, GB": max(disk, 0) / GB}
    found |= {"input, GB": bytes_in(folder / "in") / GB, "output, GB": bytes_in(work / "out") / GB}
    shutil.rmtree(work)
    return found


class Watch:
    """The memory and processor time of a process and its children, and the bytes in a folder, once a second."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder, self.memory, self.disk, self.processor = folder, 0, 0, 0.0
        self._done = threading.Event()
        self._times: dict[int, float] = {}

    def start(self, pid: int) -> None:
        """Start to measure, once a second."""
        self._thread = threading.Thread(target=self._look, args=(pid,), daemon=True)
        self._thread.start()

    def _look(self, pid: int) -> None:
        import psutil

        while not self._done.wait(1):
            try:
                root = psutil.Process(pid)
                family = [root, *root.children(recursive=True)]
            except psutil.NoSuchProcess:
                return
            memory = 0
            for process in family:
                try:
                    memory += process.memory_full_info().pss  # shared pages once
                    times = process.cpu_times()
                    self._times[process.pid] = times.user + times.system
                except psutil.Error:
                    continue
            self.memory, self.disk = max(self.memory, memory), max(self.disk, bytes_in(self.folder))
            self.processor = sum(self._times.values())

    def stop(self) -> None:
        """Stop measuring."""
        self._done.set()
        self._thread.join()


def bytes_in(folder: pathlib.Path) -> int:
    """The size of all files in a folder, but for those behind links."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_blocks * 512 if path.is_file() and not path.is_symlink() else 0
        except OSError:  # removed meanwhile
            continue
    return total


def timed(steps: dict[str, float], name: str, call: Callable[[], Any]) -> Any:
    """The result of a call, whose seconds become part of the steps."""
    began = time.perf_counter()
    result = call()
    steps[name] = time.perf_counter() - began
    return result


def run_in_memory(folder: pathlib.Path, options: argparse.Namespace) -> dict[str, Any]:
    """`mag.microaggregate` of files, with `memory=`, which counts the written file."""
    import mag

    out = folder / "out"
    out.mkdir()
    steps: dict[str, float] = {}
    release = timed(
        steps,
        "mask, s",
        lambda: mag.microaggregate(
            folder / "in", options.k, [f"c{j}" for j in range(COLUMNS)], scope="joint", output=out / "out.parquet",
            memory=f"{options.memory}GB", method="mona",
        ),
    )  # fmt: skip
    return {**steps, "write, s": np.nan, "recount, s": np.nan, "smallest": release.guarantee.smallest}


def run_on_dask(folder: pathlib.Path, options: argparse.Namespace) -> dict[str, Any]:
    """Worker processes that spill to the folder."""
    import dask
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    import mag.distributed

    limit = f"{options.memory / options.workers}GB"
    dask.config.set({"temporary-directory": str(folder / "spill")})
    steps: dict[str, float] = {}
    with (
        LocalCluster(
            n_workers=options.workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=None,
            memory_limit=limit, local_directory=str(folder / "spill"),
        ) as cluster,
        Client(cluster),
    ):  # fmt: skip
        frame = dd.read_parquet(folder / "in")
        scaled = mag.distributed.multivariate(frame, options.k, parts=parts(options.n))
        timed(steps, "mask, s", lambda: scaled.masked.to_parquet(folder / "out", write_index=False))
        written = dd.read_parquet(folder / "out")
        steps["write, s"] = np.nan  # is part of masking
        smallest = timed(steps, "recount, s", lambda: mag.distributed.verify(written, options.k))
    return {**steps, "smallest": smallest}


def run_on_spark(folder: pathlib.Path, options: argparse.Namespace) -> dict[str, Any]:
    """A local session, whose data are in the folder as well."""
    import os

    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    from pyspark.sql import SparkSession

    import mag.distributed

    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": f"{int(options.memory * 700)}m",
        "spark.local.dir": str(folder / "spill"),
        "spark.sql.files.maxPartitionBytes": str(2**26),
        "spark.sql.files.openCostInBytes": str(2**26),
        "spark.sql.shuffle.partitions": "32",
        "spark.sql.warehouse.dir": str(folder / "spill"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    session = SparkSession.builder.master(f"local[{options.workers}]").config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    steps: dict[str, float] = {}
    frame = session.read.parquet(str(folder / "in"))
    scaled = timed(steps, "mask, s", lambda: mag.distributed.multivariate(frame, options.k, parts=parts(options.n)))
    timed(steps, "write, s", lambda: scaled.masked.write.parquet(str(folder / "out")))
    written = session.read.parquet(str(folder / "out"))
    smallest = timed(steps, "recount, s", lambda: mag.distributed.verify(written, options.k))
    session.stop()
    return {**steps, "smallest": smallest}


def parts(n: int) -> int:
    """As many parts on every engine: of about 2**18 records."""
    return 1 << max(-(-n // 2**18) - 1, 0).bit_length()


RUNS = {"dask": run_on_dask, "memory": run_in_memory, "spark": run_on_spark}


if __name__ == "__main__":
    main()
