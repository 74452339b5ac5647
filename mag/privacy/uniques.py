"""Records that few others equal."""

from typing import Any

import numpy as np

from mag._lib.checks import integer
from mag._lib.equal import classes


def uniques(table: Any, *, k: int = 2) -> int:
    """Number of records in classes of fewer than k equal records; with k = 2, the sample uniques.

    ``Σ_i [f_i < k]`` with f the class sizes.

    Parameters
    ----------
    table : array, shape (n, d) or (n,)
        The published quasi-identifiers: numbers, strings, dates or objects.
    k : int
        In [1, n + 1].

    Returns
    -------
    int

    References
    ----------
    A. Hundepool et al., *Statistical disclosure control*, Wiley 2012; sdcMicro prints these numbers for k of
    2, 3 and 5.

    Examples
    --------
    >>> import mag
    >>> mag.privacy.uniques([1.0, 1.0, 2.0, 3.0])
    2
    """
    sizes = np.bincount(classes("table", table))
    n = int(sizes.sum())
    return int(sizes[sizes < integer("k", k, 1, n + 1, "n+1")].sum())
