"""Entropy of a sensitive attribute."""

from typing import Any

import numpy as np

from mag.privacy._sensitive import count, entropies


def entropy_l_diversity(table: Any, sensitive: Any) -> float:
    """Largest ℓ for which a table is entropy ℓ-diverse: the effective number of values in the poorest class.

    ``ℓ = exp(min_C H(C))`` with ``H(C) = −Σ_s p(C, s) log p(C, s)``

    Parameters
    ----------
    table, sensitive : array
        Published quasi-identifiers or groups, and sensitive values, as for `distinct_l_diversity`.

    Returns
    -------
    float
        Not above `distinct_l_diversity`; equal to it where the values of the poorest class are equally frequent.

    References
    ----------
    A. Machanavajjhala et al., *l-diversity: privacy beyond k-anonymity*, ACM TKDD 1(1), 2007; F. Thaeter, *k-anonymous
    microaggregation*, thesis, Lübeck 2021, definition 3.11.

    Examples
    --------
    >>> import mag
    >>> mag.privacy.entropy_l_diversity([1, 1, 2, 2], ["flu", "ulcer", "flu", "cough"])
    2.0
    """
    diversity = float(np.exp2(entropies(count(table, sensitive)).min()))
    # 2^(log ℓ) may fall short of a whole ℓ by its rounding
    return float(round(diversity)) if np.isclose(diversity, round(diversity), rtol=1e-12, atol=0) else diversity
