"""Values in their groups: the representative of a group, and its loss.

Entries of the data (minimum, maximum, the value in the middle) are copied.  All other results are computed from
distances within the group, so that no value outside of it matters.
"""

from itertools import accumulate

import numpy as np

from mag._compiled.jit import called, jit
from mag._lib.lazy import cached_property

HUGE = 2.0**960  # 2**63 numbers below this can be summed
OVERFLOW_EXPONENT = 64  # the power of two that distances are divided by where sums of them could overflow
HEAVY = 960  # the exponent of a group's heaviest weight, so that the lightest do not vanish next to it
MIN_DIVIDED_WEIGHT = 2.0**-900  # smaller weights lose digits when they are divided by 2**OVERFLOW_EXPONENT
FLOAT64_DENOMINATOR = 2**1074  # float64 are multiples of 1 / FLOAT64_DENOMINATOR
MAX_PLAIN_FACTOR = (
    2.0**100
)  # weights and distances from 1/MAX_PLAIN_FACTOR to MAX_PLAIN_FACTOR are multiplied as they are
DEKKER_FACTOR = 2.0**27 + 1  # multiplying by this extracts the upper 26 bits of a float64 (Dekker)
MAX_EXACT_PARTS = 64  # float64 reaches over fewer than 64 times 53 bits


class Groups:
    """Sorted values, their weights, where groups start and how large they are; means need no order within a group.

    `y` are the distances of values from the `base` of their group.  That is the smallest value; with weights it is the
    heaviest one, so that records that weigh next to nothing take no digits from the others, and records without weight
    are put there, because they count nowhere.
    Integers stay integers if there are no weights (Python's own if 64 bits cannot hold a sum of squares), so their sums
    are exact.  Distances are divided by 2**scale if sums of them could overflow; if there are weights, both are divided
    unless they are moderate: products then neither overflow nor vanish.
    """

    def __init__(self, values, starts, weights=None):
        self.values, self.starts, self.weights = values, starts, weights
        self.sizes = sizes_of(starts, len(values))
        self.first, self.final = values[starts], values[starts + self.sizes - 1]

    @classmethod
    def unsorted(cls, values, starts, weights):
        """Values group by group, in any order within a group; only medians need one."""
        groups = cls(values, starts, weights)
        groups.first, groups.final = (extreme.reduceat(values, starts) for extreme in (np.minimum, np.maximum))
        return groups

    @classmethod
    def sorted(cls, values, labels, sizes, weights=None):
        """The groups that have records, sorted by value and then by weight, so that sums have one order."""
        starts = np.cumsum(sizes) - sizes
        if values.dtype == object:
            order = np.lexsort((values, labels) if weights is None else (weights, values, labels))
            values, heavy = values[order], None if weights is None else weights[order]
        else:
            keys = (np.ascontiguousarray(key) for key in (values, values if weights is None else weights))
            values, heavy = sort_groups(*keys, np.ascontiguousarray(labels, np.int64), starts, sizes)
        return cls(values, starts[sizes > 0], None if weights is None else heavy)

    @cached_property
    def _heaviest(self):
        """The largest weight of each group."""
        return np.maximum.reduceat(self.weights, self.starts)

    @cached_property
    def _moderate(self):
        """Whether all weights and distances, and so all products of them, are far from both ends of float64."""
        if not (self.weights.min() >= 1 / MAX_PLAIN_FACTOR and self.weights.max() <= MAX_PLAIN_FACTOR):
            return False
        if self.values.dtype.kind != "f":
            return self.values.dtype != object
        sizes = np.abs(self.values)  # values differ by 2**-53 of the smaller one, or more
        return bool(sizes.min() >= 2.0**53 / MAX_PLAIN_FACTOR and sizes.max() <= MAX_PLAIN_FACTOR / 2)

    @cached_property
    def heft(self):
        """Of each group, the power of four that weights are divided by; roots of powers of four are exact."""
        if self.weights is None or self._moderate:
            return 0
        return (np.frexp(self._heaviest)[1] - HEAVY) // 2 * 2

    @cached_property
    def share(self):
        """Weights divided by 2**heft."""
        return self.weights if self._moderate else self._divided(self.weights, self.heft)

    @cached_property
    def base(self):
        if self.weights is None:
            return self.first
        heavy = np.flatnonzero(self.weights == self.spread(self._heaviest))
        return self.values[heavy if len(heavy) == len(self.starts) else heavy[np.searchsorted(heavy, self.starts)]]

    @cached_property
    def _counting(self):
        """The values, and the smallest and largest of each group; values without weight are at the base."""
        if self.weights is None or self._moderate or self.weights.min() > 0:
            return self.values, self.first, self.final
        counts = (self.weights > 0) | self.spread(self._heaviest == 0)
        values = np.where(counts, self.values, self.spread(self.base))
        return values, np.minimum.reduceat(values, self.starts), np.maximum.reduceat(values, self.starts)

    @cached_property
    def scale(self):
        _, low, high = self._counting
        real = self.values.dtype.kind == "f"
        if self.weights is None and real:
            return np.where(high / 2 - low / 2 > HUGE, OVERFLOW_EXPONENT, 0)
        if self.weights is None or self._moderate:
            return np.zeros(len(self.starts), np.int64)
        with np.errstate(over="ignore"):
            widest = high - low if real else _real(distance(high, low))
        return np.where(np.isfinite(widest), np.frexp(widest)[1], 1025)

    @cached_property
    def _scaled(self):
        return bool(self.scale.any())

    @cached_property
    def y(self):
        values = self._counting[0]
        if values.dtype.kind == "f":
            if not self._scaled:
                return values - self.spread(self.base)
            return self._divided(values, self.scale) - self.spread(np.ldexp(self.base, -self.scale))
        base = self.spread(self.base)
        if self.weights is None:
            return _summable(distance(values, base), self.sizes)
        y = np.where(values < base, -_real(distance(base, values)), _real(distance(values, base)))
        return y if self._moderate else self._divided(y, self.scale)

    def _divided(self, numbers, exponents):
        """Numbers of records, divided by 2**exponent of their group: times its inverse, as exact and faster."""
        with np.errstate(over="ignore"):
            inverse = np.ldexp(1.0, -exponents)
        if inverse.size and inverse.min() > 0 and inverse.max() < np.inf:
            return numbers * self.spread(inverse)
        return np.ldexp(numbers, -self.spread(exponents))

    def spread(self, per_group):
        """One entry per record from one per group."""
        return np.repeat(per_group, self.sizes)

    def add(self, per_record):
        """Sum over each group."""
        return np.add.reduceat(per_record, self.starts)

    # ---- centers: the representative of a group, as a distance from its base

    def mean(self):
        """Weighted mean; records of a group without any weight count alike."""
        if self.weights is None:
            return _real(self.add(self.y)) / self.sizes
        weight, heavy = self.add(self.share), self.add(self.share * self.y)
        if weight.all():
            return heavy / weight
        return np.where(weight > 0, heavy / np.where(weight > 0, weight, 1), _real(self.add(self.y)) / self.sizes)

    def middles(self):
        """Where the middle value is, or the two of an even group; with weights, where half of these is reached."""
        if self.weights is not None:
            found = half_weights(self.weights, self.starts, self.sizes)
            for g in self._too_uneven():
                part = slice(self.starts[g], self.starts[g] + self.sizes[g])
                found[g] = self.starts[g] + _half_of(self.weights[part])
            return found, found
        return self.starts + (self.sizes - 1) // 2, self.starts + self.sizes // 2

    def _too_uneven(self):
        """Groups whose weights cannot be divided so that their sum is finite and the lightest are not rounded."""
        if self.weights.max(initial=0.0) <= HUGE:
            return np.empty(0, np.int64)
        lightest = np.minimum.reduceat(np.where(self.weights > 0, self.weights, np.inf), self.starts)
        return np.flatnonzero((self._heaviest > HUGE) & (lightest < MIN_DIVIDED_WEIGHT))

    def median(self):
        """The value in the middle, between the two of an even group."""
        low, high = self.middles()
        return (_real(self.y[low]) + _real(self.y[high])) / 2

    def last(self):
        """The largest value."""
        return self.y[self.starts + self.sizes - 1]

    def middle(self):
        """Half of the range."""
        return _real(self.last()) / 2

    def rounded_mean(self):
        """The integer nearest to the mean, half away from zero (Mortazavi 2020)."""
        total = self.add(_addable(distance(self.values, self.spread(self.first)), self.sizes))
        sizes = self.sizes.astype(total.dtype)
        quotient, rest = total // sizes, total % sizes
        up, half = 2 * rest > sizes, np.flatnonzero(2 * rest == sizes)
        up[half] = self.first[half].astype(object) + quotient[half].astype(object) >= 0
        return quotient + up.astype(quotient.dtype)

    # ---- representatives of groups

    def placed(self, offset):
        """base + offset, never outside the group."""
        if self.base.dtype.kind == "f":
            with np.errstate(over="ignore"):  # the largest float64, rounded up once more, is clipped
                if self._scaled:
                    found = np.ldexp(np.ldexp(self.base, -self.scale) + offset, self.scale)
                else:
                    found = self.base + offset
                return found.clip(self.first, self.final)
        if offset.dtype.kind == "f":
            return _real(self.base) + np.ldexp(offset, self.scale)
        if offset.dtype == object:
            return (self.base.astype(object) + offset).astype(self.base.dtype)
        return self.base + offset.astype(self.base.dtype)  # wraps around to the right result

    def placed_mean(self):
        """The mean; of floats with weights in one pass, where the numbers of a group are moderate."""
        if self.weights is None or self.values.dtype.kind != "f":
            return self.placed(self.mean())
        means, again = np.empty(len(self.starts)), np.empty(len(self.starts), np.bool_)
        if weighted_means(self.values, self.weights, self.starts, self.sizes, means, again):
            some, sizes = self.spread(again), self.sizes[again]
            others = Groups(self.values[some], np.cumsum(sizes) - sizes, self.weights[some])
            means[again] = others.placed(others.mean())
        return means

    def placed_rounded_mean(self):
        """Of integers, the one nearest to the weighted mean, half away from zero."""
        if self.weights is None:
            return self.placed(self.rounded_mean())
        mean = _round_half_away(self.base, np.ldexp(self.mean(), self.scale))
        return _clip(self.first, self.final, mean)

    def placed_median(self):
        """The value in the middle, or the float64 nearest to the middle of two."""
        low, high = self.middles()
        return half_way(self.values[low], self.values[high])

    def placed_middle(self):
        """The float64 nearest to the middle of the range."""
        return half_way(self.first, self.final)

    # ---- losses

    def gaps(self, offset):
        """Of every record to its group's base plus `offset`."""
        return _real(self.y - self.spread(offset))

    def weighed(self, gaps):
        """Distances, each times the share of its record."""
        return gaps if self.weights is None else self.share * gaps

    def squares(self, gaps):
        """Squares of distances, each times the share of its record."""
        return (gaps if self.weights is None else np.sqrt(self.share) * gaps) ** 2

    def information_loss(self, centers, wholes):
        """SSE / SST of each of the wholes, groups that these groups are parts of."""
        parts = np.diff(np.append(np.searchsorted(self.starts, wholes.starts), len(self.starts)))
        root = 1.0 if self.weights is None else np.sqrt(wholes.share)
        around = root * wholes.gaps(wholes.mean())
        within = root * np.ldexp(self.gaps(centers), self.spread(self.scale - np.repeat(wholes.scale, parts)))
        scale = np.maximum.reduceat(np.abs(around), wholes.starts)
        unit = wholes.spread(np.where(scale > 0, scale, 1))
        sse, sst = wholes.add((within / unit) ** 2), wholes.add((around / unit) ** 2)
        return np.where(sst > 0, sse / np.where(sst > 0, sst, 1), 0.0)


def _round_half_away(low, offset):
    """The integers nearest to low + offset, as Python's own: offsets may exceed 64 bits."""
    below = np.floor(offset)
    rest = offset - below
    steps = [int(step) for step in below.tolist()]
    numbers = [start + step for start, step in zip(low.tolist(), steps, strict=True)]
    rounded = [
        number + (part > 0.5 or (part == 0.5 and number >= 0))
        for number, part in zip(numbers, rest.tolist(), strict=True)
    ]
    return np.array([*rounded, None], object)[:-1]


def _clip(low, high, numbers):
    """Integers of any size, moved into their ranges."""
    inside = [
        min(max(number, least), most)
        for least, most, number in zip(low.tolist(), high.tolist(), numbers.tolist(), strict=True)
    ]
    return np.array([*inside, None], object)[:-1].astype(low.dtype)


def sizes_of(starts, n):
    """How many of n records each group has, from where they start."""
    sizes = np.empty(len(starts), np.int64)
    sizes[:-1], sizes[-1:] = starts[1:], n
    sizes -= starts
    return sizes


def record_means(values, starts, sizes):
    """The mean of each group of rows, column by column, as float64: as in `Groups`, but rows are not sorted."""
    low = np.minimum.reduceat(values, starts, axis=0)
    if values.dtype.kind != "f":
        y = _addable(distance(values, np.repeat(low, sizes, axis=0)), sizes)
        return _real(low) + _real(np.add.reduceat(y, starts, axis=0)) / sizes[:, None]
    high = np.maximum.reduceat(values, starts, axis=0)
    scale = np.where(high / 2 - low / 2 > HUGE, OVERFLOW_EXPONENT, 0)
    if scale.any():
        values = np.ldexp(values, -np.repeat(scale, sizes, axis=0))
    base = values[starts]
    means = base + np.add.reduceat(values - np.repeat(base, sizes, axis=0), starts, axis=0) / sizes[:, None]
    with np.errstate(over="ignore"):
        return np.clip(np.ldexp(means, scale) if scale.any() else means, low, high)


def half_way(low, high):
    """The float64 nearest to the middle of two values."""
    if low.dtype.kind != "f":
        return halves(np, *_split(low, high))
    with np.errstate(over="ignore"):
        total = low + high
    return np.where(np.isfinite(total), total / 2, low / 2 + high / 2)


def halves(xp, whole, half):
    """The float64 nearest to each 64-bit integer, plus 1/2 where `half`."""
    half = half.astype(whole.dtype)
    # float64 of this size are at least 4 apart, so that 1 and 1/2 are on the same side of the middle of two of them
    far = (whole >= 2**54) | (whole < -(2**54)) if whole.dtype.kind == "i" else whole >= 2**54
    return xp.where(far, (whole | half).astype(np.float64), (2 * whole + half).astype(np.float64) / 2)


def between(low, high):
    """The middle of two values, of their kind: floats as `half_way`, integers rounded half away from zero."""
    if low.dtype.kind == "f":
        return half_way(low, high)
    whole, half = _split(low, high)
    return whole + (half & (whole >= 0))


def _split(low, high):
    """The middle of two integers, rounded down, and whether that dropped 1/2."""
    gap = distance(high, low)
    if low.dtype == object:
        return low + gap // 2, (gap % 2).astype(bool)
    same = np.int64 if low.dtype.kind == "i" else np.uint64
    return low.astype(same, copy=False) + (gap // 2).astype(same), gap % 2 == 1


def distance(values, start):
    """values - start of integers, if it is not negative: as uint64, which wraps around to the right result."""
    if values.dtype == object:
        return values - start
    same = np.int64 if values.dtype.kind == "i" else np.uint64
    return values.astype(same, copy=False).view(np.uint64) - start.astype(same, copy=False).view(np.uint64)


def _real(values):
    return values.astype(np.float64)


def _summable(distance, sizes):
    """The same numbers in a type that holds a group's sum of squares."""
    largest = int(distance.max(initial=0))
    fits = 4 * int(sizes.max(initial=0)) * (largest + 1) ** 2 * len(sizes) < 2**63
    return distance.astype(np.int64 if fits else object)


def _addable(distance, sizes):
    """The same numbers in a type that holds a group's sum."""
    return distance.astype(np.int64 if int(distance.max(initial=0)) * int(sizes.max(initial=0)) < 2**62 else object)


@jit
def in_groups(labels, starts):
    """The records group by group, each in the order that it has."""
    order, place = np.empty(len(labels), np.int64), starts.copy()
    for record in range(len(labels)):
        order[place[labels[record]]] = record
        place[labels[record]] += 1
    return order


@jit
def sort_groups(values, weights, labels, starts, sizes):
    """Values and weights group by group, the smallest value first, of equal ones the lightest first (Shell 1959)."""
    x, w, place = np.empty_like(values), np.empty_like(weights), starts.copy()
    for record in range(len(labels)):
        g = labels[record]
        x[place[g]], w[place[g]] = values[record], weights[record]
        place[g] += 1
    for g in range(len(starts)):
        gap = 1
        while 3 * gap + 1 < sizes[g] // 3:
            gap = 3 * gap + 1
        while gap > 0:
            for i in range(starts[g] + gap, starts[g] + sizes[g]):
                value, weight, at = x[i], w[i], i - gap
                while at >= starts[g] and (value < x[at] or (value == x[at] and weight < w[at])):
                    x[at + gap], w[at + gap] = x[at], w[at]
                    at -= gap
                x[at + gap], w[at + gap] = value, weight
            gap //= 3
    return x, w


@jit
def weighted_means(values, weights, starts, sizes, means, again):
    """Weighted means of sorted groups of float64, as `Groups` computes them; `again` where numbers are not moderate."""
    some = False
    for g in range(len(starts)):
        begin, end = starts[g], starts[g] + sizes[g]
        base, heaviest, lightest = values[begin], weights[begin], weights[begin]
        for i in range(begin + 1, end):
            if weights[i] > heaviest:
                base, heaviest = values[i], weights[i]
            lightest = min(lightest, weights[i])
        total, heavy, near, far = 0.0, 0.0, MAX_PLAIN_FACTOR, 0.0
        for i in range(begin, end):
            y = values[i] - base
            if y != 0.0:
                near, far = min(near, abs(y)), max(far, abs(y))
            total += weights[i]
            heavy += weights[i] * y
        means[g] = min(max(base + heavy / total, values[begin]), values[end - 1])
        again[g] = not (
            lightest >= 1 / MAX_PLAIN_FACTOR
            and heaviest <= MAX_PLAIN_FACTOR
            and near >= 1 / MAX_PLAIN_FACTOR
            and far <= MAX_PLAIN_FACTOR
        )
        some |= again[g]
    return some


# ---- means of floats, independent of the order of their records


def exact_means(values, labels, sizes):
    """The mean of each group of float64, 0.0 for groups without records: a function of the exact sum and the size.

    So neither the order of records nor that of blocks changes a bit, and the error is below 0.51 units in the last
    place.  Sums are pairs of float64; a group whose sum a pair does not hold is added again, in as many parts as that
    takes.
    """
    values, labels = np.ascontiguousarray(values), np.ascontiguousarray(labels, np.int32)
    means, again = np.empty(len(sizes)), np.empty(len(sizes), np.bool_)
    some, huge = sum_pairs(values, labels, sizes, means, again)
    if some or huge:
        scale = np.zeros(len(sizes), np.int64)
        scale[labels[np.abs(values) > HUGE]] = OVERFLOW_EXPONENT
        again |= scale > 0
        chosen = np.flatnonzero(again[labels])
        starts = np.cumsum(sizes * again) - sizes * again
        order = chosen[in_groups(labels[chosen].astype(np.int64), starts)]
        sum_parts(np.ldexp(values[order], -scale[labels[order]]), starts, sizes, again, means)
        means = np.ldexp(means, scale)
    return means


@jit
def sum_pairs(values, labels, sizes, means, again):
    """Means of groups whose sum is two float64; whether there are others, and whether any value is huge."""
    sums = np.zeros((len(sizes), 2))  # of values and of their rounding errors, next to each other in memory
    again[:] = False
    some, huge = False, False
    for record in range(len(values)):
        x, own = values[record], sums[labels[record]]
        huge |= abs(x) > HUGE
        total = own[0] + x
        part = total - own[0]
        error = (own[0] - (total - part)) + (x - part)
        own[0] = total
        total = own[1] + error
        part = total - own[1]
        if (own[1] - (total - part)) + (error - part) != 0.0:
            some = again[labels[record]] = True
        own[1] = total
    for g in range(len(sizes)):
        high, low = sums[g, 0], sums[g, 1]
        means[g] = quotient(high + low, rest_of(high, low), sizes[g])
    return some, huge


@jit
def sum_parts(values, starts, sizes, chosen, means):
    """The same means of the chosen groups, whose values are in one place each."""
    parts = np.empty(MAX_EXACT_PARTS)
    for g in range(len(sizes)):
        if chosen[g]:
            count = 0
            for i in range(starts[g], starts[g] + sizes[g]):
                count = added(parts, count, values[i])
            high = nearest(parts, count)
            count = added(parts, count, -high)
            means[g] = quotient(high, nearest(parts, count), sizes[g])


@called
def rest_of(a, b):
    """The rounding error of a + b (Knuth)."""
    total = a + b
    part = total - a
    return (a - (total - part)) + (b - part)


@called
def quotient(high, low, size):
    """(high + low) / size, where high is the sum rounded."""
    if size == 0:
        return 0.0
    found = high / size
    # high - found · size is a float64: found is cut in two halves, whose products with size are exact
    upper = found * DEKKER_FACTOR
    upper -= upper - found
    count = float(size)
    left = (high - upper * count) - (found - upper) * count
    return found + (left + low) / count


@called
def nearest(parts, count):
    """The float64 nearest to the sum of parts that do not overlap, the smallest first."""
    t = count - 1
    total, left = 0.0, 0.0
    while t >= 0 and left == 0.0:
        before = total
        total = before + parts[t]
        left = parts[t] - (total - before)
        t -= 1
    if t >= 0 and left != 0.0 and (left > 0.0) == (parts[t] > 0.0):  # perhaps more than half a unit
        twice = 2.0 * left
        if total + twice - total == twice:
            total += twice
    return total


# ---- half of the weight, exactly


def _half_of(weights):
    """As `half_weights` of one group, in Python's integers."""
    units = [top * (FLOAT64_DENOMINATOR // bottom) for top, bottom in map(float.as_integer_ratio, weights.tolist())]
    half = sum(units)
    return next(i for i, total in enumerate(accumulate(units)) if 2 * total >= half)


@jit
def half_weights(weights, starts, sizes):
    """The position where weights from the start of each group on reach half; without any weight, all count alike."""
    found, parts = np.empty(len(starts), np.int64), np.empty(MAX_EXACT_PARTS)
    for g in range(len(starts)):
        begin, end = starts[g], starts[g] + sizes[g]
        heaviest = 0.0
        for i in range(begin, end):
            heaviest = max(heaviest, weights[i])
        found[g] = begin + (sizes[g] - 1) // 2
        if heaviest > 0.0:
            found[g] = reached(weights, begin, end, 2.0**-OVERFLOW_EXPONENT if heaviest > HUGE else 1.0, parts)
    return found


@called
def reached(weights, begin, end, factor, parts):
    """The first position where the weights up to it are at least those after it."""
    count = 0
    for i in range(begin, end):
        count = added(parts, count, -weights[i] * factor)
    for i in range(begin, end):
        count = added(parts, count, weights[i] * factor)
        count = added(parts, count, weights[i] * factor)
        t = count - 1
        while t > 0 and parts[t] == 0.0:
            t -= 1
        if parts[t] >= 0.0:  # the largest part decides about the sign
            return i
    return end - 1


@called
def added(parts, count, x):
    """Add x to an exact sum, kept as parts that do not overlap (Shewchuk 1997); how many these are."""
    kept = 0
    for t in range(count):
        y = parts[t]
        if abs(x) < abs(y):
            x, y = y, x
        total = x + y
        lost = y - (total - x)
        if lost != 0.0:
            parts[kept] = lost
            kept += 1
        x = total
    parts[kept] = x
    return kept + 1
