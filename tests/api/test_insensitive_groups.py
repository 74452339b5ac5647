"""Groups around the corners of public bounds: the definition, and the effect of a change of one record."""

import itertools

import numpy as np
import pytest

import mag
from mag.methods.distances.corners import corners
from tests.data.sets import read_records


def plain(X, k, bounds):
    """While 2k records are left, the k smallest by (squared distance from the corner, values) are a group."""
    low, high = np.array(bounds, float).T
    clipped = np.clip(X, low, high)
    left, groups = [(tuple(row), i) for i, row in enumerate((clipped - low) / (high - low))], []
    for corner in corners(np.arange(len(X)), len(low)):
        if len(left) < 2 * k:
            break
        left.sort(key=lambda one, corner=corner: (distance(one[0], corner), *one))
        groups.append([i for _, i in left[:k]])
        left = left[k:]
    return [*groups, [i for _, i in left]]


def distance(x, y):
    total = 0.0
    for a, b in zip(x, y, strict=True):
        total += (a - b) ** 2
    return total


def tables(n, d, seed):
    rng = np.random.default_rng(seed)
    return {
        "uniform": rng.random((n, d)),
        "few values": rng.integers(0, 3, (n, d)) / 2,
        "outside": rng.normal(0.5, 1.0, (n, d)),
        "constant": np.full((n, d), 0.25),
    }


def test_corners_are_opposite_in_pairs_and_all_different():
    assert corners(np.arange(8), 3).tolist() == [
        [0, 0, 0], [1, 1, 1], [1, 0, 0], [0, 1, 1], [1, 1, 0], [0, 0, 1], [0, 1, 0], [1, 0, 1]
    ]  # fmt: skip
    assert len({tuple(corner) for corner in corners(np.arange(64), 6)}) == 64
    np.testing.assert_array_equal(corners(np.arange(64), 5), corners(np.arange(64) % 32, 5))
    assert corners(np.arange(5), 1).tolist() == [[0], [1], [0], [1], [0]]
    assert corners(np.arange(100), 200).shape == (100, 200)


def test_it_is_the_plain_algorithm():
    for (n, d), k in itertools.product(((7, 1), (30, 2), (41, 3), (150, 2), (20, 70)), (1, 2, 3, 5)):
        for name, X in tables(n, d, n).items():
            grouping = mag.insensitive_groups(X, k, bounds=[(0, 1)] * d)
            expected = np.empty(n, int)
            for g, members in enumerate(plain(X, k, [(0, 1)] * d)):
                expected[members] = g
            np.testing.assert_array_equal(grouping.labels, expected, f"{name} {n} {d} {k}")


@pytest.mark.parametrize("name", tables(1, 1, 0))
def test_a_change_of_one_record_changes_each_group_in_one_record_at_most(name):
    """Groups as multisets of values: the order of the records does not matter either."""
    rng = np.random.default_rng(1)
    for n, d, k in ((12, 1, 2), (20, 2, 3), (50, 2, 2), (90, 3, 4)):
        X = tables(n, d, n)[name]
        bounds = [(0, 1)] * d
        before = mag.insensitive_groups(X, k, bounds=bounds)
        for _ in range(25):
            changed = X.copy()
            changed[rng.integers(n)] = rng.choice([rng.random(d), rng.integers(0, 3, d) / 2, X[rng.integers(n)]])
            changed = rng.permutation(changed)
            after = mag.insensitive_groups(changed, k, bounds=bounds)
            assert after.n_groups == before.n_groups
            for g in range(after.n_groups):
                old, new = (
                    np.clip(table[labels == g], 0, 1).tolist()
                    for table, labels in ((X, before.labels), (changed, after.labels))
                )
                assert len(old) == len(new)
                for row in new:
                    if row in old:
                        old.remove(row)
                assert len(old) <= 1
            assert np.abs(after.representatives - before.representatives).max() <= 1 / k + 1e-12


def test_sizes_and_bounds():
    X = np.random.default_rng(2).normal(size=(103, 3))
    for k in (1, 2, 10, 51, 52, 103):
        sizes = mag.insensitive_groups(X, k, bounds=[(-1, 1)] * 3).sizes
        assert (sizes[:-1] == k).all()
        assert k <= sizes[-1] < max(2 * k, 104 - k)
    masked = mag.insensitive_groups(X, 2, bounds=[(-1, 1), (-0.5, 0.5), (0, 9)]).masked
    assert (masked.min(axis=0) >= [-1, -0.5, 0]).all()
    assert (masked.max(axis=0) <= [1, 0.5, 9]).all()
    grouping = mag.insensitive_groups(np.arange(10)[:, None], 5, bounds=[(0, 9)])
    assert grouping.representatives.tolist() == [[2.0], [7.0]]


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ([(0, 1)], "bounds must have the shape (d, 2) for the d=2 columns of X; got (1, 2)."),
        ([(0, 1), (1, 1)], "bounds must be pairs of a lower and a higher number; got others for column 1."),
        ([(0, np.inf), (0, 1)], "bounds contains 1 infinite value in column 1; drop or impute them first."),
        ([(-1.7e308, 1.7e308)] * 2, "bounds must differ by less than the largest float64; got bounds farther apart."),
        ([("a", "b")] * 2, "bounds must hold real numbers; got dtype string."),
    ],
)
def test_wrong_bounds_are_named(bounds, message):
    with pytest.raises((TypeError, ValueError)) as error:
        mag.insensitive_groups(np.eye(4)[:, :2], 2, bounds=bounds)
    assert str(error.value) == message


def test_bounds_are_needed():
    with pytest.raises(TypeError):
        mag.insensitive_groups(np.eye(4), 2)


@pytest.mark.parametrize(
    ("data", "losses"),
    [
        ("census", (15.08, 19.39, 24.69, 38.91)),
        ("tarragona", (24.41, 30.05, 35.47, 57.52)),
        ("eia", (5.19, 6.09, 12.52, 20.89)),
    ],
)
def test_losses_on_public_data(data, losses):
    """Of another version; the bounds are the ranges of the data here, which only a comparison may do."""
    X = read_records(data)
    bounds = np.stack([X.min(axis=0), X.max(axis=0)], axis=1)
    for k, expected in zip((3, 5, 10, 50), losses, strict=True):
        assert 100 * mag.insensitive_groups(X, k, bounds=bounds).information_loss == pytest.approx(
            expected, abs=0.00501
        )
