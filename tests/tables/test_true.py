"""Statements published as true are true, in exact arithmetic; rounding and means are exact; order leaves no trace."""

import datetime
import math
from decimal import Decimal
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given

import mag
from mag.hierarchy._rules import Locate
from mag.tables import _categories
from mag.tables._aggregate import representatives
from mag.tables._round import round_floats, round_floats_outwards, round_outwards

LARGEST = float(np.finfo(np.float64).max)


def ranges(table, k=2, **options):
    """The published ranges of x."""
    cells = mag.microaggregate(table, k, ["x", "y"], aggregate={"x": "range"}, **options).data["x"]
    return cells.to_pylist() if isinstance(cells, pa.ChunkedArray) else list(cells)


def ends(text):
    """Both ends of a range of numbers."""
    low, _, high = text.strip("[]").partition(", ")
    return Fraction(low), Fraction(high or low)


# ---- ranges


def test_ends_of_ranges_are_rounded_outwards():
    table = {"x": np.array([1.26, 1.27, 1.34, 5.1, 5.2, 5.3]), "y": np.arange(6.0)}
    assert ranges(table, 3, round=1) == ["[1.2, 1.4]"] * 3 + ["[5.1, 5.3]"] * 3
    assert ranges(table, 3, round=0) == ["[1, 2]"] * 3 + ["[5, 6]"] * 3
    assert ranges(table, 3, round=-1) == ["[0, 10]"] * 6
    assert ranges({"x": -table["x"], "y": table["y"]}, 3, round=0)[0] == "[-2, -1]"
    large = {"x": np.array([LARGEST, LARGEST, 1.0, 2.0]), "y": np.array([9.0, 9, 0, 0])}
    assert ends(ranges(large, 2, round=-299)[0]) == (1797693134 * 10**299, 1797693135 * 10**299)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=4, max_size=12), st.integers(-300, 300))
def test_rounded_ranges_contain_every_record(numbers, digits):
    published = ranges({"x": np.array(numbers), "y": np.arange(len(numbers)) * 1.0}, 2, round=digits)
    for number, text in zip(numbers, published, strict=True):
        low, high = ends(text)
        assert low <= Fraction(repr(number)) <= high


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("dtype", ["M8[ns]", "m8[ns]"])
def test_nanoseconds_of_ranges_are_published(make, dtype):
    counts = np.array([1, 999, 1_500, 86_400_000_002_501])
    table = make({"x": counts.astype(dtype), "y": np.array([0.0, 0, 9, 9])})
    first, second = dict.fromkeys(ranges(table))
    if dtype == "M8[ns]":
        assert first == "[1970-01-01T00:00:00.000000001, 1970-01-01T00:00:00.000000999]"
        assert second == "[1970-01-01T00:00:00.000001500, 1970-01-02T00:00:00.000002501]"
    elif make in (dict, pd.DataFrame):
        assert first == "[1 nanoseconds, 999 nanoseconds]"
    else:
        days = "0 days 0" if make is pa.table else ""
        assert first == f"[{days}0:00:00.000000001, {days}0:00:00.000000999]"
        assert second.endswith("00:00:00.000002501]" if make is pa.table else "0:00:00.000002501]")


@given(st.lists(st.integers(-(2**63) + 1, 2**63 - 1), min_size=4, max_size=10), st.sampled_from(["M8[ns]", "m8[ns]"]))
def test_ranges_of_times_pass_the_recount(counts, dtype):
    x = np.array(counts).astype(dtype)
    for make in (dict, pl.DataFrame):
        assert len(ranges(make({"x": x, "y": np.arange(len(counts)) * 1.0}))) == len(counts)


@given(st.lists(st.decimals(-(10**20), 10**20, places=12, allow_nan=False), min_size=4, max_size=10))
def test_ranges_of_decimals_and_long_integers_contain_every_record(numbers):
    y = np.arange(len(numbers)) * 1.0
    for cells in (numbers, [int(number.scaleb(12)) for number in numbers]):
        published = ranges({"x": np.array([*cells, None], object)[:-1], "y": y})
        for cell, text in zip(cells, published, strict=True):
            low, high = ends(text)
            assert low <= cell <= high


# ---- intervals


def recoded(cells, tree):
    """The published labels of x."""
    return mag.generalize({"x": cells}, 1, ["x"], hierarchies={"x": tree}, max_suppressed=0).data["x"].tolist()


def test_intervals_are_found_in_exact_arithmetic():
    ids = np.array([2**53 + 3, 2**53 + 1])
    assert recoded(ids, mag.Hierarchy.intervals(2**53, 2**53 + 8, [2, 4])) == [
        f"[{2**53 + 2}, {2**53 + 4})", f"[{2**53}, {2**53 + 2})",
    ]  # fmt: skip
    cells = np.array([Decimal("0.29999999999999999999"), Decimal("0.3"), Decimal("0.1")], object)
    tree = mag.Hierarchy.intervals(0, 1, [0.1, 0.5])
    assert recoded(cells, tree) == ["[0.2, 0.3)", "[0.3, 0.4)", "[0.1, 0.2)"]
    assert tree.find([0.3, "0.3", Fraction(3, 10), np.float64(0.3), Decimal("1E-999999")]).tolist() == [3, 3, 3, 3, 0]
    assert (
        tree.find([10**400, "1E+999999999", -0.1, 1, "nan", math.inf, None, True, b"0.3", (0,)]).tolist() == [-1] * 10
    )


def test_labels_of_intervals_say_their_ends_exactly():
    thirds = mag.Hierarchy.intervals(0, 1, [Fraction(1, 3)])
    assert thirds.labels[:3] == ["[0, 1/3)", "[1/3, 2/3)", "[2/3, 1)"]
    long = Decimal("0.12345678901234567890123456789012345")
    assert mag.Hierarchy.intervals(0, 1, [long]).labels[0] == f"[0, {long})"


@given(
    st.integers(-(2**70), 2**70), st.sampled_from([1, 2, 5, Decimal("0.1"), Decimal("0.003"), Fraction(1, 7)]),
    st.lists(st.fractions(-1, 12), min_size=1, max_size=20),
)  # fmt: skip
def test_every_number_is_in_its_interval(low, width, offsets):
    step = Fraction(width)
    tree = mag.Hierarchy.intervals(low, low + 10 * step, [width])
    numbers = [low + offset * step for offset in offsets]
    assert tree.find(numbers).tolist() == [math.floor(x) if 0 <= x < 10 else -1 for x in offsets]


def test_one_cell_that_is_no_number_concerns_one_cell():
    tree = mag.Hierarchy.intervals(0, 100, [5, 10])
    for last in ("150", "unknown"):
        ages = np.array(["12", "13", "14", "55", "56", "57", last], object)
        table = {"age": ages, "y": np.arange(7.0)}
        release = mag.microaggregate(table, 2, ["age", "y"], hierarchies={"age": tree}, other="root")
        assert release.data["age"].tolist() == ["[10, 15)"] * 3 + ["[55, 60)"] * 2 + ["*"] * 2
        with pytest.raises(ValueError, match="no leaf for 1 values of 1 records"):
            mag.generalize({"age": ages}, 2, ["age"], hierarchies={"age": tree})


def test_the_command_takes_other_values_of_intervals(tmp_path):
    from mag.commands.cli import main

    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("age\n12\n13\n55\n56\nunknown\n150\n")
    given_ = ["generalize", str(source), "-o", str(out), "-k", "2", "-c", "age", "--intervals", "age=0:100:5,10"]
    assert main([*given_, "--other", "root", "--max-suppressed", "0"]) == 0
    rows = out.read_text().splitlines()[1:]
    assert rows[-2:] == ["*", "*"]
    assert rows[0] == rows[1] != "*"


# ---- hierarchies


ROWS = {
    "no root": ([["a", "A"], ["b", "B"]], ValueError, "one label on the highest level"),
    "two parents": ([["a", "A", "*"], ["b", "A", "*"], ["c", "B", "*"], ["d", "A", "+"]], ValueError, "rows must have"),
    "not nested": ([["a", "A", "X", "*"], ["b", "A", "Y", "*"]], ValueError, "one parent for every label"),
    "a value twice": ([["a", "*"], ["a", "*"]], ValueError, "every value once"),
    "of different length": ([["a", "*"], ["b", "b", "*"]], ValueError, "the same number of labels"),
    "empty": ([], ValueError, "at least one value"),
    "text": (["ab", "cb"], TypeError, "a sequence of labels"),
}


@pytest.mark.parametrize("case", ROWS)
def test_rows_that_are_no_tree_are_refused(case):
    rows, error, sentence = ROWS[case]
    with pytest.raises(error, match=sentence):
        mag.Hierarchy(rows)


# ---- the recount


def test_a_broken_masking_step_is_caught(monkeypatch):
    table = {"x": np.array([1.26, 1.27, 1.34, 5.1, 5.2, 5.3]), "y": np.arange(6.0)}
    far = {"x": table["x"] * 2.0**50 + 0.25, "y": table["y"]}
    for name, broken_table, wrong in (("round_floats_outwards", table, 3), ("round_outwards", far, 4)):
        outwards = getattr(_categories, name)
        with monkeypatch.context() as broken:
            broken.setattr(_categories, name, lambda number, digits, up, how=outwards: how(number, digits, not up))
            with pytest.raises(
                mag.NotAnonymousError, match=f"x is true for every record, which it is not for {wrong}:"
            ):
                ranges(broken_table, 3, round=1 if broken_table is table else -3)
    tree = mag.Hierarchy.intervals(0, 10, [1, 5])
    located = Locate.__call__
    with monkeypatch.context() as broken:
        broken.setattr(Locate, "__call__", lambda self, values: (located(self, values) + 1) % 10)
        with pytest.raises(mag.NotAnonymousError, match="true for every record"):
            recoded(table["x"], tree)
    jobs = mag.Hierarchy.from_levels([["a", "A", "*"], ["b", "A", "*"], ["c", "C", "*"]])
    people = {"x": ["a", "b", "c", "c"], "y": np.array([0.0, 0, 9, 9])}
    with monkeypatch.context() as broken:
        broken.setattr(mag.Hierarchy, "common_ancestors", lambda self, leaves, groups: np.array([0, 2]))
        with pytest.raises(mag.NotAnonymousError, match="not for 1: nothing"):
            mag.microaggregate(people, 2, ["x", "y"], hierarchies={"x": jobs})
    with monkeypatch.context() as broken:
        broken.setattr(_categories, "_ranges", lambda categories, codes, groups: ["[a, a]", "c"])
        with pytest.raises(mag.NotAnonymousError, match="not for 1: nothing"):
            ranges(people, order={"x": ["a", "b", "c"]})
    assert ranges(people, order={"x": ["a", "b", "c"]}) == ["[a, b]"] * 2 + ["c"] * 2


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_a_wrong_range_of_any_type_is_caught(make, monkeypatch):
    columns = {
        "floats": np.array([1.5, 2.5, 7.5, 8.5]),
        "integers": np.array([2**60, 2**60 + 1, 5, 6]),
        "days": np.array([1, 2, 300, 301]).astype("M8[D]").astype("M8[ms]"),
        "nanoseconds": np.array([1, 2, 300, 301]).astype("M8[ns]"),
        "durations": np.array([1, 2, 300, 301]).astype("m8[ns]"),
        "decimals": np.array([Decimal("1.00000000000000000001"), Decimal(2), Decimal(5), Decimal(6)], object),
        "dates": np.array([datetime.date(2020, 1, day) for day in (1, 2, 30, 31)], object),
    }
    texts = _categories._texts

    def broken(column, unit, ends, decimals, up):
        """The smallest value of a group is left out."""
        return texts(column, unit, ends if up else ends + 1, decimals, up)

    for cells in columns.values():
        own = cells.tolist() if make is not pd.DataFrame and cells.dtype == object else cells
        table = make({"x": own, "y": [0.0, 0.0, 9.0, 9.0]})
        assert len(ranges(table)) == 4
        with monkeypatch.context() as patched:
            patched.setattr(_categories, "_texts", broken)
            with pytest.raises(mag.NotAnonymousError, match="x is true for every record, which it is not for 2"):
                ranges(table)


# ---- rounding


def test_rounding_never_publishes_infinity():
    y = np.arange(4.0)
    for x, digits in (([1e307, 2e307, 3e307, 4e307], 2), ([1e10, 2e10, 3e10, 4e10], 300)):
        published = mag.microaggregate({"x": np.array(x), "y": y}, 2, ["x", "y"], round=digits).data["x"]
        assert published.tolist() == [(x[0] + x[1]) / 2] * 2 + [(x[2] + x[3]) / 2] * 2  # nothing is to be rounded
    half = np.array([65504, 65504, 1, 1], np.float16)
    assert (
        mag.microaggregate({"x": half, "y": y}, 2, ["x", "y"], round=-3).data["x"].tolist() == [64992.0] * 2 + [0] * 2
    )
    far = np.array([LARGEST, LARGEST, -LARGEST, -LARGEST])
    published = mag.microaggregate({"x": far, "y": y}, 2, "x", keep="y", round=-299).data["x"]
    assert published.tolist() == [1.797693134e308] * 2 + [-1.797693134e308] * 2


@given(
    st.lists(
        st.floats(allow_nan=False, allow_infinity=False)
        | st.integers(-(10**9), 10**9).map(lambda eighths: eighths / 8)
        | st.decimals(-1000, 1000, places=3).map(float),
        min_size=1, max_size=30,
    ),
    st.integers(-5, 5) | st.integers(-300, 300),
)  # fmt: skip
@example([LARGEST], -1)
def test_rounding_is_that_of_exact_arithmetic(numbers, digits):
    for number, rounded in zip(numbers, round_floats(np.array(numbers), digits, LARGEST).tolist(), strict=True):
        assert math.isfinite(rounded)
        assert math.copysign(1.0, rounded) > 0 or rounded < 0  # never -0.0
        step = Fraction(10) ** -digits
        exact = round(Fraction(number) / step) * step
        assert rounded == float(exact if abs(exact) <= LARGEST else math.trunc(Fraction(number) / step) * step)


# ---- orders


@pytest.mark.parametrize("order", [[1, 2, 3], ["1", "2", "3"], ["1.0", "2.0", "3.0"], [1.0, Decimal(2), "3"]])
@pytest.mark.parametrize("dtype", ["int64", "float64", "Float32", "Int8"])
def test_orders_are_compared_as_the_type_of_the_column(order, dtype):
    table = pd.DataFrame({"x": np.arange(8.0), "s": pd.Series([1, 2, 3, 1, 2, 3, 1, 2]).astype(dtype)})
    release = mag.microaggregate(table, 2, ["x"], closeness={"s": 0.9}, order={"s": order})
    assert release.guarantee.closeness["s"].counted == 0.3125
    assert mag.verify.closeness(release.data, ["x"], "s", order=order) == Fraction(5, 16)


@pytest.mark.parametrize("order", [[1, 2, 3, 1], ["1", "2", "3", "1"], ["1", "2", "3", "3.0"], [1, 2, 3, "3"]])
def test_an_order_that_repeats_a_value_is_refused(order):
    table = pd.DataFrame({"x": np.arange(8.0), "s": [1, 2, 3, 1, 2, 3, 1, 2]})
    calls = [
        lambda: mag.microaggregate(table, 2, ["x"], closeness={"s": 0.9}, order={"s": order}),
        lambda: mag.microaggregate(table, 2, ["x", "s"], order={"s": order}),
        lambda: mag.generalize(
            table, 2, ["x"], hierarchies={"x": mag.Hierarchy.intervals(0, 8, [4])}, closeness={"s": 0.9},
            order={"s": order},
        ),
        lambda: mag.verify.closeness(table.assign(x=0), ["x"], "s", order=order),
        lambda: mag.metrics.ncp(table[["s"]], np.zeros(8), order={"s": order}),
        lambda: mag.metrics.gower_distance(table[["s"]], table[["s"]], order={"s": order}),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(ValueError, match="must list every value once; entry 4 repeats"):
            call()


def test_text_that_reads_like_one_number_is_two_categories():
    table = {"x": np.arange(4.0), "s": ["1", "1.0", "1", "1.0"]}
    release = mag.microaggregate(table, 2, ["x"], closeness={"s": 0.9}, order={"s": ["1", "1.0"]})
    assert release.guarantee.closeness["s"].counted == 0.0


def test_the_order_of_numbers_in_parquet(tmp_path):
    from mag.commands.cli import main

    source, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pq.write_table(pa.table({"x": np.arange(8.0), "s": [1, 2, 3, 1, 2, 3, 1, 2]}), source)
    given_ = ["mask", str(source), "-o", str(out), "-k", "2", "-c", "x", "--closeness", "s=0.9", "--order", "s=1,2,3"]
    assert main(given_) == 0
    assert main(["check", str(out), "--qi", "x", "-k", "2", "--closeness", "s=0.9", "--order", "s=1,2,3"]) == 0


# ---- the order of records


FINITE = st.floats(allow_nan=False, allow_infinity=False) | st.floats(-1e3, 1e3)


@given(
    st.lists(st.tuples(FINITE, st.sampled_from([0.0, 0.1, 1.0, 3.7, 1e-9, 1e9])), min_size=2, max_size=9), st.randoms()
)
def test_means_do_not_depend_on_the_order_of_records(records, random):
    mixed = list(records)
    random.shuffle(mixed)
    n = len(records)

    def published(rows, **options):
        table = {"x": np.array([x for x, _ in rows]), "y": np.zeros(n)}
        joint = mag.microaggregate(table, n, ["x", "y"], **options).data["x"]
        alone = mag.microaggregate(table, n, ["x", "y"], scope="per-column", **options).data["x"]
        assert joint.tobytes() == alone.tobytes()
        return joint[0].tobytes()

    assert published(records) == published(mixed)
    weights = [np.array([w for _, w in rows]) for rows in (records, mixed)]
    if weights[0].any():
        assert published(records, weights=weights[0]) == published(mixed, weights=weights[1])


def test_means_of_many_digits_do_not_depend_on_the_order_of_records():
    """Sums in the order of records differ in a third of such groups; hypothesis prefers numbers with few digits."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        x = rng.normal(size=7)
        tables = [{"x": cells, "y": np.zeros(7)} for cells in (x, x[rng.permutation(7)])]
        one, other = (mag.microaggregate(table, 7, ["x", "y"]).data["x"][0] for table in tables)
        assert one.tobytes() == other.tobytes()


@given(st.lists(FINITE, min_size=1, max_size=30))
def test_means_are_the_nearest_floats(numbers):
    table = {"x": np.array(numbers), "y": np.zeros(len(numbers))}
    [mean] = set(mag.microaggregate(table, len(numbers), ["x", "y"]).data["x"].tolist())
    exact = sum(map(Fraction, numbers)) / len(numbers)
    assert abs(Fraction(mean) - exact) <= Fraction(math.ulp(mean)) * Fraction(51, 100)
    assert min(numbers) <= mean <= max(numbers)


def test_the_estimator_publishes_the_means_of_the_table():
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(0)
    X, order = rng.normal(size=(60, 3)) * [1, 100, 1e-3], rng.permutation(60)
    weights = rng.uniform(0, 3, 60)
    for own in (None, weights):
        one = mag.Microaggregator(60).fit(X, sample_weight=own).cluster_centers_
        other = mag.Microaggregator(60).fit(X[order], sample_weight=None if own is None else own[order])
        assert one.tobytes() == other.cluster_centers_.tobytes()
        table = dict(zip("abc", X.T, strict=True))
        release = mag.microaggregate(table, 60, ["a", "b", "c"], weights=own)
        assert [release.data[name][0] for name in "abc"] == one[0].tolist()


def test_weighted_modes_do_not_depend_on_the_order_of_records():
    rng = np.random.default_rng(1)
    weights = np.array([0.1, 0.2, 0.3, 0.6])
    cells = np.array(["a", "a", "a", "b"], object)  # 0.1 + 0.2 + 0.3 is 0.6, or the next float above
    found = set()
    for _ in range(20):
        order = rng.permutation(4)
        table = {"x": cells[order], "y": np.zeros(4)}
        found.add(
            mag.microaggregate(table, 4, ["x", "y"], weights=weights[order], aggregate={"x": "mode"}).data["x"][0]
        )
    assert len(found) == 1


@given(
    st.lists(FINITE | st.integers(-(10**6), 10**6).map(lambda cents: cents / 100), min_size=1, max_size=20),
    st.integers(-3, 25), st.booleans(),
)  # fmt: skip
def test_floats_are_rounded_outwards_as_their_decimals_are(numbers, digits, up):
    rounded, sure = round_floats_outwards(np.array(numbers), digits, up)
    for number, found in zip(np.array(numbers)[sure].tolist(), rounded[sure].tolist(), strict=True):
        assert Decimal(repr(found)) == round_outwards(Decimal(repr(number)), digits, up)


def test_weighted_means_of_many_sizes_do_not_depend_on_the_order_of_records():
    rng = np.random.default_rng(2)
    for size in (1, 2, 7, 40, 3000):
        labels = np.repeat(np.arange(3), size)
        values, weights = rng.normal(size=3 * size).round(1), rng.integers(0, 4, 3 * size) / 3
        order = rng.permutation(3 * size)
        for how in ("mean", "median"):
            one = representatives(how, values, labels, 3, weights)
            assert one.tobytes() == representatives(how, values[order], labels[order], 3, weights[order]).tobytes()
            if how == "mean" and weights.reshape(3, size).any(axis=1).all():
                assert one == pytest.approx(
                    [np.average(values[labels == g], weights=weights[labels == g]) for g in range(3)]
                )
