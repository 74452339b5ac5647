"""The emulated device computes as NumPy does, and reports what a device would answer with an error or wrong numbers."""

import json
import os
import subprocess
import sys
from functools import cache

import numpy as np
import pytest

from tests.data.paths import PROJECT
from tests.emulator import build, faults

PREAMBLE = "from tests import emulator; emulator.activate()\nimport cupy, numpy as np\n"
TURNS = """
import json
code = '''extern "C" __global__ void f(int* next, int* turns, int n) {
    for (int i = 0; i < n; ++i) __syncthreads();
    turns[atomicAdd(next, 1)] = blockIdx.x * blockDim.x + threadIdx.x; }'''
turns = []
for n, blocks, threads in ((0, 1, 50), (1, 1, 50), (0, 50, 1)):  # with a barrier, threads are fibers
    found, next = cupy.zeros(50, 'i4'), cupy.zeros(1, 'i4')
    kernel = cupy.RawKernel(code if n else code.replace('__syncthreads()', ''), 'f')
    kernel((blocks,), (threads,), (next, found, np.int32(n)))
    turns.append(found.get().tolist())
print(json.dumps(turns))
"""
ARITHMETIC = """
x = np.random.default_rng(0).normal(size=(7, 999)); X = cupy.asarray(x)
assert cupy.cuda.runtime.getDeviceCount() == 1
assert cupy.arange(10).sum() == 45
for one in (
    lambda a: a.sum(axis=1), lambda a: a.max(axis=0), lambda a: a.argmin(axis=1), lambda a: a[a > 0],
    lambda a: a.astype('f2').astype('f8'), lambda a: a[:, ::-1].cumsum(axis=1), lambda a: abs(a) ** 1.5,
    lambda a: a.T.copy(),
):
    assert np.allclose(one(X).get(), one(x), rtol=1e-12, atol=0)
code = 'extern "C" __global__ void f(int* x) { x[threadIdx.x] = 3 * threadIdx.x + 1; }'
y = cupy.zeros(4, 'i4')
cupy.RawModule(code=code).get_function('f')((1,), (4,), (y,))
assert y.get().tolist() == [1, 4, 7, 10]
"""
POISON = float(np.frombuffer(b"\xcb" * 8, np.float64)[0])
EXPECTED = {  # an error that the report contains, or the numbers that a program ends with
    "eager": {
        "store behind an array": "cudaErrorIllegalAddress",
        "store before an array": "cudaErrorIllegalAddress",
        "load behind an array": "cudaErrorIllegalAddress",
        "memory of the host": "cudaErrorIllegalAddress",
        "freed memory": "cudaErrorIllegalAddress",
        "misaligned address": "cudaErrorMisalignedAddress",
        "shared memory that was not asked for": "cudaErrorIllegalAddress",
        "behind shared memory": "cudaErrorIllegalAddress",
        "shared memory beyond 48 KB": "CUDA_ERROR_INVALID_VALUE",
        "too many threads": "CUDA_ERROR_INVALID_VALUE",
        "more threads than launch bounds": "CUDA_ERROR_INVALID_VALUE",
        "too many blocks": "CUDA_ERROR_INVALID_VALUE",
        "divergent barrier": "divergent barrier: PTX line",
        "barrier that some threads never reach": "deadlock: thread",
        "lane outside of its mask": "lane 0 is not in mask 00000002",
        "trap": "trap at PTX line",
        "copy beyond an allocation": "cudaErrorInvalidValue",
        "free twice": "cudaErrorInvalidValue",
        "more memory than there is": "cudaErrorMemoryAllocation",
        "unset memory": [POISON, POISON],
        "unset shared memory": [0.0, POISON],
        "nothing": [0.0, 1.0],
    },
    "lazy": {"no event": [0.0], "an event": [1.0], "no wait": [0.0], "a wait": [1.0]},
    "two devices": {
        "memory of the other device": "access to memory of device 0 on device 1",
        "stream of the other device": "CUDA_ERROR_INVALID_HANDLE",
        "event of the other device": "cudaErrorInvalidResourceHandle",
        "nothing": [0.0, 1.0],
    },
}


@pytest.fixture(scope="module", autouse=True)
def _built():
    try:
        build.built()
    except build.CannotBuild as error:
        pytest.skip(str(error))


def run(*arguments, **settings):
    """What a new process on an emulated device prints."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("EMULATOR_") or "CACHE" in name}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=PROJECT, env=plain | settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@cache
def reports(mode):
    return json.loads(run("-m", "tests.emulator.faults", mode, **faults.MODES[mode]))


def test_computes_what_numpy_does():
    run("-c", PREAMBLE + ARITHMETIC)


@pytest.mark.parametrize("order", ["1", "2"])
def test_threads_and_blocks_run_in_another_order(order):
    expected, found = (
        json.loads(run("-c", PREAMBLE + TURNS, EMULATOR_ORDER=chosen, EMULATOR_SEED="5")) for chosen in ("0", order)
    )
    for forward, other in zip(expected, found, strict=True):
        assert forward == sorted(other) == list(range(len(forward)))
        assert other != forward
        assert (other == forward[::-1]) == (order == "1")


@pytest.mark.parametrize(
    ("listed", "buses"),
    [("1", [2]), ("2,0", [3, 1]), ("0,7,1", [1]), ("1,GPU-4", [2]), ("-1", []), ("1,1", []), ("", [])],
)
def test_visible_devices_are_those_that_the_variable_lists(listed, buses):
    """In the order of the list, up to the first that there is not; as CUDA's guide says."""
    code = f"""
import ctypes
driver = ctypes.CDLL({str(build.built() / "libcuda.so.1")!r})
count, bus = ctypes.c_int(), ctypes.create_string_buffer(32)
driver.cuDeviceGetCount(ctypes.byref(count))
for device in range(count.value):
    assert driver.cudaDeviceGetPCIBusId(bus, 32, device) == 0
    print(int(bus.value.split(b":")[1], 16))
"""
    found = run("-c", code, EMULATOR_DEVICES="3", CUDA_VISIBLE_DEVICES=listed)
    assert [int(line) for line in found.split()] == buses


@pytest.mark.parametrize(("mode", "fault"), [(mode, fault) for mode in faults.FAULTS for fault in faults.FAULTS[mode]])
def test_reports(mode, fault):
    expected, found = EXPECTED[mode][fault], reports(mode)[fault]
    assert expected == found if isinstance(expected, list) else expected in found
