"""The host runtime itself: it runs kernels as a device would, and notices what a device would do wrong."""

import numpy as np
import pytest

from benchmarks import hybrid
from mag._backends.cuda import launch
from tests.cuda.host import ORDERS, HostModule

SUM = """
extern "C" __global__ void total(const double* x, double* sums, int n)
{
    extern __shared__ double part[];
    part[threadIdx.x] = (int)(blockIdx.x * blockDim.x + threadIdx.x) < n ? x[blockIdx.x * blockDim.x + threadIdx.x] : 0;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if ((int)threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}
"""

LANES = """
extern "C" __global__ void lanes(int* x)
{
    const int lane = threadIdx.x & 31;
    int value = x[threadIdx.x];
    for (int distance = 1; distance < 32; distance <<= 1) value += __shfl_xor_sync(0xffffffffu, value, distance);
    x[threadIdx.x] = 100 * value + 10 * __any_sync(0xffffffffu, lane == 3) + __shfl_sync(0xffffffffu, lane, 5);
}
"""


def run(code, name, args, grid=1, block=64, shared=0, order="forward"):
    module = HostModule(code=code)
    module.order = order
    module.get_function(name)((grid,), (block,), args, shared_mem=shared)


@pytest.mark.parametrize("order", ORDERS)
def test_barriers_hold_in_every_order(order):
    x, sums = np.arange(200.0), np.zeros(4)
    run(SUM, "total", (x, sums, np.int32(200)), 4, 64, 512, order)
    assert sums.tolist() == [x[i : i + 64].sum() for i in range(0, 256, 64)]


@pytest.mark.parametrize("order", ORDERS)
def test_lanes_exchange_values(order):
    x = np.arange(64, dtype=np.int32)
    run(LANES, "lanes", (x,), order=order)
    assert x.tolist() == [100 * sum(range(32)) + 15] * 32 + [100 * sum(range(32, 64)) + 15] * 32


def test_a_forgotten_barrier_shows_in_some_order():
    first, found = SUM.index("__syncthreads();"), []
    for order in ORDERS:
        x, sums = np.arange(200.0), np.zeros(4)
        code = SUM[:first] + SUM[first + len("__syncthreads();") :]
        run(code, "total", (x, sums, np.int32(200)), 4, 64, 512, order)
        found.append(sums.tolist() == [x[i : i + 64].sum() for i in range(0, 256, 64)])
    assert found == [False, True, False]  # in reverse, every thread finds what it adds


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("if (threadIdx.x < 5) return;\n__syncthreads();", "waits for a thread that has returned"),
        ("if (threadIdx.x < 5) __syncthreads();\nelse __syncthreads();", "threads meet in line"),
        ("if (threadIdx.x < 5) __syncwarp(); else __syncthreads();", "threads meet in line"),
        ("__shfl_sync(0xffffu, x[0], 0);", "only whole warps"),
    ],
)
def test_divergence_is_reported(body, what):
    code = f'extern "C" __global__ void bad(int* x)\n{{\n{body}\n}}\n'
    with pytest.raises(RuntimeError, match=f"bad: .*{what}"):
        run(code, "bad", (np.zeros(1, np.int32),))


def test_shared_memory_is_poisoned():
    code = 'extern "C" __global__ void stale(int* x)\n{\n__shared__ int old[4];\nx[0] = old[0];\nold[0] = 7;\n}\n'
    x = np.zeros(1, np.int32)
    run(code, "stale", (x,), grid=3, block=1)
    assert x.view(np.uint32)[0] == 0xCBCBCBCB


@pytest.mark.parametrize(
    ("args", "what"),
    [
        ((np.zeros(3), np.zeros(1)), "takes 3 arguments, got 2"),
        ((np.zeros(3), np.zeros(1), 3), "argument 2 is int64"),
        ((np.zeros(3), np.zeros(1), np.float32(3)), "argument 2 is float32"),
        ((np.zeros(3), np.zeros(1), np.zeros(1)), "argument 2 is an array"),
        ((np.zeros(6)[::2], np.zeros(1), np.int32(3)), "argument 0 is not contiguous"),
    ],
)
def test_arguments_are_checked(args, what):
    with pytest.raises(AssertionError, match=what):
        run(SUM, "total", args, shared=512)


def test_code_that_does_not_compile_is_an_error():
    with pytest.raises(RuntimeError, match=r"nothing.*not declared|undeclared identifier .nothing"):
        HostModule(code='extern "C" __global__ void bad(int* x)\n{\n*x = nothing;\n}\n')


def test_kernels_count_what_they_compute(monkeypatch):
    monkeypatch.setitem(launch.REALS, "Counted", np.float64)
    x = np.sort(np.random.default_rng(0).normal(size=10_000))
    alone, chain, chunks, _ = hybrid.operations(x, 3, 1)
    assert (chunks, chain) == (1, alone)
    # per column: differences and sums of 2k-1 values, squares, three candidates; and a restart per panel
    assert 20 * x.size < alone < 60 * x.size
    many, chain, chunks, _ = hybrid.operations(x, 3, 10**4)
    assert chunks > 1
    assert many > alone > chain
    assert 8 * x.size <= hybrid.bytes_over_the_bus(x, 3) < 10 * x.size
