"""Penalties, a largest number of groups, soft sizes, and costs of users."""

import re
from fractions import Fraction

import numpy as np
import pytest

import mag
from mag import reference
from mag.costs import COSTS
from mag.solvers import SOLVERS
from tests.data.hostile import real_columns

FREE = [name for name, entry in SOLVERS.items() if not entry.bounded]
WIDE = [name for name in FREE if not SOLVERS[name].lanes]  # read integers that float64 cannot hold


def columns(n, seed):
    rng = np.random.default_rng(seed)
    return [rng.integers(-9, 30, n), rng.poisson(2, n), rng.integers(0, 10**6, n), np.arange(n)[::-1]]


def penalized(x, grouping, cost, group_penalty=0, soft=0):
    """The exact cost of a grouping, with what its groups cost extra."""
    below = sum(max(0, grouping.k - int(size)) for size in grouping.sizes)
    extra = Fraction(group_penalty) * grouping.n_groups + Fraction(soft) * below
    return reference.cost_of(x.tolist(), grouping.labels, cost) + extra


def close(found, best):
    return found <= best * (1 + Fraction(1, 10**12))


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("solver", ["auto", *FREE])
@pytest.mark.parametrize("group_penalty", [0, 1, 40, 10**7])
def test_group_penalty_is_optimal(cost, solver, group_penalty):
    for n, k in ((9, 2), (40, 3), (33, 16)):
        for x in columns(n, n):
            grouping = mag.univariate(x, k, cost=cost, solver=solver, group_penalty=group_penalty)
            assert grouping.sizes.min() >= k
            best = reference.optimum(x.tolist(), k, cost, group_penalty=group_penalty)
            assert close(penalized(x, grouping, cost, group_penalty), best)


@pytest.mark.parametrize("cost", ["sse", "roundup", "maxdist"])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e4, 1e8])
def test_blocks_that_grow_and_shrink_miss_no_row(cost, scale):
    """Groups of k values next to groups of hundreds, gaps, ties, and equal distances."""
    for name in ("uniform", "lognormal", "arange", "poisson", "quadratic", "clusters", "one_outlier"):
        x = real_columns(900, seed=4)[name]
        share = mag.univariate(x, 4, cost=cost).cost / (x.size // 4)
        for options in ({"group_penalty": scale * share}, {"soft": scale * share / 4}, {"soft": 0.0}):
            ours, other = (mag.univariate(x, 4, cost=cost, solver=s, **options) for s in ("growing", "galil_park"))
            assert close(penalized(x, ours, cost, **options), penalized(x, other, cost, **options)), name


@pytest.mark.parametrize("name", ["arange", "poisson", "lognormal", "clusters", "one_outlier"])
def test_prices_that_no_power_describes(name):
    """Costs that are straight in the number of groups, and that jump."""
    x = real_columns(600, seed=5)[name]
    for q in (1, 2, 30, 99, 149):
        ours, other = (mag.univariate(x, 4, solver=solver, max_groups=q) for solver in ("growing", "quadratic"))
        assert ours.n_groups <= q
        assert close(penalized(x, ours, "sse"), penalized(x, other, "sse"))


@pytest.mark.parametrize("heft", [1e-3, 1.0, 250.0, 1e200, 1e-200])
@pytest.mark.parametrize("cost", ["sae", "sse"])
def test_penalties_beside_weights(cost, heft):
    rng = np.random.default_rng(3)
    x, w = rng.integers(0, 60, 30), rng.integers(1, 9, 30) * heft
    for options in ({"group_penalty": 40 * heft}, {"soft": 25 * heft}, {"max_groups": 4}):
        grouping = mag.univariate(x, 3, cost=cost, weights=w, **options)
        best = reference.optimum(x.tolist(), 3, cost, w.tolist(), **options)
        extra = {name: value for name, value in options.items() if name != "max_groups"}
        below = sum(max(0, 3 - int(size)) for size in grouping.sizes)
        found = reference.cost_of(x.tolist(), grouping.labels, cost, w.tolist())
        found += Fraction(extra.get("group_penalty", 0)) * grouping.n_groups + Fraction(extra.get("soft", 0)) * below
        assert close(found, best), options


def test_weights_of_any_magnitude():
    x, w = np.array([1.0, 2.0, 3.0, 9.0]), np.array([1e308, 1e308, 1e-308, 1.0])
    grouping = mag.univariate(x, 2, weights=w)
    assert grouping.labels.tolist() == [0, 0, 1, 1]
    np.testing.assert_allclose(grouping.representatives, [1.5, 9.0])
    np.testing.assert_array_equal(mag.univariate(x, 2, weights=w[::-1] * 0 + 5e-324).representatives, [1.5, 6.0])


def test_a_large_penalty_leaves_one_group():
    assert mag.univariate(np.arange(100.0), 3, group_penalty=1e9).n_groups == 1


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_penalties_beside_extreme_magnitudes(scale):
    x = np.arange(1.0, 8.0) * scale
    assert mag.univariate(x, 2, cost="sae", group_penalty=0.6 * scale).n_groups == 3
    assert mag.univariate(x, 2, cost="sae", group_penalty=100 * scale).n_groups == 1
    assert mag.univariate(x, 2, group_penalty=1.0).n_groups == (1 if scale < 1 else 3)


@pytest.mark.parametrize("cost", COSTS)
def test_max_groups_is_optimal_for_every_number(cost):
    for n, k in ((9, 2), (24, 2), (31, 4)):
        for x in columns(n, n + 1):
            best_known = None
            for q in range(1, n // k + 2):
                grouping = mag.univariate(x, k, cost=cost, max_groups=q)
                assert grouping.sizes.min() >= k
                assert grouping.n_groups <= q
                best = reference.optimum(x.tolist(), k, cost, max_groups=q)
                found = penalized(x, grouping, cost)
                assert close(found, best), (q, float(found), float(best))
                assert best_known is None or best <= best_known
                best_known = best


@pytest.mark.parametrize("solver", FREE)
def test_max_groups_with_a_penalty(solver):
    x = columns(30, 5)[0]
    grouping = mag.univariate(x, 3, solver=solver, max_groups=4, group_penalty=2)
    best = reference.optimum(x.tolist(), 3, "sse", group_penalty=2, max_groups=4)
    assert close(penalized(x, grouping, "sse", 2), best)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_max_groups_at_any_magnitude(scale):
    x = np.array([1.0, 2.0, 4.0, 20.0, 22.0, 23.0, 90.0, 91.0, 150.0, 151.0]) * scale
    assert mag.univariate(x, 2, max_groups=3).sizes.tolist() == [6, 2, 2]
    assert mag.univariate(x, 2, max_groups=2, cost="sae", group_penalty=scale).n_groups == 2


@pytest.mark.parametrize("solver", FREE)
def test_max_groups_of_integers_beyond_float64_is_exact(solver):
    x = np.array([-(2**62), 0, 5, 7, 2**62, 2**62 + 1])
    for q in range(1, 6):
        grouping = mag.univariate(x, 1, cost="sse_int", solver=solver, max_groups=q)
        assert grouping.cost == reference.optimum(x.tolist(), 1, "sse_int", max_groups=q)


@pytest.mark.parametrize("solver", WIDE)
def test_penalties_beside_integers_beyond_float64_are_exact(solver):
    x = np.array([-(2**62), -(2**62) + 9, 5, 8, 2**62, 2**62 + 3, 2**62 + 4])
    grouping = mag.univariate(x, 2, cost="sse_int", solver=solver, group_penalty=2**53)
    best = reference.optimum(x.tolist(), 2, "sse_int", group_penalty=2**53)
    assert penalized(x, grouping, "sse_int", 2**53) == best


def test_max_groups_of_a_long_column():
    x = np.random.default_rng(0).lognormal(size=50_000)
    groupings = [mag.univariate(x, 5, max_groups=q) for q in (3, 77, 1234, 10_000)]
    assert [g.n_groups for g in groupings] == [3, 77, 1234, min(10_000, mag.univariate(x, 5).n_groups)]
    costs = [g.cost for g in groupings]
    assert costs == sorted(costs, reverse=True)


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("solver", ["auto", *FREE])
@pytest.mark.parametrize("soft", [0, 1, 30, 10**9])
def test_soft_sizes_are_optimal(cost, solver, soft):
    for n, k in ((2, 2), (9, 3), (40, 5)):
        for x in columns(n, n + 2):
            grouping = mag.univariate(x, k, cost=cost, solver=solver, soft=soft)
            best = reference.optimum(x.tolist(), k, cost, soft=soft)
            assert close(penalized(x, grouping, cost, soft=soft), best)
            assert not grouping.k_guaranteed
            np.testing.assert_array_equal(grouping.small_groups, np.flatnonzero(grouping.sizes < k))


def test_a_soft_result_says_that_k_is_not_guaranteed():
    grouping = mag.univariate([1.0, 2.0, 50.0, 51.0], 3, soft=0.6)
    assert grouping.small_groups.tolist() == [0, 1]
    assert "2 below k: k is not guaranteed" in repr(grouping)
    assert "guaranteed" not in repr(mag.univariate([1.0, 2.0, 50.0], 3))


def discount(alpha):
    """Appendix B.7 of Stamm & Schaub 2024: the dearer half is paid for, at a price that falls with the group's size."""
    return mag.Cost(
        "discount",
        prepare=lambda x: np.concatenate((np.zeros(1), np.cumsum(x))),
        group=lambda sums, i, j: 2.0 * (sums[j] - sums[j - (j - i) // 2]) / (j - i) ** alpha,
        representative="max",
    )


def least_discount(x, k, alpha):
    x, n = np.sort(x), len(x)
    F = [0.0] + [np.inf] * n
    for j in range(k, n + 1):
        F[j] = min(F[i] + 2 * x[j - (j - i) // 2 : j].sum() / (j - i) ** alpha for i in range(j - k + 1))
    return F[n]


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.5, 0.9, 1.0])
def test_a_cost_that_is_not_concave_is_solved_exactly(alpha):
    x = np.random.default_rng(0).lognormal(size=60)
    grouping = mag.univariate(x, 3, cost=discount(alpha))
    assert grouping.cost == pytest.approx(least_discount(x, 3, alpha), rel=1e-12)
    assert grouping.sizes.min() >= 3


def test_the_largest_discount_is_one_group():
    assert mag.univariate(np.random.default_rng(1).random(50), 2, cost=discount(1.0)).n_groups == 1


@pytest.mark.parametrize("solver", [name for name in SOLVERS if name != "quadratic"])
def test_solvers_that_are_not_valid_for_a_cost_are_refused(solver):
    with pytest.raises(ValueError, match=r"^solver must be one of 'auto', 'quadratic' with cost 'discount'; got"):
        mag.univariate([1.0, 2.0, 3.0], 1, cost=discount(0.5), solver=solver)


@pytest.mark.parametrize("solver", [name for name, entry in SOLVERS.items() if entry.bounded])
@pytest.mark.parametrize("option", ["group_penalty", "max_groups", "soft"])
def test_solvers_that_bound_group_sizes_are_refused_with_extensions(solver, option):
    with pytest.raises(
        ValueError, match=r"^solver must be one of 'auto', 'galil_park', 'growing', 'quadratic', 'wilber' with"
    ):
        mag.univariate([1.0, 2.0, 3.0], 1, solver=solver, **{option: 1})


def test_max_groups_needs_a_concave_cost():
    with pytest.raises(ValueError, match=r"^max_groups needs a concave cost; got cost 'discount'"):
        mag.univariate([1.0, 2.0, 3.0], 1, cost=discount(0.5), max_groups=2)


CUBES = mag.Cost(  # Σ|x - median|³: concave, and splitting is beneficial
    "cubes",
    group=lambda x, i, j: (np.abs(x[i:j] - x[(i + j - 1) // 2]) ** 3).sum(),
    concave=False,
    splitting=True,
    representative="median",
)


def test_a_users_cost_runs_on_every_solver_that_its_promises_allow():
    squares = mag.Cost(
        "squares",
        group=lambda x, i, j: ((x[i:j] - x[i:j].mean()) ** 2).sum(),
        concave=True,
        splitting=True,
    )
    x = np.random.default_rng(2).normal(size=120)
    expected = mag.univariate(x, 4)
    for solver in SOLVERS:
        if SOLVERS[solver].valid(squares, bounded=True):
            found = mag.univariate(x, 4, cost=squares, solver=solver)
            np.testing.assert_array_equal(found.labels, expected.labels)
            np.testing.assert_allclose(found.masked, expected.masked)
    assert mag.univariate(x, 4, cost=CUBES).sizes.max() < 8


def test_two_costs_of_one_name_are_not_confused():
    x = [0.0, 1.0, 2.0, 10.0, 11.0, 12.0]
    one = mag.Cost("mine", group=lambda x, i, j: 1.0, representative="min")
    many = mag.Cost("mine", group=lambda x, i, j: x[j - 1] - x[i], representative="min")
    assert mag.univariate(x, 2, cost=one).n_groups == 1
    assert mag.univariate(x, 2, cost=many).n_groups > 1


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"name": ""}, "name must be a string that is not empty; got ''."),
        ({"group": 3}, "group must be a function of (x, i, j); got int."),
        ({"prepare": 3}, "prepare must be a function of x; got int."),
        ({"concave": 1}, "concave must be True or False; got 1."),
        (
            {"representative": "mode"},
            "representative must be one of 'max', 'mean', 'median', 'mid-range', 'min'; got 'mode'.",
        ),
    ],
)
def test_a_wrong_cost_gets_one_sentence(change, sentence):
    options = {"name": "mine", "group": lambda x, i, j: 0.0, **change}
    with pytest.raises((TypeError, ValueError)) as caught:
        mag.Cost(options.pop("name"), **options)
    assert str(caught.value) == sentence


def made(power, scale=None):
    def group(x, i, j):
        return abs(x[j - 1] - x[i]) ** power if scale is None else scale[0] * (x[j - 1] - x[i])

    return mag.Cost("made", group=group)


def test_equal_functions_share_their_compiled_code():
    """Numba frees none: a cost that is made anew for every call would take more and more memory."""
    assert made(2).kernel is made(2).kernel
    assert made(2).kernel is not made(3).kernel
    assert made(2).kernel is not made(2.0).kernel  # compiled differently
    scale = np.ones(1)
    assert made(2, scale).kernel is not made(2, scale).kernel  # an array may change in between
    one, other = (mag.Cost("one", group=lambda x, i, j: x[j - 1] - x[i]) for _ in range(2))
    assert one.kernel is other.kernel
    assert one.kernel is not mag.Cost("one", group=lambda x, i, j: x[i] - x[j - 1]).kernel


def test_functions_that_share_code_find_the_same_groups_and_others_do_not():
    x = [0.0, 1.0, 5.0, 6.0, 7.0, 20.0]
    for power in (2, 1, 2):
        expected = min(
            sum((x[j - 1] - x[i]) ** power for i, j in zip(cut, [*cut[1:], 6], strict=True))
            for cut in ([0], [0, 2], [0, 3], [0, 4], [0, 2, 4])
        )
        assert mag.univariate(x, 2, cost=made(power)).cost == pytest.approx(expected)


@pytest.mark.parametrize("options", [{"max_groups": 2}, {"group_penalty": 3}, {}])
def test_a_refused_solver_names_those_that_are_accepted(options):
    x = np.arange(200) * 2**54
    with pytest.raises(mag.InputValueError, match="cannot hold exactly") as refusal:
        mag.univariate(x, 3, solver="growing", **options)
    valid = re.findall("'([a-z_]+)'", str(refusal.value))
    assert valid[0] == "auto"
    assert valid[-1] == "growing"
    for name in valid[1:-1]:
        assert mag.univariate(x, 3, solver=name, **options).sizes.min() >= 3
