"""The generator of compiled code: the bits that were published, and integers without a bias."""

import numba
import numpy as np
import pytest

from mag._compiled.memory import part
from mag._compiled.random import draw_below, draw_fraction, next_bits


@numba.njit
def bits_of(state, out):
    for i in range(out.size):
        out[i] = next_bits(part(state, 0))


@numba.njit
def below(state, count, out):
    for i in range(out.size):
        out[i] = draw_below(part(state, 0), count)


@numba.njit
def fractions(state, out):
    for i in range(out.size):
        out[i] = draw_fraction(part(state, 0))


def test_bits_are_those_of_xorshift64_star():
    state, out = np.array([2026]), np.empty(100, np.uint64)
    bits_of(state, out)
    x, all_bits = 2026, 2**64 - 1
    for found in out.tolist():
        x ^= x >> 12
        x ^= x << 25 & all_bits
        x ^= x >> 27
        assert found == x * 2685821657736338717 & all_bits
    assert state[0] == np.uint64(x).astype(np.int64)


def test_no_integer_is_more_likely_than_others():
    """Of 3·2**30 integers, a modulus or a product of 32 bits alone prefers some: twice as likely as the others."""
    out = np.empty(30_000, np.int64)
    below(np.array([1]), 3 * 2**30, out)
    assert 0 <= out.min() <= out.max() < 3 * 2**30
    assert np.bincount(out % 3) / out.size == pytest.approx([1 / 3] * 3, abs=0.02)
    assert np.bincount(out >> 30) / out.size == pytest.approx([1 / 3] * 3, abs=0.02)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 64])
def test_every_integer_is_drawn_equally_often(count):
    out = np.empty(20_000 * count, np.int64)
    below(np.array([7]), count, out)
    assert np.bincount(out, minlength=count) / 20_000 == pytest.approx([1.0] * count, abs=0.05)


def test_fractions_fill_the_unit_interval():
    out = np.empty(100_000)
    fractions(np.array([3]), out)
    assert 0.0 <= out.min() < out.max() < 1.0
    assert np.histogram(out, 10, (0.0, 1.0))[0] / out.size == pytest.approx([0.1] * 10, abs=0.01)
