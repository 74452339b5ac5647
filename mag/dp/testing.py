"""Reproducible releases, for tests alone: anyone who knows the seed knows the noise."""

import contextlib
import random
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from mag._lib import checks
from mag.dp._delta import CHANCES
from mag.dp._domain import Integers
from mag.dp._random import Noise, using

__all__ = ["seeded"]


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Draw from a known seed, within a block, and mark every release made there as not private.

    The guarantee of such a release begins with "NOT PRIVATE", its `holds` is False, and it cannot be written.

    Parameters
    ----------
    seed : int
        A number that is not negative.

    Examples
    --------
    >>> import mag.dp
    >>> ages = {"age": [31, 33, 35, 38, 52, 57]}
    >>> with mag.dp.testing.seeded(7):
    ...     release = mag.dp.sample(ages, {"age": mag.dp.Numbers(0, 120, 30)}, epsilon=1, k=2, beta=0.5)
    >>> release.guarantee.holds
    False
    >>> print(str(release.guarantee)[:39])
    NOT PRIVATE: drawn with a known seed. D
    """
    with using(_Seeded(checks.integer("seed", seed, 0, 2**63 - 1, "2**63-1"))):
        yield


class _Seeded:
    """The same distributions as OpenDP's, by Canonne, Kamath & Steinke 2020, on integers only."""

    holds = False

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def check(self, *largest: Noise) -> None:
        pass

    def keep(self, n: int, chance: int) -> npt.NDArray[np.bool_]:
        return np.array([self._random.randrange(CHANCES) < chance for _ in range(n)], np.bool_)

    def add_noise(self, values: Integers, noise: Noise) -> Integers:
        scale = noise.sensitivity / noise.epsilon
        return values + np.array([self._laplace(scale) for _ in range(len(values))], np.int64)

    def choose(self, scores: Integers, noise: Noise) -> int:
        """Permute-and-flip: in random order, take the first whose coin shows heads; the highest's always does."""
        rate = noise.epsilon / (noise.sensitivity * (1 if noise.monotonic else 2))
        order = list(range(len(scores)))
        self._random.shuffle(order)
        best = int(scores.max())
        return next(place for place in order if self._bernoulli_exp((best - int(scores[place])) * rate))

    def _laplace(self, scale: Fraction) -> int:
        t, s = scale.numerator, scale.denominator
        while True:
            u = self._random.randrange(t)
            if not self._bernoulli_exp(Fraction(u, t)):
                continue
            v = 0
            while self._bernoulli_exp(Fraction(1)):
                v += 1
            magnitude, negative = (u + t * v) // s, self._random.randrange(2)
            if magnitude or not negative:
                return -magnitude if negative else magnitude

    def _bernoulli_exp(self, rate: Fraction) -> bool:
        """True with probability e^-rate."""
        while rate > 1:
            if not self._bernoulli_exp(Fraction(1)):
                return False
            rate -= 1
        k = 1
        while self._random.randrange(rate.denominator * k) < rate.numerator:
            k += 1
        return k % 2 == 1
