"""The exact price of a sample whose small cells are withheld (Li, Qardaji & Su 2012; Thaeter, theorem 10.24).

A record is in one cell, of m records with it and m-1 without it.  With P_m = Binomial(m, β), kept counts below k are
one outcome, "withheld"; every other count is seen.  So δ(ε) is the largest hockey-stick divergence over m, either way:

    up(m)   = Σ_{j≥k} max(0, P_m(j) - e^ε P_{m-1}(j))
    down(m) = max(0, P_{m-1}[<k] - e^ε P_m[<k]) + Σ_{j≥k} max(0, P_{m-1}(j) - e^ε P_m(j))

and P_{m-1}(j) = P_m(j) (m-j) / (m (1-β)).  The theorem as printed drops the second term of `up`, and is 3 to 100 times
larger.  All is computed with 50 digits and rounded up.
"""

import decimal
import math
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from mag._lib import checks
from mag._lib.errors import InputValueError
from mag.dp._domain import exact

CHANCES = 2**53  # a probability is a multiple of 1 / CHANCES, so that it is drawn as it is computed with
SIZES = 10_000  # of cells that are looked at; a smaller ε needs more
NEGLIGIBLE_SHARE = Decimal("1e-20")
CONTEXT = decimal.Context(prec=50, rounding=decimal.ROUND_HALF_EVEN, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX)
ROUNDING = 1 + Decimal("1e-18")  # far larger than the rounding errors of 50 digits and the omitted terms together


def delta_for(k: int, beta: float, epsilon: float) -> float:
    """The exact δ of a sample: every record with probability `beta`, cells of fewer than `k` withheld.

    Neighbors have one record more or fewer.  The result is rounded up.

    Parameters
    ----------
    k : int
        The least number of sampled records of a cell that is published.
    beta : float
        The probability of a record.
    epsilon : float
        ε.

    Returns
    -------
    float
        The least δ for which the sample is (ε, δ)-differentially private, for any data.

    Examples
    --------
    >>> import mag.dp
    >>> print(f"{mag.dp.delta_for(20, 0.1, 0.5):.1e}")
    2.6e-11
    """
    size = checks.integer("k", k, 1, 10**6, "10**6")
    return round_up(exact_delta(size, chance_of(beta), positive("epsilon", epsilon)))


def k_for(epsilon: float, delta: float, beta: float | None = None) -> int:
    """The least k for which a sample is (ε, δ)-differentially private.

    Parameters
    ----------
    epsilon, delta : float
        ε and δ.
    beta : float, optional
        The probability of a record; default: 1 - e^-ε.

    Returns
    -------
    int
        `sample` withholds cells with fewer records.

    Examples
    --------
    >>> import mag.dp
    >>> mag.dp.k_for(1, 1e-6), mag.dp.k_for(1, 1e-6, beta=0.1)
    (58, 8)
    """
    budget = positive("epsilon", epsilon)
    return least_k(budget, check_delta(delta), default_chance(budget) if beta is None else chance_of(beta))


def least_k(epsilon: Fraction, delta: Fraction, chance: int) -> int:
    """By bisection: δ falls with k."""
    low, high = 0, 1  # δ(high) is small enough, δ(low) is not
    while exact_delta(high, chance, epsilon) > delta:
        low, high = high, 2 * high
        if high > 10**6:
            raise InputValueError("k would be above 10**6; take a larger epsilon or delta, or a smaller beta.")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if exact_delta(middle, chance, epsilon) <= delta else (middle, high)
    return high


def default_chance(epsilon: Fraction) -> int:
    """The numerator of the probability 1 - e^-ε, rounded down; at most CHANCES - 1."""
    with decimal.localcontext(CONTEXT):
        return max(1, min(CHANCES - 1, int((1 - (-_decimal(epsilon)).exp()) * CHANCES)))


def chance_of(beta: Any) -> int:
    """How many of CHANCES draws keep a record, rounded down."""
    number = exact("beta", beta)
    if not 0 < number < 1 or int(number * CHANCES) < 1:
        raise InputValueError(f"beta must be a number between 0 and 1; got {beta}.")
    return int(number * CHANCES)


def positive(option: str, number: Any) -> Fraction:
    """A positive number as it was written."""
    value = exact(option, number)
    if value <= 0:
        raise InputValueError(f"{option} must be a positive number; got {number}.")
    if value > 10**6:
        raise InputValueError(f"{option} must be at most 10**6, since more offers no privacy at all; got {number}.")
    return value


def check_delta(delta: Any) -> Fraction:
    """Between 0 and 1."""
    value = exact("delta", delta)
    if not 0 < value < 1:
        raise InputValueError(f"delta must be a number between 0 and 1; got {delta}.")
    return value


def group_delta(delta: Fraction, epsilon: Fraction, records: int) -> Fraction:
    """The δ that one record may have where `records` of them together may have (ε, δ): δ (e^{ε/c}-1)/(e^ε-1)."""
    if records == 1:
        return delta
    with decimal.localcontext(CONTEXT):
        whole = _decimal(epsilon)
        share = ((whole / records).exp() - 1) / (whole.exp() - 1) * (1 - Decimal("1e-25"))
    return delta * Fraction(share)


def round_up(number: Fraction) -> float:
    """The next float64."""
    near = float(number)
    return near if Fraction(near) >= number else math.nextafter(near, math.inf)


@lru_cache(maxsize=1024)
def exact_delta(k: int, chance: int, epsilon: Fraction) -> Fraction:
    """δ(ε) of the docstring of this module, rounded up; β is `chance` / CHANCES."""
    with decimal.localcontext(CONTEXT):
        beta = Decimal(chance) / CHANCES
        growth = _decimal(epsilon).exp() * (1 - Decimal("1e-45"))  # not above e^ε
        above, below = (
            1 - (1 - beta) / growth,
            1 - growth * (1 - beta),
        )  # terms are positive for j > above·m, j < below·m
        likely = max(k, math.ceil(k / above) - 1)
        best = max(_up(_Binomial(beta, k), likely, k, growth, above), beta**k)  # of cells of k records
        last = _last_size(best, beta, above, below)
        if last > k + SIZES:
            raise InputValueError("epsilon is too small for an exact delta; take a larger epsilon.")
        upper, lower = _Binomial(beta, k), _Binomial(beta, k)
        for m in range(k, last + 1):
            best = max(best, _up(upper, m, k, growth, above), _down(lower, m, k, growth, below))
        return min(Fraction(best * ROUNDING), Fraction(1))


class _Binomial:
    """P_m(j) of one m and j after the other, each from the one before."""

    def __init__(self, beta: Decimal, k: int) -> None:
        self.m = self.j = k
        self.p, self.beta = beta**k, beta
        self.odds = beta / (1 - beta)

    def go(self, m: int, j: int) -> Decimal:
        while self.m < m:
            self.m += 1
            self.p *= (1 - self.beta) * self.m / (self.m - self.j)
        while self.j < j:
            self.p *= self.odds * (self.m - self.j) / (self.j + 1)
            self.j += 1
        while self.j > j:
            self.p *= self.j / (self.odds * (self.m - self.j + 1))
            self.j -= 1
        return self.p


def _up(law: _Binomial, m: int, k: int, growth: Decimal, above: Decimal) -> Decimal:
    start = max(k, int(above * m) + 1)
    if start > m:
        return Decimal(0)
    p, total = law.go(m, start), Decimal(0)
    for j in range(start, m + 1):  # beyond the mean: p falls faster and faster, and the factor stays below 1
        total += p * max(Decimal(0), 1 - growth * (m - j) / (m * (1 - law.beta)))
        p *= law.odds * (m - j) / (j + 1)
        ratio = law.odds * (m - j - 1) / (j + 2)
        if ratio < 1 and p < NEGLIGIBLE_SHARE * total * (1 - ratio):
            break
    return total


def _down(law: _Binomial, m: int, k: int, growth: Decimal, below: Decimal) -> Decimal:
    if below <= 0:
        return Decimal(0)
    last = max(k - 1, -int(-below * m // 1) - 1)  # the largest j < below·m, or k-1
    p, seen, withheld = law.go(m, min(last, m - 1)), Decimal(0), Decimal(0)
    for j in range(min(last, m - 1), -1, -1):
        term = p * ((m - j) / (m * (1 - law.beta)) - growth)
        if j >= k:
            seen += max(Decimal(0), term)
        else:
            withheld += term
        ratio = j / (law.odds * (m - j + 1))
        p *= ratio
        if ratio < 1 and p < NEGLIGIBLE_SHARE * seen * (1 - ratio) * (1 - law.beta):
            break
    return seen + max(Decimal(0), withheld)


def _last_size(best: Decimal, beta: Decimal, above: Decimal, below: Decimal) -> int:
    """The size beyond which no cell has a larger δ than `best`.

    By Chernoff's bound: up(m) ≤ P_m[j > above·m] and down(m) ≤ P_m[j < below·m] / (1-β).
    """
    last = -best.ln() / _relative_entropy(above, beta)
    if below > 0:
        last = max(last, -(best * (1 - beta)).ln() / _relative_entropy(below, beta))
    return math.ceil(last) + 1


def _relative_entropy(a: Decimal, b: Decimal) -> Decimal:
    """Of two coins."""
    return a * (a / b).ln() + (1 - a) * ((1 - a) / (1 - b)).ln()


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / number.denominator
