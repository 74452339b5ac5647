"""Properties of every input, searched by hypothesis."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import mag
from mag import reference
from mag.costs import COSTS

finite = st.floats(allow_nan=False, allow_infinity=False)
DTYPES = [np.float64, np.float32, np.float16, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint64, np.bool_]


@st.composite
def columns(draw, elements=finite, largest=40):
    n = draw(st.integers(1, largest))
    x = np.array(draw(st.lists(elements, min_size=n, max_size=n)))
    return x, draw(st.integers(1, n))


@given(columns())
def test_groups_have_at_least_k_records_and_the_cost_is_optimal(problem):
    x, k = problem
    for cost in ("sse", "sae", "maxdist", "roundup", "rounddown"):
        for solver in ("auto", "staggered", "galil_park"):
            grouping = mag.univariate(x, k, cost=cost, solver=solver)
            assert np.bincount(grouping.labels).min() >= k
            best = reference.optimum(x.tolist(), k, cost)
            assert reference.cost_of(x.tolist(), grouping.labels, cost) <= best * (1 + reference.Fraction(1, 10**12))
            masked = grouping.masked
            assert np.isfinite(masked).all()
            assert masked.min() >= x.min()
            assert masked.max() <= x.max()


@given(columns(st.integers(-(2**63), 2**63 - 1)))
def test_integers_are_optimal_exactly(problem):
    x, k = problem
    for solver in ("auto", "simple", "wilber"):
        grouping = mag.univariate(x, k, cost="sse_int", solver=solver)
        assert grouping.cost == reference.optimum(x.tolist(), k, "sse_int")


@given(columns(st.integers(-100, 100)), st.randoms(use_true_random=False))
def test_order_of_records_does_not_matter(problem, random):
    x, k = problem
    shuffled = list(range(x.size))
    random.shuffle(shuffled)
    for cost in COSTS:
        one, other = mag.univariate(x, k, cost=cost), mag.univariate(x[shuffled], k, cost=cost)
        assert one.cost == other.cost
        np.testing.assert_array_equal(np.sort(one.masked), np.sort(other.masked))


@given(columns(st.integers(-1000, 1000)), st.integers(-(10**6), 10**6), st.sampled_from([0.25, 1.0, 2.0, 1024.0]))
def test_shifting_and_scaling_changes_no_optimum(problem, shift, scale):
    x, k = problem
    one, other = mag.univariate(x * 1.0, k), mag.univariate(x * scale + shift, k)
    assert other.cost == pytest.approx(one.cost * scale**2, rel=1e-12, abs=1e-12)


@given(columns(st.integers(-50, 50)))
def test_mirrored_values_cost_the_same(problem):
    x, k = problem
    for cost, mirror in (("sse", "sse"), ("sae", "sae"), ("maxdist", "maxdist"), ("roundup", "rounddown")):
        assert mag.univariate(x, k, cost=cost).cost == pytest.approx(mag.univariate(-x, k, cost=mirror).cost, rel=1e-12)


@given(st.data(), st.sampled_from(DTYPES))
def test_every_dtype(data, dtype):
    elements = {"allow_nan": False, "allow_infinity": False} if np.dtype(dtype).kind == "f" else {}
    x = data.draw(npst.arrays(dtype, st.integers(1, 30), elements=elements))
    k = data.draw(st.integers(1, x.size))
    grouping = mag.univariate(x, k)
    best = reference.optimum(x.tolist(), k)
    assert np.bincount(grouping.labels).min() >= k
    assert reference.cost_of(x.tolist(), grouping.labels) <= best * (1 + reference.Fraction(1, 10**12))


@given(columns(finite, 12))
def test_a_larger_k_never_costs_less(problem):
    x, k = problem
    if k > 1:
        smaller = reference.cost_of(x.tolist(), mag.univariate(x, k - 1).labels)
        larger = reference.cost_of(x.tolist(), mag.univariate(x, k).labels)
        assert smaller <= larger * (1 + reference.Fraction(1, 10**12))


@given(st.integers(2, 30), st.randoms(use_true_random=False))
def test_labels_of_unsorted_values_with_n_of_2k(k, random):
    x = np.array([random.random() for _ in range(2 * k)])
    rank = np.argsort(np.argsort(x, kind="stable"), kind="stable")
    np.testing.assert_array_equal(mag.univariate(x, k).labels, rank >= k)


def test_zeros_of_both_signs_are_equal():
    grouping = mag.univariate([0.0, -0.0, 0.0, -0.0, 1.0, 1.0], 2)
    assert grouping.cost == 0
    np.testing.assert_array_equal(grouping.labels, [0, 0, 1, 1, 2, 2])


def test_the_same_call_gives_the_same_bytes():
    x = np.random.default_rng(0).integers(0, 300, 1000) * 0.5
    for cost in ("sse", "sae"):
        one, other = mag.univariate(x, 7, cost=cost), mag.univariate(x.copy(), 7, cost=cost)
        assert one.labels.tobytes() == other.labels.tobytes()
        assert one.masked.tobytes() == other.masked.tobytes()
