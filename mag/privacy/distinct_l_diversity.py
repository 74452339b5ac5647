"""Distinct values of a sensitive attribute."""

from typing import Any

import numpy as np

from mag.privacy._sensitive import count


def distinct_l_diversity(table: Any, sensitive: Any) -> int:
    """Largest ℓ for which every class of equal records has ℓ distinct sensitive values.

    ``ℓ = min_C |{s_i : i ∈ C}|``

    Parameters
    ----------
    table : array, shape (n, d) or (n,)
        The published quasi-identifiers, whose equal records are a class; or the group of every record.
    sensitive : array, shape (n,) or (n, ·)
        Numbers or strings; of several columns, the combinations count.  Missing is a value.

    Returns
    -------
    int

    References
    ----------
    A. Machanavajjhala et al., *l-diversity: privacy beyond k-anonymity*, ACM TKDD 1(1), 2007; F. Thaeter, *k-anonymous
    microaggregation*, thesis, Lübeck 2021, definition 3.10.

    Examples
    --------
    >>> import mag
    >>> mag.privacy.distinct_l_diversity([1, 1, 1, 2, 2], ["flu", "flu", "ulcer", "flu", "ulcer"])
    2
    """
    return int(np.bincount(count(table, sensitive).home).min())
