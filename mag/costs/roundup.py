"""Sum of distances to the maximum, size·max - Σx."""

from mag._compiled.cost import Kernel
from mag._compiled.frame import total, value
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


ROUNDUP = BuiltIn(
    "roundup",
    kernel=Kernel("roundup", 1, terms, left, right, join),
    representative="max",
    loss=loss,
    pair=lambda gap: gap,
    mirror="rounddown",
)
