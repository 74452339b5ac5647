"""Loss as the success of a model that separates masked records from original ones."""

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np

from mag._lib import checks
from mag._lib.errors import InputRuntimeError
from mag.measures.numbers import center_table, deviations, read_two_tables, standardize_tables

Step: TypeAlias = Callable[[np.ndarray, np.ndarray], np.ndarray]

MAX_NEWTON_STEPS = 200
CONSTANT_CURVATURE = 1e-12  # added to the curvature of the constant, where every p is 0 or 1


def propensity_mse(
    original: Any, masked: Any, *, quadratic: bool | Literal["squares"] = True, ridge: float = 1e-3
) -> float:
    """How well a logistic regression distinguishes masked from original records: 0 not at all, 1/4 perfectly.

    ``pMSE = 1/(2n) · Σ_i (p_i − 1/2)²`` over the 2n records of both tables together, where ``p_i`` is the estimated
    probability that record i is masked.

    Parameters
    ----------
    original, masked : array of numbers, shape (n, d) or (n,)
    quadratic : bool or "squares"
        Let the regression also use squares and products of the columns, or their squares alone, which are as many as
        the columns.  Masking by group means does not change the means of the columns, so that the columns alone reveal
        nothing, whatever the groups.
    ridge : float
        A penalty ``ridge/2 · ‖β‖²`` on the coefficients of standardized terms is added to the negative log-likelihood,
        so that they stay finite if the tables can be separated.

    Returns
    -------
    float

    References
    ----------
    M.-J. Woo, J. P. Reiter, A. Oganian & A. F. Karr, *Global measures of data utility for microdata masked for
    disclosure limitation*, Journal of Privacy and Confidentiality 1(1), 2009.

    Examples
    --------
    >>> import mag
    >>> mag.metrics.propensity_mse([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    0.0
    >>> round(mag.metrics.propensity_mse([1.0, 2.0, 3.0], [11.0, 12.0, 13.0]), 2)
    0.25
    """
    return _distinguish(original, masked, quadratic, ridge)[0]


def propensity_ratio(
    original: Any, masked: Any, *, quadratic: bool | Literal["squares"] = True, ridge: float = 1e-3
) -> float:
    """`propensity_mse` divided by its null: the value expected of records drawn from a correct model of the originals.

    ``pMSE / (m/(16n))`` with the m terms of the regression besides its constant.  A second sample of the population
    has about 2; smaller values say that masked records are nearer to the originals than other draws are.

    Parameters
    ----------
    original, masked : array of numbers, shape (n, d) or (n,)
    quadratic, ridge
        As in `propensity_mse`.

    Returns
    -------
    float

    References
    ----------
    J. Snoke, G. M. Raab, B. Nowok, C. Dibben & A. Slavkovic, *General and specific utility measures for synthetic
    data*, Journal of the Royal Statistical Society A 181(3), 2018.

    Examples
    --------
    >>> import numpy as np
    >>> import mag
    >>> x = np.arange(1000.0)
    >>> mag.metrics.propensity_ratio(x, x)
    0.0
    >>> round(mag.metrics.propensity_ratio(x, x + 200), 1)
    214.6
    """
    mse, terms, records = _distinguish(original, masked, quadratic, ridge)
    return mse / (terms / (16 * records)) if terms else 0.0


def _distinguish(
    original: Any, masked: Any, quadratic: bool | Literal["squares"], ridge: float
) -> tuple[float, int, int]:
    """The pMSE, the terms of the regression besides its constant, and the records of one table."""
    X, Y = read_two_tables(original, masked)
    ridge = checks.positive("ridge", ridge)
    if quadratic != "squares":
        checks.flag("quadratic", quadratic)
    terms = _terms(np.concatenate((X, Y)), quadratic)
    is_masked = np.repeat([0.0, 1.0], X.shape[0])
    mse = float(np.mean((_probabilities(terms, is_masked, ridge) - 0.5) ** 2))
    return mse, terms.shape[1] - 1, X.shape[0]


def _terms(Z: np.ndarray, quadratic: bool | Literal["squares"]) -> np.ndarray:
    """A constant, then the standardized columns that vary, with squares and products as requested."""
    (Z,) = standardize_tables(Z)
    Z = center_table(Z)
    if quadratic == "squares":
        Z = np.concatenate((Z, Z * Z), axis=1)
    elif quadratic:
        i, j = np.triu_indices(Z.shape[1])
        Z = np.concatenate((Z, Z[:, i] * Z[:, j]), axis=1)
    deviation = deviations(Z)
    varies = deviation > 1e-9  # smaller ones are rounding errors, for instance of the square of ±1
    Z, deviation = Z[:, varies], deviation[varies]
    return np.concatenate((np.ones((Z.shape[0], 1)), center_table(Z) / deviation), axis=1)


def _probabilities(Z: np.ndarray, y: np.ndarray, ridge: float) -> np.ndarray:
    """Logistic regression by Newton's method; a step that does not help is halved."""
    beta = np.zeros(Z.shape[1])
    penalty = np.full(Z.shape[1], ridge)
    penalty[0] = 0.0

    def loss(beta: np.ndarray) -> float:
        eta = Z @ beta
        return float(np.logaddexp(0.0, eta).sum() - y @ eta + penalty @ beta**2 / 2)

    def probabilities(beta: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-np.clip(Z @ beta, -700, 700)))

    newton_step = (_steps_by_terms if Z.shape[1] <= Z.shape[0] else _steps_by_records)(Z, ridge)
    here = loss(beta)
    for _ in range(MAX_NEWTON_STEPS):
        p = probabilities(beta)
        gradient = Z.T @ (p - y) + penalty * beta
        step = newton_step(p * (1 - p), gradient)
        promised = gradient @ step
        if promised <= 1e-9 * (1 + here):  # the next step squares the remaining error
            return probabilities(beta - step)
        size = 1.0
        while (there := loss(beta - size * step)) > here - size * promised / 4 and size > 1e-10:
            size /= 2
        beta, here = beta - size * step, there
    raise InputRuntimeError(f"the logistic regression has not converged in {MAX_NEWTON_STEPS} steps; raise ridge.")


def _steps_by_terms(Z: np.ndarray, ridge: float) -> Step:
    """Newton's step for the weights of the records and the gradient: a system of as many equations as terms."""
    penalty = np.full(Z.shape[1], ridge)
    penalty[0] = 0.0

    def step(weights: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        curvature = Z.T @ (Z * weights[:, None]) + np.diag(penalty)
        curvature[0, 0] += CONSTANT_CURVATURE
        return np.linalg.solve(curvature, gradient)

    return step


def _steps_by_records(Z: np.ndarray, ridge: float) -> Step:
    """The same as a system of as many equations as records: products of squares are more than these.

    Without the constant, ``(ridge + Zᵀ W Z)⁻¹ v = (v − Zᵀ R (ridge + R Z Zᵀ R)⁻¹ R Z v) / ridge``, with ``R = √W`` and
    Z Zᵀ the same in every step (Woodbury); the constant, which has no penalty, is eliminated.
    """
    terms = Z[:, 1:]
    products = terms @ terms.T

    def step(weights: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        root = np.sqrt(weights)
        system = products * root[:, None] * root
        system[np.diag_indices_from(system)] += ridge
        both = np.stack([gradient[1:], terms.T @ weights], axis=1)
        both = (both - terms.T @ (root[:, None] * np.linalg.solve(system, root[:, None] * (terms @ both)))) / ridge
        across = weights @ (terms @ both)
        first = (gradient[0] - across[0]) / (weights.sum() + CONSTANT_CURVATURE - across[1])
        return np.append(first, both[:, 0] - first * both[:, 1])

    return step
