"""`mag.check`: by brute force on frames of every library, and on lazy frames inside their engines."""

import collections

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mag

ROWS = st.lists(
    st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 2), st.integers(0, 3), st.integers(0, 2)), max_size=14
)
NAMES = ["x", "y", "who", "ill"]


def duckdb_relation(frame):
    duckdb = pytest.importorskip("duckdb")
    return duckdb.connect().from_arrow(frame.to_arrow())


def ibis_table(frame):
    ibis = pytest.importorskip("ibis")
    for module in ("duckdb", "pyarrow_hotfix"):  # which ibis-framework[duckdb] installs
        pytest.importorskip(module)
    return ibis.memtable(frame.to_arrow())


LIBRARIES = {
    "pandas": pl.DataFrame.to_pandas,
    "polars": lambda frame: frame,
    "pyarrow": pl.DataFrame.to_arrow,
    "polars lazy": pl.DataFrame.lazy,
    "duckdb": duckdb_relation,
}


def expected(rows, k, by_unit, diverse):
    members = collections.defaultdict(list)
    for row in rows:
        members[row[:2]].append(row)
    sizes = [len({row[2] for row in own}) if by_unit else len(own) for own in members.values()]
    different = min((len({row[3] for row in own}) for own in members.values()), default=0)
    few = sorted(size for size in sizes if size < k)
    violating = sum(len(own) for own, size in zip(members.values(), sizes, strict=True) if size < k)
    return bool(rows) and not few and different >= diverse, tuple(few), violating, len(rows), len(members)


@pytest.mark.parametrize("library", LIBRARIES)
@given(rows=ROWS, k=st.integers(1, 4), by_unit=st.booleans(), diverse=st.integers(1, 3))
def test_classes_are_those_of_a_dictionary(library, rows, k, by_unit, diverse):
    schema = {"x": pl.String, "y": pl.Int64, "who": pl.Int64, "ill": pl.Int64}
    table = LIBRARIES[library](pl.DataFrame(rows, schema=schema, orient="row"))
    found = mag.check(table, k, ["x", "y"], unit="who" if by_unit else None, diversity={"ill": diverse})
    assert (found.holds, found.sizes, found.violating, found.records, found.classes) == expected(
        rows, k, by_unit, diverse
    )
    assert bool(found) == found.holds


def test_ibis_tables_are_counted():
    table = ibis_table(pl.DataFrame({"x": ["a", "a", None, None], "y": [1, 1, 2, 2]}))
    assert mag.check(table, 2, ["x", "y"])
    assert mag.check(table, 3, ["x", "y"]).sizes == (2, 2)


def test_no_row_of_a_lazy_frame_is_collected():
    collected = []
    frame = pl.LazyFrame({"x": ["canary"] * 6, "y": [1, 1, 1, 2, 2, 2]}).map_batches(
        lambda batch: collected.append(batch.height) or batch, validate_output_schema=False
    )
    result = mag.check(frame, 4, ["x", "y"])
    assert collected
    assert result.sizes == (3, 3)
    assert "canary" not in repr(result)


def test_criteria_are_counted_and_said():
    table = pd.DataFrame({"age": [1, 1, 2, 2], "pay": [1, 2, 3, 4], "ill": ["a", "b", "b", "b"]})
    result = mag.check(table, 2, "age", sensitive="ill", closeness={"pay": 0.1})
    assert not result
    assert repr(result).splitlines()[0] == "PASS k=2: each of 4 records matches at least 1 other; smallest class 2."
    assert "FAIL diversity, required" in repr(result)
    assert "FAIL closeness, required" in repr(result)
    assert mag.check(table, 2, "age", diversity={"ill": 1}, closeness={"pay": 0.9})


def test_a_release_passes_its_own_check():
    table = pd.DataFrame({"age": np.arange(40) % 17, "income": np.arange(40) ** 2 % 31})
    release = mag.microaggregate(table, 4, ["age", "income"])
    assert mag.check(release.data, 4, ["age", "income"])
    assert not mag.check(table, 4, ["age", "income"])
    assert "Too small: 39 of 39 classes, of sizes 1, 1," in repr(mag.check(table, 4, ["age", "income"]))


@pytest.mark.parametrize("make", [pd.DataFrame, pa.table, lambda columns: pl.LazyFrame(columns)])
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((0, "x"), "k must be"),
        ((2, []), "qi must name at least one column"),
        ((2, "z"), "qi must name columns of the table; got 'z'"),
        ((2, "x", {"unit": "x"}), "unit must not be one of qi; got 'x'"),
        ((2, "x", {"unit": "who"}), "unit must not have missing cells; got 1 in 'who'"),
        ((2, "x", {"sensitive": "x"}), "sensitive must not be one of qi"),
    ],
)
def test_mistakes_are_one_sentence(make, arguments, sentence):
    k, qi, *options = arguments
    with pytest.raises(mag.InputError, match=sentence):
        mag.check(make({"x": [1, 1], "who": [1, None]}), k, qi, **(options[0] if options else {}))


def test_lazy_frames_need_plain_diversity():
    with pytest.raises(mag.InputTypeError, match="of a lazy frame, diversity must be whole numbers"):
        mag.check(pl.LazyFrame({"x": [1], "y": [2]}), 1, "x", closeness={"y": 0.2})
