"""What classes tell of a sensitive attribute."""

from typing import Any

import numpy as np

from mag.privacy._sensitive import count, entropies


def closeness_utility(table: Any, sensitive: Any) -> float:
    """Information, in bits, that the class of a record gives about its sensitive value.

    ``U = H(X) − Σ_C |C|/n · H(C)``, the mutual information of class and sensitive value.

    Parameters
    ----------
    table, sensitive : array
        Published quasi-identifiers or groups, and sensitive values, as for `distinct_l_diversity`.

    Returns
    -------
    float
        Between 0, where all classes look alike, and H(X).

    References
    ----------
    N. Li, T. Li & S. Venkatasubramanian, *Closeness: a new privacy measure for data publishing*, IEEE TKDE 22(7), 2010;
    F. Thaeter, *k-anonymous microaggregation*, thesis, Lübeck 2021, definition 3.15.

    Examples
    --------
    >>> import mag
    >>> mag.privacy.closeness_utility([1, 1, 2, 2], ["flu", "flu", "ulcer", "ulcer"])
    1.0
    >>> mag.privacy.closeness_utility([1, 1, 2, 2], ["flu", "ulcer", "flu", "ulcer"])
    0.0
    """
    inside = count(table, sensitive)
    overall = entropies(count(np.zeros(inside.sizes.sum()), sensitive))[0]
    return max(float(overall - inside.sizes @ entropies(inside) / inside.sizes.sum()), 0.0)
