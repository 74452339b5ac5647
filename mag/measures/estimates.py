"""Estimates that analysts compute from a table: linear models, quantiles, the Gini coefficient; with weights."""

from statistics import NormalDist

import numpy as np

CONFIDENCE = NormalDist().inv_cdf(0.975)  # standard errors on either side of a confidence interval of 95 %
MIN_PIVOT = 1e-9  # of the norm of a column, that is left of it after the columns before it


def fit_linear(X: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Least squares: coefficients and standard errors; NaN for columns that depend on those before them.

    With weights of a survey, standard errors are those of linearization: ``A⁻¹ (Σ w² e² x xᵀ) A⁻¹`` with
    ``A = Xᵀ W X``.
    """
    coefficients, errors = np.full((2, X.shape[1]), np.nan)
    root = np.ones(y.size) if weights is None else np.sqrt(weights)
    scaled = X * root[:, None]
    pivots = np.abs(np.diag(np.linalg.qr(scaled, mode="r")))
    used = np.zeros(X.shape[1], bool)
    used[: pivots.size] = pivots > MIN_PIVOT * np.linalg.norm(scaled, axis=0)[: pivots.size]
    X, scaled = X[:, used], scaled[:, used]
    inverse = np.linalg.pinv(scaled.T @ scaled, hermitian=True)
    coefficients[used] = np.linalg.lstsq(scaled, y * root, rcond=None)[0]
    rest = y - X @ coefficients[used]
    if weights is None:
        variance = inverse * (rest @ rest / max(y.size - int(used.sum()), 1))
    else:
        scores = X * (weights * rest)[:, None]
        variance = inverse @ (scores.T @ scores) @ inverse
    errors[used] = np.sqrt(np.diag(variance).clip(0))
    return coefficients, errors


def interval_overlap(first: tuple[float, float], second: tuple[float, float]) -> float:
    """The mean share of two intervals that they have in common: 1 for equal ones, negative for those apart.

    A. F. Karr, C. N. Kohnen, A. Oganian, J. P. Reiter & A. P. Sanil, *A framework for evaluating the utility of data
    altered to protect confidentiality*, The American Statistician 60(3), 2006.
    """
    lengths = (first[1] - first[0], second[1] - second[0])
    if not all(length > 0 for length in lengths):
        return float(first == second) if np.isfinite(lengths).all() else float("nan")
    common = min(first[1], second[1]) - max(first[0], second[0])
    return float(np.mean([common / length for length in lengths]))


def weighted_quantiles(x: np.ndarray, shares: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """The smallest values up to which there is at least a share of the weight."""
    order = np.argsort(x, kind="stable")
    total = np.cumsum(np.ones(x.size) if weights is None else weights[order])
    place = np.searchsorted(total, np.asarray(shares) * total[-1] * (1 - 1e-12))
    return x[order][np.minimum(place, x.size - 1)]


def gini(x: np.ndarray, weights: np.ndarray | None = None) -> float:
    """The Gini coefficient of amounts: 0 if all are equal, near 1 if one has all; NaN if amounts are negative.

    Half of the mean absolute difference of two draws by weight, divided by the mean.
    """
    order = np.argsort(x, kind="stable")
    x, w = x[order], np.ones(x.size) if weights is None else weights[order]
    total, mass = w @ x, w.sum()
    if x[0] < 0 or total <= 0:
        return float("nan")
    below = np.cumsum(w) - w / 2  # weight before the middle of each record
    return float(2 * (w * x) @ below / (total * mass) - 1)
