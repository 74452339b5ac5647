"""Pairs of least cost, against all perfect matchings of few records."""

import importlib.util

import numpy as np
import pytest

import mag
from mag.methods import matching
from tests.data.records import hostile_tables
from tests.oracles.groups import check

pytest.importorskip("rustworkx")
pytest.importorskip("scipy")


def least_pairs(X, left):
    """The least cost of all ways to pair the records that are left."""
    if not left:
        return 0.0
    first, *others = left
    return min(np.square(X[first] - X[o]).sum() / 2 + least_pairs(X, [r for r in others if r != o]) for o in others)


@pytest.mark.parametrize("near", [1, 10])  # with one neighbor, pairs that are missing have to be found
def test_pairs_are_the_best_of_all_perfect_matchings(near, monkeypatch):
    monkeypatch.setattr(matching, "FIRST_NEIGHBORS", near)
    rng = np.random.default_rng(0)
    for n in (4, 6, 8, 10):
        for X in (rng.normal(size=(n, 2)), rng.integers(0, 3, (n, 3)) * 1.0, rng.lognormal(0, 3, (n, 2))):
            grouping = mag.multivariate(X, 2, method="matching", standardize=False)
            assert (grouping.sizes == 2).all()
            assert grouping.cost == pytest.approx(least_pairs(X, list(range(n))), rel=1e-9, abs=1e-12)


def test_odd_sets_are_told_apart():
    """Three triangles: fractional matching stays inside of them, pairs cannot."""
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.8]])
    X = np.vstack([corners, corners + [9, 0], corners + [4, 7], corners + [30, 1]])
    grouping = mag.multivariate(X, 2, method="matching", standardize=False)
    assert grouping.cost == pytest.approx(least_pairs(X, list(range(12))), rel=1e-9)


def test_of_an_odd_number_one_group_has_three():
    for n in (5, 7, 41):
        X = np.random.default_rng(n).normal(size=(n, 3))
        assert sorted(mag.multivariate(X, 2, method="matching").sizes) == [2] * (n // 2 - 1) + [3]


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("name", hostile_tables(40))
def test_hostile_tables_are_paired(name, standardize):
    X = hostile_tables(40)[name]
    check(X, 2, mag.multivariate(X, 2, method="matching", standardize=standardize), standardize)


def test_the_same_bytes_on_any_number_of_threads():
    X = np.random.default_rng(1).normal(size=(121, 3))
    labels = {mag.multivariate(X, 2, method="matching", threads=threads).labels.tobytes() for threads in (1, 2, 5)}
    assert len(labels) == 1


def test_what_cannot_be_paired_is_refused(monkeypatch):
    X = np.zeros((20, 2))
    for k in (1, 3):
        with pytest.raises(ValueError, match=rf"method 'matching' needs k=2; got k={k}\."):
            mag.multivariate(X, k, method="matching")
    with pytest.raises(ValueError, match=r"method 'matching' is for at most 2048 records; got n=2050\."):
        mag.multivariate(np.zeros((2050, 2)), 2, method="matching")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="method 'matching' needs rustworkx and scipy: pip install"):
        mag.multivariate(X, 2, method="matching")
