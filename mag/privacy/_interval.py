"""Original values inside of intervals around the masked ones."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mag._lib import checks


@dataclass(frozen=True)
class IntervalDisclosure:
    """What intervals around the masked values disclose.

    Attributes
    ----------
    values : float
        The share of original values that lie in the interval around their masked value.
    records : float
        The share of records of which all values do, or all but the allowed number.
    """

    values: float
    records: float


def disclosed(X: np.ndarray, low: np.ndarray, high: np.ndarray, outside: Any) -> IntervalDisclosure:
    """Ends belong to an interval."""
    allowed = checks.integer("outside", outside, 0, X.shape[1], "d")
    inside = (low <= X) & (high >= X)
    return IntervalDisclosure(float(inside.mean()), float(((~inside).sum(axis=1) <= allowed).mean()))
