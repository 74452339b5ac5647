"""Columns around 0 in comparable units, whatever their magnitude and offset."""

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from mag._backends.safety import MODERATE
from mag._compiled.groups import distance


@dataclass(frozen=True)
class Standard:
    """Centered columns.

    `z` : what the methods see, (n, d) float64; `unit` : what a unit of each column of the data is worth in `z`;
    `scale` : squared distances in `z` times 4**scale are those that were asked for.
    """

    z: np.ndarray
    unit: np.ndarray
    scale: int


class HostArithmetic:
    """Where columns are centered: the memory and the sums of the host; a device has the same functions."""

    active = staticmethod(nullcontext)  # while it is computed with

    @staticmethod
    def reals(*shape: int) -> Any:
        """Memory for float64."""
        return np.empty(shape)

    @staticmethod
    def number(value: Any) -> Any:
        """A number of NumPy from an array that holds nothing else."""
        return value

    @staticmethod
    def array(array: np.ndarray) -> Any:
        """An array of NumPy, there."""
        return array

    @staticmethod
    def total(y: Any, squared: bool = False) -> float:
        """The sum, or that of squares, in NumPy's order."""
        return float(np.square(y).sum() if squared else y.sum())


def center_columns(X: Any, standardize: bool, arithmetic: Any = HostArithmetic) -> Standard:
    """(x - mean) / std with ddof = 0, constant columns 0; or the centered columns, if not `standardize`.

    X and the result are where `arithmetic` is.
    """
    columns, n = [_center_column(X[:, c], arithmetic) for c in range(X.shape[1])], len(X)
    z = arithmetic.reals(*X.shape)
    if standardize:
        unit = np.zeros(X.shape[1])
        for c, (y, exponent) in enumerate(columns):
            deviation = float(np.sqrt(arithmetic.total(y, squared=True) / n))
            z[:, c] = y / deviation if deviation else 0.0
            with np.errstate(over="ignore"):  # of floats below 1e-308, whose unit nobody needs
                unit[c] = np.ldexp(1.0 / deviation, -exponent) if deviation else 0.0
        return Standard(z, unit, 0)
    largest = [np.frexp(arithmetic.number(np.abs(y).max()))[1] + exponent for y, exponent in columns if y.any()]
    scale = int(max(largest, default=0))
    scale = scale if abs(scale) > MODERATE else 0
    for c, (y, exponent) in enumerate(columns):
        z[:, c] = np.ldexp(y, exponent - scale)
    with np.errstate(over="ignore"):
        return Standard(z, np.full(X.shape[1], np.ldexp(1.0, -scale)), scale)


def magnitude(low: Any, high: Any) -> int:
    """The exponent e of a column between these values: `divide_column` brings it to 1 at most in absolute value."""
    return int(np.frexp(max(abs(low), abs(high)) if low.dtype.kind == "f" else float(int(high) - int(low)))[1])


def divide_column(x: np.ndarray, low: Any, exponent: int) -> np.ndarray:
    """Floats as x / 2**exponent, integers as (x - low) / 2**exponent: exact differences, as int64 exceeds float64."""
    numbers = x if x.dtype.kind == "f" else distance(x, low.reshape(1))
    return np.ldexp(numbers.astype(np.float64, copy=False), -exponent)


def _center_column(x: Any, arithmetic: Any) -> tuple[Any, int]:
    """y, e with x - mean = y · 2**e and |y| below 2; all y are 0 where all x are equal."""
    least = x.min()
    low, high = arithmetic.number(least), arithmetic.number(x.max())
    if low == high:
        y = arithmetic.reals(x.size)
        y[:] = 0.0
        return y, 0
    exponent = magnitude(low, high)
    y = divide_column(x, least, exponent)
    y = y - arithmetic.total(y) / x.size
    return y - arithmetic.total(y) / x.size, exponent  # the second mean is what rounding left of a large offset
