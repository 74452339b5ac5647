"""The block solver against `simple` on many shapes, and against exact rational arithmetic on hostile ones."""

import math
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
from tests.data.paths import PROJECT

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


# ---- the oracle: rational numbers, nothing shared with the solvers


def exactly(x):
    """The values as integers times a power of two, which does not matter here."""
    ratios = [float(value).as_integer_ratio() for value in x]
    denominator = max(d for _, d in ratios)
    return [p * (denominator // d) for p, d in ratios]


def exact_costs(name, x, k, w=None):
    """A function (i, j) -> the cost of x[i:j], an integer multiple of some unit."""
    x = exactly(x)
    w = [1] * len(x) if w is None else exactly(w)
    W, S, Q = [0], [0], [0]
    for value, weight in zip(x, w, strict=True):
        W.append(W[-1] + weight)
        S.append(S[-1] + weight * value)
        Q.append(Q[-1] + weight * value * value)
    common = math.lcm(*range(k, 2 * k)) if name == "sse" else 1

    def sse(i, j):
        return common * (Q[j] - Q[i]) - (S[j] - S[i]) ** 2 * (common // (j - i))

    def sse_weighted(i, j):
        return (Q[j] - Q[i]) - (Fraction((S[j] - S[i]) ** 2, W[j] - W[i]) if W[j] > W[i] else 0)

    def sse_int(i, j):
        s, size = S[j] - S[i], j - i
        c = (2 * s + size) // (2 * size)
        return (Q[j] - Q[i]) - 2 * c * s + size * c * c

    def sae(i, j):
        half = (j - i) // 2
        return (S[j] - S[j - half]) - (S[i + half] - S[i])

    def by_definition(i, j):
        return COSTS[name].rational([*map(Fraction, x[i:j])], [*map(Fraction, w[i:j])])

    return {
        "maxdist": lambda i, j: x[j - 1] - x[i],
        "rounddown": lambda i, j: S[j] - S[i] - (j - i) * x[i],
        "roundup": lambda i, j: (j - i) * x[j - 1] - (S[j] - S[i]),
        "sae": sae,
        "sse": sse,
        "sse_int": sse_int,
        "sse_weighted": sse_weighted,
    }.get(name, by_definition)


def exact_optimum(cost, n, k):
    """The least cost; with exact numbers no best row lies before that of an earlier column."""
    F, first = [0] + [None] * n, 0
    for j in range(k, n + 1):
        rows = (i for i in range(max(first, j - 2 * k + 1), j - k + 1) if F[i] is not None)
        F[j], first = min((F[i] + cost(i, j), -i) for i in rows)
        first = -first
    return F[n]


def assert_optimal(name, x, k, w=None):
    ends = by_block(name, x, k, w)[1]
    cost = exact_costs(name, x, k, w)
    found = sum(cost(i, j) for i, j in zip([0, *ends], ends, strict=False))
    optimum = exact_optimum(cost, x.size, k)
    assert found <= optimum * (1 + Fraction(PRECISION)), float(found / optimum - 1 if optimum else found)


# ---- inputs


def clusters(n, k, rng, apart=1e9, wide=1e-6):
    """Clusters of about 2k points, far apart beside their width."""
    counts = rng.integers(2 * k - k // 2, 2 * k + k // 2 + 1, n // k + 1)
    return np.sort(np.repeat(np.arange(counts.size) * apart, counts)[:n] + rng.random(n) * wide)


SHAPES = {
    "uniform": lambda n, k, rng: rng.random(n),
    "constant": lambda n, k, rng: np.full(n, 3.0),
    "arange": lambda n, k, rng: np.arange(n, dtype=float),
    "quadratic": lambda n, k, rng: np.arange(n, dtype=float) ** 2,
    "poisson": lambda n, k, rng: rng.poisson(3.0, n).astype(float),
    "geometric": lambda n, k, rng: 1.05 ** (np.arange(n) % 5000),
    "cauchy": lambda n, k, rng: rng.standard_cauchy(n),
    "offset": lambda n, k, rng: 1e9 + rng.random(n),
    "clusters": clusters,
    "finer clusters": lambda n, k, rng: clusters(n, k, rng, 1e6, 1e-3),
    "two scales": lambda n, k, rng: clusters(n, k, rng, 1e3, 1.0) + 1e7 * (np.arange(n) // (5 * k)),
}


def data(shape, n, k, name, seed=0):
    rng = np.random.default_rng([seed, n, k])
    x = np.sort(SHAPES[shape](n, k, rng))
    if name == "sse_int":  # integers whose sums float64 holds exactly
        x = np.floor(x / max(1.0, np.abs(x).max() / 1e5) * 100)
    # An anchor without weight far from the rest of its group costs precision, in every solver: no zeros among clusters.
    least = 1 if "clusters" in shape or shape == "two scales" else 0
    w = rng.integers(least, 4, n).astype(float) if name == "sse_weighted" else None
    return x, w


def lengths(k):
    """n around every edge: one or two groups, a block, a panel, and the lanes."""
    return sorted({2 * k, 2 * k + 1, 3 * k - 1, 3 * k, 3 * k + 1, 4 * k - 1, 4 * k, 5 * k + 3, 7 * k + 6}) + [
        n for n in (127, 128, 129, 256, 257, 999) if n >= 2 * k
    ]


# ---- tests

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
from tests.solvers.test_block import by_block, data
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
