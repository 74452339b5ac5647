"""Weights, penalties and prices beside values of any scale: the exact optimum to 1e-12, by every solver."""

import numpy as np
import pytest

import mag
from benchmarks.fuzz import TOLERANCE, draw, excess
from mag._backends import cpu
from mag.costs import COSTS
from mag.solvers import SOLVERS
from mag.solvers.extensions import exact

FREE = [name for name, entry in SOLVERS.items() if not entry.bounded]
OPTIONS = [{"group_penalty": 1e-9}, {"max_groups": 9}, {"soft": 1e-9}]


def check(x, k, solver, **options):
    """The grouping costs the least, penalties included."""
    options = {"cost": "sse", "solver": solver, **options}
    if "weights" in options:
        options["weights"] = np.array(options["weights"])
    assert excess(np.array(x), k, options) <= TOLERANCE


@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
def test_heavy_records_beside_a_light_one(solver):
    check([4.0, 5, 0, 0, 5], 2, solver, weights=[1, 1e17, 1e17, 1e17, 1e17])
    check([0, 0, 5, 8.0], 2, solver, weights=[1e200, 1e200, 1e-200, 2e-200])


@pytest.mark.parametrize("cost", ["sae", "sse"])
@pytest.mark.parametrize("ratio", [1e3, 1e6, 1e9, 1e12, 1e15, 1e18, 1e50, 1e300])
def test_weights_of_every_ratio(cost, ratio):
    rng = np.random.default_rng(0)
    for solver in ("auto", "simple_plus", "galil_park"):
        for _ in range(20):
            n = int(rng.integers(4, 30))
            x = rng.integers(0, 9, n) * 1.0 + 1e-7 * rng.random(n) * rng.integers(0, 2)
            check(x, int(rng.integers(2, 5)), solver, cost=cost, weights=rng.choice([1.0, ratio], n))


@pytest.mark.parametrize("solver", FREE)
def test_max_groups_beside_an_outlier(solver):
    check([0, 1, 2, 2, 4, 4, 1e16], 1, solver, cost="sae", max_groups=3)
    check([0, 1, 1, 5, 2e29, 2e29, 3e29], 1, solver, cost="maxdist", max_groups=5)
    for cost in COSTS:
        for q in range(1, 8):
            if not COSTS[cost].integer:
                check([0, 1, 1, 5, 2e29, 2e29, 3e29, 1e200], 1, solver, cost=cost, max_groups=q)


@pytest.mark.parametrize("solver", FREE)
def test_penalties_beside_large_values(solver):
    check([0, 0, 1e170], 2, solver, soft=1.0)
    check([0, 0, 0, 0, 1e300, 1e300], 2, solver, group_penalty=1)
    check([0, 0, 0, 0, 1e-300, 1e-300], 2, solver, group_penalty=1e300)


@pytest.mark.parametrize("cost", ["sae", "sse"])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_zero_weights_with_an_option_beside_clusters_that_are_far_apart(cost, options):
    rng = np.random.default_rng(8)
    for k in (2, 3):
        n = 12 * k
        x = 1e9 * (np.arange(n) // (2 * k + 1)) + 1e-6 * rng.random(n)
        w = rng.integers(0, 2, n) * rng.random(n) + (np.arange(n) == 0)
        for solver in FREE:
            if SOLVERS[solver].valid(COSTS[cost], bounded=False, weighted=True):
                check(x, k, solver, cost=cost, weights=w, **options)


@pytest.mark.parametrize("cost", COSTS)
def test_the_integers_agree_with_the_reference(cost, monkeypatch):
    monkeypatch.setattr(cpu, "scale_to_fit", lambda *arguments: None)  # no column is left to float64
    rng = np.random.default_rng(9)
    for n, k in ((9, 2), (30, 3), (41, 1)):
        x = rng.integers(-9, 30, n)
        for options in (
            {"group_penalty": 7},
            {"max_groups": n // 3},
            {"soft": 5},
            {"group_penalty": 1, "max_groups": 2},
        ):
            check(x, k, "auto", cost=cost, **options)
            if COSTS[cost].weighted:
                check(x * 0.1, k, "auto", cost=cost, weights=rng.integers(0, 9, n) + 0.5, **options)


def test_ordinary_columns_are_left_to_float64(monkeypatch):
    monkeypatch.setattr(exact, "solve", None)
    rng = np.random.default_rng(10)
    w = rng.lognormal(0, 1.5, 5000)
    for x in (rng.lognormal(0, 2, 5000), rng.poisson(3, 5000), rng.normal(1e9, 1.0, 5000), rng.random(5000)):
        for cost in ("sae", "sse"):
            for options in ({"group_penalty": 0.1}, {"max_groups": 300}, {"soft": 0.01}):
                assert mag.univariate(x, 5, cost=cost, **options).n_groups > 1
                assert mag.univariate(x, 5, cost=cost, weights=w, **options).n_groups > 1


def test_random_columns():
    for seed in range(500):
        x, k, options = draw(np.random.default_rng(seed))
        assert excess(x, k, options) <= TOLERANCE, seed


@pytest.mark.parametrize("seed", [1005669, 2018232])
@pytest.mark.parametrize("solver", FREE)
def test_a_light_outlier_far_from_heavy_records_in_a_group_that_is_settled(seed, solver):
    x, k, options = draw(np.random.default_rng(seed))  # both lose digits of F, of which no later comparison shows any
    assert {"weights", "max_groups"} <= options.keys()
    assert excess(x, k, {**options, "solver": solver}) <= TOLERANCE


@pytest.mark.long
def test_many_random_columns():
    for seed in range(500, 100_000):
        x, k, options = draw(np.random.default_rng(seed))
        assert excess(x, k, options) <= TOLERANCE, seed
