"""`python -m benchmarks.stream`: a Parquet file masked column by column, its memory, and whether the bytes are those
of the same table in memory; `python -m benchmarks.stream --memory 512MB -n 20000000 -d 5`: its records masked jointly
in parts, in the memory that is allowed.

The file is made on the spot.  All ways run in processes of their own, whose peak resident set is printed.
"""

import argparse
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

from benchmarks._measure import save, show
from mag.tables.parquet.joint import bytes_of

ROWS = 2**18
WAYS = ("column by column", "in memory")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=10**7, help="records")
    parser.add_argument("-d", type=int, default=20, help="columns")
    parser.add_argument("-k", type=int, default=5, help="group size")
    parser.add_argument("--memory", action="append", help="mask jointly with this memory; repeatable")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "in.parquet")
        _run("generate", str(source), str(options.n), str(options.d))
        rows = []
        if options.memory:
            for memory in options.memory:
                found = json.loads(_run("child", memory, str(source), str(options.k)))
                rows.append({"memory": memory, **found, "of memory": 1e6 * found["above idle, MB"] / bytes_of(memory)})
            size, table = source.stat().st_size / 1e6, 8e-6 * options.n * options.d
            show(f"{options.n} x {options.d} jointly, k = {options.k}, {table:.0f} MB, {size:.0f} of Parquet", rows)
            save("stream_joint", rows)
            return
        for way in WAYS:
            rows.append({"way": way, **json.loads(_run("child", way, str(source), str(options.k)))})
        same = equal(source.with_name("column by column.parquet"), source.with_name("in memory.parquet"))
        size = source.stat().st_size / 1e6
    show(f"{options.n} x {options.d}, k = {options.k}, {size:.0f} MB of Parquet", rows)
    print(f"the same values in both files: {same}")
    save("stream", rows)


def _run(*words: str) -> str:
    command = [sys.executable, "-m", "benchmarks.stream", *words]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def generate(path: pathlib.Path, n: int, d: int) -> None:
    """Log-normal floats and integers, row group by row group."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    schema = pa.schema([(f"c{j}", pa.float64() if j % 4 else pa.int64()) for j in range(d)])
    with pq.ParquetWriter(path, schema) as writer:
        for first in range(0, n, ROWS):
            m = min(ROWS, n - first)
            cells = [rng.lognormal(3, 1, m) if j % 4 else rng.integers(0, 10**6, m) for j in range(d)]
            writer.write_table(pa.table(cells, schema=schema))


def child(way: str, source: pathlib.Path, k: int) -> None:
    """One run; prints seconds and megabytes."""
    import pyarrow.parquet as pq

    import mag

    names = pq.ParquetFile(source).schema_arrow.names
    small = pq.ParquetFile(source).read_row_group(0).slice(0, 1000)
    output, scope = source.with_name(f"{way}.parquet"), "per-column" if way in WAYS else "joint"
    mag.microaggregate(small, k, names, scope=scope, **({} if way in WAYS else {"method": "mona"}))  # compiled
    idle, began, spent = _peak(), time.perf_counter(), time.process_time()
    if way == "in memory":
        release = mag.microaggregate(pq.read_table(source), k, names, scope=scope)
        pq.write_table(release.data, output)
    else:
        memory = {} if way in WAYS else {"memory": way}
        release = mag.microaggregate(source, k, names, scope=scope, output=output, **memory)
    found = {"seconds": time.perf_counter() - began, "processor, s": time.process_time() - spent, "idle, MB": idle}
    found |= {"peak, MB": _peak(), "above idle, MB": _peak() - idle}
    if scope == "joint":
        found |= {"note": " ".join(release.warnings), "smallest": release.guarantee.smallest}
        found["loss"] = loss(source, output)
    print(json.dumps(found))


def loss(source: pathlib.Path, output: pathlib.Path) -> float:
    """SSE / SST of standardized columns, block by block."""
    import pyarrow.parquet as pq

    n, total, squares, lost = 0, 0.0, 0.0, 0.0
    files = [pq.ParquetFile(path).iter_batches(ROWS) for path in (source, output)]
    for batches in zip(*files, strict=True):
        x, y = (np.column_stack([column.to_numpy() for column in batch.columns]) for batch in batches)
        n, total, squares = n + len(x), total + x.sum(axis=0), squares + np.square(x).sum(axis=0)
        lost = lost + np.square(x - y).sum(axis=0)
    return float((lost / (squares - total**2 / n)).mean())


def equal(one: pathlib.Path, other: pathlib.Path) -> bool:
    """Whether two files hold the same columns, one at a time."""
    import pyarrow.parquet as pq

    names = pq.ParquetFile(one).schema_arrow.names
    return all(pq.read_table(one, columns=[name]).equals(pq.read_table(other, columns=[name])) for name in names)


def _peak() -> float:
    """In MB, of 10^6 bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        child(sys.argv[2], pathlib.Path(sys.argv[3]), int(sys.argv[4]))
    elif sys.argv[1:2] == ["generate"]:
        generate(pathlib.Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
    else:
        main()
