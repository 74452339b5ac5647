"""Risk from the sensitive values inside each class."""

from typing import Any, NamedTuple

import numpy as np

from mag.measures.equal import classes, classes_of


class Counts(NamedTuple):
    """How often each value occurs in each class, where it occurs at all."""

    sizes: np.ndarray  # of the classes
    home: np.ndarray  # the class of each count
    number: np.ndarray


def count(table: Any, sensitive: Any) -> Counts:
    """From the published quasi-identifiers and the sensitive values."""
    labels = classes("table", table)
    values = classes_of("sensitive", sensitive, "table", labels.size)
    pairs, counts = np.unique(labels * (values.max() + 1) + values, return_counts=True)
    return Counts(np.bincount(labels), pairs // (values.max() + 1), counts)


def entropies(counts: Counts) -> np.ndarray:
    """Of the sensitive values of each class, in bits: H = log n − Σ c log c / n."""
    inside = np.bincount(counts.home, counts.number * np.log2(counts.number))
    return np.maximum(np.log2(counts.sizes) - inside / counts.sizes, 0.0)


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
