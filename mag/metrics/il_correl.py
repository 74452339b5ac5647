"""Change of the inverse correlations."""

from typing import Any

import numpy as np

from mag._lib.errors import ValueMistake
from mag._lib.records import pair
from mag.metrics._correlations import correlations


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
    X, Y = pair(original, masked)
    before, after = _direction("original", X), _direction("masked", Y)
    return float(np.linalg.norm(before - after) / np.sqrt(2))


def _direction(option: str, X: np.ndarray) -> np.ndarray:
    R = correlations(X)
    if np.linalg.matrix_rank(R, hermitian=True) < R.shape[0]:
        raise ValueMistake(
            f"{option} must have columns that are neither constant nor linear combinations of each other."
        )
    inverse = np.diag(np.linalg.inv(R))
    return inverse / np.linalg.norm(inverse)
