"""`python -m benchmarks.stream`: a Parquet file masked column by column, its memory, and whether the bytes are those
of the same table in memory.

The file is made on the spot.  Both ways run in processes of their own, whose peak resident set is told.
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

ROWS = 2**18


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=10**7, help="records")
    parser.add_argument("-d", type=int, default=20, help="columns")
    parser.add_argument("-k", type=int, default=5, help="group size")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "in.parquet")
        generate(source, options.n, options.d)
        rows = []
        for way in ("column by column", "in memory"):
            command = [sys.executable, "-m", "benchmarks.stream", "child", way, str(source), str(options.k)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            rows.append({"way": way, **json.loads(done.stdout)})
        same = equal(source.with_name("column by column.parquet"), source.with_name("in memory.parquet"))
        size = source.stat().st_size / 1e6
    show(f"{options.n} x {options.d}, k = {options.k}, {size:.0f} MB of Parquet", rows)
    print(f"the same values in both files: {same}")
    save("stream", rows)


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
    mag.microaggregate(small, k, names, scope="per-column")  # compiled
    idle, began = _peak(), time.perf_counter()
    output = source.with_name(f"{way}.parquet")
    if way == "in memory":
        release = mag.microaggregate(pq.read_table(source), k, names, scope="per-column")
        pq.write_table(release.data, output)
    else:
        mag.microaggregate(source, k, names, scope="per-column", output=output)
    print(json.dumps({"seconds": time.perf_counter() - began, "idle, MB": idle, "peak, MB": _peak()}))


def equal(one: pathlib.Path, other: pathlib.Path) -> bool:
    """Whether two files hold the same columns, one at a time."""
    import pyarrow.parquet as pq

    names = pq.ParquetFile(one).schema_arrow.names
    return all(pq.read_table(one, columns=[name]).equals(pq.read_table(other, columns=[name])) for name in names)


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        child(sys.argv[2], pathlib.Path(sys.argv[3]), int(sys.argv[4]))
    else:
        main()
