"""Attributes of results, and how they follow from labels and data."""

import pickle

import numpy as np
import pytest

import mag
from mag import reference
from mag._backends import cpu
from mag._backends.cpu.labels import at_least
from mag.costs import COSTS

X = np.array([5.0, 1.0, 2.0, 9.0, 8.0, 1.5, 30.0])

CENTERS = {  # of the representatives that are not rounded
    "max": np.max,
    "mean": np.mean,
    "median": np.median,
    "mid-range": lambda g: (g.min() + g.max()) / 2,
    "min": np.min,
}
REAL = [name for name, cost in COSTS.items() if not cost.integer]


@pytest.mark.parametrize("cost", REAL)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int64, np.int8, np.uint16, np.bool_])
def test_representatives_are_those_of_the_cost(cost, dtype):
    x = (np.random.default_rng(0).random(60) * 50).astype(dtype)
    grouping = mag.univariate(x, 4, cost=cost)
    for g in range(grouping.n_groups):
        expected = CENTERS[COSTS[cost].representative](x[grouping.labels == g].astype(np.float64))
        assert grouping.representatives[g] == pytest.approx(expected, rel=1e-3 if dtype is np.float16 else 1e-6)
    np.testing.assert_array_equal(grouping.masked, grouping.representatives[grouping.labels])


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize("cost", REAL)
def test_floats_keep_their_dtype(cost, dtype):
    grouping = mag.univariate(X.astype(dtype), 2, cost=cost)
    assert grouping.masked.dtype == grouping.representatives.dtype == dtype
    assert grouping.masked.shape == X.shape


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint64, np.bool_])
def test_integers_keep_their_dtype_where_the_representative_is_an_integer(dtype):
    x = X.astype(dtype)
    for name, cost in COSTS.items():
        whole = cost.representative in ("max", "min", "rounded mean")
        assert mag.univariate(x, 2, cost=name).masked.dtype == (dtype if whole else np.float64)


def test_labels_are_numbered_by_ascending_value():
    grouping = mag.univariate(X, 2)
    assert grouping.labels.dtype == np.int32
    assert (np.diff(grouping.representatives) > 0).all()
    assert grouping.n_groups == grouping.sizes.size == grouping.labels.max() + 1
    np.testing.assert_array_equal(grouping.sizes, np.bincount(grouping.labels))


@pytest.mark.parametrize("cost", COSTS)
def test_cost_is_that_of_the_definition(cost):
    x = np.random.default_rng(1).integers(-50, 50, 80)
    grouping = mag.univariate(x, 5, cost=cost)
    assert grouping.cost == pytest.approx(float(reference.cost_of(x, grouping.labels, cost)), rel=1e-12)


@pytest.mark.parametrize("cost", ["rounddown", "roundup", "sae", "sse", "sse_int"])
def test_cost_is_that_of_the_masked_values(cost):
    x = np.random.default_rng(1).integers(-50, 50, 80)
    grouping = mag.univariate(x, 5, cost=cost)
    distance = np.abs(x - grouping.masked)
    assert grouping.cost == pytest.approx((distance ** (2 if cost.startswith("sse") else 1)).sum(), rel=1e-12)


def test_maxdist_is_the_sum_of_the_largest_distances():
    x = np.random.default_rng(1).integers(-50, 50, 80)
    grouping = mag.univariate(x, 5, cost="maxdist")
    distance = np.abs(x - grouping.masked)
    expected = sum(distance[grouping.labels == g].max() for g in range(grouping.n_groups))
    assert grouping.cost == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("cost", COSTS)
def test_information_loss_is_sse_over_sst(cost):
    x = np.random.default_rng(2).integers(-50, 50, 80)
    grouping = mag.univariate(x, 5, cost=cost)
    expected = ((x - grouping.masked) ** 2).sum() / ((x - x.mean()) ** 2).sum()
    assert grouping.information_loss == pytest.approx(expected, rel=1e-12)
    assert mag.univariate(np.full(9, 4), 3, cost=cost).information_loss == 0


def test_weights_enter_the_representatives():
    x, w = np.array([0.0, 10.0, 100.0, 104.0]), np.array([3, 1, 1, 0])
    assert mag.univariate(x, 2, weights=w).representatives.tolist() == [2.5, 100.0]
    assert mag.univariate(x, 2, cost="sae", weights=w).representatives.tolist() == [0.0, 100.0]
    weightless = mag.univariate([0.0, 1.0, 8.0, 10.0], 2, weights=[1, 1, 0, 0])
    assert weightless.representatives.tolist() == [0.5, 9.0]


def test_means_never_leave_their_group():
    x = np.array([0.1, 0.1, 0.1, 0.7, 0.7, 0.7])
    masked = mag.univariate(x, 3).masked
    np.testing.assert_array_equal(masked, x)


def test_cost_of_squares_beyond_float64_is_infinite_and_the_loss_still_known():
    grouping = mag.univariate(np.arange(1, 8) * 1e200, 2)
    assert grouping.cost == np.inf
    assert grouping.information_loss == pytest.approx(3 / 28)


def test_cost_of_integers_is_an_exact_int():
    x = np.array([-(2**63), 2**63 - 1, -(2**63), 2**63 - 1])
    assert mag.univariate(x, 4, cost="sse_int").cost == 2 * (2**63) ** 2 + 2 * (2**63 - 1) ** 2


def test_results_are_frozen_and_have_no_equality_of_their_own():
    grouping = mag.univariate(X, 2)
    with pytest.raises(AttributeError, match="k is read-only"):
        grouping.k = 3
    assert repr(grouping).startswith("<Grouping: 7 records in 3 groups of 2 to 3, k=2, sse ")


def test_results_survive_pickling():
    grouping = mag.univariate(X, 2, cost="sae")
    again = pickle.loads(pickle.dumps(grouping))
    np.testing.assert_array_equal(again.masked, grouping.masked)
    assert repr(again) == repr(grouping)


@pytest.mark.parametrize("make", [list, tuple, np.asarray, lambda x: x[::-1][::-1], lambda x: np.asfortranarray(x)])
def test_anything_that_numpy_can_view(make):
    expected = mag.univariate(X, 2).labels
    np.testing.assert_array_equal(mag.univariate(make(X), 2).labels, expected)
    np.testing.assert_array_equal(mag.univariate(np.repeat(X, 2)[::2], 2).labels, expected)
    np.testing.assert_array_equal(mag.univariate(X.astype(">f8"), 2).labels, expected)


def test_objects_with_an_array_interface():
    class Column:
        def __array__(self, dtype=None, copy=None):
            return X

    np.testing.assert_array_equal(mag.univariate(Column(), 2).labels, mag.univariate(X, 2).labels)


def test_sorted_values_need_no_sorting():
    x = np.sort(np.random.default_rng(3).random(500))
    expected = mag.univariate(x, 4)
    assert mag.univariate(x, 4, assume_sorted=True).cost == expected.cost
    np.testing.assert_array_equal(mag.univariate(x, 4, assume_sorted=True).masked, expected.masked)


def test_a_group_below_k_is_withheld(monkeypatch):
    """Whatever a backend returns, labels with a group below k never reach the caller."""
    wrong = np.array([0, 0, 0, 0, 0, 0, 1], np.int32)
    for order in (None, np.arange(7, dtype=np.int32)):
        found = (order, np.array([0, 6]), wrong)
        monkeypatch.setattr(cpu, "group", lambda *arguments, found=found: found)
        with pytest.raises(mag.NotAnonymousError, match="fewer than k=2 records was found and withheld"):
            mag.univariate(X, 2)


@pytest.mark.parametrize("in_runs", [False, True])
def test_sizes_are_counted_from_labels_in_any_order(in_runs):
    rng = np.random.default_rng(0)
    for _ in range(500):
        sizes, k = rng.integers(1, 9, rng.integers(1, 12)), int(rng.integers(1, 8))
        labels = np.repeat(np.arange(sizes.size, dtype=np.int32), sizes)
        for records in (labels, rng.permutation(labels)):
            assert at_least(k, records, sizes.size, in_runs) == (sizes.min() >= k)


def test_the_ends_of_float64_are_published_as_they_are():
    x = np.array([np.finfo(np.float64).max, -8.39450434e295])
    for cost in ("sse", "sae", "maxdist", "roundup", "rounddown"):
        masked = mag.univariate(x, 2, cost=cost).masked
        assert (x.min() <= masked).all()
        assert (masked <= x.max()).all()
