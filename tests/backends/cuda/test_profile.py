"""Counts of kernels that a person can count: coalescing, bank conflicts, divergence, atomics, the second cache."""

import json
import os
import subprocess
import sys

import pytest

from tests.emulator import build

CODE = r"""
import dataclasses, json
from tests import emulator
emulator.activate(counted=True)
import cupy, numpy as np
from tests.emulator import profile

code = '''
extern "C" __global__ void copied(const double* x, double* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = x[i]; }
extern "C" __global__ void strided(const double* x, double* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = x[4 * i]; }
extern "C" __global__ void banked(int* y, int stride) {
    __shared__ int t[1024]; t[threadIdx.x * stride] = 1; __syncthreads(); y[threadIdx.x] = t[threadIdx.x * stride]; }
extern "C" __global__ void pairs(double* y, int stride) {
    __shared__ double t[1024]; t[threadIdx.x * stride] = 1; __syncthreads(); y[threadIdx.x] = t[threadIdx.x * stride]; }
extern "C" __global__ void parted(int* y) {
    if (threadIdx.x % 2) atomicAdd(y + 64, 1); else atomicAdd(y + 65, 2); y[threadIdx.x] = 3; }
extern "C" __global__ void looped(int* y, int step) {
    int sum = 0;
    #pragma unroll 1
    for (int j = 0; j < (int)threadIdx.x / step; ++j) sum += y[j];
    y[threadIdx.x + 64] = sum; }
extern "C" __global__ void guarded(const double* x, double* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] + 1; }
extern "C" __global__ void added(int* y) { atomicAdd(y + threadIdx.x % 4, 1); }
extern "C" __global__ void read_again(const double* x, double* y, int n) {
    double sum = 0; for (int r = 0; r < 2; ++r) for (int i = threadIdx.x; i < n; i += 32) sum += x[i];
    y[threadIdx.x] = sum; }
'''
module, found = cupy.RawModule(code=code), {}
x, y, z = cupy.zeros(1 << 16), cupy.zeros(1024), cupy.zeros(1024, np.int32)

def count(name, kernel, grid, block, *args, cache=profile.A100):
    profile.start(cache)
    module.get_function(kernel)((grid,), (block,), args)
    launch, = profile.launches()
    found[name] = dataclasses.asdict(launch) | {"requested": launch.requested, "passes": launch.passes}

count("copied", "copied", 8, 128, x, y)
count("strided", "strided", 8, 128, x, y)
for stride in (1, 2, 32):
    count(f"banked {stride}", "banked", 1, 32, z, np.int32(stride))
    count(f"pairs {stride}", "pairs", 1, 32, y, np.int32(stride))
count("parted", "parted", 1, 32, z)
count("looped alike", "looped", 1, 32, z, np.int32(32))
count("looped apart", "looped", 1, 32, z, np.int32(8))
count("guarded", "guarded", 1, 64, x, y, np.int32(40))
count("added", "added", 2, 64, z)
count("kept", "read_again", 1, 32, x, y, np.int32(4096), cache=1 << 20)
count("forgotten", "read_again", 1, 32, x, y, np.int32(4096), cache=1 << 12)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found():
    """Counts of all launches, by an interpreter of its own: CuPy must not be imported before it is emulated."""
    try:
        build.built()
    except build.CannotBuild as error:
        pytest.skip(str(error))
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, env=os.environ.copy())
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_coalesced_accesses_use_all_bytes_of_their_sectors(found):
    launch = found["copied"]
    assert launch["requested"] == [2 * 8 * 1024, 2 * 8 * 1024]
    assert [site["units"] for site in launch["sites"]] == [32 * 8, 32 * 8]  # 32 warps, 8 sectors each
    assert (launch["read"], launch["written"], launch["used"]) == (8192, 8192, 16384)
    assert (launch["warps"], launch["instructions"]["global"], launch["divergent"]) == (32, 64, 0)
    assert launch["executed"] == 32 * launch["issued"]


def test_strided_accesses_use_a_quarter(found):
    loads, stores = found["strided"]["sites"]
    assert (loads["units"], loads["least"], loads["worst"]) == (1024, 8192, 32)
    assert (stores["units"], stores["least"]) == (256, 8192)
    assert (found["strided"]["read"], found["strided"]["used"]) == (32 * 1024, 8192 + 8192)


@pytest.mark.parametrize(("stride", "ways"), [(1, 1), (2, 2), (32, 32)])
def test_bank_conflicts_of_words(found, stride, ways):
    assert found[f"banked {stride}"]["passes"] == [2 * ways, 2, ways]  # one store, one load
    assert found[f"banked {stride}"]["barriers"] == 1


@pytest.mark.parametrize(("stride", "ways"), [(1, 1), (2, 2), (32, 16)])
def test_pairs_of_words_are_served_by_half_warps(found, stride, ways):
    assert found[f"pairs {stride}"]["passes"] == [4 * ways, 4, ways]


def test_a_branch_on_which_a_warp_parts(found):
    launch = found["parted"]
    assert (launch["branches"], launch["divergent"]) == (1, 1)
    assert [site["count"] for site in launch["sites"] if site["kind"] == "store"] == [1]  # its lanes meet again
    assert (launch["atomics"], launch["addresses"], launch["contended"]) == (32, 2, 16)


def test_loops_of_different_lengths(found):
    assert found["looped alike"]["divergent"] == 0
    apart = found["looped apart"]
    loads = [site for site in apart["sites"] if site["kind"] == "load"]
    assert [(site["count"], site["units"], site["least"]) for site in loads] == [(3, 3, 12)]  # 0 to 3 rounds, one word
    assert apart["divergent"] == 3  # lanes leave before the first, the second and the third round
    assert [site["count"] for site in apart["sites"] if site["kind"] == "store"] == [1]


def test_lanes_without_work(found):
    launch = found["guarded"]
    assert (launch["branches"], launch["divergent"]) == (2, 1)
    assert launch["requested"] == [2 * 8 * 40, 2 * 8 * 40]
    assert launch["instructions"]["float64"] == 2


def test_atomics_on_few_addresses(found):
    assert [found["added"][name] for name in ("atomics", "addresses", "contended")] == [128, 4, 32]


def test_the_second_cache_keeps_what_fits(found):
    kept, forgotten = found["kept"], found["forgotten"]
    assert (kept["read"], forgotten["read"]) == (8 * 4096, 2 * 8 * 4096)
    assert (kept["misses"], kept["hits"]) == (1024, 1024 + 8)  # and what is written
