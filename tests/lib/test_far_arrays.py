"""Arrays that live on a GPU, as they come in and go home: CuPy's own, and what other libraries show of theirs."""

import pickle
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import mag
from mag._backends import cuda
from mag._lib import arrays
from tests.cuda import cudf as cudf_stand_in


@pytest.fixture
def far(cupy, monkeypatch):
    """CuPy, on a device that the backend does not use: arrays are copied to the host and results go back."""
    monkeypatch.setattr(cuda, "why_not", lambda: "no device")
    return cupy


@pytest.mark.gpu
def test_arrays_of_cupy_are_copied_and_come_home(far):
    x = np.random.default_rng(0).random((40, 2))
    found = mag.columns(far.asarray(x), 3)
    assert isinstance(found.masked, far.ndarray)
    assert np.array_equal(found.masked.get(), mag.columns(x, 3).masked)
    assert arrays.resident(far.asarray(x))[1] is arrays.return_unchanged


class Shown:
    """Memory that is shown by __cuda_array_interface__ alone, as numba's device arrays do."""

    def __init__(self, array):
        self.array, self.__cuda_array_interface__ = array, array.__cuda_array_interface__


@pytest.mark.gpu
def test_memory_that_only_the_cuda_array_interface_shows(cupy):
    x = np.random.default_rng(0).random(40)
    shown = Shown(cupy.asarray(x))
    values, home = arrays.read("x", shown)
    assert np.array_equal(values, x)
    assert home.library == "array_api_compat.cupy"
    array, stay = arrays.resident(shown)
    assert isinstance(array, cupy.ndarray)
    assert array.data.ptr == shown.array.data.ptr
    assert stay(array) is array
    assert np.array_equal(mag.univariate(shown, 3).labels.get(), mag.univariate(x, 3).labels)


@pytest.mark.gpu
def test_columns_and_frames_of_cudf(cupy, monkeypatch):
    pyarrow, cudf = pytest.importorskip("pyarrow"), cudf_stand_in.install(monkeypatch, cupy)
    X = np.random.default_rng(0).random((40, 3))
    frame = cudf.DataFrame({name: cupy.asarray(X[:, j]) for j, name in enumerate("abc")})
    assert np.array_equal(mag.univariate(frame["a"], 3).labels.get(), mag.univariate(X[:, 0], 3).labels)
    assert np.array_equal(mag.columns(frame, 3).labels.get(), mag.columns(X, 3).labels)
    assert isinstance(arrays.resident(frame)[0], cupy.ndarray)
    missing = {"a": pyarrow.array([1.0, None])}
    for other in (cudf.DataFrame(missing), cudf.DataFrame({})):
        with pytest.raises(
            TypeError, match=r"^X must hold real numbers without missing ones; got a cuDF DataFrame of other"
        ):
            mag.columns(other, 3)
    assert arrays.resident(cudf.Series(missing["a"])) is None  # and is refused by the name of the argument


def test_cupy_is_not_imported_for_arrays_of_the_host(monkeypatch):
    monkeypatch.setattr(arrays, "_cupy", lambda: pytest.fail("imported"))
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    for x in (np.ones(3), [1.0], torch.ones(3), jax.numpy.ones(3), memoryview(np.ones(3))):
        assert arrays.resident(x) is None


class FarTensor:
    """A tensor of PyTorch on CUDA, as far as it is looked at; `used_by` are the streams that the allocator knows of."""

    def __init__(self, array):
        self.array, self.dtype, self.used_by = array, str(array.dtype), []
        self.device = f"cuda:{array.device.id}"

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def record_stream(self, stream):
        self.used_by.append(stream)


@pytest.mark.gpu
def test_tensors_on_cuda_are_seen_by_cupy_and_kept_while_it_reads(cupy, monkeypatch):
    pytest.importorskip("torch")
    last = cupy.cuda.runtime.getDeviceCount() - 1
    with cupy.cuda.Device(last):
        tensor, stream = FarTensor(cupy.arange(5.0)), cupy.cuda.Stream(non_blocking=True)
        stream.use()
    monkeypatch.setattr(sys.modules["torch"].cuda, "ExternalStream", lambda ptr, device: (ptr, device))
    monkeypatch.setattr(arrays, "_of_standard", lambda x: True)
    monkeypatch.setattr(arrays, "_namespace", lambda x: SimpleNamespace(__name__="array_api_compat.torch"))
    try:
        array, home = arrays.resident(tensor)
    finally:
        with cupy.cuda.Device(last):
            cupy.cuda.Stream.null.use()
    assert array.data.ptr == tensor.array.data.ptr
    assert np.array_equal(array.get(), np.arange(5.0))
    assert tensor.used_by == [(stream.ptr, f"cuda:{last}")]  # the current stream of the device that it is on
    assert home.library == "array_api_compat.torch"


def test_ways_home_from_a_device_can_be_pickled(monkeypatch):
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    narrow = pickle.loads(pickle.dumps(arrays.ResidentOrigin("array_api_compat.torch", None, torch.bfloat16)))
    assert narrow(torch.ones(3)).dtype == torch.bfloat16
    assert narrow(torch.ones(3, dtype=torch.int32)).dtype == torch.int32
    assert pickle.loads(pickle.dumps(arrays.return_unchanged))(3) == 3
    monkeypatch.setattr(arrays, "_cupy", lambda: np)  # JAX has no GPU here that could take an array of CuPy
    plain = pickle.loads(pickle.dumps(arrays.ResidentOrigin("jax.numpy", None)))
    assert isinstance(plain(np.arange(6, dtype=np.int32).reshape(2, 3).T), jax.Array)


def test_what_cannot_be_read_says_where_it_is():
    class Strange:
        """An array of the standard, on a device that refuses to give its memory away."""

        dtype, shape, device = np.dtype(float), (5,), "a far device"

        def __array_namespace__(self, **options):
            return np

        def __dlpack_device__(self):
            return 8, 0  # Metal

        def __dlpack__(self, **options):
            raise BufferError("this memory is not the host's")

        def to_device(self, device, **options):
            raise RuntimeError("out of memory")

    with pytest.raises(
        TypeError, match=r"^x must be readable by NumPy; got a Strange on a far device, move it to the CPU first\.$"
    ):
        mag.univariate(Strange(), 2)
