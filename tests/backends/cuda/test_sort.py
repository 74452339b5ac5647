"""The sort of the device, executed on the host: NumPy's stable order for every type, in any order of threads."""

from unittest import mock

import numpy as np
import pytest

from mag._backends.cuda import sort as sort_module
from mag._backends.cuda.sort import MAX_BUCKET_SORT_N, MAX_PARTS_PER_COLUMN, MIN_BUCKET_SORT_N, TILE, parts_of, sort
from mag._backends.cuda.sources import UNSORTED
from tests.cuda.host import ORDERS, HostModule
from tests.cuda.runs import HOST, on
from tests.cuda.sorting import INTEGERS, REALS, by_radix, check, check_buckets, columns, sorted_by_buckets


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
