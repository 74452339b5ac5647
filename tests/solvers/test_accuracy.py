"""Optimal to 1e-12 on long columns, whatever the offset, the gaps and the ties."""

from fractions import Fraction

import numpy as np
import pytest

import mag
from mag import reference
from mag.costs import COSTS
from mag.solvers import SOLVERS

N = 4000
RNG = np.random.default_rng(0)
COLUMNS = {
    "offset": 1e9 + RNG.random(N),
    "arange": np.arange(N) * 1.0,
    "clusters": 1e9 * np.repeat(np.arange(N // 10), 10) + 1e-6 * RNG.random(N),
    "cauchy": RNG.standard_cauchy(N),
    "geometric": 1.02 ** np.arange(N),
    "duplicates": RNG.integers(0, N // 6, N) * 1.0,
}
FAST = [name for name in SOLVERS if name != "quadratic"]


def excess(x, grouping, cost, best):
    found = reference.cost_of(x.tolist(), grouping.labels, cost)
    return float((found - best) / best) if best else float(found)


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("cost", [name for name, cost in COSTS.items() if not cost.integer])
def test_optimal_to_1e_12(name, cost):
    x = COLUMNS[name]
    best = reference.optimum(x.tolist(), 5, cost)
    for solver in FAST:
        assert excess(x, mag.univariate(x, 5, cost=cost, solver=solver), cost, best) <= 1e-12, solver


@pytest.mark.parametrize("solver", FAST)
def test_equally_spaced_values_have_the_known_optimum(solver):
    # 10^5 values one apart, k = 5: all groups of 5, each with a sum of squares of 10
    grouping = mag.univariate(np.arange(100_000), 5, solver=solver)
    assert grouping.cost == pytest.approx(10 * 20_000, rel=1e-12)


@pytest.mark.parametrize("solver", [name for name, entry in SOLVERS.items() if entry.bounded])
def test_clusters_of_about_2k_values_far_apart(solver):
    # What is subtracted from F before a block must be its minimum: anything else loses these clusters.
    rng = np.random.default_rng(7)
    k, n = 10, 20_000
    sizes = rng.integers(2 * k - 3, 2 * k + 4, n)
    cluster = np.repeat(np.arange(sizes.size), sizes)[:n]
    x = 1e9 * (cluster - cluster[n // 2]) + 1e-6 * rng.random(n)
    best = sum(
        (reference.optimum(x[cluster == c].tolist(), k) for c in range(cluster[-1] + 1) if (cluster == c).sum() >= k),
        Fraction(0),
    )
    if (cluster == cluster[-1]).sum() < k:  # a last cluster that is too small cannot stand alone
        keep = cluster < cluster[-1]
        x, cluster = x[keep], cluster[keep]
    grouping = mag.univariate(x, k, solver=solver)
    assert excess(x, grouping, "sse", best) <= 1e-12


@pytest.mark.parametrize("solver", FAST)
def test_two_scales_whose_squares_do_not_fit_into_one_float(solver):
    small = np.array([1.0, 2.0, 3.0, 4.0, 9.0, 10.0])
    x = np.concatenate([small * 1e-290, np.full(2, 1e290), small * 1e-290 - 1e-280])
    for cost in ("sse", "sae", "maxdist", "roundup", "rounddown"):
        best = reference.optimum(x.tolist(), 2, cost)
        assert excess(x, mag.univariate(x, 2, cost=cost, solver=solver), cost, best) <= 1e-12, cost


def test_integers_beyond_float64_are_grouped_exactly():
    x = 2**62 + np.array([0, 1, 2, 100, 101, 102, 7, 8])
    for solver in SOLVERS:
        grouping = mag.univariate(x, 2, cost="sse_int", solver=solver)  # 102 apart at most: float64 holds the distances
        assert grouping.cost == reference.optimum(x.tolist(), 2, "sse_int")
        assert isinstance(grouping.cost, int)
