"""Tables: what `microaggregate` adds to the grouping itself: `python -m benchmarks.tables [rows]`.

For every library, the seconds of the grouping alone (`mag.multivariate`, `mag.columns`), of the whole call, and of its
parts; the peak of memory beside the table, as a multiple of the masked columns (on Linux); and many small strata.
"""

import pathlib
import time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import mag
from benchmarks._measure import save, show, words

COLUMNS, K, STRATUM = 10, 5, 100
LIBRARIES = {"dict": dict, "pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
STATUS = pathlib.Path("/proc/self/status")


def peak() -> float:
    """Megabytes that the process has had at most, since `forget`."""
    if not STATUS.exists():
        return float("nan")
    return int(STATUS.read_text().split("VmHWM:")[1].split()[0]) / 1024


def forget() -> None:
    """Start the peak anew."""
    if STATUS.exists():
        (STATUS.parent / "clear_refs").write_text("5")


def measured(call):
    """Seconds, the peak of additional memory, and the result."""
    forget()
    before, began = peak(), time.perf_counter()
    result = call()
    return time.perf_counter() - began, peak() - before, result


def row(what, library, alone, call, megabytes):
    """A line of the table."""
    seconds, memory, release = measured(call)
    parts = release.manifest()["seconds"]
    return {
        "what": what,
        "library": library,
        "grouping alone": alone,
        "whole": seconds,
        "ratio": seconds / alone,
        **{name: parts[name] for name in ("read", "group", "mask", "recount")},
        "peak / masked": memory / megabytes,
    }


def main(n=10**6):
    """Print and save."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, COLUMNS))
    names = [f"c{j}" for j in range(COLUMNS)]
    columns = {name: X[:, j].copy() for j, name in enumerate(names)}
    small = {name: column[:5000] for name, column in columns.items()}
    mag.microaggregate(small, K, names, method="mona")  # compiles
    mag.microaggregate(small, K, names, scope="per-column")
    rows = []
    jointly = measured(lambda: mag.multivariate(X, K, method="mona"))[0]
    apart = measured(lambda: mag.columns(X, K))[0]
    for library, make in LIBRARIES.items():
        table = make(columns)
        call = lambda table=table: mag.microaggregate(table, K, names, method="mona")  # noqa: E731
        rows.append(row("joint, mona", library, jointly, call, X.nbytes / 2**20))
        call = lambda table=table: mag.microaggregate(table, K, names, scope="per-column")  # noqa: E731
        rows.append(row("per column", library, apart, call, X.nbytes / 2**20))
        del table
    strata = np.arange(n) // STRATUM
    table = pl.DataFrame({name: columns[name] for name in names[:3]}).with_columns(
        by=pl.Series(rng.permutation(strata))
    )
    parts = [X[i : i + STRATUM, :3] for i in range(0, n, STRATUM)]
    mag.microaggregate(table[:5000], 1, names[:3], by="by")
    call = lambda: mag.microaggregate(table, K, names[:3], by="by")  # noqa: E731
    alone = measured(lambda: [mag.multivariate(part, K) for part in parts[:200]])[0] * len(parts) / 200
    rows.append(row(f"joint, strata of {STRATUM}", "polars", alone, call, 3 * n * 8 / 2**20))
    call = lambda: mag.microaggregate(table, K, names[:3], by="by", scope="per-column")  # noqa: E731
    alone = measured(lambda: [mag.columns(part, K) for part in parts])[0]
    rows.append(row(f"per column, strata of {STRATUM}", "polars", alone, call, 3 * n * 8 / 2**20))
    show(f"{n} records of {COLUMNS} columns (3 with strata), k = {K}, seconds", rows)
    save("tables", rows)


if __name__ == "__main__":
    main(*words(__doc__, type=int))
