"""The only file that imports OpenDP, which draws all noise: exact samplers on integers, with proofs.

OpenDP computes the ε of a scale, rounded up; the scale is enlarged until its ε does not exceed the requested one.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from mag._lib.errors import InputValueError
from mag.dp._domain import Integers
from mag.dp._random import Noise

MAX_CLIPPED_VALUE = 2**62  # values are clipped to 64 bits; clipping never increases the difference of two values
TYPE = "i64"  # `int` is 32 bits there, and a larger sum an error


def require() -> Any:
    """OpenDP, or a sentence about how to install it."""
    try:
        import opendp.prelude as dp
    except ImportError as error:
        sentence = "mag.dp needs OpenDP for its random numbers: pip install 'mag-sdc[dp]'"
        raise ModuleNotFoundError(sentence, name="opendp") from error
    dp.enable_features("contrib")
    return dp


def draw(values: Integers, noise: Noise) -> Any:
    """Values with discrete Laplace noise, saturated where 64 bits end; or the place of the highest score after
    exponential noise (permute-and-flip).
    """
    return measurement(noise)(np.clip(values, -MAX_CLIPPED_VALUE, MAX_CLIPPED_VALUE).tolist())


def measure(noise: Noise) -> float:
    """The ε that OpenDP computes for the noise as it is drawn."""
    return float(measurement(noise).map(noise.sensitivity))


@lru_cache(maxsize=1024)
def measurement(noise: Noise) -> Any:
    """OpenDP's, with the least scale that costs ε."""
    dp = require()
    domain = dp.vector_domain(dp.atom_domain(T=TYPE))
    if not noise.chosen:
        metric = dp.l1_distance(T=TYPE)
        return _within(lambda scale: dp.m.make_laplace(domain, metric, scale=scale), noise, noise.sensitivity)
    metric, divergence = dp.linf_distance(T=TYPE, monotonic=noise.monotonic), dp.max_divergence()
    least = noise.sensitivity if noise.monotonic else 2 * noise.sensitivity
    return _within(lambda scale: dp.m.make_noisy_max(domain, metric, divergence, scale=scale), noise, least)


def _within(make: Callable[[float], Any], noise: Noise, least: int) -> Any:
    """With the scale least / ε, enlarged by rounding where that costs more than ε."""
    scale = float(least / noise.epsilon)
    if scale > 2.0**60:
        raise InputValueError(
            f"epsilon must be larger for values of this range; got {float(noise.epsilon):g} for them."
        )
    for _ in range(10):
        made = make(scale)
        if Fraction(made.map(noise.sensitivity)) <= noise.epsilon:
            return made
        scale = math.nextafter(scale, math.inf)
    raise AssertionError("OpenDP's cost of a scale has changed")
