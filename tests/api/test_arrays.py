"""Arrays of any library in, the same kind out."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import mag
from mag._lib import arrays
from mag.costs import COSTS
from tests.data.hostile import real_columns

NARROW = ["float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"]
ARRAYS = ["labels", "sizes", "representatives", "masked", "small_groups"]
TABLES = ["labels", "n_groups", "sizes", "cost", "representatives", "masked", "information_loss"]


def table(n=97, m=7, seed=0):
    return np.random.default_rng(seed).normal(size=(n, m)) * 50


@pytest.mark.parametrize("cost", [name for name, cost in COSTS.items() if not cost.integer])
def test_univariate_gives_the_same_in_every_library(xp, cost):
    for name, x in real_columns(80).items():
        expected, found = mag.univariate(x, 3, cost=cost), mag.univariate(xp.make(x), 3, cost=cost)
        for attribute in ARRAYS:
            array = getattr(found, attribute)
            assert isinstance(array, xp.kind)
            np.testing.assert_array_equal(xp.numpy(array), getattr(expected, attribute), err_msg=name, strict=True)
        assert found.cost == expected.cost
        assert found.information_loss == expected.information_loss


@pytest.mark.parametrize("order", ["C", "F"])
def test_columns_gives_the_same_in_every_library(xp, order):
    X = table()
    expected, found = mag.columns(X, 4), mag.columns(xp.make(np.array(X, order=order)), 4)
    for attribute in TABLES:
        array = getattr(found, attribute)
        assert isinstance(array, xp.kind)
        np.testing.assert_array_equal(xp.numpy(array), getattr(expected, attribute), strict=True)
    assert isinstance(found[2].masked, xp.kind)
    np.testing.assert_array_equal(xp.numpy(found[2].masked), expected.masked[:, 2])


@pytest.mark.parametrize("dtype", NARROW)
def test_dtypes_are_kept_as_in_numpy(xp, dtype):
    if dtype == "float16" and xp.kind.__module__.startswith("array_api_strict"):
        pytest.skip("the array API standard has no float16")
    X = (table() > 0) if dtype == "bool" else table().astype(dtype)
    for cost in ("sse", "roundup"):
        expected, found = mag.columns(X, 4, cost=cost), mag.columns(xp.make(X), 4, cost=cost)
        np.testing.assert_array_equal(xp.numpy(found.masked), expected.masked, strict=True)
        one = mag.univariate(xp.make(X[:, 1]), 4, cost=cost)
        np.testing.assert_array_equal(xp.numpy(one.masked), expected.masked[:, 1], strict=True)


def test_nothing_is_copied_on_the_way_in(xp):
    if xp.kind.__module__.startswith("cupy"):
        pytest.skip("device memory is read by the device's backend")
    for x in (np.arange(64.0), np.arange(64.0).reshape(8, 8), np.arange(64)):
        array = xp.make(x)
        values, _ = arrays.read("x", array)
        assert values.ctypes.data == xp.address(array)


def test_nothing_is_copied_on_the_way_out(xp):
    """JAX alone copies: it wants memory that is aligned to 64 bytes, and nobody may write to."""
    if xp.kind.__module__.startswith(("jax", "cupy")):
        pytest.skip("copies on the way out")
    _, home = arrays.read("x", xp.make(np.arange(6.0)))
    for array in (np.arange(6), np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3).T):
        back = home(array) if home else array
        assert xp.address(back) == array.ctypes.data
        assert tuple(back.shape) == array.shape


def test_strides_and_orders_are_read_as_they_are():
    torch = pytest.importorskip("torch")
    X = table(60, 8)
    expected = mag.columns(np.ascontiguousarray(X[::2, 1::3]), 3).labels
    np.testing.assert_array_equal(mag.columns(X[::2, 1::3], 3).labels, expected)
    np.testing.assert_array_equal(mag.columns(np.asfortranarray(X)[::2, 1::3], 3).labels, expected)
    np.testing.assert_array_equal(mag.columns(torch.from_numpy(X)[::2, 1::3], 3).labels.numpy(), expected)
    np.testing.assert_array_equal(mag.columns(torch.from_numpy(X).T.contiguous().T[::2, 1::3], 3).labels, expected)
    np.testing.assert_array_equal(mag.columns(X[::-1][::-2][::-1][:, 1::3], 3).labels.shape, (30, 3))
    np.testing.assert_array_equal(mag.univariate(X[::-2, 0], 3).labels, mag.univariate(X[::-2, 0].copy(), 3).labels)


# ---- PyTorch


def test_a_tensor_that_requires_grad_is_only_read():
    torch = pytest.importorskip("torch")
    x = torch.arange(10.0, requires_grad=True)
    grouping = mag.univariate(x, 3)
    assert x.requires_grad
    assert not grouping.masked.requires_grad
    assert grouping.masked.dtype == torch.float32


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_bfloat16_comes_back_as_bfloat16(library):
    if library == "torch":
        torch = pytest.importorskip("torch")
        x, dtype = torch.linspace(0, 9, 30, dtype=torch.bfloat16), torch.bfloat16
    else:
        jnp = pytest.importorskip("jax.numpy")
        x, dtype = jnp.linspace(0, 9, 30, dtype=jnp.bfloat16), jnp.bfloat16
    values = np.array(x.tolist())
    expected = mag.univariate(values, 4)
    found = mag.univariate(x, 4)
    assert found.masked.dtype == dtype
    np.testing.assert_array_equal(np.array(found.labels.tolist()), expected.labels)
    np.testing.assert_allclose(np.array(found.masked.tolist()), expected.masked, rtol=2**-8)
    assert mag.columns(x[:, None], 4).masked.dtype == dtype


def test_tensors_without_values_are_refused():
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match=r"x must hold values; got a tensor on the device 'meta'\."):
        mag.univariate(torch.empty(5, device="meta"), 2)
    with pytest.raises(TypeError, match=r"x must be a dense tensor; got torch.sparse_coo, use x.to_dense\(\) first\."):
        mag.univariate(torch.eye(3).to_sparse()[0], 2)
    with pytest.raises(TypeError, match=r"x must hold real numbers; got dtype complex\."):
        mag.univariate(torch.ones(3, dtype=torch.complex64), 2)
    with pytest.raises(ValueError, match=r"x contains 1 NaN value"):
        mag.univariate(torch.tensor([1.0, float("nan")]), 2)


def test_negated_views_are_read_as_they_look():
    torch = pytest.importorskip("torch")
    x = torch.view_as_complex(torch.arange(12.0).reshape(6, 2)).conj().imag
    assert x.is_neg()
    np.testing.assert_array_equal(mag.univariate(x, 2).masked, mag.univariate(x.resolve_neg().clone(), 2).masked)


# ---- JAX


def test_jax_under_jit_is_refused_with_advice():
    jax = pytest.importorskip("jax")
    advice = r"x must hold values; got an array that JAX is tracing, call mag outside of jit, vmap and grad, or through"
    with pytest.raises(TypeError, match=advice):
        jax.jit(lambda x: mag.univariate(x, 2).labels)(jax.numpy.arange(5.0))


def test_a_callback_works_under_jit():
    jax = pytest.importorskip("jax")
    x = jax.numpy.arange(9.0)
    like = jax.ShapeDtypeStruct(x.shape, np.int32)
    call = jax.jit(lambda x: jax.pure_callback(lambda x: mag.univariate(np.asarray(x), 3).labels, like, x))
    np.testing.assert_array_equal(call(x), mag.univariate(np.asarray(x), 3).labels)


def test_jax_without_64_bits_gets_32():
    jnp = pytest.importorskip("jax.numpy")
    grouping = mag.univariate(jnp.arange(9), 2)
    assert grouping.masked.dtype == np.float32
    assert grouping.labels.dtype == np.int32


# ---- devices, pickles, other containers


def test_the_device_is_respected():
    xps = pytest.importorskip("array_api_strict")
    device = xps.Device("device1")
    found = mag.columns(xps.asarray(table(), device=device), 3)
    assert found.masked.device == found.labels.device == device


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_results_can_be_pickled(library):
    pytest.importorskip(library)
    x = {"torch": lambda: sys.modules["torch"].arange(9.0), "jax": lambda: sys.modules["jax"].numpy.arange(9.0)}
    array = x[library]()
    for result in (mag.univariate(array, 2), mag.columns(array[:, None], 2)):
        copy = pickle.loads(pickle.dumps(result))
        assert type(copy.masked) is type(array)
        np.testing.assert_array_equal(copy.masked, result.masked)


def test_lists_of_lists_and_frames():
    rows = [[1, 2.5], [3, 4.5], [2, 9.0], [7, 1.0]]
    expected = mag.columns(np.array(rows), 2).masked
    np.testing.assert_array_equal(mag.columns(rows, 2).masked, expected)
    np.testing.assert_array_equal(mag.columns(tuple(map(tuple, rows)), 2).masked, expected)
    with pytest.raises(TypeError, match="NumPy cannot read the list given"):
        mag.columns([[1.0], [2.0, 3.0]], 2)
    for library in ("pandas", "polars"):
        if library in sys.modules or __import__("importlib.util").util.find_spec(library):
            frames = pytest.importorskip(library)
            series = frames.Series([row[1] for row in rows])
            np.testing.assert_array_equal(mag.univariate(series, 2).masked, expected[:, 1])
            frame = frames.DataFrame({"a": [1, 3, 2, 7], "b": [2.5, 4.5, 9.0, 1.0]})
            np.testing.assert_array_equal(mag.columns(frame, 2).masked, expected)


def test_no_library_is_imported_that_the_user_did_not_import():
    code = (
        "import mag, numpy, sys; mag.columns(numpy.arange(12.0).reshape(6, 2), 2).masked; "
        "print([name for name in ('torch', 'jax', 'cupy', 'pandas', 'polars', 'dask') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize("dtype", ["int4", "uint4", "int2", "bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_narrow_numbers_of_jax(dtype):
    """Integers of four bits are integers: their means are not."""
    jnp = pytest.importorskip("jax.numpy")
    x = jnp.asarray([0, 1, 1, -1, 0, 0, 1] if dtype == "int2" else [0, 1, 1, 3, 6, 6, 7]).astype(dtype)
    grouping, plain = mag.univariate(x, 3), mag.univariate(np.asarray(x.astype("float32"), np.float64), 3)
    assert grouping.labels.tolist() == plain.labels.tolist()
    integer = "int" in dtype
    assert str(grouping.masked.dtype) == ("float32" if integer else dtype)
    expected = plain.masked.astype(np.float32) if integer else jnp.asarray(plain.masked, "float32").astype(dtype)
    assert grouping.masked.tolist() == expected.tolist()
    assert not integer or grouping.masked.tolist() != grouping.masked.astype("int32").tolist()


def test_what_holds_no_values_or_no_numbers_is_refused_in_a_sentence():
    torch, sparse, polars = (pytest.importorskip(name) for name in ("torch", "scipy.sparse", "polars"))
    with pytest.raises(TypeError, match=r"x must hold values; got a tensor inside of torch\.vmap"):
        torch.vmap(lambda x: mag.univariate(x, 2).masked)(torch.rand(3, 5))
    with pytest.raises(
        TypeError, match=r"x must have a dtype that NumPy can read; got torch\.uint4, convert it first\."
    ):
        mag.univariate(torch.zeros(4, dtype=torch.uint8).view(torch.uint4), 2)
    for matrix in (sparse.csr_matrix(np.eye(4)), sparse.coo_array(np.eye(4))):
        sentence = rf"X must be a dense array; got a sparse {type(matrix).__name__}, use X\.toarray\(\) first\."
        for function in (mag.multivariate, mag.columns):
            with pytest.raises(TypeError, match=sentence):
                function(matrix, 2)
    wide = polars.Series([1, 2, 4, 7], dtype=polars.Int128)
    with pytest.raises(TypeError, match=r"NumPy cannot read the Series of dtype Int128 given\."):
        mag.univariate(wide, 2)
