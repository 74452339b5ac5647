"""The project's own sort against numpy's stable one."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mag._compiled import sort as _sort
from mag._compiled.sort import FEWEST, sort
from mag._lib import workspace
from mag._lib.workspace import release

TINY, HUGE = 5e-324, np.finfo(np.float64).max
INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
SIZES = [1, 2, 3, FEWEST - 1, FEWEST, 1000, 4092, 100_003]


def assert_sorts(x, padding=0, threads=1):
    before = x.tobytes()
    values, order = sort(x, padding, threads)
    assert x.tobytes() == before
    expected = np.argsort(x, kind="stable")
    if order is None:
        assert np.array_equal(expected, np.arange(x.size))
    else:
        assert order.dtype == np.int32
        assert np.array_equal(order, expected)
    assert order is not None or not (x[1:] < x[:-1]).any()
    wanted = x[expected].astype(np.float64 if x.dtype.kind == "f" else x.dtype.newbyteorder("="))
    assert values.dtype == wanted.dtype
    assert values.flags.writeable
    assert values.tobytes() == np.pad(wanted, padding, mode="edge").tobytes()  # bit by bit: -0.0 is not 0.0
    assert not np.shares_memory(values, x)


def hostile(n, seed=0):
    """Arrays of n float64 that are hard on a radix sort, by name."""
    rng = np.random.default_rng(seed)
    sign = rng.choice([-1.0, 1.0], n)
    arrays = {
        "uniform": rng.random(n),
        "normal": rng.normal(size=n),
        "lognormal": rng.lognormal(sigma=4, size=n),
        "cauchy": rng.standard_cauchy(n),
        "any bits": rng.integers(-(2**63), 2**63, n).view(np.float64),
        "zeros": 0.0 * sign,
        "mostly zeros": np.where(rng.random(n) < 0.9, 0.0 * sign, rng.normal(size=n)),
        "subnormal": rng.integers(0, 50, n) * TINY * sign,
        "subnormal and huge": np.where(rng.random(n) < 0.5, TINY * sign, HUGE * sign),
        "largest": HUGE * sign,
        "all equal": np.full(n, 3.25),
        "two values": rng.choice([1.0, 1.0 + 2.0**-52], n),
        "ties": np.round(rng.normal(size=n), 1),
        "ascending": np.sort(rng.normal(size=n)),
        "reversed": np.sort(rng.normal(size=n))[::-1].copy(),
        "reversed ties": np.repeat(np.arange(n // 7 + 1.0)[::-1], 7)[:n].copy(),
        "almost ascending": np.append(np.arange(n - 1.0), 0.0),
        "clusters": rng.integers(0, 3, n) * 1e9 + rng.random(n) * 1e-4,
        "offset": 1e9 + rng.random(n) * 1e-6,
        "geometric": sign * np.exp2(rng.random(n) * 2000 - 1000),
        "outlier": np.append(rng.random(n - 1), 1e300),
        "one in a billion": np.where(np.arange(n) % 5 == 0, rng.random(n), rng.random(n) * 1e-9 + 0.5),
        "near the ends": np.concatenate([[-HUGE, HUGE], 1 + np.arange(n)[::-1] * 2.0**-52])[:n].copy(),
        "nested": 2.0 ** -(rng.integers(0, 6, n) * 9) * (1 + rng.random(n) * 2.0**-40),
        "sawtooth": np.arange(n) % 32 + rng.random(n) * 1e-12,
    }
    arrays["any bits"] = np.where(np.isfinite(arrays["any bits"]), arrays["any bits"], 1.0)
    return arrays


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", hostile(4))
def test_floats_sort_as_numpy_sorts_them(name, n):
    assert_sorts(hostile(n)[name])


@pytest.mark.parametrize("name", ["clusters", "geometric", "nested", "near the ends", "lognormal", "sawtooth"])
def test_a_million_hostile_floats_sort(name):
    assert_sorts(hostile(10**6)[name])


@pytest.mark.parametrize("dtype", [*INTEGERS, "bool", "float16", "float32"])
@pytest.mark.parametrize("n", SIZES)
def test_every_dtype_sorts_as_numpy_sorts_it(n, dtype):
    rng = np.random.default_rng(n)
    if dtype in INTEGERS:
        limits = np.iinfo(dtype)
        everywhere = rng.integers(limits.min, limits.max, n, dtype, endpoint=True)
        ends = np.array([limits.min, limits.max, 0, 1], dtype)[rng.integers(0, 4, n)]
        columns = [everywhere, ends, rng.integers(0, 100, n).astype(dtype), everywhere // 2 + limits.max // 2]
    else:
        columns = [rng.normal(size=n).astype(dtype), (rng.normal(size=n) > 0).astype(dtype)]
    for x in columns:
        assert_sorts(x)


@given(
    st.sampled_from([*INTEGERS, "float16", "float32", "float64"]).flatmap(
        lambda dtype: st.tuples(
            hnp.arrays(
                dtype,
                st.integers(1, 12),
                elements={"allow_nan": False, "allow_infinity": False} if dtype.startswith("float") else None,
            ),
            st.integers(FEWEST, 3000),
            st.integers(0, 2**32 - 1),
        )
    )
)
@settings(deadline=None, max_examples=150)
def test_mixtures_of_few_values_sort(case):
    values, n, seed = case
    assert_sorts(np.random.default_rng(seed).choice(values, n))


@given(hnp.arrays("int64", st.integers(FEWEST, 600)), st.sampled_from(["int64", "uint64", "float64"]))
@settings(deadline=None, max_examples=50)
def test_any_bits_sort(x, dtype):
    x = x.view(dtype)
    assert_sorts(np.where(np.isfinite(x), x, x.dtype.type(0)))


@pytest.mark.parametrize("n", [5, 1000])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "int64", "uint64"])
def test_any_layout_sorts(dtype, n):
    x = np.random.default_rng(0).integers(0, 50, n).astype(dtype)
    wide = np.repeat(x, 3)
    assert_sorts(wide[::3])
    assert_sorts(wide[::-3])
    assert_sorts(x.astype(x.dtype.newbyteorder(">")))
    shifted = np.frombuffer(b"." + x.tobytes(), x.dtype, offset=1)
    assert not shifted.flags.aligned
    assert_sorts(shifted)
    frozen = x.copy()
    frozen.flags.writeable = False
    assert_sorts(frozen)
    assert x.flags.writeable


@pytest.mark.parametrize("name", ["normal", "ascending", "clusters", "all equal"])
@pytest.mark.parametrize("n", [1, 2, 300, 5000])
@pytest.mark.parametrize("padding", [1, 4, 300])
def test_padding_repeats_the_ends(padding, n, name):
    assert_sorts(hostile(n)[name], padding)
    assert_sorts(hostile(n)[name].astype(np.float32), padding)
    assert_sorts((1e3 * hostile(n)[name]).astype(np.int64), padding)
    assert_sorts((1e3 * np.abs(hostile(n)[name])).astype(np.uint64), padding)


def test_threads_do_not_share_memory():
    arrays = [x for seed in range(3) for x in hostile(30_000, seed).values()]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(assert_sorts, arrays))


def test_a_later_sort_leaves_an_order_alone():
    _, order = sort(hostile(3000)["normal"])
    copy = order.copy()
    sort(hostile(3000)["cauchy"])
    assert np.array_equal(order, copy)


def test_memory_can_be_released_and_is_bounded(monkeypatch):
    x = hostile(3000)["normal"]
    release()
    assert_sorts(x)
    assert workspace._mine.loans["work", np.float64].nbytes >= 16 * x.size
    release()
    assert not workspace._mine.loans
    monkeypatch.setattr(workspace, "KEPT", 1000)
    assert_sorts(x)
    assert not workspace._mine.loans


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_halves_that_are_merged_give_the_same_order(monkeypatch, threads):
    monkeypatch.setattr(_sort, "PARALLEL_FROM_N", 1000)
    for n in (1000, 1001, 20_000):
        for x in hostile(n).values():
            assert_sorts(x, padding=5, threads=threads)
    for x in (np.arange(5000.0), np.arange(5000.0)[::-1], np.zeros(5000)):
        assert_sorts(x, threads=threads)
