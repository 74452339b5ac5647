"""The values that replace those of groups, in the dtype of the data or rounded to it."""

import numpy as np

from mag._compiled.groups import Groups, between
from mag.costs import COSTS
from mag.results import as_data_dtype


def representative_type(cost: str, dtype: np.dtype, keep: bool = False) -> np.dtype:
    """The dtype of the representatives that a cost finds for values of a dtype."""
    one = Groups(np.zeros(1, np.float64 if dtype.kind == "f" else dtype), np.zeros(1, np.int64))
    return find_representatives(one, cost, dtype, keep).dtype


def find_representatives(groups: Groups, cost: str, dtype: np.dtype, keep: bool) -> np.ndarray:
    """The representatives of groups of values of a dtype; `keep` rounds those of integers, half away from zero."""
    kind = COSTS[cost]
    representatives = kind.representatives(groups)
    if keep and dtype.kind in "iu" and representatives.dtype.kind == "f":
        representatives = _round_representatives(groups, kind.representative)
    return as_data_dtype(representatives, dtype)


def _round_representatives(groups: Groups, representative: str) -> np.ndarray:
    if representative == "mean":
        return groups.placed(groups.rounded_mean())
    if representative == "median":
        low, high = groups.middles()
        return between(groups.values[low], groups.values[high])
    return between(groups.first, groups.final)  # mid-range
