"""The device's pipeline on the host: labels, cost, representatives and masked values equal those of the CPU."""

import numpy as np
import pytest

import mag
from mag._backends import cpu
from mag._backends.cuda.columns import ColumnBatch
from mag._backends.cuda.launch import host_is_sooner
from mag.costs import COSTS
from tests.cuda.host import ORDERS, HostModule
from tests.cuda.runs import HOST, on, problem
from tests.cuda.tables import check_transposes, price, tables
from tests.data.hostile import integer_columns, real_columns


def assert_equal_to_the_cpu(X, cost, k, device=HOST, names=None, **options):
    columns = ColumnBatch(device, np.ascontiguousarray(X), problem(cost, k), **options)
    assert columns.finish()
    masked, costs, representatives = columns.masked, columns.cost, columns.representatives
    for row, x in enumerate(X):
        expected, about = mag.univariate(x, k, cost=cost, backend="cpu"), (names and names[row], k, x.size)
        assert np.array_equal(expected.labels, columns.labels[row]), about
        assert expected.n_groups == columns.n_groups[row], about
        assert expected.cost == costs[row], about
        assert expected.sizes.min() == columns.least[row], about
        # bits, so that zeros have the same sign
        assert expected.representatives.tobytes() == representatives[row, : expected.n_groups].tobytes(), about
        assert expected.masked.tobytes() == masked[row].tobytes(), about
        assert expected.masked.dtype == masked.dtype
    return columns


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("k", [1, 2, 3, 7, 13, 40])
def test_hostile_columns_equal_those_of_the_cpu(cost, k):
    for n in (k, 2 * k - 1, 2 * k, 2 * k + 1, 200, 801):
        for table in tables(cost, n) if n > 1 else []:
            assert_equal_to_the_cpu(np.stack(list(table.values())), cost, k, names=list(table))


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.uint16, np.bool_])
@pytest.mark.parametrize("cost", ["sse", "roundup"])
def test_every_dtype_keeps_what_it_keeps_on_the_cpu(dtype, cost):
    X = np.random.default_rng(1).integers(0, 2 if dtype == np.bool_ else 100, (3, 90)).astype(dtype)
    assert_equal_to_the_cpu(X, cost, 4)


@pytest.mark.parametrize("k", [3, 12])
@pytest.mark.parametrize("cost", ["sse", "roundup"])
def test_long_columns_are_solved_from_both_ends(monkeypatch, cost, k):
    monkeypatch.setattr(cpu, "BOTH_ENDS_FROM_N", 600)
    X = np.stack([real_columns(1000)[name] for name in ("uniform", "duplicates", "cauchy", "clusters", "arange")])
    assert_equal_to_the_cpu(X, cost, k)
    assert_equal_to_the_cpu(X.round(2), cost, k)


def test_a_really_long_column():
    x = (np.random.default_rng(3).normal(size=(1, 2**21 + 77)) * 7000).astype(np.int16)  # two digits, soon sorted
    assert_equal_to_the_cpu(x, "sse", 5, on("forward", lanes=64))


@pytest.mark.parametrize("order", ORDERS)
def test_losses_are_summed_in_the_order_of_numpy(order):
    groups = np.array([1, 2, 9, 128, 129, 130, 137, 257, 300, 1025, 5000, 33_000], np.int32)
    losses = np.random.default_rng(0).standard_cauchy((len(groups), groups.max()))
    expected = [np.add.reduceat(row[:count], [0])[0] for row, count in zip(losses, groups, strict=True)]
    assert price(on(order), losses, groups).tolist() == expected


def test_segments_are_joined():
    X = np.random.default_rng(0).random((3, 5000))
    for k in (2, 30):
        assert_equal_to_the_cpu(X, "sse", k)


def test_what_the_kernels_cannot_do_is_done_by_the_cpu():
    integers = np.stack([np.arange(100) * 2**54, np.arange(100)])
    assert assert_equal_to_the_cpu(integers, "sse", 3).redone == [0]
    squares = np.stack([np.arange(100), np.arange(100) * 2**40])
    assert assert_equal_to_the_cpu(squares, "sse_int", 3).redone == [1]
    tiny = np.stack([np.repeat([0.0, 1.0], 50), np.append(np.random.default_rng(0).random(99) * 1e-200, 1.0)])
    tiny[1, -3:] = 1.0
    assert assert_equal_to_the_cpu(tiny, "sse", 3).redone == [1]


@pytest.mark.parametrize("k", [3, 13, 100])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_noticed(bad, k):
    X = np.random.default_rng(0).random((3, 700))
    X[1, 17] = bad
    assert not ColumnBatch(HOST, X, problem("sse", k)).finish()


@pytest.mark.parametrize("k", [3, 13])
def test_a_group_below_k_is_withheld(k):
    class Wrong(HostModule):
        def __init__(self, *, code, options=()):
            code = code.replace("*(unsigned*)(sizes + l) = found;", "*(unsigned*)(sizes + l) = found - 0x01010101u;")
            code = code.replace("(size_type)found.size;", "(size_type)(found.size - k / 2);")
            super().__init__(code=code, options=options)

    device = type(HOST)(np, Wrong, shared=100 << 10)
    columns = ColumnBatch(device, np.random.default_rng(0).random((2, 203)), problem("sse", k))
    with pytest.raises(mag.NotAnonymousError, match=f"fewer than k={k} records was found and withheld"):
        columns.finish()


@pytest.mark.parametrize("k", [3, 13])
def test_the_hybrid_way_finds_the_same(k):
    device = on("forward", hybrid=True)
    X = np.stack([real_columns(300)[name] for name in ("uniform", "duplicates", "all_scales", "tiny")])
    assert host_is_sooner(device, 1, 300, k)
    assert not host_is_sooner(HOST, 1, 300, k)
    for row in range(4):
        assert_equal_to_the_cpu(X[row : row + 1], "sse", k, device)
    many = on("forward", hybrid=True, threads=4)  # four columns side by side take the host no longer than one
    assert host_is_sooner(many, 4, 300, k)
    assert_equal_to_the_cpu(X, "sse", k, many)
    assert_equal_to_the_cpu(integer_columns(300)["whole_range"][None, :], "sse_int", k, device)


def test_the_rule_of_the_hybrid_way():
    device = on("forward", hybrid=True, lanes=28_000)
    assert host_is_sooner(device, 1, 10_000, 100)  # one warp would search column by column
    assert not host_is_sooner(device, 500, 100_000, 100)  # many columns keep the device busy
    many = on("forward", hybrid=True, lanes=28_000, threads=32, shared=163 << 10)
    assert not host_is_sooner(many, 500, 100_000, 100)
    assert not host_is_sooner(many, 500, 100_000, 1000)  # two warps' lines fit a multiprocessor
    assert host_is_sooner(many, 500, 100_000, 1500)  # one warp's lines fill its shared memory
    assert not host_is_sooner(device, 1, 10_000_000, 3)  # one long column is cut into chunks


def test_the_hybrid_way_withholds_a_group_below_k(monkeypatch):
    monkeypatch.setattr(cpu, "solve", lambda column, weights, problem, threads: np.array([0, 2, 100]))
    with pytest.raises(mag.NotAnonymousError, match="fewer than k=3 records was found and withheld"):
        ColumnBatch(on("forward", hybrid=True), np.random.default_rng(0).random((1, 300)), problem("sse", 3)).finish()


@pytest.mark.parametrize("order", ORDERS)
def test_columns_become_rows(order):
    check_transposes(on(order))
