"""The ladder: exhaustive search, an exact dynamic program, then every cost with every solver that is valid for it."""

from fractions import Fraction

import numpy as np
import pytest

import mag
from mag import reference
from mag.costs import COSTS
from mag.solvers import SOLVERS
from tests.data.hostile import integer_columns, real_columns

PAIRS = [
    (cost, solver)
    for cost, entry in COSTS.items()
    for solver, method in SOLVERS.items()
    if method.valid(entry, bounded=True)
]
WEIGHTED = [
    (cost, solver)
    for cost, entry in COSTS.items()
    for solver, method in SOLVERS.items()
    if entry.weighted and method.valid(entry, bounded=True, weighted=True)
]
BEYOND_FLOAT64 = {"beyond_float64", "whole_range", "unsigned", "ends", "degrees"}  # what lanes of float64 cannot hold
TOLERANCE = Fraction(1, 10**12)


def exact_cost(x, grouping, cost, weights=None):
    return reference.cost_of(x.tolist(), grouping.labels, cost, weights)


def check(x, k, cost, solver, weights=None, best=None):
    """The grouping is feasible, ordered, and its exact cost the exact optimum."""
    grouping = mag.univariate(x, k, cost=cost, solver=solver, weights=weights)
    sizes = np.bincount(grouping.labels)
    assert sizes.min() >= k
    assert sizes.max() < 2 * k
    assert (np.diff(grouping.labels[np.argsort(x, kind="stable")]) >= 0).all()
    best = reference.optimum(x.tolist(), k, cost, weights) if best is None else best
    found = exact_cost(x, grouping, cost, weights)
    assert found <= best * (1 + TOLERANCE), float((found - best) / best if best else found)
    return grouping


def columns_for(cost, solver, n, seed=0):
    """All hostile columns that the pair takes."""
    integers = {
        f"int_{name}": x
        for name, x in integer_columns(n, seed).items()
        if not (SOLVERS[solver].lanes and name in BEYOND_FLOAT64)
    }
    return integers if COSTS[cost].integer else {**real_columns(n, seed), **integers}


@pytest.mark.parametrize("cost", COSTS)
def test_dynamic_program_of_the_reference_equals_exhaustive_search(cost):
    rng = np.random.default_rng(1)
    for n in (1, 2, 5, 8, 9):
        for k in range(1, n + 1):
            x = rng.integers(-9, 9, n).tolist()
            assert reference.optimum(x, k, cost) == reference.exhaustive(x, k, cost)


@pytest.mark.parametrize("cost", ["sae", "sse"])
def test_weighted_dynamic_program_of_the_reference_equals_exhaustive_search(cost):
    rng = np.random.default_rng(2)
    for n, k in ((4, 2), (7, 2), (8, 3), (9, 4)):
        x, w = rng.integers(-9, 9, n).tolist(), rng.integers(0, 4, n).tolist()
        w[0] = 1
        assert reference.optimum(x, k, cost, w) == reference.exhaustive(x, k, cost, w, contiguous=True)


@pytest.mark.parametrize("cost", ["sae", "sse"])
def test_with_weights_an_interleaved_grouping_may_cost_less(cost):
    """Light records fill groups from afar; `univariate` promises the optimum among groups of consecutive values."""
    x, w = [0, 1, 1, 9], [9, 9, 9, 0]
    assert reference.exhaustive(x, 2, cost, w) == 0 < reference.exhaustive(x, 2, cost, w, contiguous=True)


@pytest.mark.parametrize(("cost", "solver"), PAIRS)
def test_optimal_against_exhaustive_search(cost, solver):
    rng = np.random.default_rng(3)
    for n in range(1, 10):
        for k in range(1, n + 1):
            x = rng.integers(-6, 7, n)
            check(x, k, cost, solver, best=reference.exhaustive(x.tolist(), k, cost))


@pytest.mark.parametrize(("cost", "solver"), PAIRS)
def test_optimal_on_hostile_columns(cost, solver):
    for n, k in ((41, 3), (60, 20), (97, 7), (64, 32), (65, 32), (63, 21), (50, 1), (50, 50)):
        for name, x in columns_for(cost, solver, n, seed=n).items():
            grouping = check(x, k, cost, solver)
            assert np.isfinite(grouping.information_loss), name


@pytest.mark.parametrize(("cost", "solver"), WEIGHTED)
def test_optimal_with_weights(cost, solver):
    rng = np.random.default_rng(4)
    for n, k in ((9, 2), (60, 4), (71, 11)):
        for x in (rng.random(n), rng.integers(0, 9, n) * 1.0, 1e9 + rng.random(n), rng.lognormal(size=n)):
            check(x, k, cost, solver, weights=rng.integers(1, 50, n) / 7)
            check(x, k, cost, solver, weights=rng.integers(0, 3, n) + (np.arange(n) == 0))


@pytest.mark.parametrize(("cost", "solver"), WEIGHTED)
def test_equal_weights_change_nothing(cost, solver):
    x = np.random.default_rng(5).normal(size=200)
    plain = mag.univariate(x, 6, cost=cost, solver=solver)
    heavy = mag.univariate(x, 6, cost=cost, solver=solver, weights=np.full(200, 2.5))
    np.testing.assert_array_equal(plain.labels, heavy.labels)
    assert heavy.cost == pytest.approx(2.5 * plain.cost, rel=1e-12)


@pytest.mark.parametrize(("cost", "solver"), PAIRS)
def test_all_solvers_agree_at_every_n_around_the_blocks(cost, solver):
    rng = np.random.default_rng(6)
    for k in (2, 5, 13):
        for n in range(2 * k, 6 * k + 2):
            check(rng.integers(0, 4 * n, n), k, cost, solver)


@pytest.mark.parametrize("cost", ["sse", "sse_int"])
def test_integers_that_float64_cannot_hold_are_refused_by_lanes_and_solved_by_auto(cost):
    x = np.array([-(2**63), 2**63 - 1, 0, 5, 7, 2**62, 2**62 + 1])
    with pytest.raises(ValueError, match=r"^solver must be one of 'auto', .* for integers whose sums float64 cannot"):
        mag.univariate(x, 2, cost=cost, solver="block")
    check(x, 2, cost, "auto")


@pytest.mark.parametrize(("cost", "solver"), WEIGHTED)
def test_weights_of_zero_beside_clusters_that_are_far_apart(cost, solver):
    """An anchor without weight says nothing about its group; sums from there would lose all digits."""
    rng = np.random.default_rng(8)
    for k in (3, 6, 14):
        n = 20 * k
        x = 1e9 * (np.arange(n) // (2 * k + 1)) + 1e-6 * rng.random(n)
        w = rng.integers(0, 2, n) * rng.random(n) + (np.arange(n) == 0)
        check(x, k, cost, solver, weights=w)
