"""Loss and risk that follow from the sizes of classes of equal records, or of equal degrees."""

from typing import Any

import numpy as np

from mag._lib.arrays import read
from mag._lib.checks import integer, weights_for
from mag._lib.edges import read_edges
from mag.measures.equal import classes
from mag.risk.individual import expected_inverse


def c_avg(table: Any, k: int) -> float:
    """Average class size as a multiple of k: 1 is the best a k-anonymous release can do.

    ``C_AVG = (n / ℓ) / k`` with ℓ classes.

    Parameters
    ----------
    table : array, shape (n, d) or (n,)
        The published records, where equal records form a class; or the group of every record.
    k : int
        The requested class size, in [1, n].

    Returns
    -------
    float

    References
    ----------
    K. LeFevre, D. J. DeWitt & R. Ramakrishnan, *Mondrian multidimensional k-anonymity*, ICDE 2006; F. Thaeter,
    *k-anonymous microaggregation*, thesis, Lübeck 2021, definition 3.7.

    Examples
    --------
    >>> import mag
    >>> mag.metrics.c_avg([2.0, 2.0, 7.0, 7.0, 7.0, 7.0], k=2)
    1.5
    """
    labels = classes("table", table)
    return labels.size / (int(labels.max()) + 1) / integer("k", k, 1, labels.size, "n")


def discernibility(table: Any, *, k: int = 1) -> int:
    """Sum of squared class sizes: each record costs the number of records that it cannot be distinguished from.

    ``C_DM = Σ_{|C| ≥ k} |C|² + Σ_{|C| < k} n |C|``

    Parameters
    ----------
    table : array, shape (n, d) or (n,)
        The published records, where equal records form a class; or the group of every record.
    k : int
        Records of smaller classes count as suppressed and cost n each.  With 1, no record does.

    Returns
    -------
    int

    References
    ----------
    R. J. Bayardo & R. Agrawal, *Data privacy through optimal k-anonymization*, ICDE 2005; F. Thaeter, *k-anonymous
    microaggregation*, thesis, Lübeck 2021, definition 3.7.

    Examples
    --------
    >>> import mag
    >>> mag.metrics.discernibility([2.0, 2.0, 7.0, 7.0, 7.0, 9.0])
    14
    >>> mag.metrics.discernibility([2.0, 2.0, 7.0, 7.0, 7.0, 9.0], k=2)
    19
    """
    sizes = np.bincount(classes("table", table))
    n = int(sizes.sum())
    k = integer("k", k, 1, n, "n")
    return int(np.where(sizes >= k, sizes, n) @ sizes)


def class_sizes(table: Any) -> np.ndarray:
    """For every record, the number of records that equal it, itself included.

    ``f_i = |{j : y_j = y_i}|``.  −0.0 equals 0.0, and a missing value equals a missing value of the same kind.

    Parameters
    ----------
    table : array, shape (n, d) or (n,)
        The published quasi-identifiers: numbers, strings, dates or objects.

    Returns
    -------
    array of int, shape (n,)

    References
    ----------
    sdcMicro, ``freqCalc``: its ``fk``, except that a missing value there equals every value.

    Examples
    --------
    >>> import mag
    >>> mag.privacy.class_sizes([[1.0, 0.0], [1.0, -0.0], [2.0, 0.0]])
    array([2, 2, 1])
    """
    labels = classes("table", table)
    return np.bincount(labels)[labels]


def k_anonymity(table: Any) -> int:
    """Largest k for which a table is k-anonymous: the size of its smallest class of equal records.

    ``k = min_i |{j : y_j = y_i}|``.  −0.0 equals 0.0, and a missing value equals a missing value of the same kind.
    `mag.verify.recount` compares the stored cells instead, bit by bit: there −0.0 is not 0.0.

    Parameters
    ----------
    table : array, shape (n, d) or (n,)
        The published quasi-identifiers: numbers, strings, dates or objects.

    Returns
    -------
    int

    References
    ----------
    L. Sweeney, *k-anonymity: a model for protecting privacy*, International Journal of Uncertainty, Fuzziness and
    Knowledge-Based Systems 10(5), 2002.

    Examples
    --------
    >>> import mag
    >>> mag.privacy.k_anonymity([["m", "30–39"], ["m", "30–39"], ["f", "30–39"], ["f", "30–39"], ["f", "30–39"]])
    2
    """
    return int(np.bincount(classes("table", table)).min())


def k_degree(edges: Any, n: int | None = None) -> int:
    """Largest k for which a graph is k-degree anonymous: the smallest number of vertices that share a degree.

    ``k = min_v |{w : deg(w) = deg(v)}|``.  Vertices without edges count.

    Parameters
    ----------
    edges : array of int, shape (m, 2), networkx.Graph, igraph.Graph or sparse matrix of SciPy
        A simple undirected graph.
    n : int
        The number of vertices of an array, numbered from 0; not needed for a graph or a matrix.

    Returns
    -------
    int

    References
    ----------
    K. Liu & E. Terzi, *Towards identity anonymization on graphs*, SIGMOD 2008.

    Examples
    --------
    >>> import mag
    >>> mag.privacy.k_degree([[0, 1], [1, 2], [2, 3]], n=4)
    2
    """
    graph = read_edges("edges", edges, n)
    return int(np.unique(np.bincount(graph.pairs.ravel(), minlength=graph.n), return_counts=True)[1].min())


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


def reidentification_risk(table: Any, weights: Any = None) -> np.ndarray:
    """For every record, the probability that an intruder who knows its quasi-identifiers picks the right person.

    Without weights the table is the population: ``r_i = 1 / f_i`` with f the class sizes.  With sampling weights the
    population has about ``F_i = Σ w_j`` persons in the class, and ``r_i = E[1/F | f_i]`` where F − f is negative
    binomial with ``p = f_i / F_i``: ``∫_0^1 s^(f−1) p / (p + (1 − p) s) ds``.

    Parameters
    ----------
    table : array, shape (n, d) or (n,)
        The quasi-identifiers: numbers, strings, dates or objects.
    weights : array, shape (n,), optional
        The number of persons of the population that a record represents.

    Returns
    -------
    array of float, shape (n,)
        Its sum is the expected number of re-identified records.

    References
    ----------
    R. Benedetti and L. Franconi, *Statistical and technological solutions for controlled data dissemination*, New
    Techniques and Technologies for Statistics 1998; μ-ARGUS, and sdcMicro's ``indivRisk``.

    Examples
    --------
    >>> import mag
    >>> mag.privacy.reidentification_risk(["a", "a", "b"])
    array([0.5, 0.5, 1. ])
    >>> mag.privacy.reidentification_risk(["a", "a", "b"], [50, 50, 100]).round(4)
    array([0.0188, 0.0188, 0.0465])
    """
    labels = classes("table", table)
    sizes = np.bincount(labels)
    if weights is None:
        return (1 / sizes)[labels]
    counts = weights_for(read("weights", weights)[0], labels.size).astype(np.float64)
    totals = np.bincount(labels, counts)
    return expected_inverse(sizes, totals)[labels]
