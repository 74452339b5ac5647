"""Correlations of a table's columns."""

import numpy as np

from mag._lib.records import centered, deviations, scaled


def correlations(X: np.ndarray) -> np.ndarray:
    """Pearson's matrix; a constant column correlates with nothing, and has 0 on the diagonal."""
    (X,) = scaled(X)
    deviation = deviations(X)
    Z = centered(X) / np.where(deviation > 0, deviation, 1.0)
    R = np.clip(Z.T @ Z / X.shape[0], -1.0, 1.0)
    np.fill_diagonal(R, deviation > 0)
    return R
