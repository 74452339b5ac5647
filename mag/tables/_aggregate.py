"""The representatives of groups, in the column's own units: integers stay exact integers."""

from collections.abc import Callable

import numpy as np

from mag._compiled.groups import Groups, between, exact_means, in_groups


def representatives(
    how: str, values: np.ndarray, labels: np.ndarray, n_groups: int, weights: np.ndarray | None
) -> np.ndarray:
    """One value for each group, of the dtype of the values; 0 for groups without any.

    The result does not depend on the order of the records, to the bit.  Never −0.0, which prints differently from 0.0.
    """
    sizes = np.bincount(labels, minlength=n_groups)
    if how == "mean" and weights is None and values.dtype == np.float64:
        return exact_means(values, labels, sizes) + 0.0
    if how == "median" or weights is not None:
        groups = Groups.sorted(values, labels, sizes, weights)
    else:
        starts = np.cumsum(sizes) - sizes
        groups = Groups.unsorted(values[in_groups(labels.astype(np.int64), starts)], starts[sizes > 0], None)
    short = np.zeros(n_groups, values.dtype)
    short[sizes > 0] = AGGREGATES[how](groups)
    return short + 0.0 if short.dtype.kind == "f" else short


def _mean(groups: Groups) -> np.ndarray:
    if groups.values.dtype.kind == "f":
        return groups.placed_mean()
    return groups.placed_rounded_mean()


def _median(groups: Groups) -> np.ndarray:
    low, high = groups.middles()
    return between(groups.values[low], groups.values[high])


AGGREGATES: dict[str, Callable[[Groups], np.ndarray]] = {
    "max": lambda groups: groups.final,
    "mean": _mean,
    "median": _median,
    "mid_range": lambda groups: between(groups.first, groups.final),
    "min": lambda groups: groups.first,
}
