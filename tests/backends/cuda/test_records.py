"""Records of several columns on a device: the labels and scores of the CPU, and hardly anything over the bus."""

import pickle
from unittest import mock

import numpy as np
import pytest

import mag
from mag._backends import cuda
from mag._backends.cuda.launch import Device
from mag._backends.cuda.neighbors import RECORDS_PER_BLOCK
from tests.cuda import runs
from tests.cuda.host import ORDERS
from tests.cuda.records import check_edges, check_lists, table
from tests.cuda.runs import live, on


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("n", "d", "k"), [(301, 3, 3), (200, 9, 13), (97, 16, 40)])
@pytest.mark.parametrize("options", [{"ordered": False}, {"refine": 2}])
def test_projections_have_the_bits_of_the_cpu(order, n, d, k, options):
    options |= {"method": "projection", "n_projections": 11, "return_scores": True}
    X = table(n, d)
    expected = mag.multivariate(X, k, backend="cpu", **options)
    with runs.device(), mock.patch.object(cuda, "current", return_value=on(order)):
        found = mag.multivariate(X, k, backend="cuda", **options)
    assert found.details["scores"].tobytes() == expected.details["scores"].tobytes()
    assert found.details["directions"].tobytes() == expected.details["directions"].tobytes()
    assert np.array_equal(found.labels, expected.labels)


def test_ties_and_constant_columns_are_scored_alike():
    X = np.round(table(260, 4), 0)
    X[:, 2] = 1.0
    options = {"method": "projection", "n_projections": 9, "return_scores": True, "ordered": False}
    expected = mag.multivariate(X, 4, **options)
    with runs.device():
        found = mag.multivariate(X, 4, backend="cuda", **options)
    assert found.details["scores"].tobytes() == expected.details["scores"].tobytes()
    assert np.array_equal(found.labels, expected.labels)


@pytest.fixture
def bus(emulated):
    """Counts the bytes that go to the device and come back, since it was last asked."""

    class Bus:
        before = (0, 0)

        def crossed(self):
            now = tuple(emulated.emulator_copied(to_host) for to_host in (0, 1))
            (up, down), self.before = (a - b for a, b in zip(now, self.before, strict=True)), now
            return up, down

    bus = Bus()
    bus.crossed()
    return bus


@pytest.mark.gpu
def test_only_records_scores_and_one_vector_of_labels_cross_the_bus(device, bus):
    n, d, m = 400, 5, 30
    with mock.patch.object(cuda.DeviceProjections, "width", 7):
        mag.multivariate(table(n, d), 5, backend="cuda", method="projection", n_projections=m, ordered=False)
    directions = m + 1  # and the principal component
    up, down = bus.crossed()
    assert up == 8 * n * d + 8 * d * directions
    # the sum of squares, products of columns, a score and a flag each, and labels
    assert down == 8 + 8 * d * d + (8 + 4) * directions + 4 * n


@pytest.mark.gpu
@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize(("n", "d", "k"), [(400, 5, 5), (203, 9, 13), (30, 40, 2)])
def test_results_of_tables_on_the_device_are_those_of_the_cpu(device, n, d, k, ordered, standardize):
    X = table(n, d) * 10.0 ** np.arange(d)
    X[:, 1] = 7.0
    options = {"n_projections": 30, "ordered": ordered, "standardize": standardize, "return_scores": True}
    expected = mag.multivariate(X, k, method="projection", **options)
    given = device.asarray(X.T).T if ordered else device.asarray(X)
    with mock.patch.object(cuda.DeviceProjections, "width", 4):
        found = mag.multivariate(given, k, method="projection", **options)
        same_record_groupings(found, expected)
        pickled = pickle.loads(pickle.dumps(found))
        assert type(pickled) is mag.RecordGrouping
        same_record_groupings(pickled, expected)


@pytest.mark.gpu
@pytest.mark.parametrize("ordered", [False, True])
def test_tables_on_the_device_do_not_cross_the_bus(device, bus, ordered):
    n, d, k, m = 3000, 5, 10, 30
    given = device.asarray(table(n, d))
    bus.crossed()
    found = mag.multivariate(given, k, method="projection", n_projections=m, ordered=ordered)
    up, down = bus.crossed()
    winners = (up - 8 * d * (m + 1)) // (8 * d)  # directions whose orders are looked at
    assert up == 8 * d * (m + 1 + winners)
    assert ordered == (winners > 0)
    columns = 40 * d + 8 + 8 * d * d  # extrema and three sums of each, that of squares, and products
    flag = 1  # whether all values are finite
    assert down == columns + flag + 12 * (m + 1 + winners) + 4 * n + 4 * ordered
    assert found.masked.shape == (n, d)
    assert 0 < found.information_loss < 1
    # where records and groups stand, and labels
    assert bus.crossed() == (4 * n + 4 * found.n_groups + 4 * n, 16)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint64, np.bool_, np.float32])
def test_tables_of_every_type_stay_there(device, dtype):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (150, 3)) if dtype == np.bool_ else rng.integers(0, 120, (150, 3)) * (1.0 + rng.random())
    X = (X - (60 if np.dtype(dtype).kind == "i" else 0)).astype(dtype)
    if X.itemsize == 8 and X.dtype.kind != "f":  # distances beyond float64, and once beyond 64 bits if summed
        X[:2, 0], X[2:4, 1] = np.iinfo(dtype).max, np.iinfo(dtype).min
        X[4, 2] = 2**55
    options = {"method": "projection", "n_projections": 5, "return_scores": True}
    for k in (3, 20):
        expected = mag.multivariate(X, k, **options)
        found = mag.multivariate(device.asarray(X), k, **options)
        assert type(found) is not mag.RecordGrouping
        same_record_groupings(found, expected)
        assert found.masked.dtype == expected.masked.dtype


def same_record_groupings(found, expected):
    """That a result of arrays on a device has the bits of the CPU's."""
    for name in ("labels", "sizes", "representatives", "masked"):
        assert getattr(found, name).get().tobytes() == getattr(expected, name).tobytes(), name
    for name in ("cost", "information_loss", "n_groups", "method"):
        assert getattr(found, name) == getattr(expected, name), name
    assert found.details["scores"].get().tobytes() == expected.details["scores"].tobytes()
    assert repr(found) == repr(expected)


def test_values_that_are_not_finite_are_refused_on_the_device_too():
    X = table(60, 3)
    X[3, 1] = np.nan
    with runs.device(), pytest.raises(ValueError, match=r"^X contains 1 NaN value in column 1; drop"):
        mag.multivariate(live(X), 3, method="projection")


def test_extreme_records_have_the_means_of_the_cpu():
    X = table(120, 3) * [1e308 / 40, 1e-310, 1.0]
    expected = mag.multivariate(X, 4, method="projection", n_projections=3)
    with runs.device():
        found = mag.multivariate(live(X.astype(np.float64)), 4, method="projection", n_projections=3)
        same = [np.array_equal(getattr(found, name), getattr(expected, name)) for name in ("masked", "cost")]
    assert all(same)


def test_tables_on_the_device_are_projected_there():
    X = table(200, 3)
    options = {"method": "projection", "n_projections": 5}
    with runs.device(), mock.patch.object(cuda, "lines", wraps=cuda.lines) as used:
        found = mag.multivariate(live(X), 4, **options)
        assert used.call_count == 1
        mag.multivariate(X, 4, **options)
        mag.multivariate(live(X), 4, backend="cpu", **options)
        assert used.call_count == 1
        with pytest.raises(TypeError, match=r"^backend 'cuda' is not used by method 'zscore'"):
            mag.multivariate(live(X), 4, backend="cuda", method="zscore")
        mag.multivariate(live(X), 4, method="zscore")
    assert np.array_equal(found.labels, mag.multivariate(X, 4, **options).labels)


def test_a_k_that_the_kernels_do_not_take_is_for_the_cpu():
    X = table(70_000, 2)
    options = {"method": "projection", "n_projections": 1, "ordered": False}
    with runs.device():
        found = mag.multivariate(X, 33_000, backend="cuda", **options)
    assert np.array_equal(found.labels, mag.multivariate(X, 33_000, **options).labels)


# ---- lists of nearest records


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("n", "d", "m"), [(700, 3, 5), (130, 2, 40), (64, 5, 64), (20_000, 4, 26), (2000, 2, 300)])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_lists_are_the_nearest_and_farthest_by_distance_and_number(order, n, d, m, sign):
    check_lists(on(order), n, d, m, sign)


@pytest.mark.parametrize("order", ORDERS)
def test_records_at_the_edge_of_a_box_are_found(order):
    check_edges(on(order))


@pytest.mark.parametrize("method", ["mdav", "mdav_plus", "mdav_star", "ona_star"])
@pytest.mark.parametrize(("n", "d", "k"), [(500, 2, 3), (300, 6, 12)])
def test_methods_find_the_labels_of_the_cpu(method, n, d, k):
    X = table(n, d).round(1)
    expected = mag.multivariate(X, k, method=method)
    with runs.device():
        found = mag.multivariate(X, k, method=method, backend="cuda")
    assert np.array_equal(found.labels, expected.labels)
    assert found.cost == expected.cost


@pytest.mark.gpu
@pytest.mark.parametrize("method", ["mdav", "mdav_plus", "mdav_star", "ona_star"])
@pytest.mark.parametrize(("n", "d", "k"), [(500, 2, 3), (300, 6, 12)])
def test_records_go_to_the_device_once(device, bus, method, n, d, k):
    mag.multivariate(table(n, d).round(1), k, method=method, backend="cuda")
    up, down = bus.crossed()
    # X, boxes, numbers of records, and two integers per assigned record and query
    assert (
        8 * n * d
        <= up
        <= 8 * (n + RECORDS_PER_BLOCK) * d + 40 * (n / RECORDS_PER_BLOCK + 8) * d + 8 * (n + RECORDS_PER_BLOCK) + 8 * n
    )
    assert down > 0


HALVED = ["mondrian", "mondrian_v", "mondrian_v2d", "mona", "mona_2d"]


def halved():
    """Records and k that are halved: ties, odd numbers, constants, negative numbers."""
    return (table(700, 5).round(1), 3), (table(333, 2), 11), (np.ones((90, 3)), 4), (-table(50, 3).round(), 2)


@pytest.mark.parametrize("method", HALVED)
@pytest.mark.parametrize("order", ORDERS)
def test_halving_finds_the_parts_of_the_cpu(method, order):
    for X, k in halved():
        expected = mag.multivariate(X, k, method=method)
        with runs.device(), mock.patch.object(cuda, "current", return_value=on(order)):
            found = mag.multivariate(X, k, method=method, backend="cuda")
        assert np.array_equal(found.labels, expected.labels)


@pytest.mark.gpu
@pytest.mark.parametrize("method", HALVED)
def test_halving_sends_records_once(device, bus, method):
    for X, k in halved():
        found, (n, d) = mag.multivariate(X, k, method=method, backend="cuda"), X.shape
        up, down = bus.crossed()
        assert up <= 8 * n * d + 16 * n // k + 64  # records once, and where parts start
        assert down == 4 * n + 4
        assert np.array_equal(found.labels, mag.multivariate(X, k, method=method).labels)


def test_all_parts_of_a_level_are_one_batch(monkeypatch):
    launched, launch = [], Device.launch
    monkeypatch.setattr(
        Device, "launch", lambda self, *args, **chosen: launched.append(args[1]) or launch(self, *args, **chosen)
    )
    with runs.device():
        mag.multivariate(table(1000, 3), 5, method="mondrian", backend="cuda")
    assert launched.count("extents") == launched.count("choose") == launched.count("along") == 7  # of 1000 … 15
    assert launched.count("place") == 14


def test_lists_that_are_too_long_are_made_by_the_cpu():
    X = table(900, 2)
    with runs.device(), mock.patch.object(cuda, "neighbors", side_effect=AssertionError):
        found = mag.multivariate(X, 400, method="mdav", backend="cuda")
    assert np.array_equal(found.labels, mag.multivariate(X, 400, method="mdav").labels)
