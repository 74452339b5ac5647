"""The sort of the device, executed on the host: NumPy's stable order for every type, in any order of threads."""

from dataclasses import replace
from unittest import mock

import numpy as np
import pytest

from mag._backends.cuda import sort as sort_module
from mag._backends.cuda.sort import MAX_BUCKET_SORT_N, MAX_PARTS_PER_COLUMN, MIN_BUCKET_SORT_N, TILE, parts_of, sort
from mag._backends.cuda.sources import UNSORTED
from tests.cuda.host import ORDERS, HostModule
from tests.cuda.runs import HOST, on

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
    fine = [rng.random(n), rng.standard_cauchy(n), twins, low, heavy, few, same, np.sort(heavy)]
    return np.stack([*fine, half, hidden])


def check_buckets(device):
    """Whether all of these are sorted by buckets, except for those whose sample misleads."""
    assert sorted_by_buckets(device, bucket_columns(7000)) == [True] * 8 + [False] * 2


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dtype", [np.float64, np.int16])
def test_the_order_of_threads_does_not_matter(order, dtype):
    with by_radix():
        check(on(order, lanes=128), columns(dtype, 2 * TILE + 33))


@pytest.mark.parametrize("order", ORDERS)
def test_buckets_hold_any_column_whose_sample_does_not_mislead(order):
    check_buckets(on(order, lanes=256))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint32])
def test_columns_are_sorted_by_buckets_like_numpy_sorts_them(dtype):
    device = on("random", lanes=128)
    for n in (MIN_BUCKET_SORT_N, 3 * 3072 + 1):
        assert any(sorted_by_buckets(device, columns(dtype, n, seed=n)))


def test_buckets_are_for_columns_that_fit_them():
    X = np.random.default_rng(0).random((1, MIN_BUCKET_SORT_N - 1))
    assert sorted_by_buckets(HOST, X) is None
    assert sorted_by_buckets(HOST, np.zeros((1, MIN_BUCKET_SORT_N), np.int16)) is None
    assert sorted_by_buckets(HOST, np.random.default_rng(0).random((1, MAX_BUCKET_SORT_N))) == [True]
    assert sorted_by_buckets(HOST, np.random.default_rng(0).random((1, MAX_BUCKET_SORT_N + 1))) is None
    with mock.patch.object(sort_module, "_sort_by_buckets") as called:
        check(HOST, np.random.default_rng(0).random((2, MIN_BUCKET_SORT_N)))
    assert not called.called  # launches cost more than the bytes of few values


@pytest.mark.parametrize("dtype", [*REALS, *INTEGERS])
def test_every_type_is_sorted_like_numpy_sorts_it(dtype):
    for n in (1, 2, 31, 33, 255, 600):
        check(HOST, columns(dtype, n, seed=n))


def test_one_column_is_sorted_by_many_thread_blocks():
    device = on("reverse", lanes=64)
    assert parts_of(device, 1, 3 * TILE + 1) == (4, TILE)
    with by_radix():
        check(device, columns(np.float32, 3 * TILE + 1)[:1])


def test_parts_are_whole_tiles_that_cover_a_column():
    for cols, n, lanes in (
        (1, 10**7, 27_648),
        (500, 10**5, 27_648),
        (3, 1, 1),
        (1, TILE + 1, 10**6),
        (7, 2**31 - 2**21, 32_768),
    ):
        parts, length = parts_of(on("forward", lanes=lanes), cols, n)
        assert length % TILE == 0
        assert (parts - 1) * length < n <= parts * length
        assert parts <= MAX_PARTS_PER_COLUMN


def test_constant_digits_are_not_moved():
    moved = []

    class Counting(HostModule):
        def get_function(self, name):
            kernel = super().get_function(name)

            def call(grid, block, args, **options):
                before = [args[p].copy() for p in (0, 1)] if name == "scatter" else []
                kernel(grid, block, args, **options)
                if before:
                    moved.append(not all(np.array_equal(a, b) for a, b in zip(before, args, strict=False)))

            return call

    X = np.arange(300.0)[None, ::-1].copy()  # of 52 bits of a fraction, the lower 44 are zeros
    check(type(HOST)(np, Counting), X)
    assert moved == [False] * 5 + [True] * 3


@pytest.mark.parametrize(
    ("what", "edit"),
    [
        ("twice the same record", ("records_out[i] = tile_records[place];", "records_out[i] = tile_records[0];")),
        (
            "a record that is none",
            ("records_out[i] = tile_records[place];", "records_out[i] = n + tile_records[place];"),
        ),
        ("a negative record", ("records_out[i] = tile_records[place];", "records_out[i] = -tile_records[place];")),
        ("a digit that is left out", ("p < pass; ++p) moves += moves_in(differ, p)", "p < pass; ++p) moves += 1")),
        (
            "ties turned around",
            (
                "seen[warp][digit_of(word[r], pass)] + rank[r]",
                "turned[digit_of(word[r], pass)] - seen[warp][digit_of(word[r], pass)] - rank[r]",
            ),
        ),
    ],
)
def test_an_order_that_is_none_is_flagged(what, edit):
    class Wrong(HostModule):
        def __init__(self, *, code, options=()):
            code = code.replace(*edit)
            if "turned" in code:
                code = code.replace("tile_records[TILE];", "tile_records[TILE], turned[DIGITS];")
                last = "        next += sum;\n"
                code = code.replace(last, f"{last}        turned[thread] = 2 * start + sum - 1;\n")
            super().__init__(code=code, options=options)

    X = np.random.default_rng(0).integers(0, 90, (2, 300)).astype(np.float64)
    order, flags = np.zeros(X.shape, np.int32), np.zeros(2, np.int32)
    sort(type(HOST)(np, Wrong), X, order, flags)
    assert flags.tolist() == [UNSORTED] * 2


@pytest.mark.parametrize("bad", [np.nan, -np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_go_to_an_end(bad):
    X = np.random.default_rng(0).random((1, 300))
    X[0, 17] = bad
    order, flags = np.zeros(X.shape, np.int32), np.zeros(1, np.int32)
    values = sort(HOST, X, order, flags)
    assert not np.isfinite(values[0, [0, -1]]).all()
    assert 17 in order[0, [0, -1]]
