"""Trades: no move of two groups is left that gains, no group gets smaller than k, and the loss never grows."""

import numpy as np
import pytest

import mag
from mag._lib.progress import Progress
from mag.methods import ona_local
from mag.methods.distances.hierarchies import CategoryColumn, CategoryColumns
from mag.methods.mondrian import trades
from mag.methods.mondrian.trades import Trades, trade

LEVELS = np.array([[0, 6, 8], [1, 6, 8], [2, 6, 8], [3, 7, 8], [4, 7, 8], [5, 5, 8]])  # two nodes of leaves, and a leaf
LOSS = np.array([0.0, 0, 0, 0, 0, 0, 0.4, 0.3, 1.0])


def table(n, seed):
    """Two numbers in their ranges and a tree: coordinates and columns."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.random(n), rng.integers(0, 7, n) / 6, np.zeros(n)])
    tree = CategoryColumn(rng.integers(0, 6, n), LEVELS, LOSS, np.eye(6), 2, 1.0, 0.7)
    return X, CategoryColumns(np.array([0, 1]), [tree], np.array([1.0, 2.0]), by_range=True)


def naive_loss(X, columns, members):
    """Of all of these records, by the definition."""
    widths, (tree,) = np.ptp(X, axis=0), columns.columns
    number = sum(w * np.ptp(X[members, j]) / widths[j] for j, w in zip((0, 1), columns.importance, strict=True))
    paths = tree.levels[tree.codes[members]]
    common = next(level[0] for level in paths.T if len(set(level.tolist())) == 1)
    return len(members) * (number + tree.importance * tree.loss[common])


def total(X, columns, labels):
    return sum(naive_loss(X, columns, np.flatnonzero(labels == g)) for g in range(labels.max() + 1))


def random_labels(n, k, seed):
    """Groups of k to 2k-1 records."""
    labels, order, g = np.empty(n, np.int64), np.random.default_rng(seed).permutation(n), 0
    while order.size:
        size = order.size if order.size < 2 * k else k
        labels[order[:size]], order, g = g, order[size:], g + 1
    return labels


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("seed", range(6))
def test_two_groups_are_left_with_no_move_that_gains(seed, k):
    n = 2 * k + seed % k
    X, columns = table(n, seed)
    labels = Trades(X, k, columns, Progress(), 1).run(random_labels(n, k, seed))
    least = total(X, columns, labels)
    one, two = np.flatnonzero(labels == 0), np.flatnonzero(labels == 1)
    assert min(one.size, two.size) >= k
    for p in [None, *one]:
        for q in [None, *two]:
            other = labels.copy()
            other[[i for i in (p, q) if i is not None]] ^= 1
            if np.bincount(other, minlength=2).min() >= k:
                assert total(X, columns, other) >= least * (1 - 1e-8)


@pytest.mark.parametrize("k", [2, 5, 11])
def test_rounds_lower_the_loss_that_the_definition_counts(k):
    X, columns = table(400, k)
    start, rounds = random_labels(400, k, 1), Trades(X, k, columns, Progress(), 1)
    labels, losses = start, [total(X, columns, start)]
    for _ in range(4):
        labels = rounds.run(labels)
        losses.append(total(X, columns, labels))
        assert rounds.loss(labels) == pytest.approx(losses[-1], rel=1e-12)
        assert np.bincount(labels).min() >= k
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 0.8 * losses[0]


def test_large_groups_are_cut():
    X, columns = table(300, 0)
    rounds = Trades(X, 4, columns, Progress(), 1)
    one = rounds.cut(np.zeros(300, np.int64))
    assert np.bincount(one).min() >= 4
    assert rounds.loss(one) < 0.5 * rounds.loss(np.zeros(300, np.int64))
    small = random_labels(300, 4, 0)
    assert rounds.loss(rounds.cut(small)) == pytest.approx(rounds.loss(small))


def test_labels_do_not_depend_on_threads():
    X, columns = table(900, 4)
    start = random_labels(900, 3, 2)
    one, three = (trade(X, 3, start.copy(), columns, threads, Progress()) for threads in (1, 3))
    assert one.tobytes() == three.tobytes()


def test_no_time_leaves_the_groups_as_they_are():
    X, columns = table(200, 5)
    start = random_labels(200, 3, 3)
    assert (trade(X, 3, start.copy(), columns, 1, Progress(None, 0.0)) == start).all()


@pytest.fixture
def frame():
    """Two numbers that are published as ranges, and two categories."""
    rng = np.random.default_rng(0)
    tree = mag.Hierarchy.from_levels([[str(i), str(i // 4), "*"] for i in range(16)])
    cells = {"a": rng.normal(size=800), "b": rng.normal(size=800), "t": rng.integers(0, 16, 800).astype(str)}
    cells["c"] = np.array(["x", "y", "z"])[rng.integers(0, 3, 800)]
    return cells, {"hierarchies": {"t": tree}, "aggregate": {"a": "range", "b": "range", "c": "mode"}}


@pytest.mark.parametrize("sparse", [False, True])
def test_parts_of_tables_with_trees(frame, sparse, monkeypatch):
    """Categories without places are given some, part by part."""
    cells, options = frame
    monkeypatch.setattr(ona_local, "RECORDS_PER_START", 150)
    monkeypatch.setattr(ona_local, "RECORDS_PER_ONA_PART", 100)
    monkeypatch.setattr(ona_local, "GROUPS_PER_PART", 8)
    if sparse:
        monkeypatch.setattr(ona_local, "SPARSE_RECORDS", 100)
        monkeypatch.setattr("mag.tables._grouping.FEW_LEAVES", 8)
        monkeypatch.setattr("mag.tables._grouping.MANY_CELLS", 0)
    one, two = (
        mag.microaggregate(cells, 4, [*"abtc"], method="ona_local", threads=threads, **options) for threads in (1, 2)
    )
    assert one.grouping.labels.tolist() == two.grouping.labels.tolist()
    assert one.grouping.sizes.min() >= 4
    monkeypatch.setattr(trades, "MAX_TRADING_ROUNDS", 0)
    start = mag.microaggregate(cells, 4, [*"abtc"], method="ona_local", **options)
    assert one.ncp() < 0.985 * start.ncp()
