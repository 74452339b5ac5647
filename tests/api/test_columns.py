"""Whole tables: every column is what `univariate` makes of it, on any number of threads, in bounded memory."""

import pickle
import subprocess
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import mag
from mag._backends import cpu
from mag._backends.cpu import batch
from mag._lib import threads as _threads
from mag._lib import workspace
from mag.api.options import problem_of
from mag.costs import COSTS
from mag.solvers import SOLVERS
from tests.data.hostile import integer_columns, real_columns


def assert_same_as_univariate(X, k, cost="sse", **options):
    groupings = mag.columns(X, k, cost=cost, **options)
    m = X.shape[1]
    assert groupings.labels.shape == groupings.masked.shape == X.shape
    ks = k if isinstance(k, list) else [k] * m
    costs = cost if isinstance(cost, list) else [cost] * m
    for j in range(m):
        one, same = mag.univariate(X[:, j], ks[j], cost=costs[j]), groupings[j]
        sizes = np.bincount(groupings.labels[:, j])
        assert sizes.min() >= ks[j]
        assert one.labels.tobytes() == np.ascontiguousarray(groupings.labels[:, j]).tobytes()
        np.testing.assert_array_equal(groupings.masked[:, j], one.masked)
        np.testing.assert_array_equal(groupings.sizes[: one.n_groups, j], one.sizes)
        np.testing.assert_array_equal(groupings.representatives[: one.n_groups, j], one.representatives)
        assert groupings.n_groups[j] == one.n_groups == same.n_groups
        assert groupings.cost[j] == one.cost == same.cost
        assert groupings.information_loss[j] == one.information_loss == same.information_loss
        np.testing.assert_array_equal(same.masked, one.masked)
        assert same.masked.dtype == one.masked.dtype
    return groupings


@pytest.mark.parametrize("cost", [name for name, cost in COSTS.items() if not cost.integer])
@pytest.mark.parametrize("k", [2, 5, 13])
def test_hostile_columns_side_by_side(cost, k):
    for n in (2 * k - 1, 2 * k, 150):
        assert_same_as_univariate(np.column_stack(list(real_columns(n, seed=k).values())), k, cost)


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("name", integer_columns(2))
def test_integers_are_exact(cost, name):
    columns = [integer_columns(120, seed)[name] for seed in range(3)]
    for k in (2, 12):
        assert_same_as_univariate(np.column_stack(columns), k, cost)


@pytest.mark.parametrize("n", [1, 2, 3, 31, 32, 33, 99, 100, 101, 511, 1000, 4095, 4096, 5000])
def test_every_length(n):
    rng = np.random.default_rng(n)
    X = np.column_stack([rng.normal(size=n), rng.integers(0, 9, n), np.arange(n), np.arange(n)[::-1], np.zeros(n)])
    for k in {1, 2, 7, n}:
        if k <= n:
            assert_same_as_univariate(X, k)


@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
def test_batches_are_for_the_solver_that_they_run(solver):
    problem = problem_of(COSTS["sse"], 3, 100, solver, False, None, None, None)
    assert batch.supports(100, problem) == (solver in ("auto", "block"))


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver(solver):
    X = np.random.default_rng(0).normal(size=(60, 5))
    groupings = mag.columns(X, 3, solver=solver)
    for j in range(5):
        expected = mag.univariate(X[:, j], 3, solver=solver)
        np.testing.assert_array_equal(groupings.labels[:, j], expected.labels)


def test_k_and_cost_per_column():
    X = np.random.default_rng(0).integers(-50, 50, size=(90, 6))
    ks, costs = [2, 30, 5, 1, 90, 44], ["sse", "roundup", "sse_int", "sae", "maxdist", "rounddown"]
    groupings = assert_same_as_univariate(X, ks, costs)
    assert groupings.k == tuple(ks)
    assert groupings.masked.dtype == np.float64
    assert groupings[2].masked.dtype == np.int64
    for same in (np.array(ks), np.array(ks, np.uint8), tuple(ks)):
        np.testing.assert_array_equal(mag.columns(X, same, cost=costs).labels, groupings.labels)
    assert mag.columns(X, np.int64(3)).k == 3


def test_integer_costs_are_integers():
    X = np.random.default_rng(0).integers(-50, 50, size=(40, 3))
    assert mag.columns(X, 3, cost="sse_int").cost.dtype == np.int64
    assert mag.columns(X * 10**12, 3, cost="sse_int").cost.dtype == np.float64  # beyond 64 bits


def test_costs_that_vanish_are_left_to_univariate():
    """Squares of the small values are subnormal beside the large ones, so that bits are lost."""
    rng = np.random.default_rng(0)
    for k in (3, 13):
        small = np.concatenate([1e-161 * rng.random((90, 3)), np.ones((2 * k, 3))])
        assert_same_as_univariate(rng.permuted(small, axis=0), k)


def test_a_column_costs_the_same_beside_integers_of_all_sizes():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 1000, 500), rng.integers(-(2**63), 2**63 - 1, 500)])
    for cost in ("sse", "sae", "roundup", "maxdist"):
        assert_same_as_univariate(X, 3, cost)


def test_a_cost_of_the_user():
    cost = mag.Cost("range", group=lambda x, i, j: x[j - 1] - x[i], concave=True, splitting=True)
    X = np.random.default_rng(0).normal(size=(40, 3))
    groupings = mag.columns(X, 3, cost=cost)
    for j in range(3):
        expected = mag.univariate(X[:, j], 3, cost=cost)
        np.testing.assert_array_equal(groupings.labels[:, j], expected.labels)
        assert groupings.cost[j] == expected.cost


@settings(max_examples=60, deadline=None)
@given(
    arrays(np.float64, (23, 4), elements=st.floats(-1e6, 1e6) | st.integers(0, 3).map(float)),
    st.sampled_from([1, 2, 5, 11, 23]),
)
def test_any_table(X, k):
    assert_same_as_univariate(X, k)


# ---- threads


@pytest.fixture(autouse=True)
def _threads_for_little(monkeypatch):
    monkeypatch.setattr(cpu, "VALUES_PER_THREAD", 50)


@pytest.mark.parametrize("k", [3, 40])
def test_the_same_bytes_on_any_number_of_threads(k):
    X = np.column_stack(list(real_columns(700).values()))
    one = mag.columns(X, k, threads=1)
    for threads in (2, 3, 50, None):
        other = mag.columns(X, k, threads=threads)
        assert one.labels.tobytes() == other.labels.tobytes()
        assert one.masked.tobytes() == other.masked.tobytes()


def test_long_columns_are_halved_as_in_univariate(monkeypatch):
    monkeypatch.setattr(cpu, "BOTH_ENDS_FROM_N", 200)
    X = np.column_stack(list(real_columns(700).values()))
    assert_same_as_univariate(X, 5)
    assert_same_as_univariate(X[:, :1], 5)


def test_calls_from_many_threads_at_once():
    tables = [np.random.default_rng(seed).normal(size=(1000, 20)) for seed in range(6)]
    expected = [mag.columns(X, 5, threads=1).labels for X in tables]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            for a, b in zip(pool.map(lambda X: mag.columns(X, 5, threads=2).labels, tables), expected, strict=True):
                np.testing.assert_array_equal(a, b)


def test_calls_inside_workers_of_mag_itself():
    tables = [np.random.default_rng(seed).normal(size=(500, 9)) for seed in range(4)]
    found = _threads.each(lambda X: mag.columns(X, 5, threads=2).labels, tables, 2)
    for labels, X in zip(found, tables, strict=True):
        np.testing.assert_array_equal(labels, mag.columns(X, 5, threads=1).labels)


@pytest.mark.parametrize("library", ["dask", "joblib"])
def test_calls_inside_workers_of(library):
    pytest.importorskip(library)
    code = {
        "dask": "import dask; found = dask.compute(*[dask.delayed(f)(s) for s in range(4)], scheduler={how!r})",
        "joblib": "import joblib; found = joblib.Parallel(2, {how!r})(joblib.delayed(f)(s) for s in range(4))",
    }[library]
    for how in {"dask": ("threads", "processes"), "joblib": ("threading", "loky")}[library]:
        script = (
            "import numpy as np, mag\n"
            "def f(s): return mag.columns(np.random.default_rng(s).normal(size=(300, 9)), 4, threads=2).labels\n"
            "if __name__ == '__main__':\n"
            f"    {code.format(how=how)}\n"
            "    assert all((a == f(s)).all() for s, a in enumerate(found))\n"
            "    print('same')\n"
        )
        run = subprocess.run([sys.executable, "-"], input=script, capture_output=True, text=True, check=False)
        if how == "processes" and "same" not in run.stdout:  # a script from standard input cannot be spawned
            continue
        assert run.stdout == "same\n", run.stderr


def test_the_first_error_ends_the_work_and_is_raised():
    done = []

    def work(i):
        if i == 3:
            raise KeyError(i)
        done.append(i)

    with pytest.raises(KeyError):
        _threads.each(work, range(10_000), 2)
    assert len(done) < 10_000
    assert _threads.each(lambda i: i * i, range(5), 3) == [0, 1, 4, 9, 16]


# ---- memory


@pytest.mark.parametrize(("n", "m", "order"), [(2000, 400, "C"), (50_000, 24, "C"), (50_000, 24, "F")])
def test_extra_memory_is_bounded(n, m, order):
    """Labels, and what the documentation of `columns` says: 110 bytes a value of one column and thread."""
    X = np.asarray(np.random.default_rng(0).normal(size=(n, m)), order=order)
    mag.columns(X[:, :2], 5)  # compiles
    workspace.release()
    tracemalloc.start()
    try:
        groupings = mag.columns(X, 5, threads=1)
        labels = groupings.labels.nbytes
        assert tracemalloc.get_traced_memory()[1] <= labels + max(110 * n, 3 * 2**20)
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        masked = groupings.masked
        peak = tracemalloc.get_traced_memory()[1] - before
        assert peak <= masked.nbytes + groupings._sizes.nbytes + groupings._representatives.nbytes * 2 + 2**24
    finally:
        tracemalloc.stop()


# ---- errors

X = np.arange(8.0).reshape(4, 2)
CASES = [
    ({"X": np.arange(4.0)}, "X must have two dimensions, rows and columns; got an array of shape (4,)."),
    ({"X": np.zeros((0, 3))}, "X must hold at least one row and one column; got an array of shape (0, 3)."),
    ({"X": np.zeros((3, 0))}, "X must hold at least one row and one column; got an array of shape (3, 0)."),
    ({"X": [["a"]]}, "X must hold real numbers; got dtype string."),
    ({"X": [[1.0, np.nan], [2.0, 3.0]]}, "X contains 1 NaN value in column 1; drop or impute them first."),
    (
        {"X": np.where(np.eye(7) > 0, np.inf, 0.0)},
        "X contains 7 infinite values in columns 0, 1, 2, 3, 4, …; drop or impute them first.",
    ),
    ({"k": 5}, "k must be an integer in [1, n=4]; got 5."),
    ({"k": 2.0}, "k must be an integer in [1, n=4]; got 2.0."),
    ({"k": [2]}, "k must be one value, or one per column of X, m=2; got 1."),
    ({"k": [2, True]}, "k[1] must be an integer in [1, n=4]; got True."),
    ({"k": [2, 5]}, "k[1] must be an integer in [1, n=4]; got 5."),
    ({"k": np.array([2.0, 3.0])}, "k[0] must be an integer in [1, n=4]; got 2.0."),
    ({"cost": ["sse"]}, "cost must be one value, or one per column of X, m=2; got 1."),
    (
        {"cost": ["sse", "mse"]},
        f"cost[1] must be one of {', '.join(map(repr, COSTS))}; got 'mse'.",
    ),
    ({"cost": ["sse", "sse_int"]}, "cost 'sse_int' needs integers; got float64, round X to integers first."),
    ({"threads": 0}, "threads must be None or a positive integer; got 0."),
    ({"weights": [1.0]}, "weights must hold one weight per record, n=4; got 1."),
    (
        {"weights": [1.0] * 4, "cost": ["sse", "maxdist"]},
        "weights are used by the costs 'sae' and 'sse' only; got cost 'maxdist'.",
    ),
    ({"group_penalty": -1.0}, "group_penalty must be a finite number that is not negative; got -1.0."),
    ({"max_groups": 9}, "max_groups must be an integer in [1, n=4]; got 9."),
    ({"soft": "1"}, "soft must be a finite number that is not negative; got '1'."),
    (
        {"soft": 1.0, "solver": "block"},
        "solver must be one of 'auto', 'galil_park', 'growing', 'quadratic', 'wilber' with group_penalty, max_groups "
        "or soft; got 'block'.",
    ),
]


@pytest.mark.parametrize(("wrong", "sentence"), CASES, ids=[sentence for _, sentence in CASES])
def test_bad_input_gets_one_sentence(wrong, sentence):
    with pytest.raises((TypeError, ValueError)) as error:
        mag.columns(**({"X": X, "k": 2} | wrong))
    assert str(error.value) == sentence


OPTIONS = [
    {"weights": "random"},
    {"group_penalty": 2.0},
    {"max_groups": 5},
    {"soft": 0.4},
    {"weights": "random", "group_penalty": 0.5},
    {"weights": "random", "soft": 0.5, "max_groups": 7},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("cost", ["sse", "sae"])
def test_weights_penalties_and_limits_are_those_of_univariate(options, cost):
    rng = np.random.default_rng(0)
    table = np.column_stack([np.round(rng.normal(size=80), 1), np.sort(rng.random(80)), rng.integers(0, 9, 80)])
    if "weights" in options:
        options = options | {"weights": rng.integers(0, 5, 80) + 0.5}
    found = mag.columns(table, [4, 4, 5], cost=cost, **options)
    restored = pickle.loads(pickle.dumps(found))
    for j, k in enumerate((4, 4, 5)):
        expected = mag.univariate(table[:, j], k, cost=cost, **options)
        for one in (found[j], restored[j]):
            for name in ("labels", "cost", "masked", "sizes", "representatives", "information_loss", "small_groups"):
                assert np.array_equal(getattr(one, name), getattr(expected, name)), name
            assert one.k_guaranteed == expected.k_guaranteed == ("soft" not in options)
        assert np.array_equal(found.labels[:, j], expected.labels)
        assert np.array_equal(found.masked[:, j], expected.masked)
        assert found.cost[j] == expected.cost
        assert found.information_loss[j] == expected.information_loss
    assert found.k_guaranteed == restored.k_guaranteed == ("soft" not in options)
    assert repr(found).endswith("k is not guaranteed>") == ("soft" in options)
    assert ("not guaranteed" in found._repr_html_()) == ("soft" in options)


def test_integers_that_float64_cannot_hold_take_options_too():
    table = np.stack([2**60 + np.arange(40) ** 2, np.arange(40) ** 3], axis=1)
    found = mag.columns(table, 3, cost="sse_int", group_penalty=1000)
    for j in range(2):
        assert found.cost[j] == mag.univariate(table[:, j], 3, cost="sse_int", group_penalty=1000).cost


def test_nan_is_found_whatever_the_solver():
    table = np.where(np.eye(40, 3) > 0, np.nan, 1.0)
    for solver in SOLVERS:
        with pytest.raises(ValueError, match="X contains 3 NaN values in columns 0, 1, 2"):
            mag.columns(table, 2, solver=solver)


def test_a_group_below_k_is_withheld(monkeypatch):
    def broken(*arguments):
        labels, n_groups, least = group_columns(*arguments)
        return labels, n_groups, least - 1

    group_columns = cpu.group_columns
    monkeypatch.setattr(cpu, "group_columns", broken)
    with pytest.raises(mag.NotAnonymousError, match="A group of fewer than k=2 records was found and withheld"):
        mag.columns(X, 2)


def test_the_count_is_that_of_the_labels():
    """A solver that makes groups of five and of one is found out by the count, in any order."""
    n, k = 6, 3
    words, sizes = np.zeros(n + 2 * batch.PAD, np.int64), np.zeros(n + 1 + batch.PAD, np.uint8)
    sizes[5], sizes[6] = 5, 1
    order, starts, counts = np.arange(n, dtype=np.int32)[::-1].copy(), np.empty(3, np.int64), np.empty(3, np.int32)
    memory = words, words.view(np.float64), np.empty(9, np.uint64), np.empty(9), sizes, starts, order, counts
    for was_sorted in (True, False):
        labels, n_groups, least = np.empty((1, n), np.int32), np.empty(1, np.int64), np.empty(1, np.int64)
        assert batch.finish(0, k, 1.0, was_sorted, memory, (labels, n_groups, least))
        assert (n_groups[0], least[0]) == (2, 1)


def test_results_are_read_only_and_say_what_they_are():
    groupings = mag.columns(X, 2)
    with pytest.raises(AttributeError, match="a ColumnGroupings cannot be changed: labels is read-only"):
        groupings.labels = 0
    assert repr(groupings) == "<ColumnGroupings: 2 columns of 4 records, each in 2 to 2 groups, k=2, sse>"
    assert len(groupings) == 2
    assert [one.n_groups for one in groupings] == [2, 2]
    assert groupings[-1].labels.tolist() == groupings[1].labels.tolist()
    with pytest.raises(IndexError):
        groupings[2]


@pytest.mark.skipif(mag.backends()["cuda"] == "ok", reason="there is a GPU")
def test_devices_without_a_gpu_are_answered_by_their_name():
    with pytest.raises(mag.InputValueError, match=r"^devices need the backend 'cuda', .*; got \[0\]\."):
        mag.columns(np.ones((6, 2)), 2, devices=[0])
