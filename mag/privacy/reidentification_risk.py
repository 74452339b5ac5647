"""Probability that a record is linked to its person, in a sample of a population."""

from typing import Any

import numpy as np

from mag._lib.arrays import read
from mag._lib.checks import weights_for
from mag._lib.equal import classes

STEPS = 10  # classes from here on converge fast as a series; smaller ones are closed forms
TERMS = 120  # of the series, whose last is below 1e-13


def reidentification_risk(table: Any, weights: Any = None) -> np.ndarray:
    """For every record, the probability that an intruder who knows its quasi-identifiers picks the right person.

    Without weights the table is the population: ``r_i = 1 / f_i`` with f the class sizes.  With sampling weights the
    population has about ``F_i = Σ w_j`` persons in the class, and ``r_i = E[1/F | f_i]`` where F − f is negative
    binomial with ``p = f_i / F_i``: ``∫_0^1 s^(f−1) p / (p + (1 − p) s) ds``.

    Parameters
    ----------
    table : array, shape (n, d) or (n,)
        The quasi-identifiers: numbers, strings, dates or objects.
    weights : array, shape (n,), optional
        The number of persons of the population that a record stands for.

    Returns
    -------
    array of float, shape (n,)
        Its sum is the expected number of re-identified records.

    References
    ----------
    R. Benedetti and L. Franconi, *Statistical and technological solutions for controlled data dissemination*, New
    Techniques and Technologies for Statistics 1998; μ-ARGUS, and sdcMicro's ``indivRisk``.

    Examples
    --------
    >>> import mag
    >>> mag.privacy.reidentification_risk(["a", "a", "b"])
    array([0.5, 0.5, 1. ])
    >>> mag.privacy.reidentification_risk(["a", "a", "b"], [50, 50, 100]).round(4)
    array([0.0188, 0.0188, 0.0465])
    """
    labels = classes("table", table)
    sizes = np.bincount(labels)
    if weights is None:
        return (1 / sizes)[labels]
    counts = weights_for(read("weights", weights)[0], labels.size).astype(np.float64)
    totals = np.bincount(labels, counts)
    return _expected_inverse(sizes, np.minimum(sizes / np.maximum(totals, sizes), 1.0))[labels]


def _expected_inverse(f: np.ndarray, p: np.ndarray) -> np.ndarray:
    """E[1/F] of classes of f records, a share p of all."""
    q = 1 - p
    term, total = np.ones(f.size), np.ones(f.size)
    for m in range(1, TERMS):
        term = term * (m * q / (f + m))
        total += term
    risks = p / f * total
    rare = (p < 0.5) & (f < STEPS)
    odds, known = p[rare] / q[rare], f[rare]
    risk = odds * -np.log(p[rare])
    for size in range(1, STEPS):
        risks[np.flatnonzero(rare)[known == size]] = risk[known == size]
        risk = odds * (1 / size - risk)
    return risks
