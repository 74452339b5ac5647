"""Records of several columns on a device: the labels and scores of the CPU, and hardly anything over the bus."""

from unittest import mock

import numpy as np
import pytest

import mag
from mag._backends import cuda
from tests.cuda import runs
from tests.cuda.host import ORDERS
from tests.cuda.runs import live
from tests.cuda.standin import stand_in


def table(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + rng.integers(0, 3, (n, 1))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("n", "d", "k"), [(301, 3, 3), (200, 9, 13), (97, 16, 40)])
@pytest.mark.parametrize("options", [{"ordered": False}, {"refine": 2}])
def test_projections_have_the_bits_of_the_cpu(order, n, d, k, options):
    options |= {"method": "projection", "n_projections": 11, "return_scores": True}
    X, device = table(n, d), stand_in(order)
    expected = mag.multivariate(X, k, backend="cpu", **options)
    with runs.device(), mock.patch.object(cuda, "current", return_value=device):
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


def test_only_records_scores_and_one_vector_of_labels_cross_the_bus():
    n, d, m = 400, 5, 30
    X, device = table(n, d), stand_in()
    with (
        runs.device(),
        mock.patch.object(cuda, "current", return_value=device),
        mock.patch.object(cuda.Lines, "width", 7),
    ):
        mag.multivariate(X, 5, backend="cuda", method="projection", n_projections=m, ordered=False)
    directions = m + 1  # and the principal component
    assert device.xp.up == 8 * n * d + 8 * d * directions
    assert device.xp.down == (8 + 4) * directions + 4 * n  # a score and a flag each, and labels


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
