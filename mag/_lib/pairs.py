"""Numeric tables in, and pairs of them whose rows are the same records."""

from typing import Any

import numpy as np

from mag._lib import checks
from mag._lib.arrays import read


def numeric(option: str, x: Any) -> np.ndarray:
    """Finite real numbers in rows and columns, as float64; one dimension is one column."""
    values, _ = read(option, x)
    values = checks.real_table(option, values[:, None] if values.ndim == 1 else values)
    checks.finite(option, values)
    return values.astype(np.float64)


def pair(original: Any, masked: Any) -> tuple[np.ndarray, np.ndarray]:
    """Two numeric tables of one shape: row i of both is the same record."""
    X, Y = numeric("original", original), numeric("masked", masked)
    checks.same_rows("masked", Y.shape[0], "original", X.shape[0])
    checks.same_columns("masked", Y.shape[1], "original", X.shape[1])
    return X, Y
