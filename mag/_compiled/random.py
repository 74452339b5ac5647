"""The random numbers of compiled code: one generator, whose state is one integer in the caller's memory.

A state must not be 0.  It comes from the caller's `numpy.random.Generator`, so that a seed fixes everything.
"""

import numpy as np

from mag._compiled.jit import inlined

HALF = np.uint64(32)
LOW = np.uint64(2**32 - 1)


@inlined
def next_bits(state):
    """64 random bits; `state` changes (xorshift64*, Vigna 2016)."""
    x = np.uint64(state[0])
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = np.int64(x)
    return x * np.uint64(2685821657736338717)


@inlined
def draw_below(state, count):
    """An integer from 0 to count - 1, all equally likely, for count up to 2**32.

    The upper half of 32 bits times count is nearly that; draws that would make some numbers more likely are repeated
    (Lemire 2019), so seldom that nearly no call divides.
    """
    size = np.uint64(count)
    product = (next_bits(state) >> HALF) * size
    if product & LOW < size:
        surplus = (LOW + np.uint64(1)) % size
        while product & LOW < surplus:
            product = (next_bits(state) >> HALF) * size
    return np.int64(product >> HALF)


@inlined
def draw_fraction(state):
    """A number in [0, 1) of 53 bits."""
    return np.float64(next_bits(state) >> np.uint64(11)) * 2.0**-53
