"""What groups are replaced by, in the column's own units: integers stay exact integers."""

from collections.abc import Callable

import numpy as np

from mag._compiled.groups import HUGE, LARGE, Groups, between, distance, in_groups


class GroupedColumn:
    """The values of a column, with the group of each; groups without any get 0."""

    def __init__(self, values: np.ndarray, labels: np.ndarray, n_groups: int, weights: np.ndarray | None) -> None:
        self.values, self.labels, self.n_groups = values, labels, n_groups
        self.is_integer = values.dtype.kind != "f"
        self.weights = weights
        self.sizes = np.bincount(labels, minlength=n_groups)
        self.starts = np.cumsum(self.sizes) - self.sizes

    def least(self) -> np.ndarray:
        return self._extreme(np.minimum)

    def largest(self) -> np.ndarray:
        return self._extreme(np.maximum)

    def _extreme(self, which: np.ufunc) -> np.ndarray:
        extreme = np.zeros(self.n_groups, self.values.dtype)
        extreme[self.labels] = self.values  # any member
        which.at(extreme, self.labels, self.values)
        return extreme

    def mean(self) -> np.ndarray:
        if self.weights is not None:
            return self._weighted_mean()
        low, high = self.least(), self.largest()
        if self.is_integer:
            return self._exact(low, high)
        scale = np.where(high / 2 - low / 2 > HUGE, LARGE, 0)
        if not scale.any():
            y, base = self.values - low[self.labels], low
        else:
            base = np.ldexp(low, -scale)
            y = np.ldexp(self.values, -scale[self.labels]) - base[self.labels]
        offset = np.bincount(self.labels, y, self.n_groups) / np.maximum(self.sizes, 1)
        with np.errstate(over="ignore"):
            return np.clip(np.ldexp(base + offset, scale), low, high)

    def _weighted_mean(self) -> np.ndarray:
        groups = self._groups(Groups.unsorted, in_groups(self.labels.astype(np.int64), self.starts))
        if not self.is_integer:
            return self._all(groups.placed(groups.mean()))
        mean = _half_away(groups.base, np.ldexp(groups.mean(), groups.scale))
        return self._all(_clipped(groups.first, groups.final, mean))

    def _groups(self, make: Callable[..., Groups], order: np.ndarray) -> Groups:
        """The groups that have values, of records in this order."""
        weights = None if self.weights is None else self.weights[order]
        return make(self.values[order], self.starts[self.sizes > 0], weights)

    def _all(self, present: np.ndarray) -> np.ndarray:
        """One number for every group: those of groups that have values, and 0 for the others."""
        every = np.zeros(self.n_groups, present.dtype)
        every[self.sizes > 0] = present
        return every

    def _exact(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """low + the sum of distances / size, rounded half away from zero, in integers."""
        sizes, distances = np.maximum(self.sizes, 1), distance(self.values, low[self.labels])
        largest = int(distance(high, low).max()) * int(sizes.max())
        if largest < 2**53:  # sums of float64 are exact
            total = np.bincount(self.labels, distances.astype(np.float64), self.n_groups).astype(np.int64)
        else:
            kind = np.int64 if largest < 2**62 else object
            total = np.zeros(self.n_groups, kind)
            np.add.at(total, self.labels, distances.astype(kind))
        below, rest = total // sizes, total % sizes
        return _added(low, below, 2 * rest, sizes)

    def middle(self) -> np.ndarray:
        return between(self.least(), self.largest())

    def median(self) -> np.ndarray:
        groups = self._groups(Groups, np.lexsort((self.values, self.labels)))
        low, high = groups.middles()
        return self._all(between(groups.values[low], groups.values[high]))


AGGREGATES: dict[str, Callable[[GroupedColumn], np.ndarray]] = {
    "max": GroupedColumn.largest,
    "mean": GroupedColumn.mean,
    "median": GroupedColumn.median,
    "mid_range": GroupedColumn.middle,
    "min": GroupedColumn.least,
}
WEIGHTED = ("mean", "median")


def representatives(
    how: str, values: np.ndarray, labels: np.ndarray, n_groups: int, weights: np.ndarray | None
) -> np.ndarray:
    """One value for each group, of the dtype of the values; never −0.0, which is printed otherwise than 0.0."""
    short = AGGREGATES[how](GroupedColumn(values, labels, n_groups, weights))
    return short + 0.0 if short.dtype.kind == "f" else short


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


def _clipped(low: np.ndarray, high: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    inside = [
        min(max(number, least), most)
        for least, most, number in zip(low.tolist(), high.tolist(), numbers.tolist(), strict=True)
    ]
    return np.array([*inside, None], object)[:-1].astype(low.dtype)
