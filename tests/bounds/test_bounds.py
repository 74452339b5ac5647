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
from mag.bounds._grow import grow
from mag.bounds._pool import Payments, Pool
from mag.bounds._price import FoundGroups, Prices, list_groups, records_of, search, tree
from mag.bounds._sets import crowded, sets_of
from mag.methods import METHODS
from tests.data.records import hostile_tables
from tests.data.sets import read_records
from tests.oracles.groups import least_loss


def bound_of(name, X, k, cost=None, threads=2, seconds=None):
    X = np.ascontiguousarray(X, np.float64)
    cost = np.square(X - X.mean(axis=0)).sum() if cost is None else cost
    labels = np.zeros(len(X), np.int64)
    return BOUNDS[name](X, k, labels, cost, threads, Progress(None, seconds)).least


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
def test_the_bound_is_not_below_the_linear_program_without_sets(n, k):
    pytest.importorskip("scipy")
    for seed in range(2):
        X = np.random.default_rng(seed).normal(size=(n, 2)) * [1, 3]
        optimum = relaxed(X, k)
        assert optimum * 0.995 <= bound_of("lp", X, k)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("name", BOUNDS)
def test_bounds_are_below_the_optimum_of_one_column(name, k):
    rng = np.random.default_rng(k)
    for x in (rng.normal(size=200), rng.integers(0, 60, 200), rng.lognormal(0, 2, 200)):
        best = mag.univariate(x, k).cost
        table = np.column_stack([x - x.mean(), np.zeros(len(x))])
        found = bound_of(name, table, k, seconds=2.0 if name == "branch" else None)  # of many ties
        assert found <= best * (1 + 1e-12)
        assert name != "lp" or found >= 0.9 * best or x.dtype.kind == "i"


def brute_neighbor(X, k):
    squares = np.square(X[:, None] - X).sum(axis=2)
    return np.sort(squares, axis=1)[:, 1:k].sum() / (2 * k)


@pytest.mark.parametrize("k", [2, 5, 70])
def test_the_neighbor_bound_is_its_formula(k):
    X = np.random.default_rng(0).normal(size=(300, 3))
    assert bound_of("neighbor", X, k) == pytest.approx(brute_neighbor(X, k), rel=1e-12)
    assert bound_of("neighbor", X, k) <= brute_neighbor(X, k)


class Priced:
    """A few records with payments, sets with tolls, and the excess of every group that a search has to look at."""

    def __init__(self, seed, k, n=11):
        rng = np.random.default_rng(seed)
        self.k, self.n, self.sets = k, n, sets_of(rng.random((seed % 4, n)) < 0.6, k)
        X = rng.normal(size=(n, 2)) * rng.choice([0.1, 1], size=(n, 1))
        self.distance = np.square(X[:, None] - X).sum(axis=2)
        others = np.argsort(self.distance + np.diag(np.full(n, np.inf)), axis=1)[:, : n - 1]
        self.records = records_of(self.distance, others)
        self.y, self.rank = rng.uniform(0, 2, n), rng.permutation(n)
        self.toll = rng.uniform(0, 1.5, len(self.sets.room)) * (rng.random(len(self.sets.room)) < 0.8)
        self.prices = Prices(self.y, self.toll, self.sets, k)

    def excess(self, group):
        within = self.sets.inside[:, group].sum(axis=1)
        cost = self.distance[np.ix_(group, group)].sum() / 2 / len(group)
        return cost - self.y[group].sum() + self.toll[within >= self.k].sum()

    def groups(self):
        """Those of k records, and those that a set with a toll contains."""
        contained = self.sets.inside[self.toll > 0]
        for size in range(self.k, min(2 * self.k, self.n + 1)):
            for group in map(list, itertools.combinations(range(self.n), size)):
                if size == self.k or contained[:, group].all(axis=1).any():
                    yield group

    def least(self):
        """Of the groups whose first record is i, for each i; at most 0."""
        found = np.zeros(self.n)
        for group in self.groups():
            first = group[np.argmin(self.rank[group])]
            found[first] = min(found[first], self.excess(group))
        return found

    def search(self, limit, below=0.0):
        n, k = self.n, self.k
        groups, sizes, improves = np.zeros((n, 2 * k - 1), np.int64), np.full(n, k), np.zeros(n, np.bool_)
        found = FoundGroups(groups, sizes, np.ones(n), improves, np.full(n, below), np.array([-1]))
        search(self.records, self.prices, self.rank, limit, np.arange(n), self.tree(), found)
        return found

    def list(self, room, limit, most):
        n, slots, sizes, listed = self.n, np.zeros((room, 2 * self.k - 1), np.int64), np.zeros(room, np.int64), [0]
        found = FoundGroups(slots, sizes, np.ones(n), np.ones(0, np.bool_), np.full(n, most), np.array(listed))
        complete = list_groups(self.records, self.prices, self.rank, limit, np.arange(n), self.tree(), found)
        return complete, [slots[g, : sizes[g]].tolist() for g in range(min(room, found.listed[0]))]

    def tree(self):
        return tree(self.n, self.k, len(self.toll))


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_the_search_finds_the_least_excess(k):
    for seed in range(12):
        problem = Priced(seed, k)
        least, found = problem.least(), problem.search(10**6)
        np.testing.assert_allclose(found.least, least, atol=1e-12)
        np.testing.assert_array_equal(found.excess, found.least)
        np.testing.assert_array_equal(found.improves, least < 0)
        for i in np.flatnonzero(found.improves):
            assert problem.excess(list(found.groups[i, : found.sizes[i]])) == pytest.approx(least[i], abs=1e-12)
        for limit in (0, 1, 2, 5, 11, 25):  # a search that ends early, or leaves something, never says too much
            for below in (0.0, -0.1):
                early = problem.search(limit, below)
                assert (early.least <= least + 1e-12).all()
                assert (early.least <= early.excess).all()
        rest = problem.search(10**6, -0.1)
        np.testing.assert_allclose(rest.least, np.minimum(least, -0.1), atol=1e-12)


@pytest.mark.parametrize("k", [2, 3])
def test_the_list_has_every_group_of_little_excess(k):
    every = [[*g] for size in range(k, 2 * k) for g in itertools.combinations(range(11), size)]
    for seed in range(12):
        problem = Priced(seed, k)
        for most in (-0.2, 0.0, 0.5):
            complete, groups = problem.list(5000, 10**6, most)
            assert complete
            assert sorted(map(sorted, groups)) == sorted(g for g in every if problem.excess(g) < most)


def test_a_list_without_room_or_steps_is_not_complete():
    problem = Priced(3, 2)
    for room, steps in ((3, 10**6), (5000, 2)):
        assert not problem.list(room, steps, 1.0)[0]


@pytest.mark.parametrize("k", [2, 3, 4])
def test_grown_groups_have_the_excess_that_they_say(k):
    for seed in range(8):
        problem = Priced(seed, k)
        groups, excess = np.zeros((problem.n, k, 2 * k - 1), np.int64), np.zeros((problem.n, k))
        grow(problem.records, problem.prices, np.arange(problem.n), groups, excess)
        assert np.isfinite(excess[:, 0]).all()
        for i, size in np.argwhere(np.isfinite(excess)) + [0, k]:
            group = list(groups[i, size - k, :size])
            assert i in group
            assert len({*group}) == size
            assert problem.excess(group) == pytest.approx(excess[i, size - k], abs=1e-12)


@pytest.mark.parametrize("steps", [0, 2, 300])
def test_whatever_is_paid_the_proven_bound_is_below_the_optimum(steps, monkeypatch):
    monkeypatch.setattr(lp, "SEARCHES", ((steps, 0.0), (steps, 0.1)))
    rng = np.random.default_rng(8)
    for k in (2, 3, 4):
        X = rng.normal(size=(9, 2))
        task, best = lp.Task(X, k, 1, Progress()), least_loss(X, k)
        for y in (np.full(9, best / 9), rng.uniform(0, 3 * best / 9, 9), rng.normal(best / 9, best, 9)):
            for m in (0, 1, 5):
                paid = Payments(y, rng.uniform(0, best, m) * (rng.random(m) < 0.7))
                assert task.prove(paid, sets_of(rng.random((m, 9)) < 0.7, k)).bound <= best


def test_payments_are_fair_to_the_pool():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(12, 2))
    pool = Pool(np.square(X[:, None] - X).sum(axis=2), 3, np.ones(12))
    every = [list(g) for size in (3, 4, 5) for g in itertools.combinations(range(12), size)]
    sizes, padded = np.array([len(g) for g in every]), np.array([g + [-1] * (5 - len(g)) for g in every])
    assert pool.add(np.vstack([padded, padded]), np.append(sizes, sizes)) == len(every)
    paid, best, last = Payments(np.zeros(12), np.empty(0)), least_loss(X, 3), 0.0
    for sets in (0, 6):
        paid, total = pool.ascend(pool.use(rng.random((sets, 12)) < 0.6, paid), best, 0.2, 5000, Progress())
        for group, cost in zip(every, [np.square(X[g] - X[g].mean(axis=0)).sum() for g in every], strict=True):
            tolls = paid.toll[pool.sets.inside[:, group].sum(axis=1) >= 3].sum()
            assert paid.y[group].sum() - tolls <= cost + 1e-12
        assert math.fsum(paid.y) - paid.toll @ pool.sets.room == pytest.approx(total, rel=1e-9)
        assert last * (1 - 1e-3) <= total <= best * (1 + 1e-9)
        last = total


def test_a_set_is_crowded_by_fractions_of_groups_and_never_by_groups():
    triples = np.array([[*g, 0, 0] for g in itertools.combinations(range(4), 3)] + [[4, 5, 6, 0, 0]])
    shares, none = np.array([1 / 3, 1 / 3, 1 / 3, 1 / 3, 1]), np.zeros((0, 7), np.bool_)
    four = [[True] * 4 + [False] * 3]
    full, omitted = crowded(triples, np.full(5, 3), shares, none, 3, 1)
    np.testing.assert_array_equal(full, four)
    assert not omitted
    other = np.ones((1, 7), np.bool_)  # a record is in one set already
    full, omitted = crowded(triples, np.full(5, 3), shares, other, 3, 1)
    assert (len(full), omitted) == (0, True)
    full, omitted = crowded(triples, np.full(5, 3), shares, np.array(four), 3, 9)
    assert (len(full), omitted) == (0, False)
    whole = np.array([[0, 1, 2, 3, 0], [4, 5, 6, 0, 0]])
    assert len(crowded(whole, np.array([4, 3]), np.ones(2), none, 3, 1)[0]) == 0


def test_clusters_that_k_does_not_divide_have_the_bound_of_their_groups():
    """Four records in a corner cost as much as one group; the linear program without sets allows three quarters."""
    corners = np.array(list(itertools.product([0, 100], repeat=3)))
    X = np.concatenate([corner + np.eye(4)[:, :3] for corner in corners])
    best = 8 * np.square(np.eye(4)[:, :3] - 0.25).sum()
    assert 0.999 * best <= bound_of("lp", X, 3) <= best * (1 + 1e-12)


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
    monkeypatch.setattr(lp, "SEARCHES", ((3, 0.0),))
    assert bound_of("neighbor", X, 6) * 1.02 < bound_of("lp", X, 6) < full


def test_wrong_bounds_are_refused():
    X = np.zeros((20, 2))
    with pytest.raises(ValueError, match=r"bound must be one of 'branch', 'lp', 'neighbor'; got 'nieghbor'\."):
        mag.multivariate(X, 2, bound="nieghbor")
    with pytest.raises(TypeError, match=r"bound must be True or False; got 1\."):
        mag.multivariate(X, 2, bound=1)
    with pytest.raises(
        TypeError, match=r"bound_time is only used by bounds 'branch' and 'lp'; got bound=False of n=20 records\."
    ):
        mag.multivariate(X, 2, bound_time=3)
    with pytest.raises(ValueError, match="bound_time must be None or a positive number of seconds; got -1"):
        mag.multivariate(X, 2, bound="lp", bound_time=-1)
    many = np.zeros((DENSE + 1, 2))
    with pytest.raises(ValueError, match=r"bound='lp' is for at most 8192 records; got n=8193, use 'neighbor'\."):
        mag.multivariate(many, 2, method="zscore", bound="lp")
    assert automatic(DENSE) == "lp"
    assert automatic(DENSE + 1) == "neighbor"


@pytest.mark.parametrize(("name", "k", "least"), [("tarragona", 3, 0.1440), ("census", 2, 0.0275)])
def test_public_data_have_close_bounds(name, k, least):
    grouping = mag.multivariate(read_records(name), k, method="ona_star", bound="lp")
    assert least < grouping.bound < grouping.information_loss
