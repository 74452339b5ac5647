"""Risk before masking, written down plainly: every pair of records, every subset, and many digits."""

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np

DIGITS = 60
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")


def frequencies(rows, weights=None, units=None):
    """f and F of every record, by comparing it with every other one; a unit has the mean weight of its records."""
    weights = [1.0] * len(rows) if weights is None else weights
    units = range(len(rows)) if units is None else units
    found = []
    for row in rows:
        by_unit = {}
        for other, weight, unit in zip(rows, weights, units, strict=True):
            if other == row:
                by_unit.setdefault(unit, []).append(weight)
        found.append((len(by_unit), sum(math.fsum(own) / len(own) for own in by_unit.values())))
    return found


def matches(rows, weights=None, alpha=1.0):
    """f and F of every record, where None matches every value, and counts alpha if only the other record misses it."""
    weights = [1.0] * len(rows) if weights is None else weights
    found = []
    for row in rows:
        f = F = 0.0
        for other, weight in zip(rows, weights, strict=True):
            pairs = list(zip(row, other, strict=True))
            if all(a is None or b is None or a == b for a, b in pairs):
                part = alpha if any(b is None and a is not None for a, b in pairs) else 1.0
                f, F = f + part, F + part * weight
        found.append((f, F))
    return found


def minimal_uniques(rows, sizes_on, max_size=None):
    """The minimal sample uniques of every record: subsets of columns with size 1, none of whose parts has size 1.

    `sizes_on` gives the class size of every record on a subset.
    """
    m = len(rows[0])
    found = [[] for _ in rows]
    for size in range(1, (max_size or m) + 1):
        for subset in itertools.combinations(range(m), size):
            for own, f in zip(found, sizes_on([tuple(row[j] for j in subset) for row in rows]), strict=True):
                if f == 1 and not any(set(known) <= set(subset) for known in own):
                    own.append(subset)
    return found


def suda(found, m, points):
    """The score of every record, and the points of its minimal sample uniques with each column."""
    scores = [sum(points[len(subset)] for subset in own) for own in found]
    shares = [[sum(points[len(subset)] for subset in own if j in subset) for j in range(m)] for own in found]
    return np.array(scores, float), np.array(shares, float)


def exact_risk(f, F):
    """E[1/F] in many digits; f is an integer or a fraction, F an integer.

    For integers from r(1) = −o ln p upwards, o = p / (1 − p).  Otherwise ``∫_0^1 s^(f−1) o / (o + s) ds`` is the
    integral to infinity, ``o^f π / sin(π f)``, minus a series.  Both are for p below 1/2; above r is a series.
    """
    f, F = Fraction(f), Fraction(F)
    with localcontext() as context:
        context.prec = DIGITS + 40
        if f >= F:
            return float(1 / f)
        p, size = _decimal(f / F), _decimal(f)
        if p >= Decimal("0.5") or f > 40:
            return float(p / size * _hypergeometric(size, 1 - p))
        odds = p / (1 - p)
        if f.denominator == 1:
            risk = -odds * p.ln()
            for known in range(1, int(f)):
                risk = odds * (1 / Decimal(known) - risk)
            return float(risk)
        series = sum((-odds) ** k / (k + 1 - size) for k in range(400))
        return float(odds * (odds ** (size - 1) * PI / _sine(PI * (size % 2)) - series))


def _decimal(number):
    return Decimal(number.numerator) / Decimal(number.denominator)


def _hypergeometric(f, q):
    term = total = Decimal(1)
    m = 0
    while term > Decimal(10) ** -DIGITS:
        m += 1
        term *= m * q / (f + m)
        total += term
    return total


def _sine(x):
    term = total = x
    for k in range(1, 100):
        term *= -x * x / (2 * k * (2 * k + 1))
        total += term
    return total


def sdcmicro_risk(f, F):
    """The formulas that sdcMicro 5.8.1 uses unless exact ones are asked for."""
    p = f / F
    if p == 1:
        return 1 / f
    odds = p / (1 - p)
    if f == 1:
        return odds * math.log(1 / p)
    if f == 2:
        return odds - odds**2 * math.log(1 / p)
    return p / (f - (1 - p)) if f > 2 else 0.0


def once_in_sample(K, n, N):
    """The probability that n of N draws contain exactly one of K."""
    return Fraction(K * math.comb(N - K, n - 1), math.comb(N, n))
