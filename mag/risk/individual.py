"""The risk that an intruder who knows the quasi-identifiers of a record finds its person (Benedetti & Franconi 1998).

The class of the record has f members in the sample and F, unknown, in the population.  F − f is negative binomial with
the inclusion probability p = f / F̂, and the risk is ``r = E[1/F | f] = ∫_0^1 s^(f−1) p / (p + (1 − p) s) ds``.
"""

import numpy as np

CLOSED_FORM_SIZES = 10  # classes from here on converge fast as a series; smaller ones are closed forms
TERMS = 120  # of the series, whose last is below 1e-13
PANELS, NODES = 64, 20  # of the integral, for small classes whose size is no integer
NEGLIGIBLE_LOG = 37.0  # a factor exp(-37) is below the rounding of float64


def expected_inverse(sample: np.ndarray, population: np.ndarray) -> np.ndarray:
    """E[1/F] of classes of these frequencies; sizes below 1 do not occur, and F is at least f.

    Examples
    --------
    >>> import numpy as np
    >>> from mag.risk.individual import expected_inverse
    >>> expected_inverse(np.array([1, 2, 3]), np.array([100, 100, 3])).round(6)
    array([0.046517, 0.018779, 0.333333])
    """
    f, F = np.asarray(sample, np.float64), np.asarray(population, np.float64)
    p = np.minimum(f / np.maximum(F, f), 1.0)
    risks = _sum_series(f, p)
    rare = (p < 0.5) & (f < CLOSED_FORM_SIZES)
    whole = f == np.rint(f)
    _write_closed_forms(risks, f, p, rare & whole)
    between = rare & ~whole
    risks[between] = _integrate(f[between], p[between])
    return risks


def _sum_series(f: np.ndarray, p: np.ndarray) -> np.ndarray:
    """``p / f · ₂F₁(1, 1; f + 1; 1 − p)``, which converges fast for large f or p."""
    q = 1 - p
    term, total = np.ones(f.size), np.ones(f.size)
    for m in range(1, TERMS):
        term = term * (m * q / (f + m))
        total += term
    return p / f * total


def _write_closed_forms(risks: np.ndarray, f: np.ndarray, p: np.ndarray, where: np.ndarray) -> None:
    """With o = p / (1 − p): r(1) = −o ln p and r(f + 1) = o (1/f − r(f)), which is stable for o below 1."""
    places = np.flatnonzero(where)
    odds, known = p[places] / (1 - p[places]), f[places]
    risk = odds * -np.log(p[places])
    for size in range(1, CLOSED_FORM_SIZES):
        risks[places[known == size]] = risk[known == size]
        risk = odds * (1 / size - risk)


def _integrate(f: np.ndarray, p: np.ndarray) -> np.ndarray:
    """The integral over t = −ln s, by Gauss and Legendre's nodes in short panels."""
    kinds, place = np.unique(np.stack([f, p]), axis=1, return_inverse=True)
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    half = (NEGLIGIBLE_LOG - np.log(kinds[1])) / kinds[0] / (2 * PANELS)
    total = np.zeros(half.size)
    for panel in range(PANELS):
        t = half[:, None] * (2 * panel + 1 + nodes)
        share = kinds[1][:, None] / (kinds[1][:, None] + (1 - kinds[1][:, None]) * np.exp(-t))
        total += half * ((np.exp(-kinds[0][:, None] * t) * share) @ weights)
    return total[place.ravel()]
