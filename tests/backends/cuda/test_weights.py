"""Weights on a device, executed on the host: every size, the cost and all results have the bits of the CPU."""

import numpy as np
import pytest

import mag
from mag._backends.cuda.columns import ColumnBatch
from mag._backends.cuda.launch import Device, solve
from mag._backends.cuda.sources import FOR_THE_CPU
from mag.costs import COSTS
from mag.solvers import block
from tests.cuda.host import ORDERS, DoesNotCompile
from tests.cuda.mutations import assert_applicable, assert_noticed
from tests.cuda.runs import HOST, Resident, live, on, problem
from tests.data.hostile import integer_columns, real_columns

NAMES = ("uniform", "duplicates", "cauchy", "offset", "constant")


def solved_by_the_cpu(x, w, k):
    n, kernel = x.size, COSTS["sse"].weighted
    sizes, work = np.empty(n + 1 + block.PAD, block.size_type(k)), np.empty(block.memory(kernel, n, k))
    total = block.solve(kernel, block.padded(x), block.padded(w), k, sizes, work)
    return sizes[k : n + 1].astype(int), block.ending(work, k).copy(), total


def differing(device, n, k, chunks=None):
    """The columns where kernels and CPU differ in any bit; weights of one, and of three orders of magnitude."""
    X = np.stack([np.sort(real_columns(n)[name]) for name in NAMES])
    W = 10.0 ** np.random.default_rng(0).uniform(0, 3, X.shape)
    W[0] = 1.0
    found, rows = solve(device, X, np.zeros(len(X), np.int32), "sse", k, chunks, weights=W), []
    for row, (x, w) in enumerate(zip(X, W, strict=True)):
        sizes, ending, total = solved_by_the_cpu(x, w, k)
        same = np.array_equal(sizes, found.sizes[row, k - 1 : n]) and total == found.total[row]
        if not (same and ending.tobytes() == found.ending[row].tobytes()):
            rows.append(NAMES[row])
    return rows


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("k", "chunks"), [(2, None), (3, (2, 1)), (7, None), (11, None), (12, None), (13, (4, 2)), (100, None)]
)
def test_sizes_and_costs_have_the_bits_of_the_cpu(order, k, chunks):
    assert differing(on(order), 903, k, chunks) == []


def table(n):
    """Columns and weights that a solver could get wrong."""
    X = np.stack([real_columns(n)[name] for name in NAMES], axis=1)
    return X, 10.0 ** np.random.default_rng(1).uniform(0, 2, n)


def same_results(found, expected):
    for name in ("labels", "sizes", "cost", "representatives", "masked", "information_loss"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name


@pytest.mark.parametrize("k", [1, 3, 13, 60])
def test_results_have_the_bits_of_the_cpu(host_device, k):
    X, w = table(401)
    found, expected = mag.columns(live(X), k, weights=w), mag.columns(X, k, weights=w)
    assert isinstance(found.labels, Resident)
    same_results(found, expected)
    for j in range(X.shape[1]):
        same_results(mag.univariate(live(X[:, j]), k, weights=w), mag.univariate(X[:, j], k, weights=w))
    same_results(mag.columns(X, k, weights=w, backend="cuda"), expected)


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.float32])
def test_every_type_is_weighed(host_device, dtype):
    X = np.random.default_rng(0).integers(0, 200, (300, 3)).astype(dtype)
    X[:, 2] = np.asarray(integer_columns(300)["small"]).astype(dtype)
    w = np.random.default_rng(1).integers(1, 9, 300)
    same_results(mag.columns(live(X), 4, weights=w), mag.columns(X, 4, weights=w))


def test_values_and_weights_that_need_scaling_are_left_to_the_cpu(host_device):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 4)) * [1e-70, 1e70, 1.0, 1e-250]
    w = rng.uniform(1, 5, 200)
    columns = ColumnBatch.compute(HOST, np.ascontiguousarray(X.T), problem("sse", 3), weights=w)
    assert ((columns.flags & FOR_THE_CPU) > 0).tolist() == [True, True, False, True]
    same_results(mag.columns(live(X), 3, weights=w), mag.columns(X, 3, weights=w))
    for extreme in (w * 1e30, np.where(np.arange(200) < 5, 0.0, w)):
        same_results(mag.columns(live(X), 3, weights=extreme), mag.columns(X, 3, weights=extreme))
    wide = np.random.default_rng(0).integers(-(2**62), 2**62, (90, 2))
    same_results(mag.columns(live(wide), 3, weights=w[:90]), mag.columns(wide, 3, weights=w[:90]))


def test_weights_that_could_mislead_are_looked_at_by_the_cpu(host_device):
    rng = np.random.default_rng(3)
    x, w = rng.normal(size=300) ** 3, 10.0 ** rng.uniform(-18, 18, 300)
    columns = ColumnBatch.compute(HOST, x[None, :], problem("sse", 3), weights=w)
    assert (columns.flags & FOR_THE_CPU).all()
    same_results(mag.univariate(live(x), 3, weights=w), mag.univariate(x, 3, weights=w))


def test_long_columns_are_solved_from_both_ends(host_device, monkeypatch):
    monkeypatch.setattr("mag._backends.cpu.BOTH_ENDS_FROM_N", 700)
    X, w = table(803)
    for k in (3, 20):
        same_results(mag.columns(live(X), k, weights=w), mag.columns(X, k, weights=w))


@pytest.mark.parametrize("k", [3, 20])
def test_the_host_solves_with_weights_too(monkeypatch, k):
    X, w = table(300)
    hybrid = on("forward", hybrid=True)
    columns = ColumnBatch.compute(hybrid, np.ascontiguousarray(X.T), problem("sse", k), weights=w)
    assert columns.finish()
    for row, x in enumerate(X.T):
        assert np.array_equal(columns.labels[row], mag.univariate(x, k, weights=w).labels)


@pytest.mark.gpu
@pytest.mark.parametrize("n", [450, pytest.param(5000, marks=pytest.mark.long)])
@pytest.mark.parametrize("k", [3, 12, 200, pytest.param(11, marks=pytest.mark.long)])
def test_a_device_weighs(cupy, monkeypatch, k, n):
    monkeypatch.setattr("mag._backends.cuda.columns.host_is_sooner", lambda *given: False)
    X, w = table(n)
    found, expected = mag.columns(cupy.asarray(X), k, weights=w), mag.columns(X, k, weights=w)
    for name in ("labels", "cost", "masked", "information_loss"):
        assert getattr(found, name).get().tobytes() == getattr(expected, name).tobytes(), name


# ---- edits, each of which a comparison must notice

EDITS = [
    ("costs/sse.cuh", "t[1] = w * y * y;", "t[1] = w * (y * y);"),
    ("costs/sse.cuh", "t[2] = w;", "t[2] = 1;"),
    ("costs/sse.cuh", "w > 0 ? g - s * s / w : g", "w > 0 ? g - s * (s / w) : g"),
    ("costs/sse.cuh", "g.weight(i) > g.weight(found)", "g.weight(i) >= g.weight(found)"),
    ("costs/sse.cuh", "return g.weight(i) * g.at(i);", "return g.at(i);"),
    ("costs/sse.cuh", "max(g.first + c, g.value(0))", "max(g.value(0) + c, g.value(0))"),
    ("costs/sse.cuh", "sqrt(g.weight(i)) * (g.at(i) - c)", "g.weight(i) * (g.at(i) - c)"),
    ("narrow.cu", "w[max(j + i, 0)]", "w[max(j + i - 1, 0)]"),
    ("frame.cuh", "(real)w[at(i)]", "(real)w[at(i - 1)]"),
    ("block.cu", "w + (i64)col * n, scale[col], n, k, mine", "w, scale[col], n, k, mine"),
    ("groups.cu", "heaviest[id] = begin + Cost::heaviest(group);", "heaviest[id] = begin;"),
    ("shares.cu", "whole.first = column[Cost::heaviest(whole)];", "whole.first = column[0];"),
    ("shares.cu", "group.first = values[Cost::heaviest(group)];", "group.first = values[0];"),
]


def notices(module):
    """Whether some comparison fails, or the runtime reports an error."""
    device = Device(np, module, shared=100 << 10)
    try:
        if any(differing(device, 603, k, chunks) for k, chunks in ((3, None), (7, (2, 1)), (13, (4, 2)), (40, None))):
            return True
        X, w = table(303)
        X, w = np.column_stack([X, np.random.default_rng(0).normal(size=(303, 3)) ** 3]), w.round() % 3 + 1
        columns = ColumnBatch.compute(device, np.ascontiguousarray(X.T), problem("sse", 3), weights=w)
        columns.finish()
        expected = mag.columns(X, 3, weights=w)
        whole = ColumnBatch.compute(device, np.ascontiguousarray((100 * X).astype(int).T), problem("sse", 3), weights=w)
        whole.finish()
        others = mag.columns((100 * X).astype(int), 3, weights=w)
        return not all(
            np.array_equal(one.masked.T, other.masked)
            and np.array_equal(one.cost, other.cost)
            and np.array_equal(one.shares, other.information_loss)
            for one, other in ((columns, expected), (whole, others))
        )
    except DoesNotCompile:
        raise
    except RuntimeError:
        return True


def test_every_edit_can_still_be_made():
    assert_applicable(EDITS)


@pytest.mark.mutation
@pytest.mark.parametrize(
    ("file", "old", "new"), [("shares.cu", "nothing like this", ""), *EDITS], ids=range(len(EDITS) + 1)
)
def test_an_edit_is_noticed(file, old, new):
    assert_noticed(file, old, new, __name__)
