"""Linear models, quantiles and Gini coefficients: by plain sums and by hand; formulas and their sentences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mag
from mag.measures.estimates import fit_linear, gini, interval_overlap, weighted_quantiles
from mag.measures.formula import design_columns, parse_formula

RNG = np.random.default_rng(3)


def test_a_weight_is_as_many_records_for_coefficients():
    X = np.column_stack([np.ones(30), RNG.normal(size=(30, 2))])
    y, weights = RNG.normal(size=30), RNG.integers(1, 4, 30)
    weighted, _ = fit_linear(X, y, weights.astype(float))
    repeated, _ = fit_linear(X.repeat(weights, axis=0), y.repeat(weights))
    np.testing.assert_allclose(weighted, repeated, rtol=1e-10)


def test_standard_errors_of_a_line_by_hand():
    x, y = np.array([0.0, 1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0, 5.0])
    coefficients, errors = fit_linear(np.column_stack([np.ones(4), x]), y)
    slope = 5.5 / 5  # Σ (x − 1.5)(y − 2.75) / Σ (x − 1.5)²
    rest = y - 2.75 - slope * (x - 1.5)
    variance = rest @ rest / 2
    np.testing.assert_allclose(coefficients, [2.75 - 1.5 * slope, slope])
    np.testing.assert_allclose(errors, np.sqrt([variance * (1 / 4 + 1.5**2 / 5), variance / 5]))


def test_linearized_errors_by_plain_sums():
    X = np.column_stack([np.ones(12), RNG.normal(size=12)])
    y, w = RNG.normal(size=12), RNG.uniform(1, 3, 12)
    beta, errors = fit_linear(X, y, w)
    bread, meat = np.zeros((2, 2)), np.zeros((2, 2))
    for row, value, weight in zip(X, y, w, strict=True):
        bread += weight * np.outer(row, row)
        meat += (weight * (value - row @ beta)) ** 2 * np.outer(row, row)
    np.testing.assert_allclose(errors**2, np.diag(np.linalg.inv(bread) @ meat @ np.linalg.inv(bread)))


def test_a_column_that_depends_on_others_has_no_coefficient():
    x = RNG.normal(size=20)
    coefficients, errors = fit_linear(np.column_stack([np.ones(20), x, 2 * x + 1]), 3 * x)
    np.testing.assert_allclose(coefficients[:2], [0, 3], atol=1e-12)
    assert np.isnan([coefficients[2], errors[2]]).all()


@given(st.lists(st.integers(0, 50), min_size=1, max_size=12).filter(any))
def test_gini_is_half_of_the_mean_difference_by_the_mean(values):
    x = np.array(values, float)
    expected = np.abs(x[:, None] - x).mean() / (2 * x.mean())
    assert gini(x) == pytest.approx(expected)
    assert gini(x, np.full(x.size, 2.0)) == pytest.approx(expected)


def test_gini_of_debts_and_weights():
    assert np.isnan(gini(np.array([-1.0, 2.0])))
    assert gini(np.array([1.0, 5.0]), np.array([3.0, 1.0])) == pytest.approx(gini(np.array([1.0, 1.0, 1.0, 5.0])))


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(1, 4)), min_size=1, max_size=12), st.floats(0.01, 1))
def test_quantiles_are_those_of_repeated_values(pairs, share):
    x, w = np.array(pairs, float).T
    repeated = np.sort(x.repeat(w.astype(int)))
    expected = next(v for i, v in enumerate(repeated, 1) if i >= share * repeated.size * (1 - 1e-12))
    assert weighted_quantiles(x, np.array([share]), w)[0] == expected


def test_overlap_of_intervals():
    assert interval_overlap((0, 4), (0, 4)) == 1
    assert interval_overlap((0, 4), (1, 3)) == pytest.approx((2 / 4 + 2 / 2) / 2)
    assert interval_overlap((0, 1), (2, 3)) == -1
    assert interval_overlap((1, 1), (1, 1)) == 1
    assert interval_overlap((1, 1), (0, 2)) == 0


def test_products_and_levels_of_a_formula():
    columns = {"x": np.array([1.0, 2.0, 3.0]), "the job": np.array(["a", "b", "a"], object), "y": np.zeros(3)}
    design = design_columns(parse_formula("y ~ square(x) + x:`the job`"), columns, {"the job": ["a", "b"]})
    assert {name: own.tolist() for name, own in design.items()} == {
        "(constant)": [1, 1, 1],
        "square(x)": [1, 4, 9],
        "x:the job=b": [0, 2, 0],
    }


@pytest.mark.parametrize("formula", ["y", "y ~ x ~ z", "y ~ log(x", "y ~ x +", "y ~ x z", "y ~ lgo(x)", 3])
def test_wrong_formulas_are_one_sentence(formula):
    with pytest.raises(mag.InputError, match=r"^formula .*[.?]$"):
        parse_formula(formula)
