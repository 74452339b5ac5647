"""solver="staggered", backend="cuda": cost blocks from the device, searched by the host: the groups of the CPU.

The kernels run on the host; tests marked `gpu` run CuPy's streams and copies on a device.
"""

import numpy as np
import pytest

import mag
from mag._backends import cuda
from mag._backends.cuda import hybrid
from mag._backends.cuda.columns import ColumnBatch
from mag._backends.cuda.hybrid import BlockStream
from mag._backends.cuda.launch import Device
from mag.costs import COSTS
from mag.solvers.extensions import diagonal
from tests.cuda.host import ORDERS, DoesNotCompile
from tests.cuda.mutations import assert_applicable, assert_noticed
from tests.cuda.runs import HOST, Resident, live, on, staggered
from tests.data.columns import SHAPES, data
from tests.data.hostile import integer_columns, real_columns


def filled(cost, x, k, first, blocks):
    """left, joint and right of some blocks, by numba; NaN where nothing is written."""
    left, joint, right = (
        np.full((blocks, 2 * k - 1), np.nan),
        np.full((blocks, k, k), 0.0),
        np.full((blocks, k), np.nan),
    )
    kernel = COSTS[cost].kernel
    work = np.empty(diagonal.memory(kernel, x.size, k))
    diagonal.fill(kernel, x, np.empty(0), k, first, (left, joint, right), work)
    return left, joint, right


def streamed(device, cost, x, k):
    """The same from the device, batch by batch, and where each begins."""
    stream = BlockStream(device, x, 0, cost, k)
    for memory in stream.there:
        memory[:] = np.nan
    stream.begin(0)
    for t in range(0, stream.blocks, stream.batch):
        if t + stream.batch < stream.blocks:
            stream.begin(t + stream.batch)
        yield t, min(stream.batch, stream.blocks - t), stream.wait(t)


def assert_same_bits(device, cost, x, k):
    for t, blocks, parts in streamed(device, cost, x, k):
        for name, found, expected in zip(("left", "joint", "right"), parts, filled(cost, x, k, t, blocks), strict=True):
            known = ~np.isnan(expected)
            assert found[:blocks][known].tobytes() == expected[known].tobytes(), (cost, k, x.size, t, name)


@pytest.mark.parametrize("cost", COSTS)
def test_blocks_have_the_bits_of_numba(monkeypatch, cost):
    monkeypatch.setattr(hybrid, "ENTRIES", 400)
    for k, n in ((2, 4), (2, 61), (3, 6), (3, 100), (7, 20), (7, 93), (20, 121), (40, 90)):
        for shape in SHAPES:
            assert_same_bits(HOST, cost, data(shape, n, k, cost)[0], k)


@pytest.mark.parametrize("order", ORDERS)
def test_the_order_of_threads_does_not_matter(order):
    for cost in ("sse", "sae", "maxdist"):
        assert_same_bits(on(order), cost, data("cauchy", 300, 13, cost)[0], 13)


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("k", [1, 2, 3, 13, 40])
def test_labels_are_those_of_staggered_on_the_cpu(host_device, monkeypatch, cost, k):
    monkeypatch.setattr(hybrid, "ENTRIES", 1000)
    for n in (k, 2 * k - 1, 2 * k, 3 * k + 1, 203):
        columns = integer_columns(n) | ({} if COSTS[cost].integer else real_columns(n)) if n > 1 else {}
        for name, x in columns.items():
            expected = mag.univariate(x, k, cost=cost, solver="staggered", backend="cpu")
            found = mag.univariate(x, k, cost=cost, solver="staggered", backend="cuda")
            assert np.array_equal(found.labels, expected.labels), (name, n)
            assert found.cost == expected.cost, (name, n)


def test_columns_and_arrays_that_live_on_the_device(host_device):
    X = np.stack([real_columns(300)[name] for name in ("uniform", "offset", "tiny", "clusters", "huge")], axis=1)
    expected = mag.columns(X, 7, solver="staggered", backend="cpu")
    for found in (mag.columns(X, 7, solver="staggered", backend="cuda"), mag.columns(live(X), 7, solver="staggered")):
        for name in ("labels", "n_groups", "sizes", "cost", "masked"):
            assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    assert isinstance(found.labels, Resident)
    single = mag.univariate(live(X[:, 1]), 7, solver="staggered")
    assert isinstance(single.masked, Resident)
    assert np.array_equal(single.labels, expected.labels[:, 1])


def test_nothing_is_searched_before_the_result_is_asked_for(host_device, monkeypatch):
    monkeypatch.setattr(type(HOST), "host", staticmethod(lambda array: pytest.fail("waited")))
    mag.univariate(live(np.random.default_rng(0).random(130)), 3, solver="staggered")


def test_labels_do_not_depend_on_what_becomes_of_the_data(host_device):
    x = np.random.default_rng(0).random(130)
    expected, resident = mag.univariate(x, 3, solver="staggered").labels, live(x.copy())
    found = mag.univariate(resident, 3, solver="staggered")
    resident[:] = 0.0
    assert np.array_equal(found.labels, expected)


def test_a_group_below_k_is_withheld(host_device, monkeypatch):
    monkeypatch.setattr(hybrid, "starts_of", lambda sizes, k, plain, starts: starts.fill(0) or starts.size - 1)
    x = np.random.default_rng(0).random(40)
    assert mag.univariate(x, 3, solver="staggered", backend="cuda").n_groups == 1

    def wrong(sizes, k, plain, starts):
        starts[-3:] = 0, 20, 38
        return starts.size - 3

    monkeypatch.setattr(hybrid, "starts_of", wrong)
    with pytest.raises(mag.NotAnonymousError, match="fewer than k=3 records was found and withheld"):
        ColumnBatch.compute(HOST, x[None, :], staggered("sse", 3)).finish()


def test_what_is_not_taken_is_refused_in_a_sentence(host_device):
    x = np.arange(9000.0)
    with pytest.raises(ValueError, match=r"^k must be at most 2048 with solver 'staggered' and backend 'cuda', which"):
        mag.univariate(x, 2049, solver="staggered", backend="cuda")
    with pytest.raises(
        ValueError, match=r"^solver must be 'auto', 'block' or 'staggered' with backend 'cuda'; got 'wil"
    ):
        mag.univariate(x, 3, solver="wilber", backend="cuda")
    assert not cuda.supports(9000, staggered("sse", 2049))
    assert cuda.supports(9000, staggered("sse", 2048))


# ---- on a device


@pytest.mark.gpu
def test_the_next_batch_is_under_way_while_one_is_searched(cupy, monkeypatch):
    monkeypatch.setattr(hybrid, "ENTRIES", 2000)
    log, pinned, k = [], [], 7
    launch, wait, search, pin = Device.launch, BlockStream.wait, hybrid.search, cupy.cuda.alloc_pinned_memory
    monkeypatch.setattr(
        Device, "launch", lambda self, *args, **named: log.append(args[1]) or launch(self, *args, **named)
    )
    monkeypatch.setattr(BlockStream, "wait", lambda self, t: log.append("wait") or wait(self, t))
    monkeypatch.setattr(hybrid, "search", lambda *args: log.append("search") or search(*args))
    monkeypatch.setattr(cupy.cuda, "alloc_pinned_memory", lambda size: pinned.append(size) or pin(size))
    x = np.sort(np.random.default_rng(0).normal(size=900))
    starts = hybrid.starts_by_blocks(cuda.current(), cupy.asarray(x), staggered("sse", k))
    assert np.array_equal(np.diff(np.append(starts, x.size)), mag.univariate(x, k, solver="staggered").sizes)
    batch = ["block_sums", "block_costs"]
    blocks = -(-(x.size + 1 - k) // k)
    times = -(-blocks // (2000 // k**2))
    assert log == batch + (batch + ["wait", "search"]) * (times - 1) + ["wait", "search"]
    assert times > 3
    assert len(pinned) == 2  # two batches, whatever n is
    assert sum(pinned) <= 2 * 8 * (2000 + 3 * 7 * (2000 // 49))


@pytest.mark.gpu
@pytest.mark.parametrize("n", [300, pytest.param(20_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("k", [2, 7, 100, pytest.param(2048, marks=pytest.mark.long)])
def test_a_device_streams_the_blocks_of_the_cpu(cupy, monkeypatch, k, n):
    if n == 300:
        monkeypatch.setattr(hybrid, "ENTRIES", 1000)  # several batches
    for name, x in real_columns(n).items():
        expected, found = (mag.univariate(one, k, solver="staggered") for one in (x, cupy.asarray(x)))
        assert np.array_equal(found.labels.get(), expected.labels), name


# ---- edits, each of which a comparison must notice

EDITS = [
    ("blocks.cu", "min(b, n) - 1", "min(b, n) - 2"),
    ("blocks.cu", "max(k, b - 2 * k + 1) - b", "max(k, b - 2 * k + 2) - b"),
    ("blocks.cu", "max(k, b - 2 * k + 1) - b", "b - 2 * k + 1 - b"),
    ("blocks.cu", "b < 2 * k ? -b", "b < 2 * k ? 1 - b"),
    ("blocks.cu", "total[s] = total[s] - term[s]", "total[s] = total[s] + term[s]"),
    ("blocks.cu", "total[s] = total[s] + term[s]", "total[s] = term[s]"),
    ("blocks.cu", "int p = -1; p >=", "int p = -1; p >"),
    ("blocks.cu", "p + 2 * k - 1] = Cost::left", "p + 2 * k] = Cost::left"),
    ("blocks.cu", "right[t * k + p]", "right[t + p]"),
    ("blocks.cu", "length = 3 * k;", "length = 3 * k - 2;"),
    ("blocks.cu", "sums + t * Cost::terms * length + 2 * k", "sums + t * length + 2 * k"),
    ("blocks.cu", "(first + t + 1) * k", "(t + 1) * k"),
    ("blocks.cu", "size = k + (int)(id % k)", "size = k + 1 + (int)(id % k)"),
    ("blocks.cu", "f.b + column <= n", "f.b + column < n"),
    ("blocks.cu", "row == -f.b", "row >= -f.b"),
    ("frame.cuh", "scaled(x[at(i)], scale) - center", "scaled(x[at(i)], scale) - x[min(b, n - 1)]"),
]


def notices(module):
    """Whether some comparison fails, or the runtime reports an error."""
    device, before = Device(np, module, shared=100 << 10), hybrid.ENTRIES
    hybrid.ENTRIES = 400
    try:
        for cost in ("sse", "sae", "maxdist"):
            for k, n in ((3, 100), (7, 93), (13, 170)):
                assert_same_bits(device, cost, data("cauchy", n, k, cost)[0], k)
        x = np.ldexp(data("cauchy", 93, 7, "sse")[0], 900)
        starts = hybrid.starts_by_blocks(device, x, staggered("sse", 7))
        return starts.tolist() != np.cumsum([0, *mag.univariate(x, 7, solver="staggered").sizes])[:-1].tolist()
    except AssertionError:
        return True
    except DoesNotCompile:
        raise
    except RuntimeError:
        return True
    finally:
        hybrid.ENTRIES = before


def test_every_edit_can_still_be_made():
    assert_applicable(EDITS)


@pytest.mark.mutation
@pytest.mark.parametrize(
    ("file", "old", "new"), [("blocks.cu", "nothing like this", ""), *EDITS], ids=range(len(EDITS) + 1)
)
def test_an_edit_is_noticed(file, old, new):
    assert_noticed(file, old, new, __name__)
