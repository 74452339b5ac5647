"""Figures of chapter 10 of Thaeter's thesis (Lübeck 2021), and its errors: each correction with its proof."""

import itertools
import math
import statistics

import numpy as np
import pytest

import mag.dp
from tests.oracles.enumeration import divergence, noisy_value

UNIVERSE = math.log(20**5)


@pytest.mark.parametrize(
    ("alpha", "queries"), [(0.01, [0, 0, 0, 0, 1]), (0.1, [0, 1, 60, 1e18, 1e181])], ids=["0.01", "0.1"]
)
def test_table_10_1_follows_from_the_equation_with_its_root(alpha, queries):
    """Equation 10.1: |Q| ≤ β^(1 / 4 ln|X|) · exp(εα³n / 16 ln|X|); printed are powers of ten where it is large."""
    for n, printed in zip([1e3, 1e6, 1e7, 1e8, 1e9], queries, strict=True):
        log = math.log(0.01) / (4 * UNIVERSE) + 0.1 * alpha**3 * n / (16 * UNIVERSE)
        digits = log / math.log(10)
        assert int(digits) == round(math.log10(printed)) if printed > 100 else int(math.exp(log)) == printed


@pytest.mark.parametrize(
    ("alpha", "dimensions"), [(0.01, [0, 0, 0, 0, 6]), (0.1, [0, 6, 66, 667, 6675])], ids=["0.01", "0.1"]
)
def test_table_10_2_is_a_vc_dimension_without_constants(alpha, dimensions):
    """Equation 10.2: (εα³n - ln(1/β)) / ln|X|."""
    sizes = (1e3, 1e6, 1e7, 1e8, 1e9)
    assert [int(max(0, 0.1 * alpha**3 * n + math.log(0.01)) / UNIVERSE) for n in sizes] == dimensions


@pytest.mark.parametrize(("alpha", "powers"), [(0.01, [11, 11, 12, 12]), (0.1, [8, 8, 9, 9])], ids=["0.01", "0.1"])
def test_table_10_4_is_the_power_of_ten_below(alpha, powers):
    """Theorem 10.20: n ≥ 288 σ ln(8σ / αβ) / εα³."""
    least = [288 * sigma * math.log(8 * sigma / (alpha * 0.01)) / (0.1 * alpha**3) for sigma in (5, 10, 50, 100)]
    assert [int(math.log10(n)) for n in least] == powers


PRINTED = {  # table 10.5, k = 20: at these β and ε, where the thesis has exchanged them
    (0.05, 0.25): 7e-10, (0.1, 0.25): 4e-6, (0.2, 0.25): 2e-3,
    (0.05, 0.5): 3e-14, (0.1, 0.5): 2e-9, (0.2, 0.5): 8e-6,
    (0.05, 1): 2e-19, (0.1, 1): 4e-14, (0.2, 1): 6e-9,
}  # fmt: skip
FACTORS = {  # how much smaller the exact δ is
    (0.05, 0.25): 102, (0.1, 0.25): 66, (0.2, 0.25): 42,
    (0.05, 0.5): 73, (0.1, 0.5): 61, (0.2, 0.5): 26,
    (0.05, 1): 21, (0.1, 1): 15, (0.2, 1): 22,
}  # fmt: skip


def printed_bound(k, beta, epsilon):
    """Theorem 10.24."""
    gamma = 1 - (1 - beta) * math.exp(-epsilon)
    first = math.ceil(k / gamma - 1)
    return max(
        sum(math.comb(n, j) * beta**j * (1 - beta) ** (n - j) for j in range(math.floor(gamma * n) + 1, n + 1))
        for n in range(first, first + 40)
    )


@pytest.mark.parametrize(("beta", "epsilon"), PRINTED)
def test_table_10_5_has_beta_and_epsilon_exchanged(beta, epsilon):
    bound = printed_bound(20, beta, epsilon)
    assert math.isclose(bound, PRINTED[beta, epsilon], rel_tol=0.25)  # one digit
    if epsilon != 5 * beta:  # off the diagonal, the printed place is wrong
        elsewhere = printed_bound(20, epsilon / 5, beta * 5)
        assert not math.isclose(elsewhere, PRINTED[beta, epsilon], rel_tol=0.5)


@pytest.mark.parametrize(("beta", "epsilon"), FACTORS)
def test_the_bound_of_theorem_10_24_is_loose(beta, epsilon):
    factor = printed_bound(20, beta, epsilon) / mag.dp.delta_for(20, beta, epsilon)
    assert math.isclose(factor, FACTORS[beta, epsilon], rel_tol=0.03)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 5.3e-5), (0.05, 7.5e-4)])
def test_theorem_10_24_holds_below_its_least_epsilon(epsilon, delta):
    assert epsilon < -math.log(1 - 0.1)
    assert math.isclose(mag.dp.delta_for(20, 0.1, epsilon), delta, rel_tol=0.01)


@pytest.mark.parametrize(
    ("epsilon", "beta", "least"),
    [
        (1, None, [33, 58, 84]),
        (math.log(2), None, [28, 50, 73]),
        (2, None, [72, 114, 158]),
        (1, 0.1, [5, 8, 10]),
        (0.5, 0.1, [6, 10, 15]),
    ],
)
def test_least_k(epsilon, beta, least):
    assert [mag.dp.k_for(epsilon, delta, beta) for delta in (1e-4, 1e-6, 1e-8)] == least


def test_frequencies_with_noise_of_the_universe_are_far_from_private():
    """Algorithm 26: with n = 10, |X| = 1000 and ε = 0.1 the loss of one count is 10."""
    n, universe, epsilon = 10, 1000, 0.1
    assert math.isclose((1 / n) / (1 / (epsilon * universe)), 10)


def release_intervals(total, sigma, share, cap, noisy_count):
    """Algorithm 25 with its search put right; the number of noisy counts that it asks for."""
    asked, a = 0, 1
    most = math.ceil(4 / (3 * share))
    while a <= 2**sigma and (not cap or asked < sigma * most):
        low, high = a, 2**sigma
        for _ in range(sigma):
            asked += 1
            middle = (low + high) // 2
            low, high = (middle + 1, high) if low < high and noisy_count(a, middle) < share * total else (low, middle)
        a = low + 1
    return asked


def test_release_intervals_overspends_without_a_cap():
    """Algorithm 25 divides ε by σ times the largest number of intervals, and then may cut more of them."""
    sigma, share = 6, 0.1
    paid = sigma * math.ceil(4 / (3 * share))
    unlucky = lambda a, b: 1e9  # noqa: E731 - noise that makes every interval as short as can be
    assert release_intervals(100, sigma, share, False, unlucky) > paid
    assert release_intervals(100, sigma, share, True, unlucky) <= paid


def test_one_cluster_is_private_only_if_n_is_public():
    """Section 10.2: the count of the only cell tells how many there are."""
    law = lambda rows: {len(rows): 1.0}  # noqa: E731 - all in one cell, published as it is
    assert divergence(law("aa"), {**law("aaa"), 2: 0.0}, 5) == 1
    assert divergence(law("aa"), law("ab"), 0) == 0


def test_a_deterministic_mechanism_is_private_if_it_is_constant():
    """Remark 10.23 says that none can be."""
    assert divergence({"nothing": 1.0}, {"nothing": 1.0}, 0) == 0


def test_small_db_needs_n_to_be_public_and_has_an_endless_range():
    """Section 10.2: Δu ≤ 1/n.  Under add/remove a frequency may change by 1/2, and 1/n is no constant."""
    databases = [rows for n in range(1, 5) for rows in itertools.product("ab", repeat=n)]
    frequency = lambda rows: rows.count("a") / len(rows)  # noqa: E731
    change = max(abs(frequency(rows) - frequency(rows[:-1])) for rows in databases if len(rows) > 1)
    assert change == 1 / 2
    m = math.ceil(math.log(1000) / 0.1**2)
    assert m == 691
    assert math.comb(10 + m - 1, m) > 10**19


def test_a_bounded_loss_is_sufficient_only():
    """Fact 10.5: the loss may exceed ε with a probability above δ."""
    epsilon, p, q = 0.5, {0: 0.6, 1: 0.4}, {0: 0.36, 1: 0.64}
    above = sum(share for outcome, share in p.items() if math.log(share / q[outcome]) > epsilon)
    assert divergence(p, q, epsilon) < 0.01
    assert above == 0.6


def noisy_max(scores, scale):
    """The law of the place of the highest of two scores with Laplace noise; the first where they are equal."""
    window = (-60, 60)
    values = range(window[0], window[1] + 1)
    first, second = ([noisy_value(score, seen, scale, *window) for seen in values] for score in scores)
    wins = sum(p * sum(second[: place + 1]) for place, p in enumerate(first))
    return {0: wins, 1: 1 - wins}


def test_noisy_max_with_laplace_noise_is_for_monotone_scores():
    """Section 10.3: scale 1/ε.  Scores that move apart by 2 need twice that."""
    epsilon = 1
    monotone = divergence(noisy_max((2, 5), 1 / epsilon), noisy_max((3, 5), 1 / epsilon), epsilon)
    apart = [(noisy_max((4, 0), s / epsilon), noisy_max((3, 1), s / epsilon)) for s in (1, 2)]
    assert monotone <= 1e-12
    assert divergence(apart[0][1], apart[0][0], epsilon) > 1e-3
    assert divergence(apart[1][1], apart[1][0], epsilon) <= 1e-12


def test_the_median_distance_is_not_the_standard_deviation():
    """Section 10.3: it is the MAD, 0.6745 σ of normal data."""
    normal = statistics.NormalDist(10, 3)
    distances = np.abs(np.array([normal.inv_cdf(p) for p in np.linspace(0.0005, 0.9995, 1000)]) - 10)
    assert math.isclose(np.median(distances) / 3, 0.6745, rel_tol=1e-3)


def test_diversity_is_counted_in_the_class():
    """Definition 3.10 counts in the whole table, where there are three values; in the first class there is one."""
    classes, sensitive = np.array([[1], [1], [2], [2]]), np.array(["a", "a", "b", "c"])
    assert len(set(sensitive.tolist())) == 3
    assert mag.privacy.distinct_l_diversity(classes, sensitive) == 1


def test_any_superset_would_forgive_every_class():
    """Definition 3.14: a class of one disease looks like all who have it, who are no region of ages."""
    age, disease = [1, 1, 5, 5, 9, 9], ["flu", "flu", "ulcer", "ulcer", "flu", "flu"]
    assert mag.privacy.mt_closeness(age, disease, m=2, supersets=[0, 0, 1, 1, 0, 0]) == 0
    assert mag.privacy.mt_closeness(age, disease, m=4) > 0.3


def test_insensitive_groups_need_a_bijection():
    """Definition 3.19 asks that every group has one like it: two may have the same one, and a count tells."""
    before, after = [{1, 2}, {3, 4}, {5, 6}], [{1, 2, 3, 4}, {5, 7}]
    assert all(any(len(one - other) <= 1 for other in after) for one in before)
    assert len(before) != len(after)


def test_ties_break_the_bound_on_closeness():
    """Soria-Comas et al. 2015: EMD ≤ (n - b) / (2b (n - 1)), for values that all differ."""
    n, b, table, group = 4, 2, [0, 0, 0, 1], [0, 1]  # one of each of two strata
    distance = abs(group.count(0) / 2 - table.count(0) / 4)
    assert distance == 1 / 4 > (n - b) / (2 * b * (n - 1))
    assert distance <= (n - b) / (b * n)  # with ties
