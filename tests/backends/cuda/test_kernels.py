"""Kernels executed on the host, from the source that a device would run, against the CPU's solver: bit by bit."""

import numpy as np
import pytest

from mag._backends.cuda.launch import PER_SM, STATIC, Device, numbers_per_warp, resident_warps, solve
from mag.costs import COSTS
from tests.cuda.host import ORDERS
from tests.cuda.runs import HOST, differences, on, solved_by_the_cpu, table
from tests.data.columns import SHAPES


def lengths(k):
    """n around every edge: two groups, a block, a panel, the lanes."""
    return [n for n in (2 * k, 2 * k + 1, 3 * k - 1, 3 * k, 5 * k + 3, 127, 128, 129, 257, 1001) if n >= 2 * k]


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("k", [3, 7])
def test_small_k_has_the_bits_of_the_cpu(cost, k):
    for n in lengths(k):
        assert differences(HOST, table(cost, n, k), cost, k)[0] == [], n


@pytest.mark.parametrize("k", [2, 4, 11])
def test_every_small_k_has_the_bits_of_the_cpu(k):
    for n in lengths(k):
        assert differences(HOST, table("sse", n, k), "sse", k)[0] == [], n


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("k", [12, 15, 40])
def test_large_k_has_the_bits_of_the_cpu(cost, k):
    for n in (2 * k, 2 * k + 1, 3 * k - 1, 5 * k + 3, 601):
        assert differences(HOST, table(cost, n, k), cost, k)[0] == [], n


@pytest.mark.parametrize(("k", "n"), [(100, 1500), (129, 1400), (700, 6000)])
def test_larger_k_has_the_bits_of_the_cpu(k, n):
    # 129: sizes of 16 bits
    assert differences(HOST, table("sse", n, k), "sse", k)[0] == []


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("k", [13, 100])
def test_lines_outside_of_shared_memory_have_the_same_bits(order, k):
    device = on(order, shared=0)
    assert differences(device, table("sse", 900, k), "sse", k)[0] == []
    assert differences(device, table("sse", 900, k), "sse", k, (3, 2))[0] == []


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("cost", "k"), [("sse", 3), ("sae", 3), ("sse", 13), ("sae", 40), ("roundup", 12)])
def test_the_order_of_threads_does_not_matter(order, cost, k):
    assert differences(on(order), table(cost, 700, k), cost, k)[0] == []
    assert differences(on(order), table(cost, 700, k), cost, k, (3, 2))[0] == []


@pytest.mark.parametrize(
    ("k", "n", "chunks"),
    [
        (2, 3000, (4, 1)),
        (3, 3000, (2, 1)),
        (3, 3000, (5, 3)),
        (11, 4000, (6, 4)),
        (13, 1500, (20, 20)),
        (40, 3000, (9, 7)),
    ],
)
@pytest.mark.parametrize("cost", ["sse", "sae"])
def test_chunks_are_what_a_run_from_the_start_computes(cost, k, n, chunks):
    rows, redone = differences(HOST, table(cost, n, k), cost, k, chunks)
    assert rows == []
    by_shape = dict(zip(SHAPES, redone.tolist(), strict=True))
    assert by_shape["quadratic"] > 0  # smooth values never coalesce: chunks are repaired
    assert by_shape["constant"] == 0


def test_random_values_coalesce_within_the_warm_start_that_is_chosen():
    k, n = 3, 60_000
    x = np.sort(np.random.default_rng(5).random((2, n)), axis=1)
    found = solve(on("forward", lanes=24), x, np.zeros(2, np.int32), "sse", k)
    assert found.redone.tolist() == [0, 0]
    for row in range(2):
        sizes, ending, total = solved_by_the_cpu("sse", x[row], k)
        assert np.array_equal(sizes, found.sizes[row, k - 1 : n])
        assert ending.tobytes() == found.ending[row].tobytes()
        assert total == found.total[row]


@pytest.mark.parametrize("k", [3, 13])
@pytest.mark.parametrize("scale", [-1000, 1000])
def test_values_are_divided_by_a_power_of_two(k, scale):
    x = np.sort(np.random.default_rng(k).random((1, 300)), axis=1)
    near = solve(HOST, x, np.zeros(1, np.int32), "sse", k)
    far = solve(HOST, np.ldexp(x, scale), np.full(1, scale, np.int32), "sse", k)
    assert near.total == far.total
    assert np.array_equal(near.sizes[:, k - 1 : 300], far.sizes[:, k - 1 : 300])


@pytest.mark.parametrize("k", [3, 13])
def test_float32_costs_next_to_nothing_more(k):
    x = np.sort(np.random.default_rng(k).normal(size=(4, 2000)), axis=1)
    scale = np.zeros(4, np.int32)
    exact, rough = solve(HOST, x, scale, "sse", k), solve(on("forward", real="float"), x, scale, "sse", k)
    assert rough.total == pytest.approx(exact.total, rel=1e-4)


@pytest.mark.parametrize(("k", "warps"), [(100, 16), (200, 9), (500, 4), (1000, 2), (2000, 1)])
def test_shared_memory_leaves_room_for_several_warps(k, warps):
    a100 = Device(np, None, shared=163 << 10, lanes=PER_SM * 108)
    assert resident_warps(a100, k) == 108 * warps
    assert warps * (8 * numbers_per_warp("sse", k) + STATIC) <= a100.shared
