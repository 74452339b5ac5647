"""Representatives of groups and their losses, against rational numbers over all of float64 and int64."""

import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mag
from mag import reference
from mag._compiled.groups import Groups
from mag.costs import COSTS
from mag.tables._aggregate import representatives

EPSILON = Fraction(2) ** -52
LARGEST = Fraction(sys.float_info.max)
FEW = settings(max_examples=60, deadline=None)

reals = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-10, 10),
    st.sampled_from([0.0, -0.0, 5e-324, -1.5e-323, 1e-310, 0.1, 7.5, -1e17, 1e200, -1.7e308, 1.7e308]),
)
integers = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-9, 9),
    st.sampled_from([-(2**63), 2**63 - 1, 2**62, 2**53 + 1, -(2**54) - 1]),
)
positive = st.one_of(st.floats(1e-150, 1e150), st.integers(1, 9).map(float), st.sampled_from([1e-17, 1e-150, 1e150]))
weighty = st.one_of(positive, st.just(0.0))
FACTORS = [1.0, 1e-170, 1e158]  # of the weights of a group: together they reach from 1e-320 to 1e308


@st.composite
def columns(draw, elements=reals, weights=None):
    """Values, the group of each, and weights."""
    x = draw(st.lists(elements, min_size=1, max_size=12))
    labels = draw(st.lists(st.integers(0, 2), min_size=len(x), max_size=len(x)))
    heavy = None if weights is None else draw(st.lists(weights, min_size=len(x), max_size=len(x)))
    return np.array(x), np.array(labels), None if heavy is None else np.array(heavy) * np.take(FACTORS, labels)


def exact(numbers):
    return [Fraction(number) for number in np.asarray(numbers).tolist()]


def members(labels):
    return [(g, np.flatnonzero(labels == g)) for g in np.unique(labels)]


def last_place(number):
    """The unit in the last place of a rational number."""
    return Fraction(math.ulp(float(number)))


def mean_of(x, w=None):
    """The exact mean, and how far from it the published one may be: see docs/guide/arrays.md."""
    values, n = exact(x), len(x)
    if w is None or not np.any(w):
        mean, distance = sum(values) / n, max(values) - min(values)
    else:
        shares, base = exact(w), values[int(np.lexsort((x, -w))[0])]
        mean = sum(s * v for s, v in zip(shares, values, strict=True)) / sum(shares)
        distance = sum(s * abs(v - base) for s, v in zip(shares, values, strict=True)) / sum(shares)
    return mean, 2 * last_place(mean) + (n + 4) * (EPSILON * distance + last_place(0))


def median_of(x, w):
    """The first value at which half of the weight is reached."""
    order = np.argsort(x, kind="stable")
    shares = exact(w[order]) if np.any(w) else [Fraction(1)] * len(x)
    return next(x[order[m]] for m in range(len(x)) if 2 * sum(shares[: m + 1]) >= sum(shares))


def half_away(number):
    return math.floor(abs(number) + Fraction(1, 2)) * (1 if number > 0 else -1)


def middle_two(x):
    ordered = sorted(exact(x))
    return ordered[(len(x) - 1) // 2], ordered[len(x) // 2]


def check(how, x, found, to_integer=False):
    """One group's representative: an entry, or the nearest number that can be published, or close to the mean."""
    values, found = exact(x), Fraction(np.asarray(found).item())
    if how == "mean" and to_integer:
        assert found == half_away(sum(values) / len(values))
    elif how == "mean":
        mean, error = mean_of(x)
        assert abs(found - mean) <= error
        assert x.dtype.kind != "f" or min(values) <= found <= max(values)
    else:
        entries = {"min": min(values), "max": max(values)}
        low, high = (min(values), max(values)) if how == "mid-range" else middle_two(x)
        between = (low + high) / 2
        expected = entries.get(how, Fraction(half_away(between) if to_integer else float(between)))
        assert found == expected


@pytest.mark.parametrize("cost", [name for name in COSTS if name != "sse_int"])
@pytest.mark.parametrize("elements", [reals, integers], ids=["reals", "integers"])
def test_one_column(cost, elements):
    @FEW
    @given(columns(elements), st.integers(1, 12))
    def run(column, k):
        x = column[0]
        grouping = mag.univariate(x, min(k, x.size), cost=cost)
        for g, group in members(grouping.labels):
            check(COSTS[cost].representative, x[group], grouping.representatives[g])
        table = mag.columns(np.column_stack([x, x[::-1]]), min(k, x.size), cost=cost)
        assert table.masked[:, 0].tobytes() == grouping.masked.tobytes()

    run()


@pytest.mark.parametrize("elements", [reals, integers], ids=["reals", "integers"])
def test_records(elements):
    @FEW
    @given(st.lists(st.tuples(elements, elements), min_size=1, max_size=12), st.integers(1, 12))
    def run(records, k):
        X = np.array(records)
        grouping = mag.multivariate(X, min(k, len(X)), method="mdav")
        for g, group in members(grouping.labels):
            for j in (0, 1):
                check("mean", X[group, j], grouping.representatives[g, j])

    run()


@pytest.mark.parametrize("how", ["max", "mean", "median", "mid_range", "min"])
@pytest.mark.parametrize("elements", [reals, integers], ids=["reals", "integers"])
def test_columns_of_tables(how, elements):
    @FEW
    @given(columns(elements))
    def run(column):
        x, labels, _ = column
        found = representatives(how, x, labels, 3, None)
        for g, group in members(labels):
            check(how.replace("_", "-"), x[group], found[g], x.dtype.kind == "i")

    run()


@pytest.mark.parametrize("elements", [reals, integers], ids=["reals", "integers"])
def test_weighted_columns_of_tables(elements):
    @FEW
    @given(columns(elements, weighty))
    def run(column):
        x, labels, w = column
        means, medians = (representatives(how, x, labels, 3, w) for how in ("mean", "median"))
        for g, group in members(labels):
            assert medians[g] == median_of(x[group], w[group])
            mean, error = mean_of(x[group], w[group])
            error += Fraction(1, 2) if x.dtype.kind == "i" else 0
            assert abs(Fraction(means[g].item()) - mean) <= error

    run()


@FEW
@given(columns(st.integers(-9, 9)), st.integers(0, 2**32))
def test_frequencies_count_like_so_many_records(column, seed):
    x, labels, _ = column
    w = np.random.default_rng(seed).integers(0, 9, x.size)
    found = representatives("mean", x, labels, 3, w.astype(np.float64))
    for g, group in members(labels):
        if w[group].any():
            assert found[g] == half_away(Fraction(int(x[group] @ w[group]), int(w[group].sum())))


@pytest.mark.parametrize("cost", ["sae", "sse"])
@pytest.mark.parametrize("elements", [reals, integers], ids=["reals", "integers"])
def test_one_weighted_group(cost, elements):
    @FEW
    @given(columns(elements, weighty), positive)
    def run(column, heavy):
        x, labels, w = column
        x, w = x[labels == labels[0]], w[labels == labels[0]]
        w[0] = heavy * FACTORS[labels[0]]
        grouping = mag.univariate(x, x.size, cost=cost, weights=w)
        found = Fraction(grouping.representatives[0].item())
        if cost == "sse":
            mean, error = mean_of(x, w)
            assert abs(found - mean) <= error
        else:
            assert found == Fraction(float(median_of(x, w)))
        price = reference.cost_of(x.tolist(), grouping.labels, cost, w.tolist())
        if price > LARGEST:
            assert grouping.cost == np.inf
        else:
            error = Fraction(1, 10**12) * price + 4 * x.size * last_place(0)
            assert grouping.cost == np.inf if price + error > LARGEST else abs(Fraction(grouping.cost) - price) <= error
        if cost == "sse":
            assert grouping.information_loss == pytest.approx(1.0 if price else 0.0, rel=1e-12)

    run()


# ---- each of these was wrong once


def test_entries_are_copied():
    assert mag.univariate([-1e17, 7.0, 7.5], 3, cost="sae").masked.tolist() == [7.0] * 3
    assert mag.univariate([-1e17, 7.0, 7.5], 3, cost="roundup").masked.tolist() == [7.5] * 3
    assert mag.univariate([-1e9, 0.1, 0.2], 3, cost="sae").masked.tolist() == [0.1] * 3
    for x in np.random.default_rng(0).normal(size=(200, 3)):
        assert mag.univariate(x, 3, cost="roundup").representatives.tolist() == [x.max()]


def test_means_of_integers_do_not_feel_the_rest_of_their_column():
    X = np.array([[-(2**62), 0], [-(2**62), 0], [7, 1], [7, 1]])
    assert mag.multivariate(X, 2, method="mdav").masked[2].tolist() == [7.0, 1.0]
    assert mag.multivariate(X, 1, method="mdav").masked.tolist() == X.tolist()


def test_weights_of_one_group_do_not_touch_another():
    x, w = [0.0, 1, 2, 100, 101, 150], [1, 1, 1, 1e-17, 1e-17, 1e-17]
    assert mag.univariate(x, 3, cost="sae", weights=w).representatives.tolist() == [1.0, 101.0]
    x, w = [0.0, 0, 5, 8], [1e200, 1e200, 1e-200, 2e-200]
    assert mag.univariate(x, 2, weights=w).representatives.tolist() == [0.0, 7.0]


def test_weights_are_not_rounded():
    x, w = np.array([-1, 0, -9, -1, 0]), np.array([7.0, 1, 1, 5, 9])  # the first four: -21/14
    assert representatives("mean", x, np.array([0, 0, 0, 0, 1]), 2, w).tolist() == [-2, 0]


@pytest.mark.parametrize(("x", "w"), [([0, 1, 1e200], [1, 1, 0]), ([-1e200, 0, 1], [0, 1, 1])])
def test_records_without_weight_cost_nothing(x, w):
    grouping = mag.univariate(x, 3, weights=w)
    assert (grouping.cost, grouping.information_loss, grouping.representatives.tolist()) == (0.5, 1.0, [0.5])


@pytest.mark.parametrize("cost", [name for name in COSTS if name != "sse_int"])
def test_zero_has_one_sign(cost):
    for x in ([-0.0, -0.0, 0.0, 1.0, 1.0, 1.0], [0.0, -0.0, -0.0, -1.0, -1.0, -1.0], np.float32([-1e-45, 0, 0])):
        for grouping in (mag.univariate(x, 3, cost=cost), mag.columns(np.array([x, x]).T, 3, cost=cost)):
            assert not np.signbit(grouping.masked[grouping.masked == 0]).any()
    assert not np.signbit(mag.multivariate(np.full((4, 2), -0.0), 2).masked).any()


@pytest.mark.parametrize("cost", [name for name in COSTS if COSTS[name].weighted])
def test_moderate_weights_are_not_divided_and_all_bits_are_the_same(cost, monkeypatch):
    def results():
        found = [mag.univariate(x, 3, cost=cost, weights=w) for x, w in columns]
        return [(one.masked.tolist(), one.cost, one.information_loss) for one in found]

    rng, columns = np.random.default_rng(11), []
    for size in (1.0, 2.0**-40, 2.0**90):
        for x in (rng.normal(size=60) * size, rng.choice([2.0**-47, 2.0**-47 * (1 + 2.0**-52), 2.0**98], 60)):
            columns += [(x, rng.lognormal(0, 2, 60)), (x, 2.0 ** rng.integers(-100, 100, 60))]
    columns.append((rng.integers(-(2**62), 2**62, 60), rng.random(60) + 0.1))
    assert all(Groups(np.sort(x), np.array([0]), w)._moderate for x, w in columns)
    as_they_are = results()
    monkeypatch.setattr(Groups, "_moderate", False)
    assert results() == as_they_are


@pytest.mark.parametrize(
    ("x", "w"),
    [([1e-300, 2, 3], [1, 1, 1]), ([1e300, 2, 3], [1, 1, 1]), ([1, 2, 3], [1, 0, 1]), ([1, 2, 3], [1, 1e40, 1])],
)
def test_weights_and_values_far_from_1_are_divided(x, w):
    assert not Groups(np.sort(np.array(x, float)), np.array([0]), np.array(w, float))._moderate


def test_weights_at_both_ends_of_float64_are_added_exactly():
    heavy, light = 1e300, 5e-324
    for weights, middle in (
        ([heavy, light, heavy], 2.0),
        ([heavy, light, 2 * heavy], 3.0),
        ([heavy, heavy, light], 2.0),
    ):
        grouping = mag.univariate([1.0, 2.0, 3.0], 3, cost="sae", weights=weights)
        assert grouping.masked.tolist() == [middle] * 3
    both = mag.univariate([1.0, 2.0, 3.0, 7.0, 8.0, 9.0], 3, cost="sae", weights=[heavy, light, heavy, 1, 1, 1])
    assert both.masked.tolist() == [2.0] * 3 + [8.0] * 3
