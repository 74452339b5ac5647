"""Loss as the change of correlations."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mag._lib.checks import flag, one_of
from mag._lib.errors import InputValueError
from mag.measures.numbers import center_table, deviations, read_two_tables, scale_tables


def correlations(X: np.ndarray) -> np.ndarray:
    """Pearson's matrix; a constant column correlates with nothing, and has 0 on the diagonal."""
    (X,) = scale_tables(X)
    deviation = deviations(X)
    Z = center_table(X) / np.where(deviation > 0, deviation, 1.0)
    R = np.clip(Z.T @ Z / X.shape[0], -1.0, 1.0)
    np.fill_diagonal(R, deviation > 0)
    return R


NORMS: dict[str, Callable[[np.ndarray], Any]] = {
    "absolute": np.mean,
    "maximum": np.max,
    "squared": lambda change: np.mean(change**2),
}


def correlation_difference(original: Any, masked: Any, *, norm: str = "absolute") -> float:
    """Mean change of the correlation of two columns.

    ``2/(d(d − 1)) · Σ_{i<j} |r_ij − r'_ij|``, or its squares, or the largest.  A constant column correlates with
    nothing (0).  One column alone has no correlations: the result is 0.0.

    Parameters
    ----------
    original, masked : array of numbers, shape (n, d) or (n,)
        Row i of both is the same record.
    norm : {"absolute", "maximum", "squared"}
        Mean absolute change, largest absolute change, mean squared change.

    Returns
    -------
    float

    References
    ----------
    J. Domingo-Ferrer & V. Torra, *A quantitative comparison of disclosure control methods for microdata*, in
    Confidentiality, Disclosure and Data Access, 2001.

    Examples
    --------
    >>> import mag
    >>> mag.metrics.correlation_difference([[0.0, 0.0], [1.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]])
    2.0
    """
    X, Y = read_two_tables(original, masked)
    measure = NORMS[one_of("norm", norm, NORMS)]
    return 0.0 if X.shape[1] == 1 else _difference(correlations(X), correlations(Y), measure)


def _difference(before: np.ndarray, after: np.ndarray, measure: Callable[[np.ndarray], Any]) -> float:
    return float(measure(np.abs(before - after)[np.triu_indices(len(before), 1)]))


def both_differences(X: np.ndarray, Y: np.ndarray) -> tuple[float, float]:
    """The mean change of a correlation and the relative change of the eigenvalues, of matrices computed once."""
    before, after = correlations(X), correlations(Y)
    mean = 0.0 if len(before) == 1 else _difference(before, after, NORMS["absolute"])
    return mean, _eigenvalue_change(before, after, True)


def eigenvalue_difference(original: Any, masked: Any, *, relative: bool = True) -> float:
    """Change of the principal components' variances.

    ``Σ_j |λ_j − λ'_j| / λ_j`` with the eigenvalues of both correlation matrices in descending order.

    Parameters
    ----------
    original, masked : array of numbers, shape (n, d) or (n,)
        Row i of both is the same record.
    relative : bool
        False gives ``1/d · Σ_j |λ_j − λ'_j|``, which does not blow up where an eigenvalue is close to 0.

    Returns
    -------
    float
        Infinite if an eigenvalue was 0, to rounding, and is no longer.

    References
    ----------
    M. Templ & B. Meindl, *Robust statistics meets SDC*, PSD 2008; sdcMicro, ``dUtility(method = "eigen")``.

    Examples
    --------
    >>> import mag
    >>> original = [[0.0, 0.0], [1.0, 1.0], [2.0, 0.0], [3.0, 1.0]]
    >>> round(mag.metrics.eigenvalue_difference(original, [[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [3.0, 1.0]]), 6)
    1.118034
    """
    X, Y = read_two_tables(original, masked)
    return _eigenvalue_change(correlations(X), correlations(Y), flag("relative", relative))


def _eigenvalue_change(R: np.ndarray, S: np.ndarray, relative: bool) -> float:
    before, after = np.linalg.eigvalsh(R), np.linalg.eigvalsh(S)
    change = np.abs(before - after)
    if not relative:
        return float(change.mean())
    rounding = 4 * before.size**2 * np.finfo(np.float64).eps
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(before > rounding, change / before, np.where(after > rounding, np.inf, 0.0))
    return float(terms.sum())


def il_correl(original: Any, masked: Any) -> float:
    """Change of how well every column is explained by all others, between 0 and 1.

    ``1/√2 · ‖ρ/‖ρ‖ − ρ'/‖ρ'‖‖`` with ρ the diagonal of the inverse correlation matrix.

    Parameters
    ----------
    original, masked : array of numbers, shape (n, d) or (n,)
        Row i of both is the same record.

    Returns
    -------
    float

    Notes
    -----
    The factor is sdcMicro's; Młodak has 1/2.

    References
    ----------
    A. Młodak, *Information loss resulting from statistical disclosure control of output data*, Wiadomości Statystyczne
    65(9), 2020; sdcMicro, ``IL_correl``.

    Examples
    --------
    >>> import mag
    >>> table = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]
    >>> mag.metrics.il_correl(table, table)
    0.0
    """
    X, Y = read_two_tables(original, masked)
    before, after = _direction("original", X), _direction("masked", Y)
    return float(np.linalg.norm(before - after) / np.sqrt(2))


def _direction(option: str, X: np.ndarray) -> np.ndarray:
    R = correlations(X)
    if np.linalg.matrix_rank(R, hermitian=True) < R.shape[0]:
        raise InputValueError(
            f"{option} must have columns that are neither constant nor linear combinations of each other."
        )
    inverse = np.diag(np.linalg.inv(R))
    return inverse / np.linalg.norm(inverse)
