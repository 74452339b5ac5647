"""The result of a bound."""

from typing import NamedTuple

import numpy as np


class Bound(NamedTuple):
    """No grouping costs less than `least`; `labels` are those of a grouping that costs less than the known one."""

    least: float
    labels: np.ndarray | None = None
