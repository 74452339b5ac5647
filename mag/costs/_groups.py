"""Sorted values in their groups, each relative to its group's smallest: exact to look at, whatever the offset."""

import numpy as np

HUGE = 2.0**960  # 2**63 numbers below this can be summed
UNIT = 2.0**64


class Groups:
    """y[l] = x[l] - x[start of l's group], sorted; weights; where groups start and how large they are.

    Integers stay integers (Python's own where 64 bits do not hold a sum of squares), so their sums are exact.
    Groups of floats whose sums could overflow are counted in a `unit` of 2**64.
    """

    def __init__(self, values, starts, weights=None):
        self.values, self.starts = values, starts
        self.sizes = np.diff(np.append(starts, len(values)))
        self.weights, self.w = weights, 1 if weights is None else weights
        self.share = 1 if weights is None else weights / weights.max()  # sums of these do not overflow
        self.first, self.final = values[starts], values[starts + self.sizes - 1]
        self.unit = np.ones(len(starts))
        if values.dtype.kind == "f":
            huge = self.final / 2 - self.first / 2 > HUGE
            if huge.any():
                self.unit[huge] = UNIT
                unit = self.spread(self.unit)
                self.y = values / unit - self.spread(self.first) / unit
            else:
                self.y = values - self.spread(self.first)
        else:
            self.y = _summable(distance(values, self.spread(self.first)), self.sizes)

    def spread(self, per_group):
        """One entry per record from one per group."""
        return np.repeat(per_group, self.sizes)

    def add(self, per_record):
        """Sum over each group."""
        return np.add.reduceat(per_record, self.starts)

    def mean(self):
        """Weighted mean; records of a group without any weight count alike."""
        plain = _real(self.add(self.y)) / self.sizes
        if self.weights is None:
            return plain
        weight = self.add(self.share)
        heavy = self.add(self.share * self.y)
        return np.where(weight > 0, heavy / np.where(weight > 0, weight, 1), plain)

    def median(self):
        """The value in the middle, between the two of an even group; with weights, where half the weight is reached."""
        if self.weights is None:
            low, high = self.starts + (self.sizes - 1) // 2, self.starts + self.sizes // 2
            return (_real(self.y[low]) + _real(self.y[high])) / 2
        before = np.concatenate([[0.0], np.cumsum(self.share)])
        reached = before[1:] - self.spread(before[self.starts])
        below = reached < self.spread(self.add(self.share)) / 2
        position = self.starts + np.minimum(self.add(below.astype(np.int64)), self.sizes - 1)
        return _real(self.y[position])

    def last(self):
        """The largest value."""
        return self.y[self.starts + self.sizes - 1]

    def middle(self):
        """Half of the range."""
        return _real(self.last()) / 2

    def rounded_mean(self):
        """The integer nearest to the mean, half away from zero (Mortazavi 2020)."""
        return self.rounded(self.add(self.y), self.sizes)

    def rounded(self, total, parts):
        """The integers nearest to total / parts from the smallest value of each group, half away from zero."""
        parts = np.asarray(parts).astype(total.dtype)
        quotient, rest = total // parts, total % parts
        half_goes_up = self.first.astype(object) + quotient.astype(object) >= 0
        up = (2 * rest > parts) | ((2 * rest == parts) & half_goes_up.astype(bool))
        return quotient + up.astype(quotient.dtype)

    def placed(self, offset):
        """first + offset, never outside the group."""
        if self.first.dtype.kind == "f":
            with np.errstate(over="ignore"):  # the largest float64, rounded up once more, is clipped
                return np.clip((self.first / self.unit + offset) * self.unit, self.first, self.final)
        if offset.dtype.kind == "f":
            return _real(self.first) + offset
        return (self.first.astype(object) + offset.astype(object)).astype(self.first.dtype)

    def information_loss(self, centres, wholes):
        """SSE / SST of each of the wholes, groups that these groups are parts of."""
        parts = np.diff(np.append(np.searchsorted(self.starts, wholes.starts), len(self.starts)))
        around = wholes.distances(wholes.mean(), wholes.unit)
        within = self.distances(centres, np.repeat(wholes.unit, parts))
        scale = np.maximum.reduceat(np.abs(around), wholes.starts)
        unit = wholes.spread(np.where(scale > 0, scale, 1))
        sse, sst = wholes.add(self.share * (within / unit) ** 2), wholes.add(self.share * (around / unit) ** 2)
        return np.where(sst > 0, sse / np.where(sst > 0, sst, 1), 0.0)

    def gaps(self, offset):
        """Of every record to its group's smallest value plus `offset`."""
        return _real(self.y - self.spread(offset))

    def distances(self, offset, unit):
        """As `gaps`, in the given unit."""
        return self.gaps(offset) * self.spread(self.unit / unit)


def _real(values):
    return values.astype(np.float64)


def distance(values, start):
    """values - start of integers, as uint64: wraps around to the right answer."""
    same = np.int64 if values.dtype.kind == "i" else np.uint64
    return values.astype(same, copy=False).view(np.uint64) - start.astype(same, copy=False).view(np.uint64)


def _summable(distance, sizes):
    """The same numbers in a type that holds a group's sum of squares."""
    largest = int(distance.max(initial=0))
    fits = 4 * int(sizes.max(initial=0)) * (largest + 1) ** 2 * len(sizes) < 2**63
    return distance.astype(np.int64 if fits else object)
