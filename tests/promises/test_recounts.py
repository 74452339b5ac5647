"""All recounts judge the same hostile tables, and agree: each finds a flaw that another one has."""

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
from mag._lib import cells as word_cells
from mag._lib import rowhash
from mag.distributed import _cells
from mag.distributed._cells import hash_records
from mag.files import File, _blocks, smallest
from mag.tables.parquet import _source, per_column
from tests.data import hostile

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
    "large integers": 2**60 + np.arange(N),
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
    # 1, 1 and −1, −1 − 2⁻¹⁸ once had one hash of 128 bits: a product by an odd number mixes bits upwards only
    yield "weak hash, one cell alone", *np.array([[1.0, 1.0]] * 4 + [[-1.0, -1 - 2.0**-18]]).T
    for name, cells in {"zero": [np.nan] * 4 + [0.0], "missing cell": [0.0] * 4 + [np.nan]}.items():
        yield f"{name}, one cell alone", np.array(cells), np.ones(5)


TABLES = {name: columns for name, *columns in tables()}


def of_file(frame, folder, ending):
    path = folder / f"t.{ending}"
    {"csv": frame.write_csv, "feather": frame.write_ipc, "parquet": frame.write_parquet}[ending](path)
    [sizes] = File(path).counts(["x", "y"])
    return smallest(sizes)


def of_parquet(table, folder):
    path = folder / "columns.parquet"
    pq.write_table(table, path, row_group_size=5)
    written = _source.ParquetSource(path)
    jointly = per_column.recount_file(written, {"x": 1, "y": 1}, [])[0]
    assert per_column.recount_file(written, {"x": 1}, ["y"]) == (jointly, {"x": jointly})
    return jointly


def of_dask(table):
    frame = dd.from_pandas(table, npartitions=3)
    try:
        return mag.distributed.verify(frame, 2)
    except mag.NotAnonymousError:
        assert mag.distributed.verify(frame, 1) == 1
        return 1


def verdicts(pandas, polars, arrow, folder):
    """Of all recounts, on tables of the same cells."""
    columns = ["x", "y"]
    return {
        **{type(table).__module__: mag.verify.recount(table, columns) for table in (pandas, polars, arrow)},
        "dictionary": mag.verify.recount({name: pandas[name].to_numpy() for name in columns}, columns),
        "objects": mag.verify.recount(pandas.astype(object), columns),
        **{ending: of_file(polars, folder, ending) for ending in ("csv", "feather", "parquet")},
        "parquet by columns": of_parquet(arrow, folder),
        "dask": of_dask(pandas),
    }


@pytest.fixture(autouse=True)
def _short_blocks(monkeypatch):
    monkeypatch.setattr(_blocks, "BLOCK_BYTES", 64)


@pytest.mark.parametrize("name", TABLES)
def test_all_recounts_agree(name, tmp_path):
    x, y = TABLES[name]
    expected = min(collections.Counter(zip(map(key, x.tolist()), y.tolist(), strict=True)).values())
    assert (expected == 1) == name.endswith("alone")
    table = pd.DataFrame({"x": x, "y": y})
    counts = verdicts(table, pl.from_pandas(table, nan_to_null=True), pa.Table.from_pandas(table), tmp_path)
    assert counts == dict.fromkeys(counts, expected)


NAN = np.array([0x7FF8000000000000, 0x7FF8000000000001, 0xFFF8000000000000, 0x7FF8000080000000], np.uint64)


@pytest.mark.parametrize("bits", NAN[1:], ids=hex)
def test_one_nan_may_not_be_another(bits, tmp_path):
    """What is stored is counted, to the last bit; text has one word for all of them."""
    table = {"x": np.where(np.arange(N) == 5, bits, NAN[0]).view(float), "y": np.ones(N)}
    objects = pd.DataFrame(table, dtype=object)
    counts = verdicts(pd.DataFrame(table), pl.DataFrame(table), pa.table(table), tmp_path)
    counts["dask objects"] = rowhash.count_classes(hash_records(objects)).sizes.min()
    assert counts.pop("csv") == N
    assert counts == dict.fromkeys(counts, 1)


ALIKE = {
    "missing": pa.array([np.nan, None] * N, pa.float64()),
    "zeros in lists": pa.array([[0.0], [-0.0]] * N),
    "zeros in structures": pa.array([{"a": [0.0]}, {"a": [-0.0]}] * N),
}


@pytest.mark.parametrize("name", ALIKE)
def test_all_recounts_tell_apart_what_is_alike_in_value(name, tmp_path):
    table = pa.table({"x": ALIKE[name], "y": np.ones(2 * N)})
    counts = {
        "pandas": mag.verify.recount(table.to_pandas(types_mapper=pd.ArrowDtype), ["x", "y"]),
        "polars": mag.verify.recount(pl.DataFrame(table), ["x", "y"]),
        "pyarrow": mag.verify.recount(table, ["x", "y"]),
        **{ending: of_file(pl.DataFrame(table), tmp_path, ending) for ending in ("feather", "parquet")},
        "parquet by columns": of_parquet(table, tmp_path),
    }
    if name == "missing":  # Dask refuses nested cells
        counts["dask"] = of_dask(table.to_pandas(types_mapper=pd.ArrowDtype))
    assert counts == dict.fromkeys(counts, N)


BROKEN = {  # judges that look at nothing, and what they then misjudge
    "frames": (mag.verify, "_tokens", lambda frame, name: [np.zeros(frame.n)]),
    "feather and parquet": (word_cells, "hash_rows", lambda block, columns: rowhash.new_hashes(block.num_rows)),
    "csv and parquet by columns": (rowhash, "add_cells", lambda hashes, *words: None),
    "dask": (_cells, "add_cells", lambda hashes, *words: None),
}


@pytest.mark.parametrize("judge", BROKEN)
def test_a_broken_judge_is_noticed(judge, tmp_path, monkeypatch):
    monkeypatch.setattr(*BROKEN[judge])
    with pytest.raises(AssertionError):
        test_all_recounts_agree("uniform, one cell alone", tmp_path)
