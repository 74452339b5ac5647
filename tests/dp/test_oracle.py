"""Every private mechanism against all its outcomes on all neighbors, and mutants that the same oracle must catch."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import mag.dp
from mag.dp import _delta, _random
from tests.oracles.enumeration import divergence, law_of, laws_of, multisets, noisy_value, worst, worst_of

ROUNDING = 1e-12
FOUR = mag.dp.Numbers(0, 4, 1)  # four cells
POINTS = mag.dp.Numbers(0, 3, 1)  # four points
THREE = mag.dp.Numbers(0, 2, 1)  # three points


def ages(rows):
    return {"age": np.array(rows, float)}


class Mutated:
    """A mechanism's own source, except for the noise that a mutant changes."""

    def __init__(self, change):
        self.inner, self.change = _random.source(), change
        self.holds, self.check, self.keep = True, self.inner.check, self.inner.keep

    def add_noise(self, values, noise):
        return self.inner.add_noise(values, self.change(noise))

    def choose(self, scores, noise):
        return self.inner.choose(scores, self.change(noise))


def mutant(run, change):
    def mutated(rows):
        with _random.using(Mutated(lambda noise: change(noise, rows))):
            return run(rows)

    return mutated


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
        for less, more in itertools.pairwise(laws)
        for one, other in ((less, more), (more, less))
    )


@pytest.mark.parametrize("k", [1, 2, 3, 7])
@pytest.mark.parametrize("beta", [0.1, 0.39, 0.75])
@pytest.mark.parametrize("epsilon", [0.4, 1, 2])
def test_exact_delta_is_that_of_all_cell_sizes(k, beta, epsilon):
    delta, enumerated = mag.dp.delta_for(k, beta, epsilon), enumerated_delta(k, beta, epsilon, 120)
    assert math.isclose(delta, enumerated, rel_tol=1e-9)
    assert Fraction(delta) >= _delta.exact_delta(k, _delta.chance_of(beta), Fraction(str(epsilon)))


def test_delta_falls_with_k_and_epsilon_and_grows_with_beta():
    grid = itertools.product([2, 3, 5, 8], [0.1, 0.2, 0.4], [0.4, 0.7, 1.1])
    deltas = {point: mag.dp.delta_for(*point) for point in grid}
    for (k, beta, epsilon), delta in deltas.items():
        for (other_k, other_beta, other_epsilon), other in deltas.items():
            if other_k >= k and other_beta <= beta and other_epsilon >= epsilon:
                assert other <= delta


@pytest.mark.parametrize(("epsilon", "beta"), [(1, None), (0.5, 0.1), (0.4, 0.3)])
@pytest.mark.parametrize("delta", [1e-3, 1e-6])
def test_k_for_is_the_least_k_of_delta_for(epsilon, delta, beta):
    k = mag.dp.k_for(epsilon, delta, beta)
    chance = _delta.default_chance(Fraction(epsilon)) if beta is None else _delta.chance_of(beta)
    assert mag.dp.delta_for(k, chance / 2**53, epsilon) <= delta < mag.dp.delta_for(k - 1, chance / 2**53, epsilon)


@pytest.mark.parametrize(("k", "beta", "epsilon"), [(1, 0.5, 1), (2, 0.5, 1.0), (2, 0.2, 0.5), (3, 0.75, 0.5)])
def test_sample_is_as_private_as_it_says(k, beta, epsilon):
    def run(rows):
        return mag.dp.sample(ages(rows), {"age": FOUR}, epsilon, k=k, beta=beta)

    found = worst(run, multisets(range(4), 4), epsilon)
    assert found <= mag.dp.delta_for(k, beta, epsilon) + ROUNDING
    assert math.isclose(found, enumerated_delta(k, beta, epsilon, 4), rel_tol=1e-9)


def test_sample_protects_persons_of_several_records():
    """Two records more or fewer, of any values."""

    def run(rows):
        return mag.dp.sample(ages(rows), {"age": THREE}, 1, k=2, beta=0.3, contributions=2)

    databases = multisets(range(2), 4)
    laws = laws_of(run, databases)
    price = float(run(()).guarantee.delta)
    pairs = [(one, tuple(sorted(one + two))) for one in databases for two in multisets(range(2), 2)]
    found = [(divergence(laws[a], laws[b], 1), divergence(laws[b], laws[a], 1)) for a, b in pairs if b in laws]
    assert max(map(max, found)) <= price + ROUNDING


def test_centroids_of_a_sample_are_caught():
    """Definition 3.16 and section 10.3 of the thesis publish them: here of cells of two values."""
    k, beta, epsilon = 2, 0.2, 0.5

    def with_centroids(rows):
        kept = np.array(rows)[_random.source().keep(len(rows), _delta.chance_of(beta))]
        cells = {cell: kept[kept // 2 == cell] for cell in set((kept // 2).tolist())}
        return tuple((cell, len(own), own.mean()) for cell, own in sorted(cells.items()) if len(own) >= k)

    def with_labels(rows):
        return mag.dp.sample(ages(rows), {"age": mag.dp.Numbers(0, 4, 2)}, epsilon, k=k, beta=beta)

    delta = mag.dp.delta_for(k, beta, epsilon)
    assert worst(with_labels, multisets(range(4), 4), epsilon) <= delta + ROUNDING
    assert worst(with_centroids, multisets(range(4), 4), epsilon) > 1.5 * delta


# ---- histogram


def count_ages(rows, epsilon=1, domain=FOUR, **options):
    return mag.dp.histogram(ages(rows), {"age": domain}, epsilon, **options)


@pytest.mark.parametrize("kind", ["add_remove", "replace"])
@pytest.mark.parametrize(("cells", "n"), [(4, 2), (3, 4)])
def test_histogram_is_as_private_as_it_says(kind, cells, n):
    domain = mag.dp.Numbers(0, cells, 1)
    databases = multisets(range(cells), n)

    def run(rows):
        return count_ages(rows, domain=domain, neighbors=kind, nonnegative=False)

    laws = laws_of(run, databases, (0, n))
    assert worst_of(laws, 1, kind) <= ROUNDING
    assert worst_of(laws, 0.99, kind) > 1e-4  # and not more noise than needed


@pytest.mark.parametrize("kind", ["add_remove", "replace"])
def test_histogram_of_cells_that_occur_is_as_private_as_it_says(kind):
    delta = 0.05

    def run(rows):
        return count_ages(rows, 2, mag.dp.Numbers(0, 3, 1), neighbors=kind, delta=delta)

    assert worst(run, multisets(range(3), 3), 2, kind, (0, 6)) <= delta + ROUNDING


@pytest.mark.parametrize("contributions", [1, 2])
def test_persons_of_any_number_of_records_are_protected(contributions):
    """With `person`: a whole person more or fewer, of up to three records."""

    def run(rows):
        table = {"age": np.array([age for _, age in rows], float), "who": [who for who, _ in rows]}
        return mag.dp.histogram(table, {"age": THREE}, 1, person="who", contributions=contributions)

    def of(who):
        return [tuple((who, age) for age in ages) for ages in multisets(range(2), 3)]

    databases = {one + two for one in of("a") for two in of("b")}
    laws = laws_of(run, databases, (0, 2 * contributions))
    for one in of("a"):
        for two in of("b"):
            assert divergence(laws[one], laws[one + two], 1) <= ROUNDING
            assert divergence(laws[one + two], laws[one], 1) <= ROUNDING


def test_noise_of_add_remove_is_caught_under_replace():
    def run(rows):
        return count_ages(rows, neighbors="replace")

    half = mutant(run, lambda noise, rows: replace(noise, sensitivity=1))
    assert worst(half, multisets(range(4), 2), 1, "replace", (0, 2)) > 0.1


def test_noise_that_shrinks_with_the_universe_is_caught():
    """Algorithm 26 of the thesis: scale 1 / (ε·|X|) on frequencies, |X| the number of possible values."""
    thesis = mutant(count_ages, lambda noise, rows: replace(noise, epsilon=noise.epsilon * 4 / max(1, len(rows))))
    assert worst(thesis, multisets(range(4), 2), 1, window=(0, 2)) > 0.1


# ---- means


@pytest.mark.parametrize(("n", "k"), [(3, 1), (4, 2), (3, 2), (4, 4)])
def test_means_are_as_private_as_they_say(n, k):
    def run(rows):
        return mag.dp.means(ages(rows), "age", POINTS, k, 1, n, records=False)

    databases = [rows for rows in multisets(range(4), n) if len(rows) == n]
    window = (0, 3 * (2 * k - 1 if n % k else k))
    laws = laws_of(run, databases, window)
    assert worst_of(laws, 1, "replace") <= ROUNDING
    assert worst_of(laws, 0.95, "replace") > 1e-4


def test_noise_of_half_the_range_is_caught_in_means():
    def run(rows):
        return mag.dp.means(ages(rows), "age", mag.dp.Numbers(0, 2, 1), 2, 1, 4)

    half = mutant(run, lambda noise, rows: replace(noise, sensitivity=1))
    assert worst(half, [rows for rows in multisets(range(3), 4) if len(rows) == 4], 1, "replace") > 0.1


def test_rows_that_join_columns_ranked_apart_are_caught():
    """Sánchez et al. 2016: which rows share a mean in both columns is told without any noise."""
    noise = _random.Noise("sums", 4, Fraction(2))

    def joint(rows):
        joined = []
        for values in np.array(rows).T:
            order = np.argsort(values, kind="stable")
            noisy = _random.source().add_noise(np.add.reduceat(values[order], [0, 2]), noise)
            means = np.empty(4)
            means[order] = np.repeat(noisy / 2, 2)
            joined.append(means)
        return tuple(sorted(zip(*joined, strict=True)))

    before, after = [(1, 1), (2, 2), (3, 3), (4, 4)], [(1, 1), (2, 2), (3, 3), (4, 0)]
    laws = [law_of(lambda rows=rows: joint(rows), (0, 8)) for rows in (before, after)]
    assert divergence(laws[1], laws[0], 4) > 0.5  # where both columns together cost ε = 4, and δ should be 0


# ---- quantile


@pytest.mark.parametrize("kind", ["add_remove", "replace"])
@pytest.mark.parametrize("q", [0, 0.25, 0.5, 1])
def test_quantile_is_as_private_as_it_says(kind, q):
    def run(rows):
        return mag.dp.quantile(np.array(rows), q, POINTS, 1, neighbors=kind)

    assert worst(run, multisets(range(4), 4), 1, kind) <= ROUNDING


def test_scores_of_half_the_sensitivity_are_caught():
    def run(rows):
        return mag.dp.quantile(np.array(rows), 0.5, POINTS, 1, neighbors="replace")

    half = mutant(run, lambda noise, rows: replace(noise, sensitivity=1))
    assert worst(half, multisets(range(4), 4), 1, "replace") > 0.01


# ---- Mondrian


def cut_ages(rows, epsilon, domain=POINTS, **options):
    return mag.dp.mondrian(ages(rows), {"age": domain}, epsilon, k=1, records=False, **options)


@pytest.mark.parametrize(("depth", "n"), [(0, 4), (1, 4), (2, 2)])
def test_boxes_are_as_private_as_they_say(depth, n):
    def run(rows):
        return cut_ages(rows, 1, depth=depth, centroids=False)

    assert worst(run, multisets(range(4), n), 1, window=(0, n)) <= ROUNDING


@pytest.mark.parametrize("depth", [0, 1])
def test_means_of_boxes_are_as_private_as_they_say(depth):
    def run(rows):
        return cut_ages(rows, 2, THREE, depth=depth)

    databases = multisets(range(3), 3)
    assert worst(run, databases, 2, window=(0, 3), windows={"sums": (-6, 6) if depth == 0 else (-3, 3)}) <= ROUNDING


def test_boxes_that_stop_are_as_private_as_they_say():
    def run(rows):
        return cut_ages(rows, 4, THREE, depth=1, centroids=False, stop=True)

    assert worst(run, multisets(range(3), 4), 4, windows={"sizes": (0, 6)}) <= ROUNDING


def test_boxes_cut_by_spread_are_as_private_as_they_say():
    def run(rows):
        table = {"a": np.array([row[0] for row in rows]), "b": np.array([row[1] for row in rows])}
        domains = {"a": THREE, "b": mag.dp.Numbers(0, 1, 1)}
        return mag.dp.mondrian(table, domains, 1, k=1, depth=1, centroids=False, order="spread", records=False)

    assert worst(run, multisets([(0, 0), (0, 1), (1, 1), (2, 0)], 3), 1, window=(0, 3)) <= ROUNDING


def test_a_sample_in_private_boxes_is_as_private_as_it_says():
    def run(rows):
        return mag.dp.mondrian(ages(rows), {"age": POINTS}, 1, depth=1, draw=True, k=2, beta=0.3)

    price = float(run((1,)).guarantee.delta)
    assert math.isclose(price, mag.dp.delta_for(2, 0.3, 0.5))
    assert worst(run, multisets(range(4), 4), 1) <= price + ROUNDING


def test_cuts_that_are_not_paid_are_caught():
    free = mutant(
        lambda rows: cut_ages(rows, 1, depth=1, centroids=False),
        lambda noise, rows: replace(noise, epsilon=4 * noise.epsilon) if noise.what == "cuts" else noise,
    )
    assert worst(free, multisets(range(4), 3), 1, window=(0, 3)) > 1e-3


def test_a_sample_that_is_used_twice_is_caught():
    """A first step on the sample, ε₁-private there, and then its count: more than (ε₁ + ε₂, δ(ε₂)).

    The first step is [t drawn] - the number of others drawn, with noise.  Given the count, it tells twice.
    """
    m, k, beta, first, second = 12, 3, 0.39, 2.0, 0.5
    window = (-m, 1)

    def law(with_t, twice):
        outcomes = {}
        for t in range(1 + with_t):
            chance = (beta if t else 1 - beta) if with_t else 1.0
            for others, p in enumerate(binomial(m - 1, beta)):
                told = t - others if twice else with_t - (m - 1)
                for seen in range(window[0], window[1] + 1):
                    outcome = seen, t + others if t + others >= k else None
                    price = chance * p * noisy_value(told, seen, 1 / first, *window)
                    outcomes[outcome] = outcomes.get(outcome, 0) + price
        return outcomes

    def needed(twice):
        one, other = law(1, twice), law(0, twice)
        epsilon = first + second
        gaps = [
            sum(max(0, p - math.exp(epsilon) * b.get(seen, 0)) for seen, p in a.items())
            for a, b in ((one, other), (other, one))
        ]
        return max(gaps)

    delta = mag.dp.delta_for(k, beta, second)
    assert math.isclose(delta, 0.070, abs_tol=5e-4)
    assert math.isclose(needed(twice=True), 0.171, abs_tol=5e-4)
    assert needed(twice=False) <= delta
