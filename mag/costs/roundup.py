"""Sum of distances to the maximum, size·max - Σx."""

from mag._compiled.anchored_sums import total, value
from mag._compiled.cost import Kernel
from mag.costs._cost import BuiltIn


def terms(f, i):
    return (value(f, i),)


def left(f, i):
    return total(f, 0, i)


def right(f, j):
    return -total(f, 0, j)


def join(f, g, i, j, size):
    return g + value(f, j - 1) * size


def loss(groups):
    return groups.add(groups.spread(groups.last()) - groups.y)


def exact(sums, i, j):
    return (j - i) * sums.y[j - 1] - (sums.S[j] - sums.S[i]), 1


def rational(x, w):
    return len(x) * max(x) - sum(x)


ROUNDUP = BuiltIn(
    "roundup",
    kernel=Kernel("roundup", 1, terms, left, right, join),
    summary="sum of distances to the maximum",
    representative="max",
    loss=loss,
    pair=lambda gap: gap,
    exact=exact,
    rational=rational,
    mirror="rounddown",
)
