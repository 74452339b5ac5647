"""Information loss, single columns and masked tables of data on a device: computed there, with the bits of the CPU."""

import pickle

import numpy as np
import pytest

import mag
from mag._backends.cuda import columns as pipeline
from mag._backends.cuda.columns import ColumnBatch
from mag._backends.cuda.launch import Device
from mag._lib import arrays
from mag.costs import COSTS
from tests.cuda.host import DoesNotCompile
from tests.cuda.mutations import assert_applicable, assert_noticed
from tests.cuda.runs import HOST, Resident, live, problem
from tests.cuda.tables import tables
from tests.data.hostile import integer_columns, real_columns


@pytest.fixture
def crossing(monkeypatch):
    """The bytes of every array that leaves for the host."""
    seen = []
    monkeypatch.setattr(type(HOST), "host", staticmethod(lambda array: seen.append(array.nbytes) or np.asarray(array)))
    return seen


def differing(device, X, cost, k):
    """The rows whose information loss differs from the CPU's in any bit."""
    columns = ColumnBatch.compute(device, np.ascontiguousarray(X), problem(cost, k))
    assert columns.finish()
    found = columns.shares
    expected = [mag.univariate(x, k, cost=cost, backend="cpu").information_loss for x in X]
    return [row for row, share in enumerate(expected) if share != found[row]]


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("k", [1, 3, 13])
def test_information_loss_has_the_bits_of_the_cpu(cost, k):
    for n in (2 * k, 200, 801):
        for table in tables(cost, n) if n > 1 else []:
            assert differing(HOST, np.stack(list(table.values())), cost, k) == [], (list(table), n)


def test_batches_give_the_same(host_device, monkeypatch):
    X = np.stack([real_columns(300)[name] for name in ("uniform", "cauchy", "huge", "constant", "offset")], axis=1)
    expected = mag.columns(X, [3, 4, 3, 4, 3], backend="cpu")
    monkeypatch.setattr(pipeline, "RESULT_BATCH_BYTES", 2 * 8 * 300)
    found = mag.columns(live(X), [3, 4, 3, 4, 3])
    assert [part.stop - part.start for part in found._facts.parts[0][0].batches()] == [2, 1]
    for name in ("information_loss", "masked", "cost", "sizes", "representatives"):
        array = getattr(found, name)
        assert isinstance(array, Resident), name
        assert np.array_equal(array, getattr(expected, name)), name


@pytest.mark.parametrize("kind", ["reals", "integers"])
def test_there_is_a_launch_per_batch(host_device, monkeypatch, kind):
    X = np.random.default_rng(0).integers(-500, 500, (300, 9)) * (1 if kind == "integers" else 0.25)
    expected, launched, launch = mag.columns(X, 3), [], Device.launch
    monkeypatch.setattr(pipeline, "RESULT_BATCH_BYTES", 4 * 8 * 300)
    monkeypatch.setattr(
        Device, "launch", lambda self, *args, **chosen: launched.append(args[1]) or launch(self, *args, **chosen)
    )
    found = mag.columns(live(X), 3)
    assert found.labels.shape == (300, 9)
    launched.clear()
    for j in range(9):
        assert found[j].cost == expected.cost[j]
        assert found[j].information_loss == expected.information_loss[j]
        assert np.array_equal(found[j].representatives, expected[j].representatives)
    assert np.array_equal(found.cost, expected.cost)
    described = ["gather", "represent"] if kind == "integers" else ["represent"]
    assert launched == [*described * 3, "price", *["gather", "deviations", "share"] * 3]  # 4, 4 and 1 columns
    launched.clear()
    assert np.array_equal(found.masked, expected.masked)
    assert launched == ["mask"] * 3


def test_a_large_copy_of_integers_is_told(host_device, monkeypatch):
    X = np.random.default_rng(0).integers(0, 2**62, (200, 3))
    monkeypatch.setattr(arrays, "COPIED", 4000)
    monkeypatch.setattr(arrays, "_silent", False)
    with pytest.warns(mag.CopyWarning, match=r"^X, 0 MB in 3 columns whose sums float64 would round, is copied from"):
        _ = mag.columns(live(X), 3).labels
    X = np.random.default_rng(0).integers(0, 2**47, (200, 3))  # the groups are found on the device
    found = mag.columns(live(X), 3)
    assert found.labels.shape == (200, 3)
    monkeypatch.setattr(arrays, "_silent", False)
    with pytest.warns(mag.CopyWarning, match=r"^X, 0 MB in 3 columns whose sums float64 would round, is copied from"):
        _ = found.information_loss


def test_the_data_stay_on_the_device(host_device, crossing):
    X = np.random.default_rng(0).normal(size=(5000, 3))
    found, k = mag.columns(live(X), 50), 50
    groups = 8 * 3 * (5000 // k)
    assert found.information_loss.shape == (3,)
    assert found.masked.shape == (5000, 3)
    assert repr(found).startswith("<ColumnGroupings: 3 columns of 5000 records")
    assert "information loss" in found._repr_html_()
    assert repr(found[1]).startswith("<Grouping: 5000 records")
    assert found[1].masked.shape == found[1].labels.shape == (5000,)
    assert 0 < found[1].information_loss < 1
    assert sum(crossing) < 8 * groups  # a tenth of the data: sizes and representatives of groups
    assert max(crossing) <= groups
    pickle.dumps(found[1])
    assert max(crossing) <= 4 * 5000  # and the labels of what is pickled


def test_a_single_column_is_one_of_the_table(host_device):
    X = np.random.default_rng(0).integers(0, 90, (130, 4))
    options = {"k": [3, 20, 3, 13], "cost": ["sse", "sae", "roundup", "sse_int"]}
    found, expected = mag.columns(live(X), **options), mag.columns(X, **options)
    for j in (0, 1, 2, 3, -1):
        for name in ("labels", "sizes", "representatives", "masked", "small_groups"):
            assert isinstance(getattr(found[j], name), Resident), name
            assert np.array_equal(getattr(found[j], name), getattr(expected[j], name)), (j, name)
        for name in ("cost", "information_loss", "n_groups", "k", "k_guaranteed"):
            assert getattr(found[j], name) == getattr(expected[j], name), (j, name)
        assert pickle.loads(pickle.dumps(found[j])).information_loss == expected[j].information_loss
    with pytest.raises(IndexError):
        found[4]


def test_integers_whose_sums_float64_would_round_are_left_to_the_cpu(host_device):
    X = np.stack([integer_columns(90)[name] for name in ("whole_range", "small", "ends")], axis=1)
    for cost in ("sse", "sse_int"):
        found = mag.columns(live(X), 3, cost=cost)
        for j in range(3):
            assert found[j].information_loss == mag.univariate(X[:, j], 3, cost=cost).information_loss
            assert found.information_loss[j] == found[j].information_loss


# ---- on a device


@pytest.mark.gpu
@pytest.mark.parametrize("n", [300, pytest.param(5000, marks=pytest.mark.long)])
@pytest.mark.parametrize("cost", ["sse", "sae", "maxdist"])
def test_a_device_computes_information_loss(cupy, cost, n):
    X = np.stack(list(real_columns(n).values()), axis=1)
    expected, found = mag.columns(X, 7, cost=cost), mag.columns(cupy.asarray(X), 7, cost=cost)
    assert found.information_loss.get().tobytes() == expected.information_loss.tobytes()
    assert found[3].masked.get().tobytes() == expected[3].masked.tobytes()


# ---- edits, each of which a comparison must notice

EDITS = [
    ("shares.cu", "last / 2 - first / 2 > MAG_HUGE", "last - first > 1e300 * MAG_HUGE"),
    ("shares.cu", ": n;", ": n - 1;"),
    ("shares.cu", "group.at(i) - center;", "group.at(i) + center;"),
    ("shares.cu", "(unit / whole)", "whole"),
    ("shares.cu", "within[col * n + begin + i]", "within[begin + i]"),
    ("shares.cu", "within + (i64)col * n", "within"),
    ("shares.cu", "fabs(gap_of(whole, i, mean))", "gap_of(whole, i, mean)"),
    ("shares.cu", "widest > 0 ? widest : 1", "1"),
    ("shares.cu", "sst > 0 ? sse / sst : 0", "sse / sst"),
    ("shares.cu", ", origins[col], weights", ", 0, weights"),
]


def notices(module):
    """Whether some comparison fails, or the runtime reports an error."""
    device = Device(np, module, shared=100 << 10)
    names = ("uniform", "cauchy", "huge", "both_ends", "constant", "offset", "tiny")
    X = np.stack([real_columns(303)[name] for name in names])
    integers = np.stack([np.random.default_rng(0).integers(-20, 20, 90), np.arange(90) - 61])
    try:
        return any(differing(device, X, cost, k) for cost in ("sse", "sae") for k in (3, 13)) or any(
            differing(device, integers, "sse_int", k) for k in (2, 4)
        )
    except (AssertionError, ZeroDivisionError):
        return True
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
