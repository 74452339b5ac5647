"""The block solver against `simple` on many shapes, and against exact rational arithmetic on hostile ones."""

import os
import subprocess
import sys
import time
from fractions import Fraction

import numpy as np
import pytest

import mag
from mag.costs import COSTS
from mag.solvers import SOLVERS, block, simple
from tests.data.columns import SHAPES, data
from tests.data.paths import PROJECT
from tests.oracles.rational import exact_costs, exact_optimum

KERNELS = {name: cost.kernel for name, cost in COSTS.items()} | {"sse_weighted": COSTS["sse"].weighted}
PRECISION = 1e-12


def by_block(name, x, k, w=None):
    """The cost as block sums it, and where its groups end."""
    n, kernel = x.size, KERNELS[name]
    sizes, values = np.empty(n + 1 + block.PAD, block.size_type(k)), block.padded(x)
    weights = values if w is None else block.padded(w)
    total = block.solve(kernel, values, weights, k, sizes, np.empty(block.memory(kernel, n, k)))
    ends, j = [], n
    while j > 0:
        assert k <= sizes[j] < 2 * k
        ends.append(j)
        j -= int(sizes[j])
    assert j == 0
    return total, ends[::-1]


def by_simple(name, x, k, w=None):
    n, kernel = x.size, KERNELS[name]
    return simple.solve(
        kernel, x, np.empty(0) if w is None else w, k, np.empty(n + 1, np.int32), np.empty(simple.memory(kernel, n, k))
    )


def assert_optimal(name, x, k, w=None):
    ends = by_block(name, x, k, w)[1]
    cost = exact_costs(name, x, k, w)
    found = sum(cost(i, j) for i, j in zip([0, *ends], ends, strict=False))
    optimum = exact_optimum(cost, x.size, k)
    assert found <= optimum * (1 + Fraction(PRECISION)), float(found / optimum - 1 if optimum else found)


def lengths(k):
    """n around every edge: one or two groups, a block, a panel, and the lanes."""
    return sorted({2 * k, 2 * k + 1, 3 * k - 1, 3 * k, 3 * k + 1, 4 * k - 1, 4 * k, 5 * k + 3, 7 * k + 6}) + [
        n for n in (127, 128, 129, 256, 257, 999) if n >= 2 * k
    ]


SOME_K = [2, 3, 4, 7, 8, 12, 13, 16, 17, 27, 40]


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("shape", SHAPES)
def test_costs_as_little_as_simple(name, shape):
    for k in range(2, 41) if name == "sse" else SOME_K:
        for n in lengths(k):
            x, w = data(shape, n, k, name)
            found, expected = by_block(name, x, k, w)[0], by_simple(name, x, k, w)
            assert found == pytest.approx(expected, rel=PRECISION, abs=1e-300), (k, n)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("k", [100, 1000])
def test_costs_as_little_as_simple_for_large_k(name, k):
    for shape in SHAPES:
        for n in (2 * k, 3 * k - 1, 3 * k, 5 * k + 1, 12 * k + 5):
            x, w = data(shape, n, k, name)
            found, expected = by_block(name, x, k, w)[0], by_simple(name, x, k, w)
            assert found == pytest.approx(expected, rel=PRECISION * k / 100, abs=1e-300), (shape, n)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("k", [2, 3, 5, 8, 13, 40])
def test_is_optimal_in_exact_arithmetic(name, shape, k):
    for n in (2 * k, 3 * k - 1, 600):
        x, w = data(shape, n, k, name)
        assert_optimal(name, x, k, w)


@pytest.mark.parametrize("k", [2, 3, 5, 10, 13, 20, 30, 50, 100])
@pytest.mark.parametrize("shape", ["clusters", "finer clusters", "two scales"])
@pytest.mark.parametrize("seed", [1, 2])
def test_is_optimal_on_narrow_clusters_far_apart(k, shape, seed):
    x, _ = data(shape, 20_000, k, "sse", seed)
    assert_optimal("sse", x, k)


def test_is_optimal_where_gaps_are_equal():
    # Ties at the scale of the gaps are broken by rounding; that must not exclude rows for columns that cost much less.
    for seed in range(30):
        rng = np.random.default_rng(seed)
        k = int(rng.integers(30, 80))
        counts = rng.integers(k // 2, 2 * k, 12)
        x = np.sort(np.repeat(np.arange(12) * 1e9, counts) + 1e-6 * rng.random(counts.sum()))
        assert_optimal("sse", x, k)


@pytest.mark.parametrize("shape", ["constant", "poisson", "arange", "quadratic", "geometric", "clusters"])
def test_takes_no_longer_on_hostile_values(shape):
    k, n = 10_000, 300_000

    def seconds(x):
        values, sizes = block.padded(x), np.empty(n + 1 + block.PAD, block.size_type(k))
        work = np.empty(block.memory(KERNELS["sse"], n, k))
        times = []
        for _ in range(4):  # the first may compile
            begin = time.thread_time()
            block.solve(KERNELS["sse"], values, values, k, sizes, work)
            times.append(time.thread_time() - begin)
        return min(times)

    assert seconds(data(shape, n, k, "sse")[0]) < 20 * seconds(data("uniform", n, k, "sse")[0])


BITS = """
import hashlib
import numpy as np
from tests.data.columns import data
from tests.solvers.test_block import by_block
digest = hashlib.sha256()
for name, k in (("sse", 3), ("sse", 6), ("sse", 10), ("sse", 13), ("sse", 100), ("sae", 60), ("sse_weighted", 60)):
    for shape in ("uniform", "arange", "cauchy", "clusters"):
        x, w = data(shape, 3000, k, name)
        total, ends = by_block(name, x, k, w)
        digest.update(np.float64(total).tobytes() + np.array(ends).tobytes())
print(digest.hexdigest())
"""


def test_bits_are_the_same_without_wide_vectors():
    plain = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    native, generic = (
        subprocess.check_output([sys.executable, "-c", BITS], cwd=PROJECT, env=os.environ | extra, text=True)
        for extra in ({}, plain)
    )
    assert native == generic


def test_auto_takes_the_block_solver_where_it_is_valid(monkeypatch):
    used = []
    monkeypatch.setattr(block, "solve", lambda *args, solve=block.solve: used.append(args[3]) or solve(*args))
    x = np.random.default_rng(0).normal(size=200)
    mag.univariate(x, 5)
    mag.univariate(x, 20)
    mag.univariate(x, 20, weights=abs(x))
    mag.univariate(np.arange(200), 5, cost="sse_int")
    mag.univariate(np.arange(200) * 2**40, 5, cost="sse_int")
    mag.univariate(x, 5, cost="sae", weights=abs(x))
    assert used == [5, 20, 20, 5, 5, 5]
    mag.univariate(2**62 + np.arange(200) * 2**54, 5)
    mag.univariate(np.arange(200) * 2**45, 5, cost="sse_int")
    assert len(used) == 6


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"x": np.arange(200) * 2**54}, "for integers whose sums float64 cannot hold exactly"),
        ({"x": np.arange(200) * 2**45, "cost": "sse_int"}, "for integers whose sums float64 cannot hold exactly"),
        ({"x": np.arange(200), "group_penalty": 1.0}, "with group_penalty, max_groups or soft"),
    ],
)
def test_block_is_refused_where_it_is_not_valid(options, why):
    with pytest.raises(ValueError, match=rf"^solver must be one of 'auto', .*'wilber' {why}; got 'block'\.$"):
        mag.univariate(k=5, solver="block", **options)


@pytest.mark.parametrize("name", COSTS)
@pytest.mark.parametrize("k", [2, 3, 7, 12, 13, 90])
def test_univariate_finds_the_same_cost_with_every_solver(name, k):
    x = np.random.default_rng(k).integers(-500, 500, 400)
    costs = {mag.univariate(x, k, cost=name, solver=solver).cost for solver in SOLVERS}
    assert max(costs) == pytest.approx(min(costs), rel=PRECISION)


@pytest.mark.parametrize("k", [2, 3, 5, 8, 11, 12, 40])
def test_lanes_of_weighted_medians_and_soft_sizes_agree_with_scalar_solvers_over_many_panels(k):
    rng = np.random.default_rng(k)
    columns = rng.normal(size=700), rng.integers(0, 50, 700) * 1.0, rng.lognormal(0, 3, 700)
    for x in columns:
        for options, scalar in (
            ({"weights": rng.integers(0, 4, 700) + 0.1}, "simple_plus"),
            ({"soft": 0.03}, "wilber"),
        ):
            one, other = (mag.univariate(x, k, cost="sae", solver=s, **options) for s in ("auto", scalar))
            below = [np.maximum(k - grouping.sizes, 0).sum() * options.get("soft", 0.0) for grouping in (one, other)]
            assert one.cost + below[0] == pytest.approx(other.cost + below[1], rel=PRECISION)
