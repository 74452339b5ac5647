"""Where randomness comes from: the operating system, through `secrets` and OpenDP; never a generator with a seed.

Tests put a source of their own in place (`testing.seeded`), which marks every release.
"""

import contextlib
import secrets
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt

from mag.dp._domain import Integers

DRAWS_PER_BLOCK = 2**20  # records that are drawn at once


@dataclass(frozen=True)
class Noise:
    """What is hidden, how far one neighbor can move it, and what hiding it costs."""

    what: str
    sensitivity: int
    epsilon: Fraction
    chosen: bool = False  # scores, of which one is chosen; else values, to which noise is added
    monotonic: bool = False  # scores that one record more moves into one direction only


class NoiseSource(Protocol):
    """What mechanisms draw."""

    holds: bool  # whether nobody can repeat the draws

    def check(self, *largest: Noise) -> None:
        """Raise where noise up to these cannot be drawn; before anything is charged or read."""
        ...

    def keep(self, n: int, chance: int) -> npt.NDArray[np.bool_]:
        """True with probability chance / 2**53, for n records."""
        ...

    def add_noise(self, values: Integers, noise: Noise) -> Integers:
        """Values with discrete Laplace noise of scale sensitivity / ε."""
        ...

    def choose(self, scores: Integers, noise: Noise) -> int:
        """The place of a score that is probably among the highest."""
        ...


class Secure:
    """The operating system's randomness."""

    holds = True

    def check(self, *largest: Noise) -> None:
        """OpenDP must be installed, and must have the scales."""
        from mag.dp._opendp import measurement

        for noise in largest:
            measurement(noise)

    def keep(self, n: int, chance: int) -> npt.NDArray[np.bool_]:
        """53 bits a record."""
        kept = np.empty(n, np.bool_)
        for start in range(0, n, DRAWS_PER_BLOCK):
            many = min(DRAWS_PER_BLOCK, n - start)
            words = np.frombuffer(secrets.token_bytes(8 * many), np.uint64)
            kept[start : start + many] = (words >> np.uint64(11)) < np.uint64(chance)
        return kept

    def add_noise(self, values: Integers, noise: Noise) -> Integers:
        """OpenDP's discrete Laplace."""
        from mag.dp._opendp import draw

        return np.array(draw(values, noise), np.int64)

    def choose(self, scores: Integers, noise: Noise) -> int:
        """OpenDP's permute-and-flip."""
        from mag.dp._opendp import draw

        return int(draw(scores, noise))


_SOURCE: ContextVar[NoiseSource] = ContextVar("source", default=Secure())  # noqa: B039 - it has no state


def source() -> NoiseSource:
    """The source of draws."""
    return _SOURCE.get()


@contextlib.contextmanager
def using(other: NoiseSource) -> Iterator[None]:
    """Another source within a block."""
    token = _SOURCE.set(other)
    try:
        yield
    finally:
        _SOURCE.reset(token)
