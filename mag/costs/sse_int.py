"""Sum of squared distances to the rounded mean, for integers: Σ(y - c)² = Σy² + c(c·size - 2Σy)  (Mortazavi 2020)."""

import numpy as np

from mag._compiled.cost import Kernel
from mag._compiled.frame import nearest, total
from mag.costs._cost import BuiltIn
from mag.costs.sse import left, right, terms


def join(f, g, i, j, size):
    s = total(f, 0, j) - total(f, 0, i)
    c = nearest(f, s, size)  # a half rounded either way costs the same
    return g + c * (c * size - (s + s))


def loss(groups):
    return groups.add((groups.y - groups.spread(groups.rounded_mean())) ** 2)


SSE_INT = BuiltIn(
    "sse_int",
    kernel=Kernel("sse_int", 2, terms, left, right, join),
    representative="rounded mean",
    integer=True,
    loss=loss,
    pair=lambda gap: np.square(gap) / 2,
)
