"""Estimates of population uniques against exact probabilities and against populations."""

import numpy as np
import pytest

from mag.risk.uniqueness import fit_pitman, pitman, zayatz
from tests.oracles.risk import once_in_sample

SAMPLES = [[1, 1, 1, 2, 5], [1, 1, 2, 2, 2, 3, 9, 40], [1] * 50 + [2] * 20 + [300]]


@pytest.mark.parametrize("sizes", SAMPLES)
@pytest.mark.parametrize("fraction", [0.01, 0.1, 0.5, 1.0])
def test_zayatz_by_exact_probabilities(sizes, fraction):
    n = sum(sizes)
    N = round(n / fraction)
    every = sum(once_in_sample(K, n, N) for K in sizes)
    expected = sizes.count(1) ** 2 * once_in_sample(1, n, N) / every / fraction
    assert zayatz(np.array(sizes), fraction) == pytest.approx(float(expected), rel=1e-12)


def test_a_sample_without_uniques_has_none_in_the_population():
    assert zayatz(np.array([2, 3]), 0.1) == 0


def likelihood(theta, alpha, sizes):
    u, n = len(sizes), sum(sizes)
    value = np.log(theta + alpha * np.arange(1, u)).sum() - np.log(theta + np.arange(1, n)).sum()
    return value + sum(np.log(np.arange(1, size) - alpha).sum() for size in sizes)


def test_pitman_maximizes_the_likelihood():
    sizes = [1] * 30 + [2] * 8 + [3] * 4 + [7] * 2
    theta, alpha = fit_pitman(np.array(sizes))
    best = likelihood(theta, alpha, sizes)
    for change in (1e-3, -1e-3):
        assert best > likelihood(theta * (1 + change), alpha, sizes)
        assert best > likelihood(theta, alpha + change, sizes)


def test_pitman_estimates_the_uniques_of_a_population_that_it_describes():
    """People take a new class with the probability of the model; a tenth of them is the sample."""
    rng, theta, alpha, N = np.random.default_rng(0), 50.0, 0.6, 20_000
    label, counts = np.empty(N, int), []
    for person in range(N):
        if rng.random() < (theta + alpha * len(counts)) / (theta + person):
            label[person] = len(counts)
            counts.append(1)
        else:
            while True:  # a class in proportion to its size minus alpha
                own = label[rng.integers(person)]
                if rng.random() < 1 - alpha / counts[own]:
                    break
            label[person] = own
            counts[own] += 1
    sample = np.bincount(rng.permutation(label)[: N // 10])
    assert pitman(sample[sample > 0], 0.1) == pytest.approx(counts.count(1), rel=0.1)


@pytest.mark.parametrize("sizes", [[5], [1, 1, 1], [4, 4, 4, 4]])
def test_pitman_says_where_it_does_not_fit(sizes):
    assert np.isnan(pitman(np.array(sizes), 0.1))
