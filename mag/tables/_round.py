"""`round=`: published floats with fewer digits, as exact arithmetic rounds them."""

import decimal
import math
from typing import Any

import numpy as np

LARGEST_EXACT_POWER = 22  # 10**22 is the largest power of ten that float64 holds
LARGE = 2.0**51  # below, every float64 times 4 has no fraction that half a unit would not show in
SHORT = 2.0**40  # of multiples of a step: as floats they are printed without a digit more, and errors of them are small
SPLIT = 2.0**27 + 1
EVERY_DIGIT = decimal.Context(prec=decimal.MAX_PREC, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX)


def round_floats(values: np.ndarray, digits: int, largest: float) -> np.ndarray:
    """The multiples of 10**-digits nearest to each float64, as float64; the even one of two.

    The result equals that of Python's `round`, which rounds the exact value of a float64.  Values that would exceed
    `largest` are rounded towards zero: no finite number becomes infinite.
    """
    rounded, plain = values.copy(), np.zeros(values.shape, bool)
    if abs(digits) <= LARGEST_EXACT_POWER:
        power = 10.0 ** abs(digits)
        with np.errstate(over="ignore"):
            steps = values * power if digits >= 0 else values / power
        most = max(steps.max(initial=0.0), -steps.min(initial=0.0))
        if most < LARGE and (digits >= 0 or most * power < largest / 2):
            return _nearest(values, steps, digits, power) + 0.0
        plain = np.abs(steps) < LARGE
        rounded[plain] = _nearest(values[plain], steps[plain], digits, power)
    rest = ~plain & (np.abs(values) < 2.0**52 if digits >= 0 else values != 0)  # others are integers
    for place in np.flatnonzero(rest).tolist():
        rounded[place] = _round_one(float(values[place]), digits)
    for place in np.flatnonzero(np.abs(rounded) > largest).tolist():
        rounded[place] = _round_towards_zero(float(values[place]), digits)
    return rounded + 0.0


def _nearest(values: np.ndarray, steps: np.ndarray, digits: int, power: float) -> np.ndarray:
    """The nearest multiple of a step, of numbers that are `steps` times the step, up to rounding.

    The exact sign of the error of `steps` decides whether a number is half a step, or less, or more.
    """
    whole = np.rint(steps)
    beyond = np.abs(steps - whole)  # exact: the error of steps is smaller than any difference from 1/2
    if beyond.max(initial=0.0) == 0.5:
        half = np.flatnonzero(beyond == 0.5)
        factor, product = (values[half], steps[half]) if digits >= 0 else (steps[half], values[half])
        upper, lower = _split(factor)
        upper_power, lower_power = _split(np.float64(power))
        error = lower * lower_power - (((product - upper * upper_power) - lower * upper_power) - upper * lower_power)
        error = error if digits >= 0 else -error
        whole[half] = np.where(error != 0, steps[half] + np.copysign(0.5, error), whole[half])
    return whole / power if digits >= 0 else whole * power


def _split(number: Any) -> tuple[Any, Any]:
    """The upper and the lower half of the bits (Dekker)."""
    upper = number * SPLIT
    upper = upper - (upper - number)
    return upper, number - upper


def _round_one(value: float, digits: int) -> float:
    try:
        return round(value, digits)
    except OverflowError:
        return math.copysign(math.inf, value)


def _round_towards_zero(value: float, digits: int) -> float:
    return float(_quantize(decimal.Decimal(value), digits, decimal.ROUND_DOWN))


def round_floats_outwards(values: np.ndarray, digits: int, up: bool) -> tuple[np.ndarray, np.ndarray]:
    """As `round_outwards` of printed floats, and where that is sure: far from the next multiple, or one already."""
    power = 10.0 ** min(max(digits, 0), LARGEST_EXACT_POWER)
    with np.errstate(over="ignore", invalid="ignore"):
        steps = values * power
        short = np.abs(steps) < SHORT if 0 <= digits <= LARGEST_EXACT_POWER else np.zeros(values.shape, bool)
        nearest = np.rint(steps)
        is_multiple = nearest / power == values
        rounded = np.where(is_multiple, values, (np.ceil(steps) if up else np.floor(steps)) / power)
        sure = short & (is_multiple | (np.abs(steps - nearest) > 2.0**-10))
        return np.where(sure, rounded, 0.0), sure


def round_outwards(number: decimal.Decimal, digits: int, up: bool) -> decimal.Decimal:
    """The next multiple of 10**-digits that is not below the number, or not above it."""
    return _quantize(number, digits, decimal.ROUND_CEILING if up else decimal.ROUND_FLOOR)


def _quantize(number: decimal.Decimal, digits: int, how: str) -> decimal.Decimal:
    exponent = number.as_tuple().exponent
    if isinstance(exponent, int) and exponent >= -digits:
        return number  # nothing to round
    return number.quantize(decimal.Decimal((0, (1,), -digits)), how, EVERY_DIGIT)
