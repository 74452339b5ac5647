"""Sum of absolute distances to the median: what lies above it minus what lies below it."""

from bisect import bisect_left
from fractions import Fraction

from numba.extending import overload

from mag._compiled.anchored_sums import total, value, weight
from mag._compiled.cost import Kernel
from mag._compiled.jit import INLINE, inlined
from mag._compiled.lanes import Index, largest_lane, select, spread
from mag.costs._cost import BuiltIn

MEDIAN_PLACES_TRIED = 6  # places where a median is looked for before its group is searched


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
    m = median(f, i, j)
    return join_at(f, g, i, j, m, total(f, 1, m))


@inlined
def join_at(f, g, i, j, m, before):
    below, above = total(f, 1, i), total(f, 1, j)
    # Σ_{l≥m} w(y - y_m) - Σ_{l<m} w(y - y_m)
    return g - 2.0 * total(f, 0, m) - value(f, m) * ((above - before) - (before - below))


def median(f, i, j):
    """The first m of [i, j) at which the weights up to and including m reach half of the group's."""


@inlined
def first_median(f, i, j, size, guess):
    """As `median` for lanes of groups of one size, and the weights before it; it is often near the guess."""
    half = 0.5 * (total(f, 1, i) + total(f, 1, j))
    zero = guess - guess
    if size > MEDIAN_PLACES_TRIED:
        first, last = i + zero, j + zero - MEDIAN_PLACES_TRIED
        low = select(guess - MEDIAN_PLACES_TRIED // 2 < first, first, guess - MEDIAN_PLACES_TRIED // 2)
        low = select(last < low, last, low)
        count = zero
        for t in range(1, MEDIAN_PLACES_TRIED + 1):  # looks that do not wait for each other
            count += select(total(f, 1, low + t) < half, zero + 1, zero)
        if (
            largest_lane(select(count < MEDIAN_PLACES_TRIED, zero, zero + 1) + select(zero < count, zero, zero + 1))
            == 0
        ):
            return low + count, total(f, 1, low + count)
    m = median(f, i, j)
    return m, total(f, 1, m)


@inlined
def next_median(f, i, j, m, before):
    """As `first_median` for lanes, where m are those of groups that start later, `before` the weights before them."""
    half = 0.5 * (total(f, 1, i) + total(f, 1, j))
    first = i + (m - m)
    while True:
        lower = select(half <= before, m - 1, m)
        lower = select(lower < first, first, lower)  # nothing in the group has any weight
        before = total(f, 1, lower)
        # most move by one value at most: then one look is enough
        again = select(half <= before, lower - first, lower - lower)
        done = largest_lane(select(lower < m, again, lower - lower)) == 0
        m = lower
        if done:
            return m, before


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


def weights_alone(f, i):
    return (weight(f, i),)


def nothing(f, i):
    return 0.0


def join_gaps(f, g, i, j, size):
    """Every gap between neighbors costs the lighter of its two sides: no median is needed, and nothing cancels."""
    cost = g + gap_cost(f, i, j, 1)
    for step in range(2, size):
        cost = cost + gap_cost(f, i, j, step)
    return cost


@inlined
def gap_cost(f, i, j, step):
    below, above = total(f, 0, i + step) - total(f, 0, i), total(f, 0, j) - total(f, 0, i + step)
    return (value(f, i + step) - value(f, i + (step - 1))) * select(below < above, below, above)


def loss(groups):
    return groups.add(groups.weighed(abs(groups.gaps(groups.median()))))


def exact(sums, i, j):
    W, S = sums.W, sums.S
    m = bisect_left(W, (W[i] + W[j] + 1) // 2, i + 1, j) - 1  # up to and including m is half of the weight
    return S[j] + S[i] - 2 * S[m] - sums.y[m] * (W[j] + W[i] - 2 * W[m]), 1


def rational(x, w):
    # a sum of absolute distances is least at one of the values
    return min(sum((b * abs(a - center) for a, b in zip(x, w, strict=True)), Fraction(0)) for center in set(x))


SAE = BuiltIn(
    "sae",
    kernel=Kernel("sae", 1, terms, left, right, join),
    weighted=Kernel(
        "sae_weighted",
        2,
        weighted_terms,
        left,
        right,
        weighted_join,
        medians=(first_median, next_median, join_at),
        narrow=Kernel("sae_weighted_narrow", 1, weights_alone, nothing, nothing, join_gaps),
    ),
    summary="sum of absolute distances to the median",
    representative="median",
    loss=loss,
    pair=lambda gap: gap,
    exact=exact,
    rational=rational,
)
