"""Differential privacy: every mechanism against the enumeration of all its outcomes, and what must never happen."""

import math
from fractions import Fraction

import numpy as np
import pytest

import mag.dp
from mag.dp import _delta
from tests.enumeration import multisets, worst

FOUR = mag.dp.Numbers(0, 4, 1)
ROUNDING = 1e-12


def ages(rows):
    return {"age": np.array(rows, float)}


# ---- sample


def binomial(m, beta):
    return [math.comb(m, j) * beta**j * (1 - beta) ** (m - j) for j in range(m + 1)]


def seen_count(m, k, beta):
    """What is seen of a cell of m records: a count of at least k, or nothing."""
    law = binomial(m, beta)
    return {None: sum(law[:k])} | {j: law[j] for j in range(k, m + 1)}


def enumerated_delta(k, beta, epsilon, sizes):
    laws = [seen_count(m, k, beta) for m in range(sizes + 1)]
    return max(
        sum(max(0, p - math.exp(epsilon) * other.get(seen, 0)) for seen, p in one.items())
        for less, more in zip(laws, laws[1:], strict=False)
        for one, other in ((less, more), (more, less))
    )


def printed_delta(k, beta, epsilon):
    """Theorem 10.24 of the thesis as it is printed."""
    gamma = 1 - (1 - beta) * math.exp(-epsilon)
    first = math.ceil(k / gamma - 1)
    tails = (sum(p for j, p in enumerate(binomial(n, beta)) if j > gamma * n) for n in range(first, first + 300))
    return max(tails)


@pytest.mark.parametrize("k", [1, 2, 3, 7])
@pytest.mark.parametrize("beta", [0.1, 0.39, 0.75])
@pytest.mark.parametrize("epsilon", [0.3, 0.5, 1, 2])
def test_exact_delta_is_that_of_all_cell_sizes(k, beta, epsilon):
    delta = mag.dp.delta_for(k, beta, epsilon)
    enumerated = enumerated_delta(k, beta, epsilon, 400)
    assert enumerated <= delta * (1 + 1e-11)
    assert math.isclose(delta, enumerated, rel_tol=1e-9)


@pytest.mark.parametrize(("k", "beta", "epsilon"), [(1, 0.5, 1), (2, 0.5, 1.0), (2, 0.2, 0.5), (3, 0.75, 0.5)])
def test_sample_is_as_private_as_it_says(k, beta, epsilon):
    delta = mag.dp.delta_for(k, beta, epsilon)
    run = lambda rows: mag.dp.sample(ages(rows), {"age": FOUR}, epsilon, k=k, beta=beta)  # noqa: E731
    found = worst(run, multisets(range(4), 4), epsilon)
    assert found <= delta + ROUNDING
    assert math.isclose(found, enumerated_delta(k, beta, epsilon, 4), rel_tol=1e-9)


def test_centroids_of_a_sample_are_not_private():
    """Definition 3.16 and section 10.3 of the thesis publish them: cells of two values, with their means."""
    k, beta, epsilon = 2, 0.2, 0.5

    def with_centroids(rows):
        kept = np.array(rows)[mag.dp._random.source().keep(len(rows), mag.dp._delta.chance_of(beta))]
        cells = {cell: kept[kept // 2 == cell] for cell in set((kept // 2).tolist())}
        return tuple((cell, len(own), own.mean()) for cell, own in sorted(cells.items()) if len(own) >= k)

    def with_labels(rows):
        return mag.dp.sample(ages(rows), {"age": mag.dp.Numbers(0, 4, 2)}, epsilon, k=k, beta=beta)

    delta = mag.dp.delta_for(k, beta, epsilon)
    assert worst(with_labels, multisets(range(4), 4), epsilon) <= delta + ROUNDING
    assert worst(with_centroids, multisets(range(4), 4), epsilon) > 1.5 * delta
