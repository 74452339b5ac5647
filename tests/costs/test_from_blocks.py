"""Costs as functions of prefix sums: in every array library the least cost, whatever the offset of the data."""

import pickle
import threading
from fractions import Fraction

import numpy as np
import pytest

import mag
from mag import reference
from mag.solvers import SOLVERS
from mag.solvers.extensions import blocks
from tests.data.hostile import integer_columns, real_columns


def sse(sums, i, j):
    count, total, squares = (s[j] - s[i] for s in sums)
    return squares - total**2 / count


def sae(sums, i, j):
    half = (j - i) // 2
    return sums[1][i] + sums[1][j] - sums[1][i + half] - sums[1][j - half]


def roundup(sums, i, j):
    count, total = (s[j] - s[i] for s in sums)
    return count * (sums[1][j] - sums[1][j - 1]) - total


def maxdist(sums, i, j):
    return (sums[1][j] - sums[1][j - 1] - (sums[1][i + 1] - sums[1][i])) / 2


def dear(sums, i, j):
    """Neither concave nor better when split: the standard deviation, at a price that falls with the size."""
    count, total, squares = (s[j] - s[i] for s in sums)
    return (1.0 + squares / count - (total / count) ** 2) / count


FUNCTIONS = {"sse": (sse, 2, "mean"), "sae": (sae, 1, "median"), "roundup": (roundup, 1, "max")}
FUNCTIONS["maxdist"] = (maxdist, 1, "mid-range")


def made(name, **promises):
    function, powers, representative = FUNCTIONS[name]
    return mag.Cost.from_blocks(function, powers=powers, representative=representative, **promises)


CONCAVE = {"concave": True, "splitting": True}
MODERATE = ["uniform", "offset", "far_offset", "constant", "duplicates", "clusters", "one_outlier", "cauchy"]


def assert_optimal(grouping, x, k, name, **options):
    """The labels, not what the function says of them."""
    assert np.bincount(grouping._labels).min() >= k
    found = reference.cost_of(x.tolist(), grouping._labels.tolist(), name, **options)
    best = reference.optimum(x.tolist(), k, name, **options)
    assert found - best <= Fraction(1, 10**12) * best, (float(found), float(best))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_library_finds_an_optimum(xp, name):
    k, n = 4, 61
    for shape in MODERATE:
        x = real_columns(n)[shape]
        for cost in (made(name, **CONCAVE), made(name)):
            grouping = mag.univariate(xp.make(x), k, cost=cost)
            assert isinstance(grouping.masked, xp.kind)
            assert_optimal(grouping, x, k, name)
        assert grouping.cost == pytest.approx(cost_of(grouping, x, name), rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("k", [1, 2, 3, 13, 60])
def test_every_length_around_the_edges_of_blocks(k):
    rng = np.random.default_rng(k)
    for n in {k, 2 * k - 1, 2 * k, 2 * k + 1, 3 * k - 1, 3 * k, 3 * k + 1, 5 * k + 2} - {1}:
        x = 1e9 + rng.normal(size=n)
        for promises in (CONCAVE, {}):
            assert_optimal(mag.univariate(x, k, cost=made("sse", **promises)), x, k, "sse")


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(("k", "n"), [(5, 87), (40, 500), (64, 700), (64, 129)])
def test_levels_find_what_whole_blocks_find(monkeypatch, name, k, n):
    monkeypatch.setattr(blocks, "DENSE", 4)
    for shape in ("normal", "offset", "duplicates", "quadratic", "clusters"):
        x = real_columns(n)[shape]
        found, expected = mag.univariate(x, k, cost=made(name, **CONCAVE)), mag.univariate(x, k, cost=name)
        assert found.sizes.min() >= k
        assert cost_of(found, x, name) == pytest.approx(expected.cost, rel=1e-12)


def cost_of(grouping, x, name):
    return float(reference.cost_of(x.tolist(), grouping._labels.tolist(), name))


def test_large_k_takes_levels_and_small_calls(monkeypatch):
    """k above DENSE: a call has 3k groups, where a block has k²."""
    seen = []

    def counted(sums, i, j):
        seen.append(i.shape)
        return sse(sums, i, j)

    x, k = np.random.default_rng(0).normal(size=9000), 1000
    found = mag.univariate(x, k, cost=mag.Cost.from_blocks(counted, **CONCAVE))
    assert found.cost == pytest.approx(mag.univariate(x, k).cost, rel=1e-12)
    assert set(seen[:-1]) == {(3 * k,)}
    assert len(seen) <= 9 * 10 + 1


@pytest.mark.parametrize("promises", [CONCAVE, {}])
def test_calls_are_of_one_shape_and_of_bounded_memory(monkeypatch, promises):
    monkeypatch.setattr(blocks, "ENTRIES", 100)
    monkeypatch.setattr(blocks, "ROWS_PER_TILE", 64)
    seen = []

    def counted(sums, i, j):
        seen.append((*(s.shape for s in sums), i.shape, j.shape))
        return sse(sums, i, j)

    x = np.random.default_rng(0).normal(size=403)
    grouping = mag.univariate(x, 5, cost=mag.Cost.from_blocks(counted, **promises))
    assert len(seen) > 10
    assert len(set(seen)) == 1
    assert np.prod(seen[0][3]) <= 100
    assert_optimal(grouping, x, 5, "sse")


def test_integers_are_subtracted_before_they_are_rounded():
    for shape in ("beyond_float64", "small", "degrees", "int8"):
        x = integer_columns(60)[shape]
        assert_optimal(mag.univariate(x, 3, cost=made("sse", **CONCAVE)), x, 3, "sse")
    x = np.array([-(2**63), 2**63 - 1, 0, -1, 5, 2**63 - 2])
    assert_optimal(mag.univariate(x, 2, cost=made("sae")), x, 2, "sae")


def least(x, k):
    """F by the definition, over all starts."""
    x, n = np.sort(x), len(x)
    F = [0.0] + [np.inf] * n
    for j in range(k, n + 1):
        F[j] = min(F[i] + (1.0 + x[i:j].var()) / (j - i) for i in range(j - k + 1))
    return F[n]


def test_a_cost_without_promises_is_solved_over_all_starts(xp):
    cost = mag.Cost.from_blocks(dear)
    x = np.random.default_rng(0).lognormal(size=47)
    grouping = mag.univariate(xp.make(x), 4, cost=cost)
    assert grouping.cost == pytest.approx(least(x, 4), rel=1e-12)
    with pytest.raises(ValueError, match=r"^solver must be one of 'auto', 'quadratic' with cost 'dear'; got 'stag"):
        mag.univariate(x, 3, cost=cost, solver="staggered")


@pytest.mark.parametrize("solver", SOLVERS)
def test_solvers_that_read_single_groups_are_refused(solver):
    x, cost = np.arange(9.0), made("sse", **CONCAVE)
    if solver in ("quadratic", "staggered"):
        assert mag.univariate(x, 2, cost=cost, solver=solver).cost == pytest.approx(3.5)
        return
    with pytest.raises(
        ValueError, match=r"^solver must be one of 'auto', 'quadratic', 'staggered' with cost 'sse'; got"
    ):
        mag.univariate(x, 2, cost=cost, solver=solver)


@pytest.mark.parametrize("promises", [CONCAVE, {}])
def test_weights_weigh_the_sums(xp, promises):
    rng, k = np.random.default_rng(3), 4
    x, w = 1e6 + rng.normal(size=61), rng.integers(1, 9, 61).astype(float)
    grouping = mag.univariate(xp.make(x), k, cost=made("sse", **promises), weights=w)
    assert_optimal(grouping, x, k, "sse", weights=w.tolist())
    expected = mag.univariate(x, k, weights=w)
    assert grouping.cost == pytest.approx(expected.cost, rel=1e-12)
    np.testing.assert_allclose(xp.numpy(grouping.representatives), expected.representatives, rtol=1e-14)


@pytest.mark.parametrize("option", [{"group_penalty": 3.0}, {"soft": 2.0}, {"max_groups": 4}])
def test_extensions_are_optimal(option):
    x = np.random.default_rng(5).integers(0, 60, 40).astype(float)
    found = mag.univariate(x, 3, cost=made("sse", **CONCAVE), **option)
    expected = mag.univariate(x, 3, **option)
    assert found.cost + option.get("group_penalty", 0) * found.n_groups + option.get("soft", 0) * np.maximum(
        3 - found.sizes, 0
    ).sum() == pytest.approx(
        expected.cost
        + option.get("group_penalty", 0) * expected.n_groups
        + option.get("soft", 0) * np.maximum(3 - expected.sizes, 0).sum(),
        rel=1e-12,
    )
    assert found.n_groups <= option.get("max_groups", 40)


def test_columns_of_every_library(xp):
    X = 1e9 + np.random.default_rng(0).normal(size=(61, 3))
    costs = [made("sse", **CONCAVE), "sse", made("sae", **CONCAVE)]
    found = mag.columns(xp.make(X), [4, 3, 4], cost=costs)
    expected = mag.columns(X, [4, 3, 4], cost=["sse", "sse", "sae"])
    assert isinstance(found.labels, xp.kind)
    np.testing.assert_allclose(xp.numpy(found.cost), expected.cost, rtol=1e-12)
    np.testing.assert_array_equal(xp.numpy(found.labels)[:, 1], expected.labels[:, 1])
    assert found[2].cost == pytest.approx(expected[2].cost, rel=1e-12)


def test_tables():
    table = {"a": np.random.default_rng(0).normal(size=90), "b": np.arange(90) % 7}
    cost = made("sse", **CONCAVE)
    found = mag.microaggregate(table, 4, ["a", "b"], scope="per-column", cost=cost).data
    expected = mag.microaggregate(table, 4, ["a", "b"], scope="per-column").data
    for name in table:
        np.testing.assert_allclose(np.sort(found[name]), np.sort(expected[name]))


def test_jax_computes_in_64_bits_whatever_its_setting():
    jax = pytest.importorskip("jax")
    seen = set()

    def watched(sums, i, j):
        seen.add((isinstance(sums[1], jax.Array), str(sums[1].dtype), str(i.dtype)))
        return sse(sums, i, j)

    x = (np.random.default_rng(0).normal(size=50) + 1e4).astype(np.float32)
    found = mag.univariate(jax.numpy.asarray(x), 3, cost=mag.Cost.from_blocks(watched, **CONCAVE))
    assert seen == {(True, "float64", "int64")}
    assert_optimal(found, x.astype(np.float64), 3, "sse")


def test_the_function_gets_arrays_of_the_device():
    xps = pytest.importorskip("array_api_strict")
    device, seen = xps.Device("device1"), set()

    def watched(sums, i, j):
        seen.update(array.device for array in (*sums, i, j))
        return sse(sums, i, j)

    x = xps.asarray(np.random.default_rng(0).normal(size=50), device=device)
    assert mag.univariate(x, 3, cost=mag.Cost.from_blocks(watched, **CONCAVE)).masked.device == device
    assert seen == {device}


def test_a_function_may_return_what_broadcasts():
    constant = mag.Cost.from_blocks(lambda sums, i, j: 1.0, name="constant")
    assert mag.univariate(np.arange(20.0), 3, cost=constant).n_groups == 1


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (lambda sums, i, j: sums[0], "must return a number for each group, an array of shape"),
        (lambda sums, i, j: "no", "must return real numbers; got dtype str"),
        (lambda sums, i, j: (j - i) * 1j, "must return real numbers; got dtype complex128."),
        (lambda sums, i, j: (sums[2][j] - sums[2][i]) / 0.0, "must be finite for every group; got "),
    ],
)
def test_what_a_function_returns_is_checked_in_a_sentence(function, sentence):
    for promises in (CONCAVE, {}):
        with pytest.raises((TypeError, ValueError), match=r"^cost 'wrong' " + sentence) as caught:
            mag.univariate(np.arange(50.0), 3, cost=mag.Cost.from_blocks(function, name="wrong", **promises))
        assert isinstance(caught.value, mag.InputError)


def test_costs_of_groups_below_k_are_never_looked_at():
    def variance(sums, i, j):
        count, total, squares = (s[j] - s[i] for s in sums)
        return (squares - total**2 / count) * (0.0 * (count - 1.0) / (count - 1.0) + 1.0)  # NaN for one value

    x = np.random.default_rng(0).normal(size=40)
    for promises in (CONCAVE, {}):
        cost = mag.Cost.from_blocks(variance, **promises)
        assert mag.univariate(x, 2, cost=cost).cost == pytest.approx(mag.univariate(x, 2).cost)


def test_nothing_behind_the_last_value_is_looked_at():
    """A block is filled up with copies of the last value, which no group has."""

    def varied(sums, i, j):
        count, total, squares = (s[j] - s[i] for s in sums)
        within = squares - total**2 / count
        return within * within / within  # NaN where all values are equal

    for n in range(6, 31):
        x = np.random.default_rng(n).normal(size=n)
        for promises in (CONCAVE, {}):
            found = mag.univariate(x, 3, cost=mag.Cost.from_blocks(varied, **promises))
            assert found.cost == pytest.approx(mag.univariate(x, 3).cost)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"function": 3}, "function must be a function of (sums, i, j); got int."),
        ({"powers": 2.0}, "powers must be an integer from 0 to 8; got 2.0."),
        ({"powers": True}, "powers must be an integer from 0 to 8; got True."),
        ({"powers": 9}, "powers must be an integer from 0 to 8; got 9."),
        ({"name": ""}, "name must be a string that is not empty; got ''."),
        ({"concave": 1}, "concave must be True or False; got 1."),
        ({"representative": "mode"}, "representative must be one of 'max', 'mean', 'median', 'mid-range', 'min'; got"),
    ],
)
def test_a_wrong_cost_gets_one_sentence(change, sentence):
    options = {"function": sse, **change}
    with pytest.raises((TypeError, ValueError)) as caught:
        mag.Cost.from_blocks(options.pop("function"), **options)
    assert str(caught.value).startswith(sentence)


def test_costs_from_blocks_can_be_pickled_and_shown():
    cost = pickle.loads(pickle.dumps(made("sse", **CONCAVE)))
    assert repr(cost) == "<mag.Cost 'sse' from blocks, powers=2>"
    grouping = mag.univariate([1.0, 10.0, 2.0, 11.0, 3.0], 2, cost=cost)
    assert repr(pickle.loads(pickle.dumps(grouping))) == "<Grouping: 5 records in 2 groups of 2 to 3, k=2, sse 2.5>"


def test_errors_of_the_function_are_its_own():
    def broken(sums, i, j):
        raise KeyError("mine")

    for n in (50, 20_000):
        with pytest.raises(KeyError, match="mine"):
            mag.univariate(np.arange(float(n)), 3, cost=mag.Cost.from_blocks(broken, **CONCAVE))


def test_the_function_runs_on_the_thread_of_the_caller():
    """Libraries keep settings per thread: how many threads to use, which device is the current one."""
    seen = set()

    def watched(sums, i, j):
        seen.add(threading.current_thread())
        return sse(sums, i, j)

    cost = mag.Cost.from_blocks(watched, **CONCAVE)
    mag.univariate(np.arange(9000.0), 3, cost=cost)
    mag.columns(np.arange(40_000.0).reshape(-1, 4), 3, cost=[cost, cost, "sse", cost])
    assert seen == {threading.current_thread()}
