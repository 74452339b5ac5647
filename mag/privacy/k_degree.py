"""The smallest class of vertices of equal degree."""

from typing import Any

import numpy as np

from mag._lib.edges import read_edges


def k_degree(edges: Any, n: int | None = None) -> int:
    """Largest k for which a graph is k-degree anonymous: how many vertices share a degree at least.

    ``k = min_v |{w : deg(w) = deg(v)}|``.  Vertices without edges count.

    Parameters
    ----------
    edges : array of int, shape (m, 2), networkx.Graph, igraph.Graph or sparse matrix of SciPy
        A simple undirected graph.
    n : int
        The number of vertices of an array, which are numbered from 0; a graph or matrix knows it.

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
