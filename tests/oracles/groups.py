"""Groups of records: how methods are called without preparation, compared, checked, and the least loss there is."""

import itertools

import numpy as np
import pytest

from mag._backends import cpu
from mag._lib.progress import Progress
from mag.methods import METHODS
from mag.methods.distances.standard import center_columns


def group(X, k, method, **options):
    given = {"engine": cpu, "threads": 1, "progress": Progress(), "random_state": np.random.default_rng(0)}
    chosen = METHODS[method]
    found = chosen.group(X, k, **{a: b for a, b in given.items() if chosen.accepts(a)}, **options)
    return found[0] if isinstance(found, tuple) else found


def same(labels, others):
    """Whether two labelings make the same groups."""
    return len({*zip(labels, others, strict=True)}) == len({*labels}) == len({*others})


def labels_of(C, n):
    labels = np.full(n, -1)
    for g, members in enumerate(C):
        labels[members] = g
    return labels


def check(X, k, grouping, standardize=True):
    """The sizes, counted from the labels, and the cost, summed from the masked records."""
    labels = grouping.labels
    sizes = np.bincount(labels)
    assert sizes.min() >= k
    np.testing.assert_array_equal(sizes, grouping.sizes)
    assert grouping.n_groups == sizes.size
    _, first = np.unique(labels, return_index=True)
    assert (np.diff(first) > 0).all()  # numbered in the order of their first records
    assert grouping.masked.shape == X.shape
    assert np.isfinite(grouping.masked).all()
    assert grouping.information_loss <= 1 + 1e-12
    for g in range(grouping.n_groups):
        members = X[labels == g].astype(np.float64)
        assert (grouping.representatives[g] >= members.min(axis=0)).all()
        assert (grouping.representatives[g] <= members.max(axis=0)).all()
    values = X.astype(np.float64) if X.dtype.kind in "bf" else X
    z = center_columns(values, standardize).z.astype(np.longdouble)
    expected = sum(np.square(z[labels == g] - z[labels == g].mean(axis=0)).sum() for g in range(grouping.n_groups))
    assert grouping.information_loss * float(np.square(z).sum()) == pytest.approx(float(expected), rel=1e-9, abs=1e-20)


def least_loss(X, k):
    """The least sum of squares over all groupings of a few records."""
    n = len(X)
    everyone = frozenset(range(n))

    def spread(members):
        return np.square(X[members] - X[members].mean(axis=0)).sum()

    def best(left):
        if len(left) < 2 * k:
            return spread(sorted(left))
        first, *others = sorted(left)
        found = spread(sorted(left))
        for size in range(k, len(left) - k + 1):
            for rest in itertools.combinations(others, size - 1):
                members = [first, *rest]
                found = min(found, spread(members) + best(left - set(members)))
        return found

    return best(everyone)
