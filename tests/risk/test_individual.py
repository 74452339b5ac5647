"""Individual and household risk against many digits."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from mag.risk.household import household_risk
from mag.risk.individual import expected_inverse
from tests.oracles.risk import exact_risk, sdcmicro_risk

SIZES = [1, 2, 3, 5, 9, 10, 11, 40, 176, 1000]
RATIOS = ["1", "1.0000001", "1.3", "2", "2.1", "10", "100", "1e5", "1e9", "1e14"]
BETWEEN = [1.5, 1.25, 1.001, 1.999, 2.5, 9.75, 12.5]


@pytest.mark.parametrize(("f", "ratio"), [*itertools.product(SIZES + BETWEEN, RATIOS)])
def test_risk_is_exact_for_all_sizes_and_fractions(f, ratio):
    F = float(Fraction(f) * Fraction(ratio))
    risk = expected_inverse(np.array([f]), np.array([F]))[0]
    assert risk == pytest.approx(exact_risk(f, F), rel=2e-12)


def test_risk_falls_without_jumps_as_the_population_grows():
    f = np.repeat(np.array(SIZES + BETWEEN, float), 500)
    F = f * np.tile(np.geomspace(1, 1e12, 500), f.size // 500)
    risk = expected_inverse(f, F).reshape(-1, 500)
    assert (np.diff(risk, axis=1) <= 1e-13 * risk[:, 1:]).all()
    assert (risk[:, 0] == 1 / f[::500]).all()


def test_a_population_below_the_sample_counts_as_the_sample():
    assert expected_inverse(np.array([4, 4]), np.array([0.0, 3.9])).tolist() == [0.25, 0.25]


def test_faults_of_sdcmicro():
    """Its exact formula is NaN at f = 176, and 1 < f < 2 has no formula there at all; for f > 2 it approximates."""
    assert sdcmicro_risk(1.5, 100) == 0
    assert expected_inverse(np.array([1.5]), np.array([100.0]))[0] == pytest.approx(exact_risk(1.5, 100), rel=1e-13)
    assert expected_inverse(np.array([176]), np.array([17600.0]))[0] == pytest.approx(exact_risk(176, 17600), rel=1e-13)
    assert 1 < sdcmicro_risk(3, 300) / exact_risk(3, 300) < 1.005


def test_a_household_is_found_with_any_of_its_members():
    risk, home = np.array([0.5, 0.25, 0.0, 1.0, 0.3]), np.array([7, 7, 2, 2, 4])
    assert household_risk(risk, home).tolist() == pytest.approx([0.625, 0.625, 1.0, 1.0, 0.3], rel=1e-15)


def test_small_risks_of_a_household_add_up():
    assert household_risk(np.full(3, 1e-18), np.zeros(3, int)).tolist() == pytest.approx([3e-18] * 3, rel=1e-12)


def test_a_unit_is_one_member_of_its_household():
    risk, home, unit = np.array([0.5, 0.1, 0.5]), np.array([0, 0, 0]), np.array([3, 3, 8])
    assert household_risk(risk, home, unit).tolist() == [0.75] * 3
