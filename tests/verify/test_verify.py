"""The recount: of the published cells, independent of the grouping, and final."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mag
from mag import verify
from mag._lib import rowhash
from mag.frames import arrays
from mag.frames.arrow import ArrowColumn
from mag.frames.base import SeriesColumn
from mag.frames.pandas import PandasColumn
from mag.frames.polars import PolarsColumn
from mag.tables import _aggregate, _grouping
from mag.verify import NotAnonymousError, _cells, recount
from tests.data.frames import LIBRARIES, cells, dtypes, names, smallest_class

NAN = float("nan")
OTHER_NAN = np.array([0xFFF8000000000001], np.uint64).view(float)[0]
NEXT = np.nextafter(0.1, 1)
DISTINCT = {
    "zeros": [0.0, -0.0],
    "last bit": [0.1, NEXT],
    "null and nan": [None, NAN],
    "integers": [1, 2],
    "beyond float64": [2**53, 2**53 + 1],
    "strings": ["a", "a "],
    "missing strings": ["a", None],
    "days": [datetime.date(2020, 1, 1), None],
    "moments": [datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 1, 0, 0, 0, 1)],
    "booleans": [True, None],
    "decimals": [Decimal("0.10"), Decimal("0.11")],
}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_units_are_counted_once(make):
    table = make({"x": [1, 1, 1, 2, 2, 2], "person": [0.0, -0.0, 5.0, 5.0, 6.0, 7.0], "none": ["a", None] * 3})
    assert recount(table, ["x"]) == 3
    assert recount(table, ["x"], unit="person") == 2  # equal values are one person, however they are stored
    with pytest.raises(mag.InputValueError, match=r"^unit must not have missing cells; got 3 in 'none'\.$"):
        recount(table, ["x"], unit="none")
    with pytest.raises(mag.InputValueError, match=r"^unit must name columns of the table; got 'hid'\.$"):
        recount(table, ["x"], unit="hid")


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table], ids=["polars", "pyarrow"])
@pytest.mark.parametrize("values", DISTINCT.values(), ids=DISTINCT)
def test_cells_that_differ_are_counted_apart(make, values):
    first, second = values
    several = make({"x": [first, second, first, first, second], "c": [1] * 5})
    assert recount(several, ["x"]) == recount(several, ["x", "c"]) == 2
    assert recount(make({"x": [first] * 5, "c": [1] * 5}), ["x"]) == 5


@pytest.mark.parametrize("dtype", [object, None, "float64", "Float64", "Float32", "str"])
def test_cells_of_pandas_that_differ_are_counted_apart(dtype):
    pairs = {
        object: [
            (0.0, -0.0),
            (None, NAN),
            (pd.NA, None),
            (pd.NaT, None),
            (1, 1.0),
            (1, True),
            (Decimal("0.10"), Decimal("0.1")),
        ],
        None: [(0.0, -0.0), (0.1, NEXT), ("a", None), (2**53, 2**53 + 1)],
        "float64": [(NAN, OTHER_NAN), (NAN, 0.0)],
        "Float64": [(0.0, -0.0), (None, 0.0)],
        "Float32": [(0.0, -0.0), (None, 0.0)],
        "str": [("a", None), ("a", "A")],
    }[dtype]
    for first, second in pairs:
        frame = pd.DataFrame({"x": pd.Series([first, second, first, first, second], dtype=dtype)})
        assert recount(frame, ["x"]) == 2, (first, second)
        assert recount({"x": frame["x"].to_numpy()}, ["x"]) == 2 or dtype in ("Float64", "Float32", "str")


def test_categories_are_counted_by_what_is_there():
    frame = pd.DataFrame({"g": pd.Categorical(["a", "b", "a"], categories=["z", "b", "a"]), "x": [1, 1, 1]})
    assert recount(frame, ["g"]) == 1
    assert recount(frame, ["x"]) == 3
    chunks = pa.chunked_array([pa.array(["a", "b"]).dictionary_encode(), pa.array(["b", "a"]).dictionary_encode()])
    assert recount(pa.table({"g": chunks}), ["g"]) == 2


def test_zones_and_units_are_read():
    moments = pd.Series(pd.to_datetime(["2020-10-25 00:30", "2020-10-25 01:30"], utc=True)).dt.tz_convert(
        "Europe/Berlin"
    )
    frame = pd.DataFrame({"t": pd.concat([moments] * 3)})  # both are printed as 02:30, before and after the change
    assert recount(frame, ["t"]) == 3
    assert recount(pl.from_pandas(frame), ["t"]) == 3
    assert recount(pa.table({"t": pa.array(frame["t"])}), ["t"]) == 3


def test_different_rows_with_one_hash_are_told_apart(monkeypatch):
    tokens = [np.array([1, 2, 1, 2, 3, 3]), np.array([1, 1, 1, 1, 1, 2])]
    assert verify.smallest(tokens) == 1
    monkeypatch.setattr(rowhash, "MIXING_STEPS", [[(0, 0)]])  # all rows have one hash
    assert verify.smallest(tokens) == 1
    assert verify.smallest([tokens[0], np.ones(6, int)]) == 2


def test_an_empty_table_has_no_class():
    assert recount(pd.DataFrame({"x": []}), ["x"]) == 0


# ---- nothing is returned where k fails

PEOPLE = {"x": np.arange(40.0), "y": np.arange(40.0)[::-1] % 7, "g": np.arange(40) % 2}


@pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)
def test_a_method_with_small_groups_is_found_out(make, monkeypatch):
    monkeypatch.setattr(
        _grouping, "group_records", lambda z, *_, **__: (np.arange(len(z)) // 3, -(-len(z) // 3), ["broken"], True)
    )
    with pytest.raises(NotAnonymousError, match="a class of 1 equal records in x, y where k=4 are promised"):
        mag.microaggregate(make(PEOPLE), 4, ["x", "y"], drop="g")


@pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)
def test_groups_of_columns_that_are_small_are_found_out(make, monkeypatch):
    def broken(values, *_):
        return np.broadcast_to(np.arange(len(values))[:, None] // 3, values.shape), np.full(values.shape[1], 14)

    monkeypatch.setattr(_grouping, "group_columns", broken)
    with pytest.raises(NotAnonymousError, match="where k=4 are promised"):
        mag.microaggregate(make(PEOPLE), 4, ["x", "y"], drop="g", scope="per-column")


@pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)
def test_strata_that_were_mixed_up_are_found_out(make, monkeypatch):
    for kind in (arrays.ArrayColumn, PandasColumn, SeriesColumn):
        monkeypatch.setattr(kind, "codes", lambda self: np.zeros(len(self), np.int64))
    with pytest.raises(NotAnonymousError):
        mag.microaggregate(make(PEOPLE), 4, ["x", "y"], by="g")


@pytest.mark.parametrize("name", ["g", "first", "^a$"])
@pytest.mark.parametrize("distinct", [3, 5000])
def test_texts_of_polars_are_told_apart_whatever_their_number(name, distinct):
    texts = [None, "", " ", "a", "A", "a long text that ends with x", "a long text that ends with y"]
    cells = [*texts, *(f"text {i}" for i in range(distinct))] * 3
    column = pl.Series(name, cells)
    assert recount(pl.DataFrame([column]), [name]) == 3
    [tokens] = _cells._of_polars(column)
    assert len(set(tokens.tolist())) == len(set(zip(tokens.tolist(), cells, strict=True))) == len(texts) + distinct


@pytest.mark.parametrize("make", [pd.DataFrame, dict], ids=["pandas", "dict"])
def test_an_encoder_that_loses_equality_is_found_out(make, monkeypatch):
    def noisy(array, missing):
        return array + np.spacing(array) * (np.arange(array.size) % 2)

    monkeypatch.setattr(arrays, "blanked", noisy)
    with pytest.raises(NotAnonymousError):
        mag.microaggregate(make(PEOPLE), 4, ["x", "y"], drop="g")


@pytest.mark.parametrize(("kind", "make"), [(PolarsColumn, pl.DataFrame), (ArrowColumn, pa.table)])
def test_an_encoder_of_columns_that_loses_equality_is_found_out(kind, make, monkeypatch):
    publish = kind.publish_cells

    def shifted(column, short, labels, missing):  # the groups of one column go to the wrong records
        return publish(column, short, np.roll(labels, column.name == "x"), missing)

    monkeypatch.setattr(kind, "publish_cells", shifted)
    with pytest.raises(NotAnonymousError):
        mag.microaggregate(make(PEOPLE), 4, ["x", "y"], by="g")


def test_a_mean_of_minus_zero_is_published_as_zero(monkeypatch):
    mean = _aggregate.AGGREGATES["mean"]
    monkeypatch.setitem(_aggregate.AGGREGATES, "mean", lambda groups: -0.0 * mean(groups))
    data = mag.microaggregate({"x": np.arange(6.0)}, 3, "x").data["x"]
    assert not np.signbit(data).any()


# ---- any table


@st.composite
def tables(draw):
    n = draw(st.integers(1, 24))
    small = st.floats(-3, 3, width=16) | st.sampled_from([0.0, -0.0, 1e300, -1e300, 5e-324])
    missing = draw(st.booleans())
    x = draw(st.lists(small | st.just(NAN) if missing else small, min_size=n, max_size=n))
    y = draw(st.lists(st.integers(-3, 3) | st.sampled_from([2**62, -(2**62)]), min_size=n, max_size=n))
    g = draw(st.lists(st.sampled_from(["a", "b", "ab", ""]), min_size=n, max_size=n))
    h = draw(st.lists(st.sampled_from([0.0, -0.0, 1.5]), min_size=n, max_size=n))
    return {"x": x, "y": y, "g": g, "h": h, "id": list(range(n))}


@settings(max_examples=60, deadline=None)
@given(
    tables(),
    st.sampled_from(list(LIBRARIES)),
    st.integers(1, 5),
    st.sampled_from(["joint", "per-column"]),
    st.sampled_from([[], ["g"], ["g", "h"]]),
    st.sampled_from(["error", "suppress", "merge"]),
    st.sampled_from(["group", "drop"]),
    st.booleans(),
)
def test_any_table_is_anonymous_or_refused(columns, library, k, scope, by, small, missing, shuffle):
    original = LIBRARIES[library](columns)
    rest = [name for name in ("g", "h") if name not in by]
    if not by and missing != "group":
        small = "error"
    try:
        release = mag.microaggregate(
            original, k, ["x", "y"], by=by, scope=scope, small_strata=small, missing=missing, keep=["id"], drop=rest,
            shuffle=shuffle, method="auto",
        )  # fmt: skip
    except ValueError as error:
        reasons = ("too small", "too few", "at least one record", "k must be", "dtype")
        if not any(reason in str(error) for reason in reasons):
            raise
        return
    data = release.data
    for masked in [["x", "y"]] if scope == "joint" else [["x"], ["y"]]:
        assert smallest_class(data, by + masked) >= k
    assert smallest_class(data, [*by, "x", "y"]) == release.guarantee.smallest
    assert names(data) == [name for name in columns if name not in rest]
    assert dtypes(data) == [
        one for one in dtypes(original) if (one.name if library == "pyarrow" else one[0]) not in rest
    ]
    ids = cells(data, "id")
    assert ids == sorted(ids) or shuffle
    assert len(ids) + release.withheld == len(columns["id"])
    places = [int(i) for i in ids]
    for name in by:
        for cell, place in zip(cells(data, name), places, strict=True):
            assert repr(cell) == repr(cells(original, name)[place]) or small == "merge"
    before, after = release.numbers()
    assert np.array_equal(before["x"], np.array(columns["x"], float)[places], equal_nan=True)
    assert (np.isnan(before["x"]) == np.isnan(after["x"])).all()
    sizes = [release.grouping.labels] if scope == "joint" else list(release.grouping.labels.T)
    assert all(np.bincount(own)[own].min() >= k for own in sizes)


# ---- cells as they are stored

N = 12
NANOSECONDS = {
    "pyarrow struct": pa.StructArray.from_arrays([pa.array(range(N), pa.time64("ns"))], ["t"]),
    "pyarrow list": pa.array([[i] for i in range(N)], pa.list_(pa.timestamp("ns"))),
    "pyarrow list of one size": pa.array([[i] for i in range(N)], pa.list_(pa.duration("ns"), 1)),
    "pyarrow time": pa.array(range(N), pa.time64("ns")),
    "pyarrow decimal256 list": pa.array([[Decimal(i)] for i in range(N)], pa.list_(pa.decimal256(60, 2))),
    "pyarrow decimal256": pa.array([Decimal(i) for i in range(N)], pa.decimal256(60, 2)),
    "pyarrow interval": pa.array([(0, 0, i) for i in range(N)], pa.month_day_nano_interval()),
    "pyarrow extension": pa.array([bytes([i]) * 16 for i in range(N)], pa.uuid()),
    "polars time": pl.Series(range(N)).cast(pl.Time),
    "polars list": pl.Series([[i] for i in range(N)]).cast(pl.List(pl.Datetime("ns"))),
    "polars struct": pl.DataFrame({"t": pl.Series(range(N)).cast(pl.Duration("ns"))}).to_struct(),
    "polars array": pl.Series([[i] for i in range(N)]).cast(pl.List(pl.Time)).cast(pl.Array(pl.Time, 1)),
    "polars nested": pl.Series([[{"t": [i]}] for i in range(N)]).cast(pl.List(pl.Struct({"t": pl.List(pl.Time)}))),
}
for _name in [name for name in NANOSECONDS if name.startswith("pyarrow")]:
    _chunks = pa.chunked_array([NANOSECONDS[_name].slice(0, 5), NANOSECONDS[_name].slice(5)])
    NANOSECONDS[f"pandas {_name}"] = pd.Series(pd.arrays.ArrowExtensionArray(_chunks))


def with_column(column):
    """A table of the column's library."""
    make = pa.table if isinstance(column, pa.Array) else pl.DataFrame if isinstance(column, pl.Series) else pd.DataFrame
    return make({"x": np.arange(len(column)) * 1.0, "g": column})


@pytest.mark.parametrize("column", NANOSECONDS.values(), ids=NANOSECONDS)
def test_a_nanosecond_is_a_difference(column):
    table = with_column(column)
    assert recount(table, ["g"]) == 1
    for scope in ("joint", "per-column"):
        with pytest.raises(ValueError, match="every stratum must have at least k=3 records: 12 of 12 strata"):
            mag.microaggregate(table, 3, "x", by="g", scope=scope)
    release = mag.microaggregate(table, 3, "x", by="g", small_strata="merge")
    assert recount(release.data, ["g"]) == N


@pytest.mark.parametrize("column", NANOSECONDS.values(), ids=NANOSECONDS)
def test_strata_that_merge_nested_cells_are_found_out(column, monkeypatch):
    """The recount reads by itself: it finds what the strata lose."""
    for kind in (arrays.ArrayColumn, PandasColumn, SeriesColumn):
        monkeypatch.setattr(kind, "codes", lambda self: np.zeros(len(self), np.int64))
    with pytest.raises(NotAnonymousError, match="a class of 1 equal records"):
        mag.microaggregate(with_column(column), 3, "x", by="g")


def cell_array(cells):
    found = np.empty(len(cells), object)
    for place, cell in enumerate(cells):
        found[place] = cell
    return found


def long_arrays(middle):
    """Their print leaves the middle out."""
    return [np.where(np.arange(5000) == 2500, i, 0) for i in middle]


APART = {
    "elided": long_arrays(range(N)),
    "elided in lists": [[one] for one in long_arrays(range(N))],
    "floats": [float.fromhex("0x1p0") + i * 2.0**-52 for i in range(N)],
    "nan bits": np.arange(0x7FF8000000000001, 0x7FF8000000000001 + N, dtype=np.uint64).view(float).tolist(),
    "decimals": [Decimal(1).scaleb(-i).quantize(Decimal(1).scaleb(-i)) * 0 for i in range(N)],
    "moments": [pd.Timestamp(i) for i in range(N)],
    "tuples": [(0, {"a": [i]}) for i in range(N)],
    "types": [1, 1.0, True, "1", b"1", (1,), [1], {1}, Decimal(1), None, 1j, frozenset([1])],
}


@pytest.mark.parametrize("cells", APART.values(), ids=APART)
@pytest.mark.parametrize("make", [dict, pd.DataFrame], ids=["dict", "pandas"])
def test_objects_are_compared_by_type_and_value(make, cells):
    column = cell_array(cells)
    table = make({"x": np.arange(N) * 1.0, "g": column if make is dict else pd.Series(column, dtype=object)})
    assert recount(table, ["g"]) == 1
    with pytest.raises(ValueError, match="12 of 12 strata are too small"):
        mag.microaggregate(table, 3, "x", by="g")
    twice = make({"x": np.arange(2 * N) * 1.0, "g": pd.Series(cell_array([*cells] * 2), dtype=object).array})
    assert recount(twice, ["g"]) == 2
    assert mag.microaggregate(twice, 2, "x", by="g").grouping.n_groups == N


class Blob:
    """Nobody knows what makes two of them equal."""


INCOMPARABLE = {
    "Blob": {"g": cell_array([Blob() for _ in range(N)])},
    "pandas Blob": pd.DataFrame({"g": pd.Series([Blob()] * N, dtype=object)}),
    "polars Blob": pl.DataFrame({"g": pl.Series([Blob()] * N, dtype=pl.Object)}),
    "float128": {"g": np.zeros(N, np.longdouble)},
    "sparse_union": pa.table(
        {"g": pa.UnionArray.from_sparse(pa.array([0] * N, pa.int8()), [pa.array(range(N)), pa.array(["a"] * N)])}
    ),
}


@pytest.mark.parametrize("name", INCOMPARABLE)
def test_what_cannot_be_compared_is_refused_before_grouping(name, monkeypatch):
    table, x = INCOMPARABLE[name], np.arange(N) * 1.0
    if isinstance(table, dict):
        table = {**table, "x": x}
    elif isinstance(table, pd.DataFrame):
        table = table.assign(x=x)
    else:
        table = table.with_columns(x=x) if isinstance(table, pl.DataFrame) else table.append_column("x", pa.array(x))
    monkeypatch.setattr(_grouping, "group_column", None)
    kind = name.rpartition(" ")[2] if "Blob" in name else name
    sentence = rf"^column 'g' holds .*{kind}.*, which cannot be compared exactly; convert it\.$"
    with pytest.raises(TypeError, match=sentence):
        mag.microaggregate(table, 3, "x", by="g")
    with pytest.raises(TypeError, match=sentence):
        recount(table, ["g"])


@pytest.mark.parametrize("kind", [np.complex64, np.complex128])
def test_complex_strata_are_compared_by_their_bits(kind):
    table = {"x": np.arange(8.0), "g": np.array([1 + 2j, 2 + 1j, complex(0.0, 0.0), complex(0.0, -0.0)] * 2, kind)}
    release = mag.microaggregate(table, 2, "x", by="g")
    assert release.grouping.n_groups == 4
    assert release.guarantee.smallest == 2


@pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)
def test_an_unknown_column_is_one_sentence(make):
    with pytest.raises(ValueError, match=r"^columns must name columns of the table; got 'zz'\.$"):
        recount(make(PEOPLE), ["x", "zz"])
    with pytest.raises(ValueError, match=r"^columns must name columns of the table; got none\.$"):
        recount(make(PEOPLE), [])


def test_lists_are_compared_part_by_part():
    lists = [["a", None], ["a"], [None], [], None, ["b", "a"], ["a", "b"], ["ab"]]
    for table in (pl.DataFrame({"g": lists * 2}), pa.table({"g": lists * 2})):
        assert recount(table, ["g"]) == 2
    structs = [{"a": 1, "b": None}, {"a": None, "b": 1}, None, {"a": None, "b": None}, {"a": 1, "b": 1}]
    for table in (pl.DataFrame({"g": structs * 3}), pa.table({"g": structs * 3})):
        assert recount(table, ["g"]) == 3
