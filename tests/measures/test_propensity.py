"""The propensity score of wide tables."""

import numpy as np
import pytest

import mag
from mag.measures import assess


@pytest.mark.parametrize("d", [40, 41, 60, 210])
def test_masked_data_with_a_large_loss_never_score_not_at_all(d):
    X = np.random.default_rng(d).normal(size=(600, d))
    masked = mag.multivariate(X, 60, method="mdav").masked
    measures = assess.utility(X, masked)
    assert measures["information_loss"] > 0.8
    assert measures["propensity_mse"] > 0.05


def test_the_score_of_wide_tables_repeats_and_is_zero_for_equal_ones():
    X = np.random.default_rng(0).normal(size=(300, 250))
    assert assess.utility(X, X)["propensity_mse"] < 1e-20
    masked = mag.multivariate(X, 30, method="mdav").masked
    assert assess.utility(X, masked)["propensity_mse"] == assess.utility(X, masked)["propensity_mse"]


def test_squares_without_products():
    X = np.random.default_rng(1).normal(size=(400, 2))
    Y = X * [[1.5, 0.5]]  # the same means, other squares
    found = [mag.metrics.propensity_mse(X, Y, quadratic=how) for how in (False, "squares", True)]
    assert found[0] < 1e-3 < 0.02 < found[1]
    assert found[1] <= found[2] + 1e-6
    with pytest.raises(mag.InputTypeError, match="quadratic must be True or False; got 'products'"):
        mag.metrics.propensity_mse(X, Y, quadratic="products")
