"""Branch and price: the least cost of any grouping, proven."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mag
from mag._lib.progress import Progress
from mag.bounds import _nodes, branch, lp
from mag.bounds._integer import best_cover, columns_of
from mag.bounds._nodes import PROVEN, Nodes
from tests.data.sets import read_records
from tests.oracles.groups import least_loss

pytest.importorskip("scipy")


def exactly(X, k):
    """The least cost of any grouping of integers, as a fraction."""
    return least_loss(np.vectorize(Fraction, otypes=[object])(np.asarray(X, int)), k)


def cost_of(X, labels):
    return sum(np.square(X[labels == g] - X[labels == g].mean(axis=0)).sum() for g in np.unique(labels))


def branched(X, k, seconds=None):
    """The bound, and the cost of the best grouping."""
    X, labels = np.ascontiguousarray(X, np.float64), np.zeros(len(X), np.int64)
    found = branch.bound(X, k, labels, cost_of(X, labels), 2, Progress(None, seconds))
    if found.labels is None:
        return found.least, cost_of(X, labels)
    assert np.bincount(found.labels).min() >= k
    return found.least, cost_of(X, found.labels)


@st.composite
def few_integers(draw):
    k = draw(st.integers(2, 4))
    n, most = draw(st.integers(2 * k, 9)), draw(st.sampled_from([2, 9, 1000]))
    values = st.lists(st.integers(-most, most), min_size=2, max_size=2)
    return np.array(draw(st.lists(values, min_size=n, max_size=n))), k


@settings(max_examples=40, deadline=None)
@given(few_integers())
def test_the_least_cost_is_found_and_proven(problem):
    X, k = problem
    exact = exactly(X, k)
    bound, cost = branched(X, k)
    assert Fraction(bound) <= exact
    assert cost == pytest.approx(float(exact), rel=1e-12, abs=1e-12)
    assert bound >= float(exact) * (1 - 2 * PROVEN) - 1e-9 * np.square(X).sum() * (exact == 0)


@pytest.mark.parametrize("k", [2, 3])
def test_what_the_linear_program_leaves_open_is_closed(k, monkeypatch):
    """A bad bound makes the list long, and the nodes do the work."""
    monkeypatch.setattr(lp, "MAX_TOLL_ROUNDS", 1)
    monkeypatch.setattr(branch, "CLOSE_TO_PROGRAM", 0.1)
    for seed in range(4):
        X = np.random.default_rng(seed).integers(0, 30, size=(10, 2))
        bound, cost = branched(X, k)
        exact = exactly(X, k)
        assert Fraction(bound) <= exact
        assert bound == pytest.approx(float(exact), rel=2 * PROVEN)
        assert cost == pytest.approx(float(exact), rel=1e-12)


def every_group(X, k):
    groups = [g for size in range(k, 2 * k) for g in itertools.combinations(range(len(X)), size)]
    sizes = np.array([len(g) for g in groups])
    padded = np.array([[*g, *[len(X)] * (2 * k - 1 - len(g))] for g in groups])
    costs = np.array([np.square(X[[*g]] - X[[*g]].mean(axis=0)).sum() for g in groups])
    return columns_of(padded, sizes, costs, len(X))


@pytest.mark.parametrize("cuts", [0, 30])
def test_nodes_end_at_the_least_cost_whatever_cuts_and_fixing_do(cuts, monkeypatch):
    monkeypatch.setattr(_nodes, "MAX_CUT_ROUNDS", cuts + 1)
    monkeypatch.setattr(_nodes, "FIRST_PER_RECORD", 2)
    for seed, k in itertools.product(range(6), (2, 3)):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 12, size=(9 if k == 3 else 7, 2)).astype(np.float64)
        columns, exact = every_group(X, k), exactly(X, k)
        full = rng.random((3, len(X))) < 0.6
        nodes = Nodes(columns, columns.costs, full, k, 1.5 * float(exact) + 1, 0.0, 1e-12, Progress())
        least = nodes.search()
        assert Fraction(least) <= exact * (1 + Fraction(1, 10**12))
        assert least >= float(exact) * (1 - 2 * PROVEN)
        assert nodes.cost == pytest.approx(float(exact), rel=1e-12)
        assert cost_of(X, nodes.labels) == pytest.approx(nodes.cost, rel=1e-12)


def test_whatever_is_paid_the_bound_of_a_node_is_below_the_least_cost():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 12, size=(8, 2)).astype(np.float64)
        columns, exact = every_group(X, 3), exactly(X, 3)
        nodes = Nodes(columns, columns.costs, rng.random((4, 8)) < 0.6, 3, 2 * float(exact), 0.0, 1e-12, Progress())
        nodes.cuts = _nodes._Cuts(nodes.cuts.inside, np.array([3, 2, 3, 2]))
        for scale in (0.0, 0.3, 3.0):
            y, toll = rng.normal(size=8) * scale * float(exact), rng.random(4) * scale * float(exact)
            assert Fraction(nodes._prove(np.ones(len(columns.costs), np.bool_), y, toll)[0]) <= exact


@pytest.mark.parametrize("noise", [1e-3, 1.0, 0.0])
def test_a_solver_that_errs_never_raises_the_bound_above_the_least_cost(noise, monkeypatch):
    solve, rng = Nodes._solve_few, np.random.default_rng(9)

    def err(self, few):
        y, toll, shares = solve(self, few)
        if not noise:
            return 0 * y, 0 * toll, 0 * shares  # as where HiGHS gives up
        return y * rng.normal(1, noise, len(y)), toll * rng.normal(1, noise, len(toll)) ** 2, shares

    monkeypatch.setattr(Nodes, "_solve_few", err)
    for seed in range(6):
        X = np.random.default_rng(seed).integers(0, 12, size=(9, 2)).astype(np.float64)
        columns, exact = every_group(X, 3), exactly(X, 3)
        nodes = Nodes(columns, columns.costs, np.zeros((0, 9), np.bool_), 3, 1.5 * float(exact), 0.0, 1e-12, Progress())
        assert Fraction(nodes.search()) <= exact


def test_the_best_cover_is_the_least_cost():
    X = np.random.default_rng(0).integers(0, 20, size=(9, 2)).astype(np.float64)
    cost, labels = best_cover(every_group(X, 3), Progress())
    assert cost == pytest.approx(float(exactly(X, 3)), rel=1e-12)
    assert cost_of(X, labels) == pytest.approx(cost, rel=1e-12)


def test_little_time_gives_a_valid_bound():
    X = np.random.default_rng(1).normal(size=(60, 3))
    none, some = branched(X, 3, 1e-9), branched(X, 3)
    assert 0 < none[0] < some[0] <= some[1] * (1 + 1e-12)
    assert some[1] <= none[1]


def test_a_search_that_ends_early_gives_a_valid_bound(monkeypatch):
    for seed, nodes in itertools.product(range(4), (0, 1, 2)):
        monkeypatch.setattr(_nodes, "MAX_BRANCH_NODES", nodes)
        X = np.random.default_rng(seed).integers(0, 12, size=(9, 2)).astype(np.float64)
        columns, exact = every_group(X, 3), exactly(X, 3)
        some = Nodes(columns, columns.costs, np.zeros((0, 9), np.bool_), 3, 1.5 * float(exact), 0.0, 1e-12, Progress())
        assert Fraction(some.search()) <= exact


def test_the_optimum_replaces_the_groups_of_the_method():
    X = np.random.default_rng(2).normal(size=(40, 3))
    plain = mag.multivariate(X, 3, method="mdav")
    best = mag.multivariate(X, 3, method="mdav", bound="branch")
    assert best.information_loss < plain.information_loss
    assert best.method == "branch"
    assert best.optimal
    assert 0 <= best.gap <= PROVEN
    assert best.sizes.min() >= 3
    again = mag.multivariate(X, 3, method="mdav", bound="branch", threads=1)
    np.testing.assert_array_equal(again.labels, best.labels)
    assert again.bound == best.bound
    assert plain.optimal is None
    assert mag.multivariate(X, 3, method="mdav", bound="neighbor").optimal is False


def test_public_records_have_a_proven_optimum():
    grouping = mag.multivariate(read_records("tarragona"), 2, method="ona_star", bound="branch")
    assert grouping.optimal
    assert round(100 * grouping.information_loss, 4) == 8.8155
