"""Processes and threads around a device: forks, interrupts, one worker a device."""

import contextlib
import os
import signal
import sys

import numpy as np
import pytest

import mag
from mag._backends import cuda
from mag._backends.cuda import columns as pipeline
from tests.cuda import emulated

pytestmark = pytest.mark.gpu

X = np.random.default_rng(0).normal(size=(3000, 6))
K = 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning", "ignore:.*fork.*:RuntimeWarning")
def test_a_forked_process_computes_on_the_host_and_looks_for_devices_anew(cupy):
    expected = mag.columns(X, K).labels
    assert np.array_equal(mag.columns(cupy.asarray(X), K).labels.get(), expected)
    child = os.fork()
    if child == 0:  # CUDA does not work in here, and must not be touched
        alike = np.array_equal(mag.columns(X, K, threads=1).labels, expected)
        os._exit(0 if alike and cuda.why_not.cache_info().currsize == 0 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert cuda.why_not.cache_info().currsize == 1


@pytest.mark.skipif(sys.platform == "win32", reason="needs setitimer")
@pytest.mark.parametrize("solver", ["auto", "staggered"])
def test_an_interrupt_leaves_a_device_that_works(cupy, solver, monkeypatch):
    if solver == "auto":
        monkeypatch.setattr(pipeline, "host_is_sooner", lambda *shape: False)
    expected, given = mag.columns(X, K, solver=solver).masked, cupy.asarray(X)
    assert np.array_equal(mag.columns(given, K, solver=solver, backend="cuda").masked.get(), expected)  # all compiled
    interrupted = 0

    def interrupt(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    found = mag.columns(given, K, solver=solver, backend="cuda")
    try:
        for milliseconds in (1, 2, 4, 8, 15, 30, 60):
            for asked in (lambda: mag.columns(given, K, solver=solver, backend="cuda").masked, lambda: found.masked):
                with contextlib.suppress(KeyboardInterrupt):
                    signal.setitimer(signal.ITIMER_REAL, milliseconds / 1000)
                    interrupted += 1
                    asked()
                    interrupted -= 1
                    signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert interrupted
    assert np.array_equal(found.masked.get(), expected)
    assert np.array_equal(mag.columns(given, K, solver=solver, backend="cuda").masked.get(), expected)


def test_one_worker_of_dask_a_device(cupy):
    dask = pytest.importorskip("dask")
    count = cupy.cuda.runtime.getDeviceCount()

    def release(number):
        with cupy.cuda.Device(number % count), cupy.cuda.Stream(non_blocking=True):
            found = mag.columns(cupy.asarray(X[:, number : number + 2]) * 1.0, K)
            return found.masked.device.id, found.masked.get()

    tasks = [dask.delayed(release)(number) for number in range(4)]
    for number, (device, masked) in enumerate(dask.compute(*tasks, scheduler="threads", num_workers=count)):
        assert device == number % count
        assert np.array_equal(masked, mag.columns(X[:, number : number + 2], K).masked)


def test_devices_are_those_that_are_visible(cupy):
    emulated.need()
    code = """
import cupy, mag, numpy as np
X = np.random.default_rng(0).normal(size=(30, 2))
assert cupy.cuda.runtime.getDeviceProperties(0)["name"] == b"Emulated device 1"
assert np.array_equal(mag.columns(X, 3, devices=[0]).labels, mag.columns(X, 3).labels)
try:
    mag.columns(X, 3, devices=[0, 1])
except ValueError as error:
    print(error)
"""
    said = emulated.run(code, variables={"CUDA_VISIBLE_DEVICES": "1"}, devices=2)
    assert said == "devices must be numbers of GPUs from 0 to 0; got 1.\n"
