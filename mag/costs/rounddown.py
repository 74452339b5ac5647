"""Sum of distances to the minimum, Σx - size·min."""

from mag._compiled.anchored_sums import total, value
from mag._compiled.cost import Kernel
from mag.costs._cost import BuiltIn


def terms(f, i):
    return (value(f, i),)


def left(f, i):
    return -total(f, 0, i)


def right(f, j):
    return total(f, 0, j)


def join(f, g, i, j, size):
    return g - value(f, i) * size


def loss(groups):
    return groups.add(groups.y)


def exact(sums, i, j):
    return sums.S[j] - sums.S[i] - (j - i) * sums.y[i], 1


def rational(x, w):
    return sum(x) - len(x) * min(x)


ROUNDDOWN = BuiltIn(
    "rounddown",
    kernel=Kernel("rounddown", 1, terms, left, right, join),
    summary="sum of distances to the minimum",
    representative="min",
    loss=loss,
    pair=lambda gap: gap,
    exact=exact,
    rational=rational,
    mirror="roundup",
)
