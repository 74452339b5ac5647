"""Published tables are built from values: nothing of the original is in their memory, their dtypes or their pickles."""

import copy
import datetime
import io
import pickle
import struct
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import mag
from mag._lib.fresh import fresh_column
from tests.data.frames import LIBRARIES, cells

NAN = float("nan")
SECRET = "canary: of a withheld record, "  # longer than the 12 bytes that a view holds itself


def table(n, secret=SECRET):
    """The first third is withheld: it misses x with "drop", and is alone in its stratum with "suppress"."""
    hidden = np.arange(n) < n // 3
    return {
        "x": np.where(hidden, NAN, np.arange(n) * 1.0),
        "y": np.arange(n) % 7 * 1.0,
        "g": [f"{secret}{i}" if hide else "everyone is in here" for i, hide in enumerate(hidden)],
        "note": [f"{secret if hide else 'published anyway: '}{i}" for i, hide in enumerate(hidden)],
    }


def written(data):
    """The bytes of a table in all the ways that its library writes it."""
    found = [pickle.dumps(data), pickle.dumps(data, 5)]
    if isinstance(data, pl.DataFrame):
        for write in (data.write_ipc, lambda sink: data.write_parquet(sink, compression="uncompressed")):
            sink = io.BytesIO()
            write(sink)
            found.append(sink.getvalue())
    if isinstance(data, pd.DataFrame):
        data = pa.Table.from_pandas(data)
    if isinstance(data, pa.Table):
        sink = io.BytesIO()
        with pa.ipc.new_file(sink, data.schema) as writer:
            writer.write_table(data)
        found.append(sink.getvalue())
    return b"".join(found)


def missing(column):
    return (
        column.isna().sum()
        if isinstance(column, pd.Series)
        else column.null_count
        if isinstance(column, pa.ChunkedArray)
        else column.null_count()
    )


def categorical(columns):
    found = pd.DataFrame(columns)
    return found.assign(g=found["g"].astype("category"), note=found["note"].astype("category"))


def dictionaries(columns):
    found = pa.table(columns)
    for name in ("g", "note"):
        found = found.set_column(found.column_names.index(name), name, found[name].dictionary_encode())
    return found


def enums(columns):
    kinds = {name: pl.Enum(sorted(set(columns[name]))) for name in ("g", "note")}
    return pl.DataFrame(columns).cast(kinds)


def nested(columns):
    return pl.DataFrame(columns).with_columns(
        pl.struct(pl.col("note"), inner=pl.concat_list("note")).alias("note"), pl.concat_list("g").alias("g")
    )


def arrow_nested(columns):
    return nested(columns).to_arrow()


def views(columns):
    found = pa.table(columns)
    return found.set_column(3, "note", found["note"].cast(pa.string_view()))


def objects(columns):
    return pl.DataFrame({**columns, "note": pl.Series([[note] for note in columns["note"]], dtype=pl.Object)})


KINDS = {
    **LIBRARIES,
    "pandas object": lambda columns: pd.DataFrame(columns).astype({"g": object, "note": object}),
    "pandas categories": categorical,
    "polars categories": lambda columns: pl.DataFrame(columns).cast({"g": pl.Categorical, "note": pl.Categorical}),
    "polars enums": enums,
    "polars bytes": lambda columns: pl.DataFrame(columns).cast({"g": pl.Binary, "note": pl.Binary}),
    "polars nested": nested,
    "arrow dictionaries": dictionaries,
    "arrow nested": arrow_nested,
    "arrow views": views,
    "arrow chunks": lambda columns: pa.concat_tables([pa.table(columns).slice(0, 4), pa.table(columns).slice(4)]),
    "arrow slice": lambda columns: pa.concat_tables([pa.table(columns)] * 2).combine_chunks().slice(len(columns["x"])),
}
HIDE = {
    "drop": {"missing": "drop"},
    "suppress": {"missing": "group", "by": "g", "small_strata": "suppress"},
    "shuffle": {"missing": "drop", "shuffle": True},
}


@pytest.mark.parametrize("n", [9, 40, 400])
@pytest.mark.parametrize("hide", HIDE.values(), ids=HIDE)
@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_withheld_cells_are_in_no_byte(make, hide, n):
    columns = table(n)
    keep = ["note"] if "by" in hide else ["note", "g"]
    release = mag.microaggregate(make(columns), 3, ["x", "y"], keep=keep, **hide)
    assert release.withheld == n // 3
    for found in (written(release.data), pickle.dumps(release), pickle.dumps(copy.copy(release)), repr(release)):
        raw = found.encode() if isinstance(found, str) else found
        assert SECRET.encode() not in raw
        assert SECRET.encode("utf-32-le") not in raw


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_blanked_strata_are_in_no_byte(make):
    columns = table(40)
    columns["x"] = np.arange(40.0)
    if make is LIBRARIES["dict"]:
        with pytest.raises(ValueError, match="cannot hold missing values"):
            mag.microaggregate(make(columns), 3, ["x", "y"], by="g", small_strata="merge", drop="note")
        return
    release = mag.microaggregate(make(columns), 3, ["x", "y"], by="g", small_strata="merge", drop="note")
    assert missing(release.data["g"]) == 40 // 3
    assert SECRET.encode() not in written(release.data) + pickle.dumps(release)


def test_categories_are_those_that_are_used():
    words = ["of the original", "low", "high", "mid"]
    x, g = np.arange(9.0), ["mid", "low", "mid", "low", "high", "mid", "low", "high", "high"]
    for ordered, expected in ((True, ["low", "high", "mid"]), (False, ["high", "low", "mid"])):
        frame = pd.DataFrame({"x": x, "g": pd.Categorical(g, words, ordered=ordered)})
        made = mag.microaggregate(frame, 3, "x", by="g").data["g"]
        assert made.tolist() == g
        assert made.cat.categories.tolist() == expected
        assert made.cat.ordered == ordered
        indices = pa.array([words.index(one) for one in g], pa.int8())
        column = pa.DictionaryArray.from_arrays(indices, pa.array(words), ordered=ordered)
        made = mag.microaggregate(pa.table({"x": x, "g": column}), 3, "x", by="g").data["g"]
        assert made.type == column.type
        assert made.chunk(0).dictionary.to_pylist() == expected
        assert made.to_pylist() == g
    frame = pl.DataFrame({"x": x, "g": pl.Series(g, dtype=pl.Enum(words))})
    assert mag.microaggregate(frame, 3, "x", by="g").data["g"].dtype == pl.Enum(["low", "high", "mid"])


@pytest.mark.parametrize("make", [pl.DataFrame, dictionaries], ids=["views", "dictionary"])
def test_places_in_memory_do_not_tell_the_order_of_the_original(make):
    n = 300
    columns = {"x": np.arange(n) * 1.0, "g": ["g"] * n, "note": [f"a note of its own: {i:04}" for i in range(n)]}
    data = mag.microaggregate(make(columns), 3, "x", keep=["g", "note"], shuffle=True).data
    column = data["note"].to_arrow() if isinstance(data, pl.DataFrame) else data["note"]
    notes, sink = cells(data, "note"), io.BytesIO()
    assert notes != sorted(notes)
    if make is dictionaries:  # sorted, whatever the order of the rows was
        assert column.chunk(0).dictionary.to_pylist() == sorted(notes)
    else:
        data.write_ipc(sink)
        places = [sink.getvalue().index(note.encode()) for note in notes]
        assert places == sorted(places)


def test_nothing_stands_below_a_null():
    hidden, n = 3722304989, 6
    values, there = np.array([hidden, 1, 2, 3, 4, 5], np.int64), np.arange(n) > 0
    bitmap = pa.py_buffer(np.packbits(there, bitorder="little").tobytes())
    column = pa.Array.from_buffers(pa.int64(), n, [bitmap, pa.py_buffer(values)])
    whole = pa.StructArray.from_arrays([pa.array(values)], ["v"], mask=pa.array(~there))
    x = np.arange(n) * 1.0
    frames = {
        "arrow": pa.table({"x": x, "n": column}),
        "struct": pa.table({"x": x, "n": whole}),
        "list": pa.table({"x": x, "n": pa.array([[v] for v in values.tolist()])}),
        "polars": pl.DataFrame({"x": x, "n": pl.Series(column)}),
        "polars struct": pl.DataFrame({"x": x, "n": pl.Series(whole)}),
        "nullable": pd.DataFrame({"x": x, "n": pd.arrays.IntegerArray(values.copy(), ~there)}),
        "pandas arrow": pd.DataFrame({"x": x, "n": pd.arrays.ArrowExtensionArray(pa.chunked_array([column]))}),
    }
    offsets = pa.array(np.arange(n + 1), pa.int32())
    lists = pa.ListArray.from_arrays(offsets, pa.array(values), mask=pa.array(~there))
    frames["list"] = pa.table({"x": x, "n": lists})
    for name, frame in frames.items():
        raw = written(mag.microaggregate(frame, 3, "x", keep="n").data)
        assert struct.pack("<q", hidden) not in raw, name


def addresses(column):
    """Where the cells of a column stand, and what keeps them there."""
    if isinstance(column, pl.Series):
        column = column.to_arrow()
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks() if column.num_chunks > 1 else column.chunk(0)
    if isinstance(column, pd.Series):
        array = column.array
        column = array.__arrow_array__() if hasattr(array, "__arrow_array__") else column.to_numpy()
        column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(column, np.ndarray):
        return {column.__array_interface__["data"][0]}, column
    return {buffer.address for buffer in column.buffers() if buffer is not None}, column


@pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)
def test_kept_columns_are_copies(make):
    columns = {
        "x": np.arange(30.0),
        "a": np.arange(30.0),
        "b": np.arange(30),
        "c": [f"a long note {i}" for i in range(30)],
    }
    original = make(columns)
    data = mag.microaggregate(original, 3, "x", keep=["a", "b", "c"]).data
    for name in columns:
        (before, _), (after, _) = held = addresses(original[name]), addresses(data[name])
        assert not before & after, name
        del held
        assert cells(original, name) == cells(data, name) or name == "x"


def test_changing_one_does_not_change_the_other():
    a, lists = np.arange(6.0), np.empty(6, object)
    for i in range(6):
        lists[i] = [i]
    original = {"x": np.arange(6.0), "a": a[::1], "lists": lists}
    data = mag.microaggregate(original, 3, "x", keep=["a", "lists"]).data
    assert data["a"].base is None
    data["a"][0], original["a"][1] = 99.0, 77.0
    data["lists"][0].append("changed")
    assert original["a"].tolist() == [0.0, 77.0, 2.0, 3.0, 4.0, 5.0]
    assert data["a"].tolist() == [99.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert original["lists"][0] == [0]
    frame = pd.DataFrame(original)
    data = mag.microaggregate(frame, 3, "x", keep=["a", "lists"]).data
    frame["lists"][1].append("changed")
    assert data["lists"][1] == [1]


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_arrays_of_other_libraries_are_copies(library):
    module = pytest.importorskip(library)
    make = module.tensor if library == "torch" else module.numpy.array
    original = {"x": make([1.0, 2.0, 3.0, 4.0]), "a": make([1.0, 2.0, 3.0, 4.0])}
    data = mag.microaggregate(original, 2, "x", keep="a").data
    assert type(data["a"]) is type(original["a"])
    assert np.asarray(data["a"]).ctypes.data != np.asarray(original["a"]).ctypes.data


def test_structures_of_numpy_keep_nothing_between_their_fields():
    kind = np.dtype(
        {"names": ["a"], "formats": [np.dtype("i4", metadata={"note": SECRET})], "offsets": [0], "itemsize": 64}
    )
    rows = np.frombuffer((b"\0" * 32 + SECRET.encode() + b"..") * 4, kind)
    made = mag.microaggregate({"x": np.arange(4.0), "s": rows}, 2, "x", keep="s").data["s"]
    assert SECRET.encode() not in made.tobytes() + pickle.dumps(made)
    assert made["a"].tolist() == rows["a"].tolist()


def test_no_metadata_is_published():
    schema = pa.schema(
        [
            pa.field("x", pa.float64(), metadata={"note": SECRET}),
            pa.field("s", pa.struct([pa.field("a", pa.int64(), metadata={"note": SECRET})])),
            pa.field("secret column", pa.int64()),
        ],
        metadata={"note": SECRET, "pandas": '{"secret column": 1}'},
    )
    rows = pa.Table.from_pylist([{"x": i * 1.0, "s": {"a": i}, "secret column": i} for i in range(6)], schema)
    data = mag.microaggregate(rows, 3, "x", keep="s", drop="secret column").data
    assert data.schema.equals(pa.schema([("x", pa.float64()), ("s", pa.struct([("a", pa.int64())]))]), True)
    frame = pd.DataFrame({"x": np.arange(6.0), "secret column": 1}).set_flags(allows_duplicate_labels=False)
    frame.attrs["note"], frame.columns.name = SECRET, SECRET
    data = mag.microaggregate(frame, 3, "x", drop="secret column").data
    assert data.attrs == {}
    assert data.flags.allows_duplicate_labels
    assert data.columns.names == [None]
    assert b"secret column" not in pickle.dumps(data)


def test_an_index_is_kept_without_what_it_was_cut_from():
    index = pd.MultiIndex.from_product([["a", "b", SECRET], pd.Categorical([3, 1, 2])], names=["one", "two"])
    frame = pd.DataFrame({"x": np.arange(9.0), "c": np.arange(9)}, index=index).iloc[:6]
    frame.columns = pd.CategoricalIndex(["x", "c"], categories=["x", "c", SECRET])
    release = mag.microaggregate(frame, 3, "x", keep="c")
    assert release.data.index.tolist() == frame.index.tolist()
    assert release.data.index.names == ["one", "two"]
    assert SECRET.encode() not in pickle.dumps(release.data)
    assert isinstance(mag.microaggregate(frame.reset_index(drop=True), 3, "x", keep="c").data.index, pd.RangeIndex)
    shuffled = mag.microaggregate(frame, 3, "x", keep="c", shuffle=True).data
    assert shuffled.index.equals(pd.RangeIndex(6))
    assert shuffled.index.names == [None]


# ---- pickles

DATA = np.random.default_rng(5).lognormal(size=(60, 3))


def holds(raw, values):
    return any(struct.pack("<d", value) in raw or struct.pack(">d", value) in raw for value in np.ravel(values))


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)
def test_a_pickled_release_is_what_is_published(make, shuffle):
    x, secret = DATA[:, 0], [f"{SECRET}{i}" for i in range(60)]
    original = make({"x": x, "y": DATA[:, 1], "secret column": secret, "w": DATA[:, 2]})
    release = mag.microaggregate(
        original, 5, ["x", "y"], drop=["secret column", "w"], weights="w", shuffle=shuffle,
        random_state=np.random.default_rng(3) if shuffle else None,
    )  # fmt: skip
    assert release.risk()["k_anonymity"] >= 5
    assert release.utility()["information_loss"] > 0
    for again, raw in ((pickle.loads(pickle.dumps(release)), pickle.dumps(release)), (copy.deepcopy(release), b"")):
        assert not holds(raw, DATA)
        assert SECRET.encode() not in raw
        assert b"secret column" not in raw
        assert b"PCG64" not in raw
        assert repr(again) == repr(release)
        assert again.guarantee == release.guarantee
        np.testing.assert_array_equal(again.grouping.labels, release.grouping.labels)
        assert again.manifest()["published"] == release.manifest()["published"]
        for ask in (again.numbers, again.risk, again.utility, lambda again=again: again.report("never.html")):
            with pytest.raises(
                RuntimeError, match=r"^numbers, risk, .* original table, which pickles and copies .*\.$"
            ):
                ask()
    assert release.numbers()[0]["x"].size == 60


@pytest.mark.parametrize("scope", ["joint", "per-column"])
def test_numbers_of_groups_do_not_tell_the_order_of_the_original(scope):
    rng = np.random.default_rng(1)
    columns = {"x": rng.normal(size=200), "y": rng.normal(size=200), "g": np.repeat(["b", "a"], 100)}
    for how in ({"shuffle": True}, {"missing": "drop"}):
        original = dict(columns, x=np.where(np.arange(200) < 3, NAN, columns["x"])) if "missing" in how else columns
        release = mag.microaggregate(original, 5, ["x", "y"], by="g", scope=scope, **how)
        for labels in np.atleast_2d(release.grouping.labels.T):
            first = np.unique(labels, return_index=True)[1]
            assert (np.diff(first) > 0).all()
        sizes = release.grouping.sizes if scope == "joint" else release.grouping.sizes["x"]
        own = release.grouping.labels if scope == "joint" else release.grouping.labels[:, 0]
        np.testing.assert_array_equal(np.bincount(own), sizes)


RESULTS = {
    "univariate": lambda: mag.univariate(DATA[:, 0], 5),
    "weights": lambda: mag.univariate(DATA[:, 0], 5, weights=DATA[:, 1]),
    "own cost": lambda: mag.univariate(
        DATA[:, 0], 5, cost=mag.Cost("width", group=lambda x, i, j: x[j - 1] - x[i], representative="mean")
    ),
    "columns": lambda: mag.columns(DATA, [4, 5, 6]),
    "one of columns": lambda: mag.columns(DATA, 5)[1],
    "multivariate": lambda: mag.multivariate(DATA, 5),
    "bound": lambda: mag.multivariate(DATA, 5, bound="neighbor"),
    "integers": lambda: mag.columns(np.rint(DATA * 1e6).astype(np.int64), 5, cost="sse_int"),
}


@pytest.mark.parametrize("again", [lambda one: pickle.loads(pickle.dumps(one)), copy.copy, copy.deepcopy])
@pytest.mark.parametrize("make", RESULTS.values(), ids=RESULTS)
def test_pickled_groups_hold_no_data(make, again):
    raw = pickle.dumps(make())
    assert not holds(raw, DATA)
    assert np.argsort(DATA[:, 0]).astype(np.int64).tobytes() not in raw
    whole, held = make(), again(make())
    for name in ("labels", "masked", "representatives", "sizes", "cost", "information_loss", "n_groups", "k"):
        np.testing.assert_array_equal(getattr(held, name), getattr(whole, name), name)
    for name in ("bound", "gap", "method", "complete", "small_groups", "k_guaranteed"):
        if hasattr(whole, name):
            np.testing.assert_array_equal(getattr(held, name), getattr(whole, name), name)
    assert repr(held) == repr(whole)
    if isinstance(whole, mag.ColumnGroupings):
        for one, other in zip([held[j] for j in range(3)], [whole[j] for j in range(3)], strict=True):
            assert repr(one) == repr(other)
            assert one.information_loss == pytest.approx(other.information_loss, rel=1e-12)
            np.testing.assert_array_equal(one.masked, other.masked)
    assert pickle.dumps(again(held)) == pickle.dumps(held)


# ---- every type comes back

DAY = datetime.date(2020, 1, 2)
ARROW = {
    "views": pa.array(["a string that is longer than a view", "b", None], pa.string_view()),
    "bytes in views": pa.array([b"x", b"y" * 30, None], pa.binary_view()),
    "list views": pa.array([[1, 2], [3], None], pa.list_view(pa.int8())),
    "lists": pa.array([[1, 2], [3], None], pa.large_list(pa.int8())),
    "dictionaries in lists": pa.array([["b", "a"], ["c"], None]).cast(pa.list_(pa.dictionary(pa.int8(), pa.string()))),
    "structures": pa.array([{"a": 1, "b": ["x"]}, None, {"a": None, "b": None}]),
    "maps": pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int8())),
    "lists of one size": pa.array([[1, 2], None, [3, 4]], pa.list_(pa.int64(), 2)),
    "dictionaries": pa.array(["b", "a", "b"]).dictionary_encode(),
    "null in a dictionary": pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["b", None, "b"])),
    "nested dictionary": pa.DictionaryArray.from_arrays(pa.array([1, 0, None]), pa.array([[2], [1]])),
    "extension": pa.array([b"0" * 16, b"1" * 16, None], pa.uuid()),
    "nulls": pa.nulls(3),
    "booleans": pa.array([True, None, False]),
    "wide decimals": pa.array([Decimal("1.5"), None, Decimal(2)], pa.decimal256(60, 3)),
    "half": pa.array([1.5, 2, None], pa.float16()),
    "not nullable": pa.array([{"a": 1}, None, {"a": 2}], pa.struct([pa.field("a", pa.int8(), nullable=False)])),
    "runs": pc.run_end_encode(pa.array(["a", "a", None])),
    "days": pa.array([DAY, None, DAY], pa.date64()),
}
POLARS = {
    "strings": pl.Series(["a string of many bytes", None, "x"]),
    "bytes": pl.Series([b"\xff\x00", None, b"x" * 30]),
    "enums": pl.Series(["b", "c", "c"], dtype=pl.Enum(["c", "b"])),
    "categories": pl.Series(["b", None, "c"], dtype=pl.Categorical),
    "structures": pl.Series([{"a": 1, "b": "x"}, None, {"a": None, "b": None}]),
    "lists": pl.Series([["a", "b"], None, []]),
    "empty lists": pl.Series([[], None, []], dtype=pl.List(pl.String)),
    "nulls in lists": pl.Series([[None], ["d"], []]),
    "arrays": pl.Series([[1, 2], None, [3, 4]], dtype=pl.Array(pl.Int8, 2)),
    "arrays of lists": pl.Series([[["a"], ["b"]], None, [["c"], []]], dtype=pl.Array(pl.List(pl.String), 2)),
    "objects": pl.Series([{1}, None, [2]], dtype=pl.Object),
    "nothing": pl.Series([None] * 3),
    "times": pl.Series([datetime.time(1), None, datetime.time(2)]),
    "wide": pl.Series([2**100, None, 2], dtype=pl.Int128),
    "decimals": pl.Series([Decimal("1.5"), None, Decimal(2)]),
}
PANDAS = {
    "integers": pd.array([1, None, 2], "Int64"),
    "floats": pd.array([1.5, None, 2], "Float32"),
    "booleans": pd.array([True, None, False], "boolean"),
    "strings": pd.array(["a", None, "b"], "string"),
    "str": pd.array(["a", None, "b"], "str"),
    "python strings": pd.array(["a", None, "b"], pd.StringDtype("python")),
    "arrow": pd.array(["a", None, "b"], pd.ArrowDtype(pa.string())),
    "moments": pd.to_datetime(["2020-01-01", None, "2021-01-01"]).array,
    "zones": pd.to_datetime(["2020-01-01", None, "2021-01-01"]).tz_localize("Europe/Berlin").array,
    "periods": pd.PeriodIndex(["2020-01", None, "2020-02"], freq="M").array,
    "intervals": pd.arrays.IntervalArray.from_tuples([(1, 2), None, (2, 3)]),
    "sparse": pd.arrays.SparseArray([1.0, NAN, 2.0]),
    "objects": pd.Series([[1], None, {"a": 2}], dtype=object).array,
    "string objects": pd.Series(["a", None, "b"], dtype=object).array,
    "mixed categories": pd.Categorical(["a", 1, "b"]),
}
ROWS = {"all": None, "some": np.array([2, 0]), "none": np.array([], np.int64)}


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("array", ARROW.values(), ids=ARROW)
def test_types_of_arrow_come_back(array, rows):
    expected = array.to_pylist() if rows is None else [array.to_pylist()[row] for row in rows]
    several = pa.chunked_array([array.slice(0, 1), array.slice(1)])
    for column in (array, several):
        made = fresh_column(column, rows)
        made.validate(full=True)
        assert made.type == array.type
        assert made.to_pylist() == expected
        if expected:
            blank = fresh_column(column, rows, np.arange(len(expected)) == 0)
            blank.validate(full=True)
            assert blank.to_pylist() == [None, *expected[1:]]


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("series", POLARS.values(), ids=POLARS)
def test_types_of_polars_come_back(series, rows):
    series = series.rename("a name")
    expected = series.to_list() if rows is None else [series.to_list()[row] for row in rows]
    made = fresh_column(series, rows)
    assert made.to_list() == expected
    assert made.name == "a name"
    assert made.dtype == series.dtype or isinstance(series.dtype, pl.Enum)
    if expected:
        blank = fresh_column(series, rows, np.arange(len(expected)) == 0)
        assert blank.to_list() == [None, *expected[1:]]


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("array", PANDAS.values(), ids=PANDAS)
def test_types_of_pandas_come_back(array, rows):
    series = pd.Series(array, index=[5, 5, 7], name="a name", dtype=array.dtype if array.dtype != object else object)
    expected = series if rows is None else series.iloc[rows]
    made = fresh_column(series, rows)
    if isinstance(array, pd.Categorical):
        made, expected = made.astype(object), expected.astype(object)
    pd.testing.assert_series_equal(made, expected)
    if len(expected):
        blank = fresh_column(series, rows, np.arange(len(expected)) == 0)
        assert pd.isna(blank.iloc[0])
        assert len(expected) == 1 or pd.isna(blank.iloc[1]) == pd.isna(expected.iloc[1])


def test_a_union_is_refused_by_name():
    union = pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["a", "b"])])
    with pytest.raises(TypeError, match=r"sparse_union.* cannot be published; split it into columns of one type first"):
        mag.microaggregate(pa.table({"x": [1.0, 2.0], "u": union}), 2, "x", keep="u")
