"""Change of the correlations."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mag._lib.checks import one_of
from mag._lib.pairs import pair
from mag.metrics._correlations import correlations

NORMS: dict[str, Callable[[np.ndarray], Any]] = {
    "absolute": np.mean,
    "maximum": np.max,
    "squared": lambda change: np.mean(change**2),
}


def correlation_difference(original: Any, masked: Any, *, norm: str = "absolute") -> float:
    """Mean change of the correlation of two columns.

    ``2/(d(d − 1)) · Σ_{i<j} |r_ij − r'_ij|``, or its squares, or the largest.  A constant column correlates with
    nothing (0).  One column alone has no correlations: the result is 0.0.

    Parameters
    ----------
    original, masked : array of numbers, shape (n, d) or (n,)
        Row i of both is the same record.
    norm : {"absolute", "maximum", "squared"}
        Mean absolute change, largest absolute change, mean squared change.

    Returns
    -------
    float

    References
    ----------
    J. Domingo-Ferrer & V. Torra, *A quantitative comparison of disclosure control methods for microdata*, in
    Confidentiality, Disclosure and Data Access, 2001.

    Examples
    --------
    >>> import mag
    >>> mag.metrics.correlation_difference([[0.0, 0.0], [1.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]])
    2.0
    """
    X, Y = pair(original, masked)
    measure = NORMS[one_of("norm", norm, NORMS)]
    if X.shape[1] == 1:
        return 0.0
    above = np.triu_indices(X.shape[1], 1)
    return float(measure(np.abs(correlations(X) - correlations(Y))[above]))
