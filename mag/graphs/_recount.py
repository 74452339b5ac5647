"""The recount on the published graph, independent of how it was made or read."""

import sys
from collections import Counter
from typing import Any

import numpy as np

from mag._lib.arrays import read
from mag._lib.errors import REPORT, NotAnonymousError


def recount(graph: Any, n: int, k: int) -> list[int]:
    """The degree of every vertex of a published graph of n vertices; raise unless k vertices share each degree."""
    degrees = count_degrees(graph, n)
    if degrees is None or len(degrees) != n:
        raise NotAnonymousError(f"The graph is not simple, or not of n={n} vertices, and was withheld; {REPORT}")
    smallest = min(Counter(degrees).values())
    if smallest < k:
        raise NotAnonymousError(
            f"A degree that {smallest} vertices have, fewer than k={k}, was found and withheld; {REPORT}"
        )
    return degrees


def count_degrees(graph: Any, n: int) -> list[int] | None:
    """Count with the methods of each library; None if there are loops, repeated or one-sided edges."""
    libraries = sys.modules
    if "networkx" in libraries and isinstance(graph, libraries["networkx"].Graph):
        plain = list(graph) == list(range(n)) and not any(v in graph.adj[v] for v in graph)
        return [len(graph.adj[v]) for v in graph] if plain else None
    if "igraph" in libraries and isinstance(graph, libraries["igraph"].GraphBase):
        return graph.degree() if graph.is_simple() and not graph.is_directed() else None
    if "scipy.sparse" in libraries and libraries["scipy.sparse"].issparse(graph):
        entries = graph.tocsr()
        entries.sum_duplicates()
        plain = (entries.data == 1).all() and not entries.diagonal().any() and (entries != entries.T).nnz == 0
        return np.diff(entries.indptr).tolist() if plain else None
    return _degrees_of_array(read("edges", graph)[0], n)


def _degrees_of_array(edges: np.ndarray, n: int) -> list[int] | None:
    if edges.ndim != 2 or edges.shape[1] != 2:
        return None
    first, second = edges[np.lexsort((edges[:, 1], edges[:, 0]))].T
    repeated = ((first[1:] == first[:-1]) & (second[1:] == second[:-1])).any()
    if repeated or not ((first >= 0) & (first < second) & (second < n)).all():
        return None
    degrees = np.zeros(n, np.int64)
    np.add.at(degrees, first, 1)
    np.add.at(degrees, second, 1)
    return degrees.tolist()
