"""Cell suppression: the fewest cells of quasi-identifiers become missing, so that classes have at least k records.

One reading of a missing cell a file: `value`, where missing equals missing only, and `wildcard`, where it equals
everything.
"""

from collections.abc import Callable

import numpy as np

from mag.tables.suppression import value, wildcard
from mag.tables.suppression._patterns import Demand

READINGS: dict[str, Callable[[np.ndarray, list[Demand], np.ndarray, np.ndarray | None], np.ndarray]] = {
    "value": value.suppress,
    "wildcard": wildcard.suppress,
}

__all__ = ["READINGS", "Demand"]
