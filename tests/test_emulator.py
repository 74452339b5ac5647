"""The emulated device computes as NumPy does, and reports what a device would answer with an error or wrong numbers."""

import os
import subprocess
import sys

import pytest

from tests.emulator import build

PREAMBLE = "from tests import emulator; emulator.activate()\nimport cupy, numpy as np\n"
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
KERNEL = """
cupy.cuda.set_allocator(None)  # every array is an allocation of its own
code = 'extern "C" __global__ void f(double* x, int i) { extern __shared__ double s[]; s[0] = 1; x[i] = s[0]; }'
f, x = cupy.RawKernel(code, 'f'), cupy.zeros(5)
"""
REPORTED = {
    "write beyond an array": (KERNEL + "f((1,), (1,), (x, np.int32(5)), shared_mem=8); x.get()", "IllegalAddress"),
    "memory of the host": (
        KERNEL + "h = np.zeros(5); f((1,), (1,), (np.uint64(h.ctypes.data), np.int32(0)), shared_mem=8); x.get()",
        "IllegalAddress",
    ),
    "no shared memory": (KERNEL + "f((1,), (1,), (x, np.int32(0))); x.get()", "IllegalAddress"),
    "shared memory beyond 48 KB": (
        KERNEL + "f((1,), (1,), (x, np.int32(0)), shared_mem=60000); x.get()",
        "CUDA_ERROR_INVALID_VALUE",
    ),
    "too many threads": (
        KERNEL + "f((1,), (2048,), (x, np.int32(0)), shared_mem=8); x.get()",
        "CUDA_ERROR_INVALID_VALUE",
    ),
    "divergent barrier": (
        """
code = '''extern "C" __global__ void f(int* x) {
    if (threadIdx.x < 3) __syncthreads(); else { x[0] = 1; __syncthreads(); } }'''
f, x = cupy.RawKernel(code, 'f'), cupy.zeros(1, 'i4')
f((1,), (8,), (x,)); x.get()""",
        "LaunchFailure",
    ),
}
TWO_STREAMS = """
a = cupy.zeros(8); cupy.cuda.runtime.deviceSynchronize()
s, t = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(non_blocking=True)
with s: a += 1
if ORDERED: t.wait_event(s.record())
with t: b = (a * 2).get()
assert (b[0] == 2) == ORDERED, b
"""


@pytest.fixture(scope="module", autouse=True)
def _built():
    try:
        build.built()
    except build.CannotBuild as error:
        pytest.skip(str(error))


def run(code, **settings):
    """The exit code of a new process that runs this code on an emulated device, and what it printed."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("EMULATOR_") or "CACHE" in name}
    done = subprocess.run([sys.executable, "-c", PREAMBLE + code], capture_output=True, text=True, env=plain | settings)
    return done.returncode, done.stdout + done.stderr


def test_computes_what_numpy_does():
    code, said = run(ARITHMETIC)
    assert code == 0, said


@pytest.mark.parametrize("fault", REPORTED)
def test_reports(fault):
    text, expected = REPORTED[fault]
    code, said = run(text)
    assert code, said
    assert expected in said


@pytest.mark.parametrize("ordered", [True, False])
def test_streams_that_no_event_orders_show_when_work_is_lazy(ordered):
    code, said = run(f"ORDERED = {ordered}\n{TWO_STREAMS}", EMULATOR_LAZY="1")
    assert code == 0, said
