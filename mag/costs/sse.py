"""Sum of squared distances to the mean, Σ(x - mean)² = Σy² - (Σy)²/size."""

from fractions import Fraction

import numpy as np

from mag._compiled.anchored_sums import reciprocal, total, value, weight
from mag._compiled.cost import Kernel
from mag._compiled.lanes import select
from mag.costs._cost import BuiltIn


def terms(f, i):
    y = value(f, i)
    return y, y * y


def left(f, i):
    return -total(f, 1, i)


def right(f, j):
    return total(f, 1, j)


def join(f, g, i, j, size):
    s = total(f, 0, j) - total(f, 0, i)
    return g - s * s * reciprocal(f, size)


def weighted_terms(f, i):
    y, w = value(f, i), weight(f, i)
    return w * y, w * y * y, w


def weighted_join(f, g, i, j, size):
    s = total(f, 0, j) - total(f, 0, i)
    w = total(f, 2, j) - total(f, 2, i)
    return select(w > 0.0, g - s * s / w, g)  # records without weight cost nothing


def loss(groups):
    return groups.add(groups.squares(groups.gaps(groups.mean())))


def exact(sums, i, j):
    total, weight = sums.S[j] - sums.S[i], sums.W[j] - sums.W[i]
    return ((sums.Q[j] - sums.Q[i]) * weight - total * total, weight) if weight else (0, 1)


def rational(x, w):
    weight = sum(w, Fraction(0))
    center = sum((a * b for a, b in zip(x, w, strict=True)), Fraction(0)) / weight if weight else Fraction(0)
    return sum((b * (a - center) ** 2 for a, b in zip(x, w, strict=True)), Fraction(0))


SSE = BuiltIn(
    "sse",
    kernel=Kernel("sse", 2, terms, left, right, join),
    weighted=Kernel("sse_weighted", 3, weighted_terms, left, right, weighted_join),
    summary="sum of squared distances to the mean",
    representative="mean",
    loss=loss,
    pair=lambda gap: np.square(gap) / 2,
    exact=exact,
    rational=rational,
)
