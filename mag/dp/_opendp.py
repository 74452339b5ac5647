"""The only file that names OpenDP, which draws all noise: exact samplers on integers, with proofs.

OpenDP computes what a scale costs, rounded up; the scale is enlarged until that is within ε as it was written.
"""

import math
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from mag._lib.errors import ValueMistake
from mag.dp._domain import Integers
from mag.dp._random import Noise

LARGEST = 2**62  # values are clipped to what 64 bits hold, which makes no two of them differ more
TYPE = "i64"  # `int` is 32 bits there, and a larger sum an error


def require() -> Any:
    """OpenDP, or a sentence about how to install it; before any table is read."""
    try:
        import opendp.prelude as dp
    except ImportError as error:
        sentence = "mag.dp needs OpenDP for its random numbers: pip install 'mag-sdc[dp]'"
        raise ModuleNotFoundError(sentence, name="opendp") from error
    dp.enable_features("contrib")
    return dp


def add_noise(values: Integers, noise: Noise) -> Integers:
    """Discrete Laplace noise on every value; saturated where 64 bits end."""
    measurement = _laplace(noise.sensitivity, noise.epsilon)
    return np.array(measurement(np.clip(values, -LARGEST, LARGEST).tolist()), np.int64)


def choose(scores: Integers, noise: Noise) -> int:
    """The place of the highest score after exponential noise (permute-and-flip)."""
    measurement = _noisy_max(noise.sensitivity, noise.epsilon, noise.monotonic)
    return int(measurement(np.clip(scores, -LARGEST, LARGEST).tolist()))


def measure(noise: Noise, chosen: bool) -> float:
    """The ε that OpenDP computes for the noise as it is drawn."""
    how = _noisy_max(noise.sensitivity, noise.epsilon, noise.monotonic) if chosen else _laplace(
        noise.sensitivity, noise.epsilon
    )  # fmt: skip
    return float(how.map(noise.sensitivity))


@cache
def _laplace(sensitivity: int, epsilon: Fraction) -> Any:
    dp = require()
    space = dp.vector_domain(dp.atom_domain(T=TYPE)), dp.l1_distance(T=TYPE)
    return _within(lambda scale: dp.m.make_laplace(*space, scale=scale), sensitivity, epsilon, Fraction(sensitivity))


@cache
def _noisy_max(sensitivity: int, epsilon: Fraction, monotonic: bool) -> Any:
    dp = require()
    space = dp.vector_domain(dp.atom_domain(T=TYPE)), dp.linf_distance(T=TYPE, monotonic=monotonic)
    least = Fraction(sensitivity if monotonic else 2 * sensitivity)
    measure = dp.max_divergence()
    return _within(lambda scale: dp.m.make_noisy_max(*space, measure, scale=scale), sensitivity, epsilon, least)


def _within(make: Any, sensitivity: int, epsilon: Fraction, least: Fraction) -> Any:
    """With the least scale, least / ε, enlarged by rounding where that costs more than ε."""
    scale = float(least / epsilon)
    if not 0 < scale < 2.0**60:
        raise ValueMistake(f"epsilon must be larger for values of this range; got {float(epsilon):g}.")
    for _ in range(10):
        measurement = make(scale)
        if Fraction(measurement.map(sensitivity)) <= epsilon:
            return measurement
        scale = math.nextafter(scale, math.inf)
    raise AssertionError("OpenDP's cost of a scale is not what it was")
