"""Means, deviations and squares of columns of floats, safe from offsets and extreme magnitudes."""

from collections.abc import Sequence

import numpy as np


def scaled(*tables: np.ndarray, each: bool = True) -> list[np.ndarray]:
    """Tables divided by a power of two, for each column or for all, so that squares neither overflow nor vanish."""
    power = exponents(tables, each)
    return [np.ldexp(table, -power) for table in tables] if power.any() else list(tables)


def exponents(tables: Sequence[np.ndarray], each: bool) -> np.ndarray:
    """The powers of two that `scaled` divides by; 0 where squares are safe as they are."""
    power = np.frexp(np.max([np.abs(table).max(axis=0 if each else None) for table in tables], axis=0))[1]
    return np.where(np.abs(power) < 400, 0, power)


def centered(X: np.ndarray) -> np.ndarray:
    """Every column minus its mean; distances from the first record do not feel an offset."""
    shifted = X - X[0]
    return shifted - shifted.mean(axis=0)


def deviations(X: np.ndarray, ddof: int = 0) -> np.ndarray:
    """The standard deviation of every column, exactly 0 where all values are equal."""
    return np.sqrt(np.square(centered(X)).sum(axis=0) / max(X.shape[0] - ddof, 1))


def standardized(*tables: np.ndarray) -> list[np.ndarray]:
    """Tables in standard deviations of the first one, from its first record; a constant column keeps its unit."""
    first, *_ = small = scaled(*tables)
    deviation = deviations(first)
    unit = np.where(deviation > 0, deviation, np.ldexp(1.0, -exponents(tables, True)))
    with np.errstate(over="ignore"):
        return [(table - first[0]) / unit for table in small]
