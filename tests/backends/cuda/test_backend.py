"""backend="cuda": what can be asked of it, what it refuses, and arrays that stay on the device: CuPy's, on a device.

The device is a GPU or an emulated one (tests/emulator).
"""

import copy
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest

import mag
from mag._backends import cpu, cuda
from mag._backends.cpu.facts import StoredFacts, StoredTableFacts
from mag._backends.cuda.launch import Device
from mag._backends.cuda.sort import sort
from mag._lib import arrays
from mag.costs import COSTS
from tests.cuda import records, sorting, tables
from tests.data.hostile import integer_columns, real_columns

WEIGHED = "solver 'block' and weights from 2**-63 to 2**63"


def test_the_reason_is_one_sentence():
    reason = cuda.why_not()
    assert mag.backends()["cuda"] == (reason or "ok")
    assert reason is None or (reason.endswith(".") and reason.count(". ") == 0)


@pytest.mark.skipif(cuda.why_not() is None, reason="there is a usable GPU")
@pytest.mark.parametrize(
    "call", [lambda **o: mag.univariate([1.0, 2.0], 1, **o), lambda **o: mag.columns([[1.0]], 1, **o)]
)
def test_without_a_gpu_it_says_why(call):
    with pytest.raises(
        ValueError, match=r"^backend must be one that mag.backends\(\) finds usable; got 'cuda'\. CuPy is"
    ):
        call(backend="cuda")
    assert call(backend="auto").k == 1


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("sys.modules['cupy'] = None", "CuPy is not installed: pip install"),
        ("sys.modules['cupy'] = type('Cupy', (), {})", "CuPy is installed, but AttributeError: "),
    ],
)
def test_detection_never_raises(code, reason):
    code = f"import sys; {code}; import mag._backends.cuda as cuda; print(cuda.why_not())"
    assert reason in subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


@pytest.mark.gpu
def test_a_device_that_computes_something_else_is_not_used(cupy, monkeypatch):
    monkeypatch.setattr(cuda, "PROBE", cuda.PROBE.replace("3 *", "2 *"))
    assert cuda.why_not.__wrapped__() == "A GPU was found, but a kernel returned a wrong result."


@pytest.mark.gpu
def test_a_kernel_that_does_not_compile_is_a_reason(cupy, monkeypatch):
    monkeypatch.setattr(cuda, "PROBE", cuda.PROBE.replace("int*", "word*"))
    reason = cuda.why_not.__wrapped__()
    assert reason.startswith("A GPU was found, but kernels cannot be compiled or run on it: CompileException: ")


NO_HEADERS = """
import os, tempfile
from tests import emulator
emulator.activate()
from cuda import pathfinder
pathfinder.find_nvidia_header_directory = lambda name: None  # as on a machine that has none
del os.environ["CUDA_PATH"]
os.environ["CUPY_CACHE_DIR"] = tempfile.mkdtemp()
from mag._backends import cuda
print(cuda.why_not())
"""


@pytest.mark.gpu
def test_missing_headers_are_a_reason(emulated):
    pytest.importorskip("cuda.pathfinder", reason="CuPy 13 looks for headers elsewhere")
    found = subprocess.run([sys.executable, "-c", NO_HEADERS], capture_output=True, text=True, check=True).stdout
    assert re.match(r"A GPU was found, but .*headers.*\[ctk\]", found), found


@pytest.mark.gpu
@pytest.mark.parametrize("cost", COSTS)
def test_numpy_arrays_are_moved_and_brought_back(device, cost):
    X = np.stack([integer_columns(150)[name] for name in ("small", "degrees", "constant")], axis=1)
    found = mag.columns(X, 3, cost=cost, backend="cuda")
    assert type(found.labels) is np.ndarray
    for j in range(3):
        expected, single = (mag.univariate(X[:, j], 3, cost=cost, backend=backend) for backend in ("cpu", "cuda"))
        assert np.array_equal(found.labels[:, j], expected.labels)
        assert np.array_equal(found.masked[:, j], expected.masked)
        assert np.array_equal(single.labels, expected.labels)
        assert single.cost == expected.cost == found.cost[j]


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [">f8", ">i4"])
def test_either_byte_order_is_read(device, dtype):
    X = np.random.default_rng(0).normal(scale=1000, size=(150, 3)).astype(dtype)
    expected = mag.columns(X, 3, backend="cpu").labels
    assert np.array_equal(mag.columns(X, 3, backend="cuda").labels, expected)
    assert np.array_equal(mag.univariate(X[:, 1], 3, backend="cuda").labels, expected[:, 1])


def assert_same(found, expected):
    """That results on a device have the bits of the CPU's."""
    for name in ("labels", "n_groups", "sizes", "cost", "representatives", "masked", "information_loss"):
        one, other = getattr(found, name), getattr(expected, name)
        if isinstance(other, np.ndarray):
            assert type(one).__module__ == "cupy", name
            assert one.dtype == other.dtype, name
            assert one.get().tobytes() == other.tobytes(), name
        else:
            assert one == other, name
    assert found.k == expected.k
    assert repr(found).partition(":")[2] == repr(expected).partition(":")[2]


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("dtype", "cost", "backend"),
    [
        (np.float64, "sse", "auto"),
        (np.float32, "sse", "cuda"),
        (np.int64, "sse", "auto"),
        (np.uint8, "roundup", "cuda"),
        (np.bool_, "roundup", "auto"),
    ],
)
def test_arrays_on_the_device_stay_there(device, backend, dtype, cost):
    X = (np.random.default_rng(0).random((130, 4)) * (2 if dtype == np.bool_ else 90)).astype(dtype)
    expected = mag.columns(X, 3, cost=cost, backend="cpu")
    found = mag.columns(device.asarray(X), 3, cost=cost, backend=backend)
    assert_same(found, expected)
    assert_same(found[1], expected[1])
    assert len(found) == 4
    assert_same(mag.univariate(device.asarray(X[:, 2]), 3, cost=cost, backend=backend), expected[2])


@pytest.mark.gpu
def test_every_column_may_have_its_own_cost_and_k(device):
    X = np.random.default_rng(0).integers(0, 90, (130, 4))
    options = {"k": [3, 20, 3, 13], "cost": ["sse", "sae", "roundup", "sse"]}
    assert_same(mag.columns(device.asarray(X), **options), mag.columns(X, **options))


@pytest.mark.gpu
def test_integers_beyond_float64_are_redone_by_the_cpu(device):
    X = np.stack([integer_columns(90)[name] for name in ("whole_range", "small", "ends")], axis=1)
    for cost in ("sse", "sse_int"):
        found = mag.columns(device.asarray(X), 3, cost=cost)
        for j in range(3):
            expected = mag.univariate(X[:, j], 3, cost=cost)
            assert np.array_equal(found.labels[:, j].get(), expected.labels)
            assert found.masked[:, j].get().tobytes() == expected.masked.tobytes()
            assert found.cost[j] == float(expected.cost)
            assert_same(mag.univariate(device.asarray(X[:, j]), 3, cost=cost), expected)


@pytest.mark.gpu
def test_nothing_waits_before_the_result_is_asked_for(device, monkeypatch):
    looked = []
    monkeypatch.setattr(Device, "host", staticmethod(lambda array: looked.append(1) or array.get()))
    found = mag.columns(device.asarray(np.random.default_rng(0).random((130, 4))), 3)
    single = mag.univariate(device.asarray(np.random.default_rng(0).random(130)), 3)
    assert not looked
    assert found.labels.shape == (130, 4)
    assert single.labels.shape == (130,)
    assert looked


@pytest.mark.gpu
def test_values_that_are_not_finite_are_refused_when_the_result_is_asked_for(device):
    X = device.asarray(np.ones((20, 2)))
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"^X contains 1 NaN value in column 1; drop"):
        _ = mag.columns(X, 3).labels
    with pytest.raises(ValueError, match=r"^x contains 1 NaN value; drop"):
        _ = mag.univariate(X[:, 1], 3).cost


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"weights": np.ones(9), "cost": "sae"}, "backend must be 'cpu' with weights and cost 'sae'; got 'cuda'."),
        (
            {"weights": np.arange(9.0)},
            "backend must be 'cpu' with weights, unless for " + WEIGHED + "; got 'cuda'.",
        ),
        (
            {"weights": np.ones(9), "solver": "staggered"},
            "backend must be 'cpu' with weights, unless for " + WEIGHED + "; got 'cuda'.",
        ),
        ({"group_penalty": 1.0}, "backend must be 'cpu' with group_penalty, max_groups or soft; got 'cuda'."),
        ({"group_penalty": 0.0}, "backend must be 'cpu' with group_penalty, max_groups or soft; got 'cuda'."),
        ({"max_groups": 2}, "backend must be 'cpu' with group_penalty, max_groups or soft; got 'cuda'."),
        ({"soft": 1.0}, "backend must be 'cpu' with group_penalty, max_groups or soft; got 'cuda'."),
        ({"solver": "wilber"}, "solver must be 'auto', 'block' or 'staggered' with backend 'cuda'; got 'wilber'."),
        (
            {"cost": mag.Cost("mine", group=lambda x, i, j: 1.0 * (j - i), concave=True, splitting=True)},
            "backend must be 'cpu' with cost 'mine', which is your own; got 'cuda'.",
        ),
    ],
)
def test_what_is_for_the_cpu_alone_is_refused_in_one_sentence(device, monkeypatch, options, sentence):
    monkeypatch.setattr(Device, "host", staticmethod(lambda array: pytest.fail("copied")))
    exactly = "^" + re.escape(sentence) + "$"
    for x in (np.arange(9.0), device.asarray(np.arange(9.0))):
        with pytest.raises(ValueError, match=exactly):
            mag.univariate(x, 2, backend="cuda", **options)
        with pytest.raises(ValueError, match=exactly):
            mag.columns(x[:, None], 2, backend="cuda", **options)


@pytest.mark.gpu
@pytest.mark.parametrize("options", [{"weights": np.arange(30)}, {"group_penalty": 1.0}, {"soft": 0.1}])
def test_what_is_for_the_cpu_is_computed_there_with_auto(device, options):
    X = np.random.default_rng(0).random((30, 2))
    expected = mag.columns(X, 3, **options)
    found = mag.columns(device.asarray(X), 3, **options)
    assert isinstance(found.labels, device.ndarray)
    assert np.array_equal(found.labels.get(), expected.labels)
    single = mag.univariate(device.asarray(X[:, 1]), 3, **options)
    assert np.array_equal(single.labels.get(), expected.labels[:, 1])


@pytest.fixture
def far(cupy, monkeypatch):
    """Makes arrays of CuPy, on a device that the backend does not use."""
    monkeypatch.setattr(cuda, "why_not", lambda: "no device")
    monkeypatch.setattr(arrays, "_silent", False)
    return cupy.asarray


@pytest.mark.gpu
def test_a_large_copy_to_the_host_is_told_once(far, monkeypatch):
    monkeypatch.setattr(arrays, "COPIED", 2**20)
    x = np.random.default_rng(0).random(2**18)
    mag.univariate(far(x[: 2**17]), 3)  # not more than that
    mag.univariate(far(x), 3, backend="cpu")  # asked for
    with pytest.warns(mag.CopyWarning, match=r"^x, 2 MB, is copied from its device to the host, which runs this"):
        mag.univariate(far(x), 3)
    mag.univariate(far(x), 3)
    mag.columns(far(x[:, None]), 3)


@pytest.mark.gpu
def test_tables_are_told_of_too(far, monkeypatch):
    monkeypatch.setattr(arrays, "COPIED", 1000)
    X = np.random.default_rng(0).random((200, 2))
    for function in (mag.columns, mag.multivariate):
        monkeypatch.setattr(arrays, "_silent", False)
        with pytest.warns(mag.CopyWarning, match=r"^X, 0 MB, is copied"):
            function(far(X), 3)
        function(X, 3)


@pytest.mark.gpu
def test_a_k_that_the_kernels_do_not_take_is_for_the_cpu(device):
    x = np.random.default_rng(0).random(70_000)
    assert np.array_equal(mag.univariate(x, 33_000, backend="cuda").labels, mag.univariate(x, 33_000).labels)
    assert np.array_equal(mag.univariate(device.asarray(x), 33_000).labels.get(), mag.univariate(x, 33_000).labels)


@pytest.mark.gpu
@pytest.mark.parametrize("copy_of", [copy.copy, copy.deepcopy, lambda result: pickle.loads(pickle.dumps(result))])
def test_copies_of_device_results_hold_what_is_published(device, copy_of):
    X = np.random.default_rng(0).normal(size=(300, 3))
    needle = X[7, 1].tobytes()
    single, several = mag.univariate(device.asarray(X[:, 1].copy()), 5), mag.columns(device.asarray(X), 5)
    for result in (single, several, several[1]):
        same = copy_of(result)
        assert isinstance(same._facts, StoredTableFacts if result is several else StoredFacts)
        assert repr(same) == repr(result)
        assert needle not in pickle.dumps(result)
        for name in ("labels", "sizes", "representatives", "masked"):
            assert isinstance(getattr(same, name), device.ndarray)
            assert device.array_equal(getattr(same, name), getattr(result, name))
        assert np.array_equal(*(device.asnumpy(one.information_loss) for one in (same, result)))


def test_arrays_elsewhere_are_not_resident():
    assert arrays.resident(np.ones(3)) is None
    assert arrays.resident([1.0]) is None


# ---- the bits of the CPU, at sizes that keep a device busy

LONG = pytest.mark.long  # full sizes, for a GPU
FEW, MANY = 400, pytest.param(5000, marks=LONG)


def same_bits(found, expected, *names):
    for name in names:
        assert getattr(found, name).get().tobytes() == getattr(expected, name).tobytes(), name


@pytest.mark.gpu
@pytest.mark.parametrize("n", [FEW, MANY])
@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("k", [3, 11, 40, *(pytest.param(k, marks=LONG) for k in (1, 2, 7, 12, 200))])
def test_hostile_columns_have_the_bits_of_the_cpu(device, cost, k, n):
    for columns in tables.tables(cost, n):
        X = np.stack(list(columns.values()), axis=1)
        found, expected = mag.columns(device.asarray(X), k, cost=cost), mag.columns(X, k, cost=cost, backend="cpu")
        same_bits(found, expected, "labels", "representatives", "masked", "information_loss")
        assert found.cost.tolist() == expected.cost.tolist()


@pytest.mark.gpu
@pytest.mark.parametrize("n", [FEW, MANY])
@pytest.mark.parametrize("k", [5, 100, pytest.param(1000, marks=LONG)])
def test_columns_that_the_host_solves_have_the_bits_of_the_cpu(cupy, k, n):
    for name, x in (real_columns(n) | integer_columns(n)).items():
        expected, found = mag.univariate(x, k, backend="cpu"), mag.univariate(cupy.asarray(x), k)
        same_bits(found, expected, "labels", "masked", "representatives")
        assert found.cost == expected.cost, name


@pytest.mark.gpu
@pytest.mark.parametrize("n", [1, 33, 5001, pytest.param(100_001, marks=LONG)])
@pytest.mark.parametrize("dtype", [*sorting.REALS, *sorting.INTEGERS])
def test_a_device_sorts_every_type(cupy, dtype, n):
    X = sorting.columns(dtype, n)
    order, flags = cupy.zeros(X.shape, np.int32), cupy.zeros(len(X), np.int32)
    values = sort(cuda.current(), cupy.asarray(X), order, flags)
    expected = np.argsort(X + 0.0 if X.dtype.kind == "f" else X, axis=1, kind="stable")
    assert np.array_equal(order.get(), expected)
    assert not flags.get().any()
    assert np.array_equal(np.diff(values.get(), axis=1) >= 0, np.ones((len(X), n - 1), bool))


@pytest.mark.gpu
@pytest.mark.parametrize("n", [10**5, pytest.param(10**7, marks=LONG)])
def test_a_device_sorts_one_long_column(cupy, n):
    x = np.random.default_rng(0).normal(size=(1, n))
    order, flags = cupy.zeros(x.shape, np.int32), cupy.zeros(1, np.int32)
    sort(cuda.current(), cupy.asarray(x), order, flags)
    assert np.array_equal(order.get()[0], np.argsort(x[0], kind="stable"))
    assert not flags.get().any()


@pytest.mark.gpu
@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize(
    ("n", "d", "k", "directions"),
    [
        (700, 5, 5, 20),
        (300, 3, 60, 9),
        *(pytest.param(*size, 70, marks=LONG) for size in ((20_000, 20, 5), (5000, 3, 60))),
    ],
)
def test_a_device_scores_projections_like_the_cpu(cupy, n, d, k, directions, ordered):
    X = records.table(n, d)
    options = {"method": "projection", "n_projections": directions, "return_scores": True, "ordered": ordered}
    found, expected = mag.multivariate(cupy.asarray(X), k, **options), mag.multivariate(X, k, **options)
    assert found.details["scores"].get().tobytes() == expected.details["scores"].tobytes()
    same_bits(found, expected, "labels", "masked")
    assert found.information_loss == expected.information_loss


@pytest.mark.gpu
@pytest.mark.parametrize("method", ["mdav", "mdav_plus", "mdav_star", "mona_2d", "mondrian", "mondrian_v", "ona_star"])
@pytest.mark.parametrize(
    ("n", "d", "k"), [(500, 4, 3), *(pytest.param(*size, marks=LONG) for size in ((10_000, 4, 3), (4000, 12, 40)))]
)
def test_a_device_finds_the_groups_of_records_of_the_cpu(cupy, method, n, d, k):
    X = records.table(n, d).round(2)
    found, expected = mag.multivariate(cupy.asarray(X), k, method=method), mag.multivariate(X, k, method=method)
    assert np.array_equal(found.labels.get(), expected.labels)


@pytest.mark.gpu
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(("n", "d", "m"), [(700, 3, 5), (2000, 2, 300), pytest.param(20_000, 4, 26, marks=LONG)])
def test_a_device_finds_neighbors(cupy, n, d, m, sign):
    records.check_lists(cuda.current(), n, d, m, sign)


@pytest.mark.gpu
@pytest.mark.parametrize("shape", [(500, 3), (300, 1), pytest.param((50_000, 3), marks=LONG)])
def test_a_buffer_on_the_device_may_be_used_again(cupy, shape):
    X = np.random.default_rng(0).random(shape)
    given = cupy.asarray(X)
    found = mag.columns(given, 5)
    given[:] = 0
    assert np.array_equal(found.labels.get(), mag.columns(X, 5).labels)


@pytest.mark.gpu
@pytest.mark.parametrize("n", [2000, pytest.param(200_000, marks=LONG)])
def test_the_first_look_may_be_on_another_stream(device, n):
    x = np.random.default_rng(0).random((n, 3))
    given = device.asarray(x)
    device.cuda.runtime.deviceSynchronize()
    with device.cuda.Stream(non_blocking=True):
        found = mag.columns(given, 5)
    with device.cuda.Stream(non_blocking=True):
        labels = found.labels.get()
    assert np.array_equal(labels, mag.columns(x, 5).labels)


@pytest.mark.gpu
@pytest.mark.parametrize("shape", [(2000, 8), pytest.param((100_000, 40), marks=LONG)])
def test_the_limit_of_a_pool_is_kept_on_a_device(device, shape):
    X = np.random.default_rng(0).random(shape)
    given, pool = device.asarray(X), device.get_default_memory_pool()
    pool.free_all_blocks()
    pool.set_limit(size=pool.used_bytes() + 34 * X.size)  # some columns at a time
    try:
        assert np.array_equal(mag.columns(given, 5).labels.get(), mag.columns(X, 5).labels)
    finally:
        pool.set_limit(size=0)


@pytest.mark.gpu
@pytest.mark.parametrize("k", [3, 11, 50])
@pytest.mark.parametrize("shape", [(2000, 16), pytest.param((100_000, 64), marks=LONG)])
def test_a_device_solves_batches(device, shape, k):
    X = np.random.default_rng(0).normal(size=shape).round(6)
    assert np.array_equal(mag.columns(device.asarray(X), k).labels.get(), mag.columns(X, k).labels)


@pytest.mark.gpu
@pytest.mark.parametrize("k", [3, 50])
@pytest.mark.parametrize("n", [5000, pytest.param(2**22, marks=LONG)])
def test_a_device_solves_long_columns_from_both_ends(device, monkeypatch, n, k):
    monkeypatch.setattr(cpu, "BOTH_ENDS_FROM_N", min(n, cpu.BOTH_ENDS_FROM_N))
    x = np.random.default_rng(0).normal(size=n)
    assert np.array_equal(mag.univariate(device.asarray(x), k).labels.get(), mag.univariate(x, k).labels)


@pytest.mark.gpu
@pytest.mark.parametrize("n", [2000, pytest.param(20_000, marks=LONG)])
def test_the_stream_of_the_caller_is_used(device, n):
    x = np.random.default_rng(0).random((n, 3))
    with device.cuda.Stream(non_blocking=True):
        found = mag.columns(device.asarray(x), 5).labels.get()
    assert np.array_equal(found, mag.columns(x, 5).labels)


@pytest.mark.gpu
@pytest.mark.parametrize("library", ["torch", "jax"])
def test_arrays_of_other_libraries_stay_on_the_device(cupy, library):
    module = pytest.importorskip(library)
    x = np.random.default_rng(0).random(3000).astype(np.float32)
    if library == "torch":
        if not module.cuda.is_available():
            pytest.skip("torch has no CUDA here")
        given = module.asarray(x, device="cuda")
    else:
        if module.default_backend() != "gpu":
            pytest.skip("jax has no GPU here")
        given = module.numpy.asarray(x)
    found = mag.univariate(given, 5)
    assert isinstance(found.masked, type(given))
    assert np.array_equal(
        np.asarray(found.labels.cpu() if library == "torch" else found.labels), mag.univariate(x, 5).labels
    )
