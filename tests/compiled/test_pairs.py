"""Integers in pairs of float64: exact arithmetic, and groups at exactly the least cost."""

import numpy as np
import pytest

import mag
from mag import reference
from mag._backends import problem, safety
from mag._compiled.jit import uncached
from mag._compiled.lanes import cumulative, is_least, lanes_at, select, spread
from mag._compiled.memory import part
from mag._compiled.pair import as_pairs, product
from mag.costs import COSTS
from mag.solvers import SOLVERS


def write(numbers):
    """Integers as pairs in memory."""
    first = np.array([float(number) for number in numbers])
    second = np.array([float(number - int(high)) for number, high in zip(numbers, first, strict=True)])
    return np.stack([first, second], axis=1).ravel()


def read(memory):
    return [int(high) + int(low) for high, low in memory.reshape(-1, 2)]


@uncached
def compute(a, b, x, y, results):
    one, two, i = as_pairs(a, 0)[lanes_at(0, 4)], as_pairs(b, 0)[lanes_at(0, 4)], lanes_at(0, 4)
    as_pairs(results, 0)[i] = one + two
    as_pairs(results, 8)[i] = one - two
    as_pairs(results, 16)[i] = product(part(x, 0)[i], part(y, 0)[i])
    as_pairs(results, 24)[i] = cumulative(one, 1)
    as_pairs(results, 32)[i] = cumulative(one, -1)
    as_pairs(results, 40)[i] = select(one < two, one, two)
    part(results, 48)[i] = select(one <= two, spread(1.0, 4), spread(0.0, 4))
    part(results, 52)[i] = select(is_least(one), spread(1.0, 4), spread(0.0, 4))


def test_arithmetic_is_exact():
    rng = np.random.default_rng(0)
    for _ in range(500):
        bits = rng.integers(1, 101, 8)
        a, b = np.array([int(rng.integers(2**62)) ** 2 >> (124 - int(m)) for m in bits], object).reshape(2, 4)
        a, b = a * rng.choice([-1, 1], 4), b * rng.choice([-1, 1], 4)
        if rng.random() < 0.5:  # much cancels, or all
            b = -a + rng.integers(-2, 3, 4)
        if rng.random() < 0.3:
            a[:] = [a[0] + int(step) for step in rng.integers(0, 2, 4)]
        x, y = rng.integers(-(2**51), 2**51, 4) * 1.0, rng.integers(-(2**51), 2**51, 4) * 1.0
        results = np.empty(56)
        compute(write(a), write(b), x, y, results)
        computed = read(results[:48])
        assert computed[:4] == list(a + b)
        assert computed[4:8] == list(a - b)
        assert computed[8:12] == [int(p) * int(q) for p, q in zip(x, y, strict=True)]
        assert computed[12:16] == list(np.cumsum(a))
        assert computed[16:20] == list(np.cumsum(a[::-1])[::-1])
        assert computed[20:24] == list(np.minimum(a, b))
        assert results[48:52].tolist() == [float(p <= q) for p, q in zip(a, b, strict=True)]
        assert results[52:].tolist() == [float(p == min(a)) for p in a]


@pytest.mark.parametrize("k", [4, 5, 11, 12, 29])
@pytest.mark.parametrize("bits", [27, 40, 44])
def test_groups_of_wide_integers_cost_exactly_the_least(k, bits, monkeypatch):
    kinds = []
    choose = safety._summing

    def note(*arguments):
        kinds.append(choose(*arguments).number)
        return choose(*arguments)

    monkeypatch.setattr(safety, "_summing", note)
    rng = np.random.default_rng(k * bits)
    n, top = 6 * k + 7, 2**bits
    columns = (rng.integers(0, top, n), rng.integers(0, 4, n) * (top // 4 - 1), np.arange(n) * (top // n))
    for x in columns:
        grouping = mag.univariate(x - top // 3, k, cost="sse_int")
        assert kinds.pop() == "pair"
        assert grouping.cost == reference.optimum(x.tolist(), k, "sse_int")
        other = mag.univariate(x - top // 3, k, cost="sse_int", solver="simple_plus")
        assert kinds.pop() == "wide"
        np.testing.assert_array_equal(grouping.labels, other.labels)


def test_pairs_end_where_they_would_round():
    """A column is summed in pairs only where every sum that may occur is below their limits."""
    plan = problem.Problem(COSTS["sse_int"], {"block": SOLVERS["block"], "staggered": SOLVERS["staggered"]}, 100, 100)
    for bits, number in ((10, "real"), (30, "pair"), (42, "pair"), (43, "wide"), (52, "wide")):
        values = np.array([0] * 300 + [2**bits] * 300, np.uint64)
        assert safety._summing(values, plan).number == number, bits
