"""Sum of squared distances to the rounded mean, for integers: Σ(y - c)² = Σy² + c(c·size - 2Σy)  (Mortazavi 2020)."""

from fractions import Fraction

import numpy as np

from mag._compiled.anchored_sums import nearest, total, value
from mag._compiled.cost import Kernel
from mag._compiled.pair import product
from mag.costs._cost import BuiltIn
from mag.costs.sse import left, right, terms


def join(f, g, i, j, size):
    s = total(f, 0, j) - total(f, 0, i)
    c = nearest(f, s, size)  # a half rounded either way costs the same
    return g + c * (c * size - (s + s))


def paired_terms(f, i):
    y = value(f, i)
    return y, product(y, y)


def paired_join(f, g, i, j, size):
    s = total(f, 0, j) - total(f, 0, i)
    c = nearest(f, s, size)
    return g + product(c, c * size - (s + s))


def loss(groups):
    return groups.add((groups.y - groups.spread(groups.rounded_mean())) ** 2)


def exact(sums, i, j):
    total, size = sums.S[j] - sums.S[i], j - i
    center = (2 * total + size) // (2 * size)
    return sums.Q[j] - sums.Q[i] + center * (center * size - 2 * total), 1


def rational(x, w):
    below = sum(x) // len(x)
    return min(sum(((a - center) ** 2 for a in x), Fraction(0)) for center in (below, below + 1))


SSE_INT = BuiltIn(
    "sse_int",
    kernel=Kernel("sse_int", 2, terms, left, right, join),
    paired=Kernel("sse_int", 2, paired_terms, left, right, paired_join, number="pair"),
    summary="sum of squared distances to the rounded mean, in exact integers; for integers only",
    representative="rounded mean",
    integer=True,
    loss=loss,
    pair=lambda gap: np.square(gap) / 2,
    exact=exact,
    rational=rational,
)
