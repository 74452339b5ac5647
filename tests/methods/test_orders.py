"""Records in order: the dynamic program against all cuts, published figures, and the promise of each order."""

import importlib
import itertools
import sys

import numpy as np
import pytest

import mag
from benchmarks import mortazavi
from benchmarks._data import DATA
from mag._backends import cpu
from mag._lib.progress import Progress
from mag.methods import METHODS
from mag.methods.distances.neighbors import neighbors, rounds
from mag.methods.orders import mdav_order, npn, tsp
from mag.methods.orders.consecutive import IntegerColumns, best_in_orders, labels_in_order
from mag.methods.orders.groups_of_k import order_of
from mag.methods.orders.lines import project
from mag.methods.orders.projection import Search, principal, projections_for

needs_data = pytest.mark.skipif(not (DATA / "eia.csv").exists(), reason="the data sets are not beside the project")


def spread(X):
    return np.square(X - X.mean(axis=0)).sum()


def rounded(X):
    return np.square(X - mortazavi.away(X.mean(axis=0))).sum()


def every_cut(n, k):
    """All groupings of n records in order, as where groups start and end."""
    if n < 2 * k:
        yield [(0, n)]
        return
    for size in range(k, 2 * k):
        if n - size >= k:
            yield from ([*cut, (n - size, n)] for cut in every_cut(n - size, k))


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("offset", [0, 10**6])
def test_no_cut_of_the_order_is_better(k, offset):
    rng = np.random.default_rng(k)
    for n, d in itertools.product((2 * k, 2 * k + 1, 11, 12), (1, 2, 5)):
        X, order = rng.integers(-20, 20, (n, d)) + float(offset), rng.permutation(n)
        for cost, whole in ((spread, None), (rounded, IntegerColumns(X, np.ones(d)))):
            labels = labels_in_order(X, order, k, whole)
            found = sum(cost(X[labels == g]) for g in np.unique(labels))
            best = min(sum(cost(X[order][i:j]) for i, j in cut) for cut in every_cut(n, k))
            assert found == pytest.approx(best, rel=1e-12)
            assert np.bincount(labels).min() >= k
            assert (np.diff(labels[order]) <= 0).all()


def test_clusters_far_apart_cost_no_digits():
    """Costs of 1e-12 beside distances of 1e9."""
    rng = np.random.default_rng(0)
    places = np.repeat(1e9 * rng.integers(-9, 9, (60, 3)), 7, axis=0)
    X = places + 2.0**-20 * rng.integers(0, 8, places.shape)
    labels = labels_in_order(X, np.arange(len(X)), 7, None)
    np.testing.assert_array_equal(np.unique(labels)[::-1][:, None], labels.reshape(60, 7)[:, :1])


def test_weights_of_columns_count_for_integers():
    X = np.array([[0, 0], [0, 9], [5, 0], [5, 9]]) * 1.0
    for unit, expected in (([1.0, 0.0], [1, 1, 0, 0]), ([0.0, 1.0], [1, 0, 1, 0])):
        order = [0, 1, 2, 3] if unit[0] else [0, 2, 1, 3]
        labels = labels_in_order(X, np.array(order), 2, IntegerColumns(X, np.array(unit)))
        assert labels.tolist() == expected


def test_the_best_of_several_orders_is_kept():
    X = np.random.default_rng(1).normal(size=(50, 3))
    orders = [np.random.default_rng(seed).permutation(50) for seed in range(5)]
    losses = [
        sum(spread(X[labels == g]) for g in np.unique(labels))
        for labels in (labels_in_order(X, order, 4, None) for order in orders)
    ]
    best = best_in_orders(X, orders, 4, None)
    assert sum(spread(X[best == g]) for g in np.unique(best)) == pytest.approx(min(losses))


def test_the_nearest_point_is_next():
    X = np.random.default_rng(2).integers(0, 6, (150, 2)) * 1.0
    walk = npn.order(X)
    assert sorted(walk) == list(range(150))
    left = set(range(150))
    distance = np.square(X - X.mean(axis=0)).sum(axis=1)
    assert walk[0] == np.argmax(distance)
    for here, following in itertools.pairwise(walk):
        left.remove(here)
        distances = {record: np.square(X[record] - X[here]).sum() for record in left}
        assert following == min(left, key=lambda record: (distances[record], record))


@pytest.mark.parametrize(("n", "d", "values"), [(2, 1, 2), (90, 3, 5), (2300, 2, 40), (1100, 30, 3)])
def test_neighbors_are_the_nearest(n, d, values):
    """Also where blocks make several tiles, and many are equally near."""
    X = np.random.default_rng(3).integers(0, values, (n, d)) * 1.0
    distance = np.square(X[:, None] - X).sum(axis=2)
    np.fill_diagonal(distance, np.inf)
    count = min(6, n - 1)
    for threads in (1, 2):
        np.testing.assert_array_equal(
            neighbors(X, count, threads), np.argsort(distance, axis=1, kind="stable")[:, :count]
        )


@pytest.mark.parametrize("tiles", [1, 2, 3, 4, 7, 10])
def test_every_tile_meets_every_other_once_and_one_at_a_time(tiles):
    met = list(rounds(tiles))
    for some in met[1:]:
        assert len({tile for pair in some for tile in pair}) == 2 * len(some)
    assert sorted(tuple(sorted(pair)) for some in met for pair in some) == list(
        itertools.combinations_with_replacement(range(tiles), 2)
    )


def mdav(X, k):
    """MDAV, as it is written in the books."""
    left, groups = list(range(len(X))), []

    def gather(point):
        near = sorted(left, key=lambda i: (np.square(X[i] - point).sum(), i))[:k]
        groups.append(near)
        for i in near:
            left.remove(i)

    def farthest(point):
        return X[max(left, key=lambda i: (np.square(X[i] - point).sum(), -i))]

    while len(left) >= 3 * k:
        r = farthest(X[left].mean(axis=0))
        s = farthest(r)
        gather(r)
        gather(s)
    if len(left) >= 2 * k:
        gather(farthest(X[left].mean(axis=0)))
    return [*groups, left]


@pytest.mark.parametrize("n", [40, 41, 43, 45, 47])
def test_the_order_of_mdav_never_loses_more_than_mdav(n):
    k, X = 4, np.random.default_rng(n).normal(size=(n, 3))
    X -= X.mean(axis=0)
    groups = mdav(X, k)
    order = order_of(X, k, mdav_order.gather, Progress())
    assert order[:32].tolist() == [i for group in groups for i in group][:32]
    found = mag.multivariate(X, k, method="mdav_order", standardize=False).cost
    assert found <= sum(spread(X[group]) for group in groups) * (1 + 1e-12)


def length(X, tour):
    return np.sqrt(np.square(X[tour] - X[np.roll(tour, 1)]).sum(axis=1)).sum()


def test_tours_grow_shorter_and_visit_everyone():
    X = np.random.default_rng(4).random((400, 2))
    paths = list(tsp.orders(X, 10, np.random.default_rng(0), 1, Progress()))
    assert all(sorted(path) == list(range(400)) for path in paths)
    lengths = [length(X, path) for path in paths]
    assert lengths[0] > lengths[1] > lengths[-1]
    assert all(a >= b * (1 - 1e-12) for a, b in itertools.pairwise(lengths))
    assert (
        lengths[-1] < 0.7124 * 400**0.5 * 1.12
    )  # a random tour of many points in the unit square is 0.7124·√n at best


def test_a_tour_is_never_worse_than_the_walk_it_starts_from():
    for seed in range(5):
        X = np.random.default_rng(seed).lognormal(0, 2, (200, 4))
        for k in (2, 5):
            tour, walk = (mag.multivariate(X, k, method=method).cost for method in ("tsp", "npn"))
            assert tour <= walk * (1 + 1e-12)


def test_equal_records_are_one_stop_of_the_tour():
    X = np.repeat(np.random.default_rng(5).normal(size=(12, 3)), 5, axis=0)
    assert mag.multivariate(X, 5, method="tsp").cost == 0


ORDERED = [name for name, method in METHODS.items() if "integer" in method.options]


@pytest.mark.parametrize("method", ORDERED)
def test_groups_of_ordered_records_have_fewer_than_2k(method):
    X = np.random.default_rng(6).normal(size=(203, 3))
    assert mag.multivariate(X, 5, method=method).sizes.max() < 10


# ---- projections


def search(X, k, threads=1):
    return Search(projections_for(X, k, cpu, threads), Progress())


def test_the_principal_component_is_where_records_vary_most():
    rng = np.random.default_rng(7)
    for n, d in ((50, 4), (5, 30)):
        X = rng.normal(size=(n, d)) * np.arange(1, d + 1)
        X -= X.mean(axis=0)
        direction = principal(projections_for(X, 2, cpu, 1), n, d)
        direction /= np.linalg.norm(direction)
        assert np.square(X @ direction).sum() == pytest.approx(np.linalg.svd(X)[1][0] ** 2)
        assert direction[np.argmax(np.abs(direction))] > 0


def test_scores_are_those_of_the_groups_on_the_line():
    X = np.random.default_rng(8).normal(size=(120, 5))
    X -= X.mean(axis=0)
    looked = search(X, 5)
    directions = np.random.default_rng(9).random((40, 5))
    looked.score_directions(directions)
    for direction, score in zip(directions, np.concatenate(looked.scores), strict=True):
        labels = mag.univariate(project(np.ascontiguousarray(X.T), direction), 5).labels
        assert score == pytest.approx(sum(spread(X[labels == g]) for g in np.unique(labels)))
    assert looked.least == np.concatenate(looked.scores).min()


@pytest.mark.parametrize("directions", ["uniform", "gaussian"])
@pytest.mark.parametrize("ordered", [True, False])
def test_more_projections_never_lose_more_and_never_more_than_pca(directions, ordered):
    X = np.random.default_rng(10).lognormal(0, 1, (150, 4))
    before = mag.multivariate(X, 5, method="projection", directions="pca", ordered=ordered).cost
    for n_projections in (1, 2, 5, 20, 60, 200):
        options = {"directions": directions, "n_projections": n_projections, "ordered": ordered}
        now = mag.multivariate(X, 5, method="projection", **options).cost
        assert now <= before * (1 + 1e-12)
        before = now


def test_scores_of_all_candidates_are_kept_on_request():
    X = np.random.default_rng(11).normal(size=(100, 3))
    few, many = (
        mag.multivariate(X, 5, method="projection", n_projections=m, return_scores=True, ordered=False)
        for m in (20, 50)
    )
    assert many.details["directions"].shape == (3, 51)
    assert many.details["scores"].shape == (51,)
    np.testing.assert_array_equal(few.details["scores"], many.details["scores"][:21])
    np.testing.assert_array_equal(few.details["directions"], many.details["directions"][:, :21])
    assert many.information_loss == pytest.approx(many.details["scores"].min())
    assert mag.multivariate(X, 5, method="projection").details == {}


def test_given_directions_are_the_only_ones():
    X = np.random.default_rng(12).normal(size=(60, 3))
    alone = mag.multivariate(X, 5, method="projection", directions=[[0], [5e-300], [0]], ordered=False)
    expected = mag.univariate(X[:, 1], 5).labels
    assert len({(a, b) for a, b in zip(alone.labels, expected, strict=True)}) == alone.n_groups
    kept = mag.multivariate(X, 5, method="projection", directions=np.eye(3), return_scores=True)
    assert kept.details["scores"].shape == (3,)


def test_orders_only_gain_from_all_columns():
    X = np.random.default_rng(13).normal(size=(300, 4))
    ordered, alone = (mag.multivariate(X, 5, method="projection", ordered=ordered).cost for ordered in (True, False))
    assert ordered < alone


def test_refinement_only_gains():
    X = np.random.default_rng(14).normal(size=(300, 4))
    costs = [mag.multivariate(X, 5, method="projection", n_projections=20, refine=r).cost for r in (0, 1, 5, 20)]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < costs[0]


def test_blocks_and_threads_do_not_matter(monkeypatch):
    X = np.random.default_rng(15).normal(size=(90, 3))
    expected = mag.multivariate(X, 5, method="projection", return_scores=True)
    for block in (1, 1000, 2**30):
        monkeypatch.setattr("mag.methods.orders.lines.NUMBERS_PER_BLOCK", block)
        for threads in (1, 2):
            found = mag.multivariate(X, 5, method="projection", return_scores=True, threads=threads)
            assert found.labels.tobytes() == expected.labels.tobytes()
            assert found.details["scores"].tobytes() == expected.details["scores"].tobytes()


@pytest.mark.skipif(sys.platform != "linux", reason="the kernels on the host are ELF libraries")
def test_a_device_finds_the_groups_of_the_cpu(monkeypatch):
    """The kernels of the device, compiled for the host."""
    cuda = pytest.importorskip("mag._backends.cuda", reason="the backend is not there")
    monkeypatch.setattr(cuda, "why_not", lambda: None)
    monkeypatch.setattr(cuda, "current", lambda: importlib.import_module("tests.cuda.runs").HOST)
    X = np.random.default_rng(16).normal(size=(200, 3))
    for k in (5, 20):
        here, there = (
            mag.multivariate(X, k, method="projection", n_projections=20, return_scores=True, backend=backend)
            for backend in ("cpu", "cuda")
        )
        assert here.labels.tobytes() == there.labels.tobytes()
        assert here.details["scores"].tobytes() == there.details["scores"].tobytes()
    with pytest.raises(TypeError, match="backend 'cuda' is not used by method 'tsp'"):
        mag.multivariate(X, 5, method="tsp", backend="cuda")


# ---- published figures


@needs_data
@pytest.mark.parametrize("order", ["NPN", "PCA", "Z-score"])
@pytest.mark.parametrize("name", mortazavi.NAMES)
def test_table_3_of_mortazavi_to_the_last_integer(name, order):
    for row in mortazavi.rows(name, order):
        assert row["IMHM"] == row["his IMHM"]
        assert row["IMHMI"] == row["his IMHMI"]


@needs_data
@pytest.mark.parametrize("name", mortazavi.NAMES)
def test_tours_lose_at_most_3_percent_more_than_those_of_mortazavi(name):
    for row in mortazavi.rows(name, "TSP"):
        assert row["IMHM"] <= 1.03 * row["his IMHM"]
        assert row["IMHMI"] <= 1.03 * row["his IMHMI"]
