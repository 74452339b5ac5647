"""Sum of absolute distances to the median: what lies above it minus what lies below it."""

from numba.extending import overload

from mag._compiled.cost import Kernel
from mag._compiled.frame import total, value, weight
from mag._compiled.jit import INLINE, inlined
from mag._compiled.lanes import Index, largest_lane, select, spread
from mag.costs._cost import BuiltIn


def terms(f, i):
    return (value(f, i),)


def left(f, i):
    return total(f, 0, i)


def right(f, j):
    return total(f, 0, j)


def join(f, g, i, j, size):
    half = size >> 1
    return g - (total(f, 0, i + half) + total(f, 0, j - half))


def weighted_terms(f, i):
    w = weight(f, i)
    return w * value(f, i), w


def weighted_join(f, g, i, j, size):
    return join_at(f, g, i, j, median(f, i, j))


@inlined
def join_at(f, g, i, j, m):
    below, above = total(f, 1, i), total(f, 1, j)
    # Σ_{l≥m} w(y - y_m) - Σ_{l<m} w(y - y_m)
    return g - 2.0 * total(f, 0, m) - value(f, m) * ((above - total(f, 1, m)) - (total(f, 1, m) - below))


def median(f, i, j):
    """The first m of [i, j) at which the weights up to and including m reach half of the group's."""


@inlined
def first_median(f, i, j):
    """The same, compiled."""
    return median(f, i, j)


@inlined
def next_median(f, i, j, m):
    """As `median` for lanes, where m are those of groups that start later."""
    half = 0.5 * (total(f, 1, i) + total(f, 1, j))
    first = i + (m - m)
    while True:
        lower = select(half <= total(f, 1, m), m - 1, m)
        lower = select(lower < first, first, lower)  # nothing in the group has any weight
        if largest_lane(m - lower) == 0:
            return m
        m = lower


@overload(median, **INLINE)
def _median_of(f, i, j):
    if isinstance(i, Index):
        return _search_lanes(i.width)

    def search(f, i, j):
        half = 0.5 * (total(f, 1, i) + total(f, 1, j))
        low, high = i, j - 1
        while low < high:
            middle = (low + high) >> 1
            if total(f, 1, middle + 1) >= half:
                high = middle
            else:
                low = middle + 1
        return low

    return search


def _search_lanes(width):
    """The same for lanes of groups; where weights are even, the median is not far from the middle."""

    def search(f, i, j):
        half = 0.5 * (total(f, 1, i) + total(f, 1, j))
        low, high = i + spread(0, width), j + spread(-1, width)
        middle, reach = (low + high) >> 1, (high - low) >> 6
        first, last = middle - reach, middle + reach
        below, above = total(f, 1, first) < half, half <= total(f, 1, last + 1)
        low, high = select(below, first, low), select(above, last, high)
        while largest_lane(high - low) > 0:
            middle = (low + high) >> 1
            reached = half <= total(f, 1, middle + 1)
            low, high = select(reached, low, middle + 1), select(reached, middle, high)
        return low

    return search


def loss(groups):
    return groups.add(groups.weighed(abs(groups.gaps(groups.median()))))


SAE = BuiltIn(
    "sae",
    kernel=Kernel("sae", 1, terms, left, right, join),
    weighted=Kernel(
        "sae_weighted", 2, weighted_terms, left, right, weighted_join, medians=(first_median, next_median, join_at)
    ),
    representative="median",
    loss=loss,
    pair=lambda gap: gap,
)
