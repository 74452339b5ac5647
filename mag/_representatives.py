"""What groups are replaced by, in the column's own units: integers stay exact integers."""

from collections.abc import Callable
from typing import Any

import numpy as np

HUGE = 2.0**960  # 2**63 differences of floats below this can be summed
UNIT = 2.0**64


class Members:
    """The values of a column, with the group of each; groups without any get 0."""

    def __init__(self, values: np.ndarray, labels: np.ndarray, n_groups: int, weights: np.ndarray | None) -> None:
        self.values, self.labels, self.n_groups = values, labels, n_groups
        self.whole = values.dtype.kind != "f"
        self.weights = weights
        self.sizes = np.bincount(labels, minlength=n_groups)

    def least(self) -> np.ndarray:
        return self._extreme(np.minimum)

    def largest(self) -> np.ndarray:
        return self._extreme(np.maximum)

    def _extreme(self, which: np.ufunc) -> np.ndarray:
        found = np.zeros(self.n_groups, self.values.dtype)
        found[self.labels] = self.values  # any member
        which.at(found, self.labels, self.values)
        return found

    def mean(self) -> np.ndarray:
        low, high = self.least(), self.largest()
        unit: Any = 1.0
        if self.whole:
            distance, widest = self._distance(low), int((high - low).max()) if self.values.dtype == object else 0
            if self.values.dtype != object:
                widest = int((high.view(np.uint64) - low.view(np.uint64)).max())
        else:
            huge = high / 2 - low / 2 > HUGE
            unit = np.where(huge, UNIT, 1.0) if huge.any() else 1.0
            here = unit[self.labels] if huge.any() else 1.0
            distance = self.values / here - (low / unit)[self.labels] if huge.any() else self.values - low[self.labels]
        if self.weights is not None:
            offset = self._weighted(distance.astype(np.float64), self.weights)
        elif self.whole:
            return self._exact(low, distance, widest)
        else:
            offset = np.bincount(self.labels, distance, self.n_groups) / np.maximum(self.sizes, 1)
        if self.whole:
            return _clipped(low, high, _half_away(low, offset))
        with np.errstate(over="ignore"):
            return np.clip((low / unit + offset) * unit, low, high)

    def _distance(self, low: np.ndarray) -> np.ndarray:
        if self.values.dtype == object:
            return self.values - low[self.labels]
        return self.values.view(np.uint64) - low.view(np.uint64)[self.labels]

    def _weighted(self, distance: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Weighted means; records of a group without any weight count alike."""
        share = weights / weights.max() if weights.max() > 0 else weights
        weight = np.bincount(self.labels, share, self.n_groups)
        heavy = np.bincount(self.labels, share * distance, self.n_groups)
        plain = np.bincount(self.labels, distance, self.n_groups) / np.maximum(self.sizes, 1)
        return np.where(weight > 0, heavy / np.where(weight > 0, weight, 1), plain)

    def _exact(self, low: np.ndarray, distance: np.ndarray, widest: int) -> np.ndarray:
        """low + the sum of distances / size, rounded half away from zero, in integers."""
        sizes = np.maximum(self.sizes, 1)
        largest = widest * int(sizes.max())
        if largest < 2**53:  # sums of float64 are exact
            total = np.bincount(self.labels, distance.astype(np.float64), self.n_groups).astype(np.int64)
        else:
            kind = np.int64 if largest < 2**62 else object
            total = np.zeros(self.n_groups, kind)
            np.add.at(total, self.labels, distance.astype(kind))
        below, rest = total // sizes, total % sizes
        return _added(low, below, 2 * rest, sizes)

    def middle(self) -> np.ndarray:
        return _between(self.least(), self.largest())

    def median(self) -> np.ndarray:
        order = np.lexsort((self.values, self.labels))
        values, starts = self.values[order], np.cumsum(self.sizes) - self.sizes
        starts = np.minimum(starts, max(values.size - 1, 0))
        if self.weights is None:
            low, high = starts + np.maximum(self.sizes - 1, 0) // 2, starts + self.sizes // 2
            return _between(values[low], values[np.minimum(high, values.size - 1)])
        share = self.weights / self.weights.max() if self.weights.max() > 0 else np.ones(values.size)
        share = share[order]
        weight = np.bincount(self.labels, share, self.n_groups)
        share = np.where((weight > 0)[self.labels[order]], share, 1.0)
        before = np.concatenate([[0.0], np.cumsum(share)])
        reached = before[1:] - np.repeat(before[starts], self.sizes)
        half = np.bincount(self.labels[order], share, self.n_groups) / 2
        below = np.bincount(self.labels[order], reached < np.repeat(half, self.sizes), self.n_groups).astype(np.int64)
        return values[starts + np.minimum(below, np.maximum(self.sizes - 1, 0))]


AGGREGATES: dict[str, Callable[[Members], np.ndarray]] = {
    "max": Members.largest,
    "mean": Members.mean,
    "median": Members.median,
    "mid_range": Members.middle,
    "min": Members.least,
}
WEIGHTED = ("mean", "median")


def representatives(
    how: str, values: np.ndarray, labels: np.ndarray, n_groups: int, weights: np.ndarray | None
) -> np.ndarray:
    """One value for each group, of the dtype of the values; never −0.0, which is printed otherwise than 0.0."""
    found = AGGREGATES[how](Members(values, labels, n_groups, weights))
    return found + 0.0 if found.dtype.kind == "f" else found


def _added(low: np.ndarray, below: np.ndarray, twice_rest: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """low + below + rest/size, half away from zero; only the sign of low + below decides a half."""
    up = twice_rest > sizes
    half = twice_rest == sizes
    if half.any():
        at = np.flatnonzero(half)
        up[at] = [int(a) + int(b) >= 0 for a, b in zip(low[at].tolist(), below[at].tolist(), strict=True)]
    if low.dtype == object or below.dtype == object:
        total = low.astype(object) + below.astype(object) + up.astype(object)
        return total.astype(low.dtype)
    return low + (below + up).astype(low.dtype)


def _between(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The middle of two values; of integers, half away from zero."""
    if low.dtype.kind == "f":
        return np.clip(low / 2 + high / 2, low, high)
    if low.dtype == object:
        gap = high - low
        return _added(low, gap // 2, 2 * (gap % 2), np.full(gap.size, 2))
    gap = high.view(np.uint64) - low.view(np.uint64)
    half = (gap // 2).view(np.int64) if low.dtype == np.int64 else gap // 2
    return _added(low, half, 2 * (gap % 2).astype(np.int64), np.full(gap.size, 2))


def _half_away(low: np.ndarray, offset: np.ndarray) -> np.ndarray:
    below = np.floor(offset)
    rest = offset - below
    whole = [int(step) for step in below.tolist()]
    numbers = [start + step for start, step in zip(low.tolist(), whole, strict=True)]
    rounded = [
        number + (part > 0.5 or (part == 0.5 and number >= 0))
        for number, part in zip(numbers, rest.tolist(), strict=True)
    ]
    return np.array([*rounded, None], object)[:-1]


def _clipped(low: np.ndarray, high: np.ndarray, found: np.ndarray) -> np.ndarray:
    inside = [
        min(max(number, least), most)
        for least, most, number in zip(low.tolist(), high.tolist(), found.tolist(), strict=True)
    ]
    return np.array([*inside, None], object)[:-1].astype(low.dtype)
