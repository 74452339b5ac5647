"""Which tests are quick, the array libraries that tests run on, and the command as tests run it."""

import importlib
import pathlib
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

COMMON = {"deadline": None, "max_examples": 60, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("repeat", **COMMON, derandomize=True)  # a run says the same of the same tree
settings.register_profile("explore", **COMMON)  # --hypothesis-profile=explore tries new examples in every run
settings.load_profile("repeat")

if sys.platform != "linux":  # the kernels on the host are ELF libraries, and NVRTC is looked for as libnvrtc.so
    collect_ignore_glob = ["cuda/*", "backends/cuda/*", "benchmarks/test_bits.py"]

TESTS = pathlib.Path(__file__).parent
QUICK = {  # a file of tests that enters each package, and takes seconds once its code is compiled
    "_compiled": "compiled/test_random.py",
    "_lib": "promises/test_errors.py",
    "api": "api/test_checks.py",
    "app": "app/test_guard.py",
    "_backends": "results/test_results.py",
    "bounds": "bounds/test_bounds.py",
    "commands": "commands/test_cli.py",
    "costs": "results/test_results.py",
    "dp": "dp/test_dp.py",
    "estimators": "tables/criteria/test_diversity.py",
    "files": "files/test_files.py",
    "frames": "frames/test_kinds.py",
    "graphs": "graphs/test_graphs.py",
    "hierarchy": "hierarchy/test_hierarchy.py",
    "measures": "measures/test_privacy.py",
    "methods": "tables/test_table.py",
    "protect": "protect/test_coding.py",
    "report": "report/test_report.py",
    "risk": "risk/test_subsets.py",
    "distributed": "promises/test_recounts.py",
    "solvers": "results/test_results.py",
    "tables": "tables/test_table.py",
    "verify": "verify/test_verify.py",
}
ALSO_QUICK = (
    "promises/test_architecture.py",
    "promises/test_layout.py",
    "tables/criteria/test_criteria.py",
    "tables/recode/test_lattice.py",
)
SLOW = ("long", "mutation", "sanitize")


def pytest_collection_modifyitems(items):
    quick = {TESTS / path for path in (*ALSO_QUICK, *QUICK.values())}
    for item in items:
        if item.path in quick and not any(item.get_closest_marker(slow) for slow in SLOW):
            item.add_marker("quick")


class Library:
    """How tests make an array of a library, read it, and find its memory."""

    def __init__(self, make, kind, numpy=np.asarray, address=None):
        self.make, self.kind, self.numpy = make, kind, numpy
        self.address = address or (lambda array: numpy(array).ctypes.data)


def read_only(values):
    values = np.array(values)
    values.flags.writeable = False
    return values


def numpy_library():
    return Library(np.array, np.ndarray)


def read_only_library():
    return Library(read_only, np.ndarray)


def strict_library():
    xp = pytest.importorskip("array_api_strict")
    return Library(xp.asarray, xp.asarray(0).__class__, np.from_dlpack)


def torch_library():
    torch = pytest.importorskip("torch")
    return Library(lambda x: torch.from_numpy(np.array(x)), torch.Tensor, lambda x: x.numpy(), lambda x: x.data_ptr())


def jax_library():
    jax = pytest.importorskip("jax")
    return Library(jax.numpy.asarray, jax.Array, np.asarray, lambda x: x.unsafe_buffer_pointer())


def cupy_library():
    cupy = pytest.importorskip("cupy")
    try:
        cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        pytest.skip(f"no GPU: {error}")
    return Library(cupy.asarray, cupy.ndarray, cupy.asnumpy, lambda x: x.data.ptr)


LIBRARIES = {
    "numpy": numpy_library,
    "numpy read-only": read_only_library,
    "array-api-strict": strict_library,
    "torch": torch_library,
    "jax": jax_library,
    "cupy": cupy_library,
}


@pytest.fixture(params=LIBRARIES)
def xp(request):
    """One array library after the other; JAX with 64 bits."""
    library = LIBRARIES[request.param]()
    if request.param != "jax":
        yield library
        return
    with importlib.import_module("jax").enable_x64(True):
        yield library


@pytest.fixture
def mag_(capsys):
    """Run a command; its exit code, its output, and its complaint."""

    from mag.commands import cli

    def run(*arguments):
        code = cli.main([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def cupy():
    """CuPy on a device, real or emulated (tests/emulator); skips with the reason elsewhere."""
    from mag._backends import cuda

    if (reason := cuda.why_not()) is not None:
        pytest.skip(reason)
    return importlib.import_module("cupy")


@pytest.fixture
def device(cupy, monkeypatch):
    """CuPy on a device that solves all columns itself, where the host would otherwise take small ones."""
    from mag._backends.cuda import columns

    monkeypatch.setattr(columns, "host_is_sooner", lambda *given: False)
    return cupy


@pytest.fixture
def emulated(cupy):
    """The driver of emulated devices; skips where devices are real."""
    from tests import emulator

    if emulator.DRIVER is None:
        pytest.skip("needs emulated devices, which count and can be full")
    return emulator.DRIVER
