"""Columns that a sort on a device could get wrong, and checks of it against NumPy's stable order."""

from dataclasses import replace
from unittest import mock

import numpy as np

from mag._backends.cuda import sort as sort_module
from mag._backends.cuda.sort import sort

REALS = [np.float64, np.float32, np.float16]
INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]


def columns(dtype, n, seed=0):
    """Rows that a sort could get wrong: all values and their ends, ties, both zeros, constants, sorted and reversed."""
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        zeros = np.where(rng.random(n) < 0.5, -0.0, 0.0)
        wide = np.where(rng.random(n) < 0.3, zeros, rng.normal(size=n) * 10.0 ** rng.integers(-4, 4, n))
        edges = np.finfo(dtype)
        wide[:3] = np.array([edges.max, edges.min, edges.smallest_subnormal])[: min(n, 3)]
        rows = [wide, zeros, rng.integers(-3, 3, n), np.full(n, 7.5), np.sort(rng.normal(size=n))[::-1]]
        rows.append(np.where(np.arange(n) == 1, 6.5, 7.5))  # one value tells which bits differ
    else:
        ends = np.iinfo(dtype)
        wide = rng.integers(ends.min, ends.max, n, dtype=dtype, endpoint=True)
        wide[:2] = np.array([ends.min, ends.max], dtype)[: min(n, 2)]
        rows = [wide, np.arange(n) % 100, np.full(n, 7), np.sort(wide)[::-1], wide & 3]
    return np.stack([np.asarray(row).astype(dtype) for row in rows])


def check(device, X):
    order, flags = np.full(X.shape, -9, np.int32), np.zeros(len(X), np.int32)
    values = sort(device, X, order, flags)
    expected = np.argsort(X + 0.0 if X.dtype.kind == "f" else X, axis=1, kind="stable")
    assert np.array_equal(order, expected)
    assert not flags.any()
    ordered = np.take_along_axis(X, expected, axis=1)
    if X.dtype.kind != "f":
        ordered = np.array([[int(value) - int(row[0]) for value in row] for row in ordered.tolist()], object)
    assert values.tobytes() == ordered.astype(np.float64).tobytes()


def by_radix():
    """While columns of every length are left to the radix sort."""
    return mock.patch.object(sort_module, "MAX_BUCKET_SORT_N", 0)


def by_buckets():
    """While tables of few values are sorted by buckets too."""
    return mock.patch.object(sort_module, "MIN_BUCKET_SORT_VALUES", 0)


def sorted_by_buckets(device, X):
    """Which columns were sorted by buckets."""
    marked = []

    class Looking(device.module):
        def get_function(self, name):
            kernel = super().get_function(name)

            def call(grid, block, args, **options):
                kernel(grid, block, args, **options)
                if name == "lay_out":
                    marked.append(args[-1].copy())

            return call

    with by_buckets():
        check(replace(device, module=Looking), X)
    return np.concatenate(marked).astype(bool).tolist() if marked else None


def bucket_columns(n):
    """Columns that fill buckets in unlike ways; the samples of the last two mislead, one more than the other."""
    rng = np.random.default_rng(3)
    sampled = np.arange(2048) * n // 2048
    hidden = rng.random(n) + 1  # almost all values lie between two of the sample
    hidden[sampled] = np.arange(2048)
    half = np.where(rng.random(n) < 0.6, hidden, 2048 * rng.random(n))
    half[sampled] = np.arange(2048)
    twins = np.repeat(rng.random(n // 2 + 1), 2)[:n]
    low = rng.integers(0, 2, n) + rng.integers(0, 999, n) * 2.0**-50  # the leading bits do not tell all
    heavy = np.where(rng.random(n) < 0.6, 0.5, rng.random(n))
    few, same = rng.integers(0, 5, n).astype(float), np.full(n, 2.0)
    ends = np.ones(n)  # the last bucket has keys of its first and its last digit, the least of these at the end
    ends[:: n // 250] = 1.5 + np.r_[0, rng.integers(1, 65000, len(ends[:: n // 250]) - 4), 65535, 65500, 65400] / 2**52
    fine = [rng.random(n), rng.standard_cauchy(n), twins, low, heavy, few, same, np.sort(heavy), ends]
    return np.stack([*fine, half, hidden])


def check_buckets(device):
    """Whether all of these are sorted by buckets, except for those whose sample misleads."""
    assert sorted_by_buckets(device, bucket_columns(7000)) == [True] * 9 + [False] * 2
