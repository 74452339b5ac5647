"""Numeric tables, pairs of them whose rows are the same records, and their means and deviations.

Those are safe from offsets and extreme magnitudes.
"""

from collections.abc import Sequence
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


def read_two_tables(original: Any, masked: Any) -> tuple[np.ndarray, np.ndarray]:
    """Two numeric tables of one shape: row i of both is the same record."""
    X, Y = numeric("original", original), numeric("masked", masked)
    checks.same_rows("masked", Y.shape[0], "original", X.shape[0])
    checks.same_columns("masked", Y.shape[1], "original", X.shape[1])
    return X, Y


def scale_tables(*tables: np.ndarray, each: bool = True) -> list[np.ndarray]:
    """Tables divided by a power of two, for each column or for all, so that squares neither overflow nor vanish."""
    power = exponents(tables, each)
    return [np.ldexp(table, -power) for table in tables] if power.any() else list(tables)


def exponents(tables: Sequence[np.ndarray], each: bool) -> np.ndarray:
    """The powers of two that `scaled` divides by; 0 where squares are safe as they are."""
    power = np.frexp(np.max([np.abs(table).max(axis=0 if each else None) for table in tables], axis=0))[1]
    return np.where(np.abs(power) < 400, 0, power)


def center_table(X: np.ndarray) -> np.ndarray:
    """Every column minus its mean; distances from the first record do not feel an offset."""
    shifted = X - X[0]
    return shifted - shifted.mean(axis=0)


def deviations(X: np.ndarray, ddof: int = 0) -> np.ndarray:
    """The standard deviation of every column, exactly 0 where all values are equal."""
    return np.sqrt(np.square(center_table(X)).sum(axis=0) / max(X.shape[0] - ddof, 1))


def standardize_tables(*tables: np.ndarray) -> list[np.ndarray]:
    """Tables in standard deviations of the first one, from its first record; a constant column keeps its unit."""
    first, *_ = small = scale_tables(*tables)
    deviation = deviations(first)
    unit = np.where(deviation > 0, deviation, np.ldexp(1.0, -exponents(tables, True)))
    with np.errstate(over="ignore"):
        return [(table - first[0]) / unit for table in small]
