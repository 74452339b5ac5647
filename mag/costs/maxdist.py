"""Largest distance to the mid-range, half of the range."""

from mag._compiled.anchored_sums import value
from mag._compiled.cost import Kernel
from mag._compiled.groups import Groups
from mag.costs._cost import BuiltIn


def terms(f, i):
    return ()


def left(f, i):
    return -0.5 * value(f, i)


def right(f, j):
    return 0.5 * value(f, j - 1)


def join(f, g, i, j, size):
    return g


def exact(sums, i, j):
    return sums.y[j - 1] - sums.y[i], 2


def rational(x, w):
    return (max(x) - min(x)) / 2


MAXDIST = BuiltIn(
    "maxdist",
    kernel=Kernel("maxdist", 0, terms, left, right, join),
    summary="largest distance to the mid-range, half the range",
    representative="mid-range",
    loss=Groups.middle,
    pair=lambda gap: gap / 2,
    exact=exact,
    rational=rational,
)
