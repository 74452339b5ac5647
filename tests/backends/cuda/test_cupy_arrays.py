"""Arrays of the real CuPy, and of libraries that share its memory: what comes in, and what goes out."""

import pickle
import re
import sys
from types import ModuleType

import numpy as np
import pytest

import mag
import mag.verify
from mag._backends.cuda import columns as pipeline
from mag._lib import arrays
from tests.cuda import cudf as cudf_stand_in

pytestmark = pytest.mark.gpu

X = np.random.default_rng(0).normal(size=(30, 3))


def test_an_estimator_reads_arrays_on_a_device(cupy):
    weights = np.arange(1.0, 31.0)
    for options in ({}, {"sample_weight": weights}):
        expected = mag.Microaggregator(3).fit_transform(X, **options)
        far = {name: cupy.asarray(array) for name, array in options.items()}
        estimator = mag.Microaggregator(3)
        found = estimator.fit_transform(cupy.asarray(X), **far)
        assert type(found) is np.ndarray
        assert np.array_equal(found, expected)
        assert np.array_equal(estimator.transform(cupy.asarray(X[:4])), estimator.transform(X[:4]))
        assert np.array_equal(estimator.predict(cupy.asarray(X[:4])), estimator.predict(X[:4]))


def test_pickles_of_results_on_a_device_hold_no_data(cupy):
    for found in (mag.columns(cupy.asarray(X), 3), mag.univariate(cupy.asarray(X[:, 0]), 3)):
        again = pickle.loads(pickle.dumps(found))
        for name in ("labels", "sizes", "representatives"):
            assert isinstance(getattr(again, name), cupy.ndarray)
            assert np.array_equal(getattr(again, name).get(), getattr(found, name).get())
        assert not any(isinstance(value, cupy.ndarray) for name, value in vars(again).items() if name == "_x")


# ---- DLPack: tensors of another library, as PyTorch's and JAX's on CUDA are


class Bare:
    """Memory of a device that DLPack shows, computed on a stream; `asked` are the streams that consumers named."""

    def __init__(self, array, stream):
        self.array, self.stream, self.asked = array, stream, []

    def __dlpack_device__(self):
        return 2, self.array.device.id

    def __dlpack__(self, *, stream=None, **options):
        self.asked.append(stream)
        with self.array.device, self.stream:
            return self.array.__dlpack__(stream=stream, **options)


class Tensor(Bare):
    """The same, of a library that follows the standard of arrays."""

    @property
    def dtype(self):
        return self.array.dtype

    @property
    def shape(self):
        return self.array.shape

    def __array_namespace__(self, api_version=None):
        return sys.modules["tensors"]


class Shared:
    """The arrays that a producer has already exported."""

    def __init__(self, capsule, device):
        self.capsule, self.device = capsule, device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        return self.capsule


@pytest.fixture
def library(cupy, monkeypatch):
    """The library, whose current stream is `library.stream`."""
    monkeypatch.setattr(pipeline, "host_is_sooner", lambda *shape: False)
    module = ModuleType("tensors")
    module.float32, module.stream = np.float32, cupy.cuda.Stream(non_blocking=True)

    def from_dlpack(array):
        shared = Shared(array.__dlpack__(stream=module.stream.ptr), array.__dlpack_device__())
        with array.device, module.stream:
            return Tensor(cupy.from_dlpack(shared), module.stream)

    module.from_dlpack = from_dlpack
    monkeypatch.setitem(sys.modules, "tensors", module)
    return module


def given_by(cupy, library, kind, values):
    """A tensor that the library is still computing."""
    with library.stream:
        return kind(cupy.asarray(values) * 1, library.stream)


def values_of(library, tensor):
    with library.stream:
        return tensor.array.get()


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16, np.int64, np.uint8])
def test_tensors_go_in_and_out_by_dlpack(cupy, library, dtype):
    x = (20 * np.random.default_rng(0).random(400)).astype(dtype)
    expected, ours = mag.univariate(x, 5), cupy.cuda.Stream(non_blocking=True)
    tensor = given_by(cupy, library, Tensor, x)
    with ours:
        found = mag.univariate(tensor, 5)
        for name in ("labels", "masked", "sizes", "representatives"):
            array = getattr(found, name)
            assert isinstance(array, Tensor), name
            assert np.array_equal(values_of(library, array), getattr(expected, name)), name
            assert array.dtype == getattr(expected, name).dtype, name
    assert tensor.asked == [ours.ptr]  # the stream that reads them, and no other


def test_tables_and_records_go_in_and_out_by_dlpack(cupy, library):
    ours = cupy.cuda.Stream(non_blocking=True)
    strided = np.random.default_rng(0).normal(size=(6, 300))
    for call in (mag.columns, lambda x, k: mag.multivariate(x, k, method="projection", n_projections=3)):
        expected = call(strided[::2].T, 4)
        with library.stream:
            tensor = Tensor((cupy.asarray(strided) * 1)[::2].T, library.stream)
        with ours:
            found = call(tensor, 4)
            for name in ("labels", "masked", "sizes", "representatives"):
                assert np.array_equal(values_of(library, getattr(found, name)), getattr(expected, name)), name


def test_memory_that_only_dlpack_shows_comes_home_to_cupy(cupy, library):
    x = np.random.default_rng(0).normal(size=400)
    bare, ours = given_by(cupy, library, Bare, x), cupy.cuda.Stream(non_blocking=True)
    with ours:
        found = mag.univariate(bare, 5)
        assert isinstance(found.labels, cupy.ndarray)
        assert np.array_equal(found.labels.get(), mag.univariate(x, 5).labels)
    assert set(bare.asked) == {ours.ptr}


def test_memory_that_only_the_interface_of_arrays_shows(cupy):
    x = np.random.default_rng(0).normal(size=400)

    class Shown:
        """As arrays of numba and columns of cuDF: the stream that computes them is named."""

        def __init__(self, array, stream):
            self.array, self.stream = array, stream

        @property
        def __cuda_array_interface__(self):
            with self.stream:
                return dict(self.array.__cuda_array_interface__)

    theirs, ours = (cupy.cuda.Stream(non_blocking=True) for _ in range(2))
    with theirs:
        shown = Shown(cupy.asarray(x) * 1, theirs)
    with ours:
        found = mag.univariate(shown, 5)
        assert np.array_equal(found.labels.get(), mag.univariate(x, 5).labels)


@pytest.mark.parametrize(("kind", "name"), [(Tensor, "The array"), (Bare, "x")])
def test_memory_that_cannot_be_shared_is_one_sentence(cupy, library, kind, name):
    class Kept(kind):
        def __dlpack__(self, **options):
            raise BufferError("memory of a graph")

    class Elsewhere(kind):
        def __dlpack_device__(self):
            return 2, 7  # which CUDA does not have: CUDARuntimeError

    for refused, number in ((Kept, 0), (Elsewhere, 7)):
        tensor = given_by(cupy, library, refused, X[:, 0])
        place = f"got a {refused.__name__} on CUDA device {number}, copy it or move it to the CPU first."
        with pytest.raises(TypeError, match=rf"^{name} must be readable by CuPy; {re.escape(place)}$"):
            mag.univariate(tensor, 3)


def test_strides_types_and_byte_orders(cupy):
    base = np.random.default_rng(0).normal(size=(40, 12))
    for dtype in (np.float64, np.float32, np.float16, np.int8, np.uint16, np.int32, np.uint64, bool):
        table = (5 * base).astype(dtype) if dtype is not bool else base > 0
        for view in (lambda a: a, lambda a: a[::2, ::3], lambda a: a[::-1, ::-1], lambda a: a.T[:, :12]):
            expected, found = mag.columns(view(table), 3), mag.columns(view(cupy.asarray(table)), 3)
            for name in ("labels", "masked", "cost", "information_loss"):
                array = getattr(found, name)
                assert array.dtype == getattr(expected, name).dtype, (dtype, name)
                assert np.array_equal(array.get(), getattr(expected, name)), (dtype, name)


@pytest.mark.parametrize("k", [60, 300, 1100])
def test_lines_in_shared_memory(cupy, k, monkeypatch):
    """More than 48 KB of it must be asked for, which is from k = 620 on for sse."""
    monkeypatch.setattr(pipeline, "host_is_sooner", lambda *shape: False)
    x = np.random.default_rng(0).normal(size=3000)
    found, expected = mag.univariate(cupy.asarray(x), k), mag.univariate(x, k)
    assert np.array_equal(found.labels.get(), expected.labels)
    assert found.cost == expected.cost


def test_values_that_are_not_finite_are_counted(cupy):
    wrong = X.copy()
    wrong[3, 1], wrong[4, 2] = np.nan, np.inf
    with pytest.raises(ValueError, match=r"^X contains 1 NaN and 1 infinite values in columns 1, 2; drop"):
        mag.columns(cupy.asarray(wrong), 3).labels  # noqa: B018 - the first look
    assert arrays.resident(cupy.asarray(wrong))[1] is arrays.return_unchanged


# ---- cuDF, as far as its documentation says; cuDF itself has not been run


def test_numbers_of_cudf_stay_on_the_device(cupy, monkeypatch):
    cudf = cudf_stand_in.install(monkeypatch, cupy)
    frame = cudf.DataFrame({name: cupy.asarray(X[:, j]) for j, name in enumerate("abc")})
    monkeypatch.setattr(arrays, "_in_host_memory", lambda *read: pytest.fail("was copied to the host"))
    for call in (mag.columns, lambda x, k: mag.multivariate(x, k, method="projection", n_projections=3)):
        found, expected = call(frame, 3), call(X, 3)
        assert isinstance(found.masked, cupy.ndarray)
        assert np.array_equal(found.masked.get(), expected.masked)
    assert np.array_equal(mag.univariate(frame["a"], 3).labels.get(), mag.univariate(X[:, 0], 3).labels)


def test_frames_of_cudf_stay_on_their_device(cupy, monkeypatch):
    """Also where another device is the current one, whose streams do not wait for what computes the frame."""
    if cupy.cuda.runtime.getDeviceCount() < 2:
        pytest.skip("needs two devices")
    cudf, expected = cudf_stand_in.install(monkeypatch, cupy), mag.columns(2 * X, 3)
    with cupy.cuda.Device(1):
        frame = cudf.DataFrame({name: cupy.asarray(X[:, j]) * 2 for j, name in enumerate("abc")})
    for found in (mag.columns(frame, 3), mag.columns(frame, 3, devices=[0, 1])):
        assert found.labels.device.id == 1
        assert np.array_equal(found.masked.get(), expected.masked)


@pytest.mark.parametrize("options", [{"scope": "per-column"}, {}, {"method": "mdav", "backend": "cuda"}])
def test_frames_of_cudf_are_masked_and_come_back(cupy, monkeypatch, options):
    pyarrow, cudf = pytest.importorskip("pyarrow"), cudf_stand_in.install(monkeypatch, cupy)
    whole = np.random.default_rng(0).integers(0, 99, 30)
    table = pyarrow.table({"a": X[:, 0], "b": whole, "place": ["x", "y", None] * 10})
    frame = cudf.DataFrame(
        {"a": cupy.asarray(X[:, 0]), "b": cupy.asarray(whole), "place": pyarrow.array(["x", "y", None] * 10)}
    )
    found = mag.microaggregate(frame, 3, ["a", "b"], rest="keep", **options)
    expected = mag.microaggregate(table, 3, ["a", "b"], rest="keep", **options)
    assert isinstance(found.data, cudf.DataFrame)
    assert isinstance(found.data["a"].cells, cupy.ndarray)
    assert found.data.to_arrow().equals(expected.data)


@pytest.mark.parametrize("function", ["suppress", "check", "assess", "recount", "read the release as Arrow"])
def test_other_functions_read_frames_of_cudf(cupy, monkeypatch, function):
    pyarrow, cudf = pytest.importorskip("pyarrow"), cudf_stand_in.install(monkeypatch, cupy)
    whole, place = np.random.default_rng(0).integers(0, 4, 60), pyarrow.array(["x", "y", None] * 20)
    call = {
        "suppress": lambda table: pyarrow.table(mag.suppress(table, 3, ["a", "place"], rest="keep")),
        "check": lambda table: str(mag.check(table, 3, ["a", "place"])),
        "assess": lambda table: repr(mag.assess(table, ["a", "place"])),
        "recount": lambda table: mag.verify.recount(table, ["a", "place"]),
        "read the release as Arrow": lambda table: pyarrow.table(mag.microaggregate(table, 3, ["a"], rest="keep")),
    }[function]
    columns = {"a": cupy.asarray(whole), "place": place}
    expected = call(pyarrow.table({"a": whole, "place": place}))
    assert call(cudf.DataFrame(columns)) == expected
    if function == "read the release as Arrow":
        assert call({name: cudf.Series(cells, name) for name, cells in columns.items()}) == expected


def test_series_of_cudf_and_arrays_of_cupy_in_a_dictionary(cupy, monkeypatch):
    cudf = cudf_stand_in.install(monkeypatch, cupy)
    given = {"a": cudf.Series(cupy.asarray(X[:, 0]), "a"), "b": cupy.asarray(X[:, 1])}
    found = mag.microaggregate(given, 3, ["a", "b"])
    expected = mag.microaggregate({"a": X[:, 0], "b": X[:, 1]}, 3, ["a", "b"])
    assert isinstance(found.data["a"], cudf.Series)
    assert isinstance(found.data["b"], cupy.ndarray)
    assert np.array_equal(found.data["a"].cells.get(), expected.data["a"])
    assert np.array_equal(found.data["b"].get(), expected.data["b"])


def test_an_estimator_reads_a_frame_of_cudf(cupy, monkeypatch):
    cudf = cudf_stand_in.install(monkeypatch, cupy)
    frame = cudf.DataFrame({name: cupy.asarray(X[:, j]) for j, name in enumerate("abc")})
    assert np.array_equal(mag.Microaggregator(3).fit_transform(frame), mag.Microaggregator(3).fit_transform(X))


def test_cells_of_cudf_cross_the_bus_as_often_as_the_guide_says(emulated, device, monkeypatch):
    """8 bytes up to be grouped and 8 to be published; 8 down to be read, 8 to be recounted, labels of 4."""
    cudf, n = cudf_stand_in.install(monkeypatch, device), 3000
    frame = cudf.DataFrame({name: device.asarray(np.random.default_rng(0).normal(size=n)) for name in "ab"})
    before = [emulated.emulator_copied(to_host) for to_host in (0, 1)]
    mag.microaggregate(frame, 5, ["a", "b"], scope="per-column", backend="cuda")
    up, down = ((emulated.emulator_copied(to_host) - before[to_host]) / (2 * n) for to_host in (0, 1))
    assert 16 <= up < 16.1
    assert 20 <= down < 20.1
