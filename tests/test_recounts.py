"""All recounts judge the same hostile tables, and agree: a flaw of one cannot hide behind the others."""

import collections
import datetime
import struct

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import mag
from mag.files import File, smallest
from mag.table import _parquet
from tests import hostile

N = 24
TEXTS = [
    "a",
    "A",
    "a ",
    " a",
    "ä",
    "a\u0308",
    "a,b",
    'a"b',
    "a\nb",
    "1",
    "1.0",
    "01",
    "nan",
    "None",
    "\u202e",
    "x" * 300,
]
DAYS = [datetime.datetime(1969, 12, 31) + datetime.timedelta(microseconds=i) for i in range(N)]
COLUMNS = {
    **hostile.real_columns(N),
    **{f"{name} integers": x for name, x in hostile.integer_columns(N).items()},
    "float32": np.linspace(0, 1, N, dtype=np.float32),
    "missing": np.where(np.arange(N) % 3 == 0, np.nan, np.arange(N) // 2),
    "neighbors": np.nextafter(1.0, 2.0) * (1 + np.arange(N) % 2 * 2.0**-52),
    "booleans": np.arange(N) % 2 == 0,
    "texts": np.resize(np.array(TEXTS, object), N),
    "moments": np.array(DAYS, "M8[us]"),
}


def other(x):
    """The column with one cell replaced by another, as close to it as can be, that no cell had."""
    y, used = x.copy(), {key(cell) for cell in x.tolist()}
    if x.dtype == object:
        y[0] = y[0] + " "
    elif x.dtype.kind == "M":
        y[0] = y.max() + 1
    elif x.dtype.kind == "f":
        while key(y[0].item()) in used:
            y[0] = np.nextafter(y[0], np.inf, dtype=x.dtype) if np.isfinite(y[0]) else -0.0
    else:
        y[0] = next(cell for cell in range(100) if cell not in used)
    return y


def key(cell):
    return struct.pack("<d", cell) if isinstance(cell, float) else cell


def tables():
    for name, x in COLUMNS.items():
        beside = np.arange(x.size) % 3
        twice = np.random.default_rng(1).permutation(np.repeat(np.arange(x.size), 2))
        yield name, x[twice], beside[twice]
        if x.dtype != bool:
            yield f"{name}, one cell alone", other(x[twice]), beside[twice]


TABLES = {name: columns for name, *columns in tables()}


def of_file(table, folder, ending):
    frame = pl.from_pandas(table, nan_to_null=True)
    path = folder / f"t.{ending}"
    {"csv": frame.write_csv, "feather": frame.write_ipc, "parquet": frame.write_parquet}[ending](path)
    [sizes] = File(path).counts(["x", "y"])
    return smallest(sizes)


def of_parquet(table, folder):
    pq.write_table(pa.Table.from_pandas(table), folder / "t.parquet", row_group_size=5)
    return _parquet.recounted(_parquet.Source(folder / "t.parquet"), {"x": 1, "y": 1}, [])[0]


def of_dask(table, folder):
    frame = dd.from_pandas(table, npartitions=3)
    try:
        found = mag.scale.verify(frame, 2)
    except mag.NotAnonymous:
        assert mag.scale.verify(frame, 1) == 1
        return 1
    return found


JUDGES = {
    "pandas": lambda table, _: mag.verify.recount(table, ["x", "y"]),
    "polars": lambda table, _: mag.verify.recount(pl.from_pandas(table), ["x", "y"]),
    "pyarrow": lambda table, _: mag.verify.recount(pa.Table.from_pandas(table), ["x", "y"]),
    "dictionary": lambda table, _: mag.verify.recount({name: table[name].to_numpy() for name in table}, ["x", "y"]),
    "csv": lambda table, folder: of_file(table, folder, "csv"),
    "feather": lambda table, folder: of_file(table, folder, "feather"),
    "parquet": lambda table, folder: of_file(table, folder, "parquet"),
    "parquet by columns": of_parquet,
    "dask": of_dask,
}


@pytest.mark.parametrize("name", TABLES)
def test_all_recounts_agree(name, tmp_path):
    x, y = TABLES[name]
    expected = min(collections.Counter(zip(map(key, x.tolist()), y.tolist(), strict=True)).values())
    assert (expected == 1) == name.endswith("alone")
    table = pd.DataFrame({"x": x, "y": y})
    assert {judge: count(table, tmp_path) for judge, count in JUDGES.items()} == dict.fromkeys(JUDGES, expected)
