"""Lower bounds are below the least loss that there is, and the linear program's is close to it."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mag
from mag._lib.progress import Progress
from mag.bounds import BOUNDS, DENSE, automatic, lp
from mag.bounds._pool import Pool
from mag.bounds._price import FoundGroups, Records, search, tree
from mag.methods import METHODS
from tests.data.records import hostile_tables
from tests.data.sets import read_records
from tests.oracles.groups import least_loss


def bound_of(name, X, k, cost=None, threads=2, seconds=None):
    X = np.ascontiguousarray(X, np.float64)
    cost = np.square(X - X.mean(axis=0)).sum() if cost is None else cost
    return BOUNDS[name](X, k, cost, threads, Progress(None, seconds))


@st.composite
def few_records(draw):
    k = draw(st.integers(2, 4))
    n = draw(st.integers(2 * k, 9))
    d = draw(st.integers(2, 3))
    values = draw(st.sampled_from([st.integers(0, 2), st.integers(-9, 9), st.floats(-1, 1), st.floats(-1e6, 1e6)]))
    X = np.array(draw(st.lists(st.lists(values, min_size=d, max_size=d), min_size=n, max_size=n)), np.float64)
    if draw(st.booleans()):  # clusters
        X[: n // 2] = X[0] + 1e-3 * X[: n // 2]
    return X, k


@pytest.mark.parametrize("name", BOUNDS)
@settings(max_examples=20, deadline=None)
@given(few_records())
def test_no_bound_is_above_the_optimum_of_few_records(name, problem):
    X, k = problem
    best = least_loss(X, k)
    found = bound_of(name, X, k)
    assert -1e-12 * best <= found <= best * (1 + 1e-12) + 1e-25 * np.square(X).sum()


def relaxed(X, k):
    """The optimum of the linear program of all groups of k to 2k-1 records."""
    from scipy.optimize import linprog

    groups = [g for size in range(k, 2 * k) for g in itertools.combinations(range(len(X)), size)]
    costs = [np.square(X[list(g)] - X[list(g)].mean(axis=0)).sum() for g in groups]
    covers = np.array([[i in g for g in groups] for i in range(len(X))], np.float64)
    return linprog(costs, A_eq=covers, b_eq=np.ones(len(X)), method="highs").fun


@pytest.mark.parametrize(("n", "k"), [(11, 2), (12, 2), (11, 3), (12, 4), (13, 5)])
def test_the_bound_of_the_linear_program_is_its_optimum(n, k):
    pytest.importorskip("scipy")
    for seed in range(2):
        X = np.random.default_rng(seed).normal(size=(n, 2)) * [1, 3]
        optimum = relaxed(X, k)
        assert optimum * 0.995 <= bound_of("lp", X, k) <= optimum * (1 + 1e-9)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("name", BOUNDS)
def test_bounds_are_below_the_optimum_of_one_column(name, k):
    rng = np.random.default_rng(k)
    for x in (rng.normal(size=200), rng.integers(0, 60, 200), rng.lognormal(0, 2, 200)):
        best = mag.univariate(x, k).cost
        found = bound_of(name, np.column_stack([x - x.mean(), np.zeros(len(x))]), k)
        assert found <= best * (1 + 1e-12)
        assert name == "neighbor" or found >= 0.9 * best or x.dtype.kind == "i"


def brute_neighbor(X, k):
    squares = np.square(X[:, None] - X).sum(axis=2)
    return np.sort(squares, axis=1)[:, 1:k].sum() / (2 * k)


@pytest.mark.parametrize("k", [2, 5, 70])
def test_the_neighbor_bound_is_its_formula(k):
    X = np.random.default_rng(0).normal(size=(300, 3))
    assert bound_of("neighbor", X, k) == pytest.approx(brute_neighbor(X, k), rel=1e-12)
    assert bound_of("neighbor", X, k) <= brute_neighbor(X, k)


def test_the_search_finds_the_least_excess():
    rng = np.random.default_rng(1)
    for k in (2, 3, 4):
        X = rng.normal(size=(14, 3))
        distance = np.square(X[:, None] - X).sum(axis=2)
        others = np.argsort(distance + np.diag(np.full(14, np.inf)), axis=1)[:, :6]
        records = Records(distance, others, np.take_along_axis(distance, others, axis=1))
        y = rng.uniform(0, 2.5, 14)
        groups, least, found, excess = np.zeros((14, k), np.int64), np.ones(14), np.zeros(14, np.bool_), np.ones(14)
        rank = rng.permutation(14)
        search(records, y, rank, 10**6, np.arange(14), tree(14, k), FoundGroups(groups, least, found, excess))
        every = itertools.combinations(range(14), k)
        costs = {g: distance[np.ix_(g, g)].sum() / 2 / k - y[list(g)].sum() for g in every}
        for i in range(14):
            first = [g for g in costs if i in g and rank[list(g)].min() == rank[i]]
            best = min([0.0, *(costs[g] for g in first)])
            assert least[i] == pytest.approx(best, abs=1e-12)
            assert excess[i] == least[i]
            assert found[i] == (best < 0)
            if found[i]:
                assert costs[tuple(sorted(groups[i]))] == pytest.approx(best, abs=1e-12)
        for limit in range(12):  # a search that ends early never says too much
            early = np.ones(14)
            search(records, y, rank, limit, np.arange(14), tree(14, k), FoundGroups(groups, early, found, excess))
            assert (early <= least + 1e-12).all()
            assert (early <= excess).all()


@pytest.mark.parametrize("steps", [0, 2, 300])
def test_whatever_is_paid_the_proven_bound_is_below_the_optimum(steps, monkeypatch):
    monkeypatch.setattr(lp, "MAX_ASCENT_STEPS", steps)
    rng = np.random.default_rng(8)
    for k in (2, 3, 4):
        X = rng.normal(size=(9, 2))
        task, best = lp._Task(X, k, 1, Progress()), least_loss(X, k)
        for y in (np.full(9, best / 9), rng.uniform(0, 3 * best / 9, 9), rng.normal(best / 9, best, 9)):
            assert task.proven(y)[0] <= best


def test_payments_are_fair_to_the_pool():
    X = np.random.default_rng(2).normal(size=(12, 2))
    pool = Pool(np.square(X[:, None] - X).sum(axis=2), 3, np.ones(12))
    everything = np.array(list(itertools.combinations(range(12), 3)))
    assert pool.add(np.vstack([everything, everything[::-1, ::-1]])) == len(everything)
    y, total = pool.ascend(np.zeros(12), least_loss(X, 3), 0.2, 5000, Progress())
    assert (y[pool.groups].sum(axis=1) <= pool.costs + 1e-12).all()
    assert math.fsum(y) == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("name", hostile_tables(24))
def test_hostile_tables_have_bounds(name):
    X = hostile_tables(24)[name]
    for k, standardize in ((2, True), (3, False)):
        weak = mag.multivariate(X, k, method="mdav", standardize=standardize, bound="neighbor")
        strong = mag.multivariate(X, k, method="mdav", standardize=standardize, bound="lp")
        assert 0 <= weak.bound <= strong.bound <= strong.information_loss
        assert 0 <= strong.gap <= weak.gap <= 1


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_a_bound_and_a_gap(method):
    X, k = np.random.default_rng(3).normal(size=(41, 3)), METHODS[method].k or 4
    plain = mag.multivariate(X, k, method=method)
    assert plain.bound is None
    assert plain.gap is None
    grouping = mag.multivariate(X, k, method=method, bound="neighbor")
    np.testing.assert_array_equal(grouping.labels, plain.labels)
    assert 0 < grouping.bound <= grouping.information_loss
    assert grouping.gap == pytest.approx(1 - grouping.bound / grouping.information_loss)
    assert f", gap {grouping.gap:.2g}" in repr(grouping)


@pytest.mark.parametrize("bound", [True, *BOUNDS])
def test_what_is_optimal_has_no_gap(bound):
    x = np.random.default_rng(4).normal(size=(30, 1))
    for X, k in ((x, 4), (x[:7], 4), (np.hstack([x, x])[:5], 3), (np.hstack([x, x]), 1)):
        grouping = mag.multivariate(X, k, bound=bound)
        assert grouping.bound == grouping.information_loss
        assert grouping.gap == 0


def test_threads_do_not_change_the_bound():
    X = np.random.default_rng(5).normal(size=(150, 3))
    for bound in BOUNDS:
        assert len({mag.multivariate(X, 3, method="mdav", bound=bound, threads=t).bound for t in (1, 2, 5)}) == 1


def test_time_gives_a_better_bound_and_none_a_valid_one():
    X = np.random.default_rng(6).normal(size=(200, 4))
    none, some = (mag.multivariate(X, 4, method="mdav", bound="lp", bound_time=t) for t in (1e-9, 1e9))
    neighbor = mag.multivariate(X, 4, method="mdav", bound="neighbor").bound
    assert neighbor <= none.bound < some.bound
    assert none.complete


def test_searches_that_end_early_give_a_bound_above_the_neighbors(monkeypatch):
    X = np.random.default_rng(7).normal(size=(120, 4))
    full = bound_of("lp", X, 6)
    monkeypatch.setattr(lp, "MAX_ASCENT_STEPS", 3)
    assert bound_of("neighbor", X, 6) * 1.02 < bound_of("lp", X, 6) < full


def test_wrong_bounds_are_refused():
    X = np.zeros((20, 2))
    with pytest.raises(ValueError, match=r"bound must be one of 'lp', 'neighbor'; got 'neighbour'\."):
        mag.multivariate(X, 2, bound="neighbour")
    with pytest.raises(TypeError, match=r"bound must be True or False; got 1\."):
        mag.multivariate(X, 2, bound=1)
    with pytest.raises(TypeError, match=r"bound_time is only used by bound 'lp'; got bound=False of n=20 records\."):
        mag.multivariate(X, 2, bound_time=3)
    with pytest.raises(ValueError, match="bound_time must be None or a positive number of seconds; got -1"):
        mag.multivariate(X, 2, bound="lp", bound_time=-1)
    many = np.zeros((DENSE + 1, 2))
    with pytest.raises(ValueError, match=r"bound='lp' is for at most 8192 records; got n=8193, use 'neighbor'\."):
        mag.multivariate(many, 2, method="zscore", bound="lp")
    assert automatic(DENSE) == "lp"
    assert automatic(DENSE + 1) == "neighbor"


@pytest.mark.parametrize(("name", "k", "least"), [("tarragona", 3, 0.1380), ("census", 3, 0.0460)])
def test_public_data_have_close_bounds(name, k, least):
    grouping = mag.multivariate(read_records(name), k, method="ona_star", bound="lp")
    assert least < grouping.bound < grouping.information_loss
