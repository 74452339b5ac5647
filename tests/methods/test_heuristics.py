"""DBA, TFRP, SBM and the methods of trees: against plain versions of them, and the tables of Thaeter's thesis."""

import itertools

import numpy as np
import pytest

import mag
from mag._lib.progress import Progress
from mag.methods import METHODS, pcl
from mag.methods.dissolve import densest, group_far_from_points
from mag.methods.sbm import rank_sums
from mag.methods.trees import spanning
from mag.methods.trees.spanning import spanning_tree
from tests.data.sets import read_published, read_records
from tests.oracles.families import away, cost
from tests.oracles.groups import group, labels_of, least_loss, same
from tests.oracles.heuristics import (
    ORACLES,
    densest_first,
    far_from_points,
    kruskal,
    mst,
    reached,
    spread,
)

NEW = ("dba", "mst", "mu_approx", "pcl", "sbm", "tfrp")


def records(n, d, seed):
    """Records without ties, with many ties, with duplicates, on a line, and all alike; sums of the others are exact."""
    rng = np.random.default_rng(seed)
    return {
        "normal": rng.normal(size=(n, d)),
        "few integers": rng.integers(0, 4, (n, d)) * 1.0,
        "duplicates": np.repeat(rng.integers(-9, 9, (n, d)) / 8, 3, axis=0)[:n],
        "line": np.arange(n)[:, None] * np.arange(1.0, d + 1),
        "constant": np.full((n, d), 0.75),
    }


SHAPES = [(n, 2, k) for k in (2, 3) for n in range(2 * k, 3 * k + 1)] + [
    (23, 3, 3),
    (41, 2, 4),
    (60, 3, 2),
    (37, 50, 5),
]


def hostile(seed):
    for n, d, k in SHAPES:
        for name, X in records(n, d, seed).items():
            yield pytest.param(X, k, id=f"{name} {n}x{d} k={k}")


@pytest.mark.parametrize("method", ORACLES)
def test_it_is_the_plain_algorithm(method):
    for seed in range(2):
        for case in hostile(seed):
            X, k = case.values
            assert same(group(X, k, method), labels_of(ORACLES[method](X, k), len(X))), (case.id, seed)


@pytest.mark.parametrize(("X", "k"), list(hostile(3))[-15:])
def test_what_dba_and_tfrp_begin_with(X, k):
    found = densest.group_densest(X, k, 2, Progress())
    assert same(found, labels_of(densest_first(X, k), len(X)))
    found = group_far_from_points(X, k, threads=2, progress=Progress())
    assert same(found, labels_of(far_from_points(X, k), len(X)))


def test_short_lists_do_not_change_dba(monkeypatch):
    """Lists of k records are used up all the time."""
    monkeypatch.setattr(densest, "LENGTH", 1)
    for seed in range(4):
        for k, X in itertools.product((2, 3, 5), records(70, 2, seed).values()):
            found = densest.group_densest(X, k, 2, Progress())
            assert same(found, labels_of(densest_first(X, k), len(X))), (seed, k)


def test_short_lists_do_not_change_the_spanning_tree(monkeypatch):
    monkeypatch.setattr(spanning, "RECORDS_PER_LIST", 1)
    for n, seed in ((50, 0), (50, 1), (150, 2), (150, 3)):
        for X in records(n, 2, seed).values():
            edges, lengths = spanning.spanning_tree(X, 2, Progress())
            assert sorted(zip(lengths, *edges.T, strict=True)) == kruskal(X)


def prim(X):
    """The squared lengths of the edges of the minimum spanning tree."""
    n, outside = len(X), np.ones(len(X), bool)
    nearest, lengths, i = np.full(len(X), np.inf), [], 0
    for _ in range(n - 1):
        outside[i], nearest[i] = False, np.inf
        nearest = np.where(outside, np.minimum(nearest, away(X, X[i])), np.inf)
        i = int(np.argmin(nearest))
        lengths.append(nearest[i])
    return np.array(lengths)


@pytest.mark.parametrize("spread_out", [0.0, 1e-3, 1.0])
def test_the_spanning_tree_is_minimal_where_lists_are_used_up(spread_out):
    """Clusters of 40 records: nobody's list of the nearest leaves its own."""
    rng = np.random.default_rng(5)
    X = np.repeat(rng.normal(size=(30, 3)), 40, axis=0) + spread_out * rng.normal(size=(1200, 3))
    edges, lengths = spanning_tree(X, 2, Progress())
    assert len(reached(1200, [(0, *edge) for edge in edges.tolist()], 0)) == 1200
    assert np.sqrt(lengths).sum() == pytest.approx(np.sqrt(prim(X)).sum(), rel=1e-12)
    np.testing.assert_array_equal(lengths, [away(X[[b]], X[a])[0] for a, b in edges])


def test_mst_leaves_large_parts_as_they_are_or_splits_them_by_another_method():
    X = np.random.default_rng(6).normal(size=(90, 2))
    for name in ("md", "mdav", "mdav_plus"):

        def split(X, k, name=name):
            labels = group(X, k, name)
            return [np.flatnonzero(labels == g).tolist() for g in np.unique(labels)]

        assert same(group(X, 4, "mst", split=name), labels_of(mst(X, 4, split), 90))
    assert same(group(X, 4, "mst", split=None), labels_of(mst(X, 4, lambda X, k: [range(len(X))]), 90))
    with pytest.raises(ValueError, match=r"split must be one of 'md', 'mdav', 'mdav_plus'; got 'ona'\."):
        mag.multivariate(X, 4, method="mst", split="ona")


def test_a_star_stays_whole_until_it_is_split():
    """No edge can be cut without leaving a record alone."""
    star = np.vstack([np.zeros(12), np.eye(12)])
    X = np.vstack([star, star + 100.0])
    sizes = np.bincount(np.unique(group(X, 3, "mst", split=None), return_inverse=True)[1])
    assert sizes.tolist() == [13, 13]
    assert np.bincount(np.unique(group(X, 3, "mst"), return_inverse=True)[1]).max() <= 5


@pytest.mark.parametrize("method", ["mu_approx", "nearest_neighbor"])
def test_the_bound_of_theorem_9_5(method):
    """cost ≤ 2(2k-1)·max(2k-1, 3k-5)² times the least cost; the theorem is of groups that may overlap."""
    rng = np.random.default_rng(7)
    for n, k in ((6, 2), (9, 2), (9, 3), (9, 4), (10, 5)):
        factor = 2 * (2 * k - 1) * max(2 * k - 1, 3 * k - 5) ** 2
        for X in (rng.normal(size=(n, 2)), rng.lognormal(0, 3, (n, 2)), rng.integers(0, 3, (n, 2)) * 1.0):
            for seed in range(3):
                labels = mag.multivariate(X, k, method=method, random_state=seed, standardize=False).labels
                found = sum(spread(X, np.flatnonzero(labels == g)) for g in range(labels.max() + 1))
                assert found <= factor * least_loss(X, k) * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("k", [2, 3, 4, 5, 7, 10])
def test_trees_of_near_records_have_at_most_the_records_of_condition_4(k):
    rng = np.random.default_rng(8)
    for X in (rng.normal(size=(600, 2)), rng.integers(0, 5, (600, 3)) * 1.0, rng.normal(size=(600, 20))):
        sizes = np.bincount(group(X, k, "nearest_neighbor"))
        assert k <= sizes.min() <= sizes.max() <= max(2 * k - 1, 3 * k - 5)


def test_the_order_of_sbm():
    """Tables 8.2 and 8.3 of the thesis, and what it overlooks: records that leave may change the order of others."""
    assert (rank_sums(np.array([[7.0, 6], [6, 3], [9, 7], [8, 1]])) + 2).tolist() == [5, 3, 8, 4]
    X = np.array([[-1, -1.5], [1, 1], [-2, 1.5], [2, -1]])
    order = np.argsort(rank_sums(X), kind="stable")
    assert order[0] == 0
    assert order[-1] in (1, 3)
    assert max(itertools.combinations(range(4), 2), key=lambda pair: away(X[[pair[1]]], X[pair[0]])[0]) == (2, 3)
    X = np.array([[0.0, 0, 5], [1, 1, 0], [9, 9, 1], [8, 8, 2]])
    assert (rank_sums(X) + 3).tolist() == [6, 5, 10, 9]
    assert (rank_sums(X[:2]) + 3).tolist() == [4, 5]


@pytest.mark.parametrize("method", NEW)
def test_groups_have_k_to_2k_minus_1_records(method):
    X = np.random.default_rng(9).normal(size=(1600, 3))
    for seconds in (None, 1e-9, 0.01):
        grouping = mag.multivariate(X, 25, method=method, time_limit=seconds)
        assert 25 <= grouping.sizes.min() <= grouping.sizes.max() <= 49


@pytest.mark.parametrize("method", NEW)
def test_they_can_be_interrupted_at_any_step(method):
    """What is there after each step is a grouping."""
    X, k = np.random.default_rng(10).normal(size=(400, 3)), 4
    for stop in range(12):
        steps = itertools.count()
        progress = Progress()
        step = progress.step

        def stopping(fraction, steps=steps, stop=stop, progress=progress, step=step):
            if next(steps) >= stop:
                progress.stop()
            return step(fraction)

        progress.step = stopping
        progress.span = progress.silent = lambda *_, progress=progress: progress
        given = {"threads": 1, "progress": progress, "random_state": np.random.default_rng(0)}
        chosen = METHODS[method]
        labels = chosen.group(X, k, **{name: one for name, one in given.items() if chosen.accepts(name)})
        assert np.unique(labels, return_counts=True)[1].min() >= k


# ---- cells of equal size


def transport(costs, room):
    """The cheapest cells of records, by slots."""
    assignment = pytest.importorskip("scipy.optimize").linear_sum_assignment
    return np.repeat(np.arange(len(room)), room)[assignment(np.repeat(costs, room, axis=1))[1]]


def plain_pcl(X, k, rng):
    n, m = len(X), len(X) // k
    centers, room, best, least = X[rng.choice(n, m, replace=False)], None, None, np.inf
    while True:
        costs = np.array([away(X, center) for center in centers]).T
        if room is None:
            wishes = np.bincount(costs.argmin(axis=1), minlength=m)
            popular = sorted(range(m), key=lambda c: (-wishes[c], c))[: n % m]
            room = np.array([n // m + (c in popular) for c in range(m)])
        labels = transport(costs, room)
        loss = sum(cost(X, np.flatnonzero(labels == c)) for c in range(m))
        if not loss < least * (1 - 1e-12):
            return best
        best, least = labels, loss
        centers = np.array([X[labels == c].mean(axis=0) for c in range(m)])


def test_pcl_is_lloyd_with_an_exact_transport():
    rng = np.random.default_rng(11)
    for n, d, k in [*SHAPES, (200, 3, 4), (250, 2, 9)]:
        X = rng.normal(size=(n, d))
        for seed in range(3):
            own = np.random.default_rng(seed)
            found = pcl.group(X, k, restarts=1, random_state=own, threads=1, progress=Progress())
            assert same(found, plain_pcl(X, k, np.random.default_rng(seed).spawn(1)[0])), (n, d, k, seed)


def test_transport_costs_least_whatever_it_starts_from():
    rng = np.random.default_rng(12)
    for n, m in ((12, 3), (40, 7), (60, 20)):
        for costs in (rng.random((n, m)), rng.integers(0, 3, (n, m)) * 1.0, np.zeros((n, m))):
            room = np.full(m, n // m)
            room[: n % m] += 1
            least = costs[np.arange(n), transport(costs, room)].sum()
            for prices in (np.zeros(m), rng.random(m)):
                labels = np.empty(n, np.int64)
                pcl.fill_cells(costs, prices, room, labels, Progress())
                np.testing.assert_array_equal(np.bincount(labels, minlength=m), room)
                assert costs[np.arange(n), labels].sum() == pytest.approx(least, rel=1e-12)


def test_many_records_are_halved_before_pcl(monkeypatch):
    monkeypatch.setattr(pcl, "MAX_UNSPLIT_RECORDS", 64)
    X = np.random.default_rng(13).normal(size=(500, 3))
    one, two = (mag.multivariate(X, 5, method="pcl", restarts=2, threads=threads) for threads in (1, 2))
    np.testing.assert_array_equal(one.labels, two.labels)
    assert 5 <= one.sizes.min() <= one.sizes.max() <= 6


# ---- the tables


@pytest.fixture(scope="module")
def tables():
    return read_published()["thesis"]


def loss(data, k, method, columns=slice(None)):
    return 100 * mag.multivariate(read_records(data)[:, columns], k, method=method).information_loss


SIZES = (3, 4, 5, 10)
DATABASES = ("Census", "Tarragona", "EIA")


@pytest.mark.parametrize("data", DATABASES)
def test_table_8_1(tables, data):
    """TFRP is printed for EIA without its first column, and 33.01 for Tarragona, k = 10, where 33.09 is meant."""
    columns = slice(1, None) if data == "EIA" else slice(None)
    for k in SIZES:
        assert loss(data, k, "dba") == pytest.approx(tables["8.1"][data]["DBA (claimed [44])"][str(k)], abs=0.00501)
        printed = 33.09 if (data, k) == ("Tarragona", 10) else tables["8.1"][data]["TFRP (claimed [13])"][str(k)]
        assert loss(data, k, "tfrp", columns) == pytest.approx(printed, abs=0.00501)


TIES = {  # what SBM loses with other orders of equal rank sums
    "Census": [(6.22, 6.53), (9.23, 9.67), (10.34, 10.73), (16.66, 17.23)],
    "Tarragona": [(18.65, 18.74), (22.97, 23.17), (28.20, 28.30), (40.67, 41.13)],
    "EIA": [(0.59, 0.65), (0.76, 0.87), (2.16, 2.30), (4.33, 4.60)],
}


@pytest.mark.parametrize("data", DATABASES)
def test_table_8_4(tables, data):
    """Printed and ours are both what some order of equal rank sums gives; 32.59 for Tarragona, k = 10, is not."""
    for k, (low, high) in zip(SIZES, TIES[data], strict=True):
        assert low <= round(loss(data, k, "sbm"), 2) <= high
        if (data, k) != ("Tarragona", 10):
            assert low - 0.005 <= tables["8.4_IL"][data]["SBM"][str(k)] <= high + 0.005


@pytest.mark.parametrize(
    ("data", "losses"),
    [
        ("Census", (6.141, 8.237, 10.295, 17.120)),
        ("Tarragona", (16.687, 19.687, 24.503, 38.422)),
        ("EIA", (0.395, 0.566, 0.797, 2.228)),
    ],
)
def test_losses_of_mst(data, losses):
    """Of a version that keeps all distances; none are printed."""
    for k, expected in zip(SIZES, losses, strict=True):
        assert loss(data, k, "mst") == pytest.approx(expected, abs=0.00051)
