"""Arrays that live on a GPU, as they come in and go home; stand-ins show what their libraries do, without a device."""

import pickle
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import mag
from mag._lib import arrays
from tests.cuda import far


@pytest.fixture
def cupy(monkeypatch):
    return far.cupy(monkeypatch)


def test_arrays_of_cupy_are_copied_and_come_home(cupy):
    x = np.random.default_rng(0).random((40, 2))
    found = mag.columns(cupy.asarray(x), 3)
    assert isinstance(found.masked, cupy.ndarray)
    assert np.array_equal(found.masked.get(), mag.columns(x, 3).masked)
    assert arrays.resident(cupy.asarray(x))[1] is arrays.stay


def test_memory_that_only_the_cuda_array_interface_shows(cupy):
    x = np.random.default_rng(0).random(40)
    values, home = arrays.read("x", far.Shown(x))
    assert np.array_equal(values, x)
    assert home.library == "array_api_compat.cupy"
    array, stay = arrays.resident(far.Shown(x))
    assert isinstance(array, cupy.ndarray)
    assert stay(array) is array
    assert np.array_equal(mag.univariate(far.Shown(x), 3).labels.get(), mag.univariate(x, 3).labels)


def test_columns_and_frames_of_cudf(cupy, monkeypatch):
    cudf = far.cudf(monkeypatch)
    X = np.random.default_rng(0).random((40, 3))
    assert np.array_equal(mag.univariate(cudf.Series(X[:, 0]), 3).labels.get(), mag.univariate(X[:, 0], 3).labels)
    assert np.array_equal(mag.columns(cudf.DataFrame(X), 3).labels.get(), mag.columns(X, 3).labels)
    assert isinstance(arrays.resident(cudf.DataFrame(X))[0], cupy.ndarray)
    with pytest.raises(
        TypeError, match=r"^X must hold real numbers without missing ones; got a cuDF DataFrame of other"
    ):
        mag.columns(cudf.DataFrame(None), 3)
    assert arrays.resident(cudf.Series(None)) is None  # and is refused by the name of the argument


def test_cupy_is_not_imported_for_arrays_of_the_host(monkeypatch):
    monkeypatch.setattr(arrays, "_cupy", lambda: pytest.fail("imported"))
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    for x in (np.ones(3), [1.0], torch.ones(3), jax.numpy.ones(3), memoryview(np.ones(3))):
        assert arrays.resident(x) is None


class FarTensor:
    """A tensor of PyTorch on CUDA, as far as it is looked at; `used_by` are the streams that the allocator knows of."""

    def __init__(self, values):
        self.values, self.dtype, self.used_by = values, str(values.dtype), []
        self.device = "cuda:1"

    def __dlpack_device__(self):
        return 2, 1

    def record_stream(self, stream):
        self.used_by.append(stream)


def test_tensors_on_cuda_are_seen_by_cupy_and_kept_while_it_reads(cupy, monkeypatch):
    pytest.importorskip("torch")
    tensor = FarTensor(np.arange(5.0))
    cupy.from_dlpack = lambda x: far.FarArray(x.values, where=1)
    current = [0]
    cupy.cuda = SimpleNamespace(get_current_stream=lambda: SimpleNamespace(ptr=77 + current[-1]))
    monkeypatch.setattr(far.Device, "__enter__", lambda self: current.append(self.id))
    monkeypatch.setattr(far.Device, "__exit__", lambda self, *error: current.pop())
    monkeypatch.setattr(sys.modules["torch"].cuda, "ExternalStream", lambda ptr, device: (ptr, device))
    monkeypatch.setattr(arrays, "_of_standard", lambda x: True)
    monkeypatch.setattr(arrays, "_namespace", lambda x: SimpleNamespace(__name__="array_api_compat.torch"))
    array, home = arrays.resident(tensor)
    assert np.array_equal(array.get(), np.arange(5.0))
    assert tensor.used_by == [(78, "cuda:1")]  # the current stream of the device that it is on
    assert home.library == "array_api_compat.torch"


def test_ways_home_from_a_device_can_be_pickled(cupy):
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    narrow = pickle.loads(pickle.dumps(arrays.ResidentHome("array_api_compat.torch", None, torch.bfloat16)))
    assert narrow(torch.ones(3)).dtype == torch.bfloat16
    assert narrow(torch.ones(3, dtype=torch.int32)).dtype == torch.int32
    assert pickle.loads(pickle.dumps(arrays.stay))(3) == 3
    cupy.ascontiguousarray = np.ascontiguousarray
    plain = pickle.loads(pickle.dumps(arrays.ResidentHome("jax.numpy", None)))
    assert isinstance(plain(np.arange(6, dtype=np.int32).reshape(2, 3).T), jax.Array)


def test_what_cannot_be_read_says_where_it_is(cupy):
    class Strange(far.FarArray):
        def __array_namespace__(self):
            return cupy

        def get(self, **options):
            raise RuntimeError("out of memory")

    with pytest.raises(
        TypeError, match=r"^x must be readable by NumPy; got a Strange on .*, move it to the CPU first\.$"
    ):
        mag.univariate(Strange(np.arange(5.0)), 2)
