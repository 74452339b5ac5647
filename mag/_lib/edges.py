"""Graphs in and out: arrays of edges, networkx, igraph and SciPy's sparse matrices as pairs of vertex numbers.

A library is recognized only if its user has imported it, and never imported here.  What goes out is built from pairs of
numbers alone: no names, weights or other attributes, and no order but that of the numbers.
"""

import sys
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from mag._lib.arrays import read
from mag._lib.checks import describe, integer
from mag._lib.errors import InputTypeError, InputValueError

MAX_VERTICES = 2**31 - 1  # vertices
Build = Callable[[np.ndarray, int], Any]


class Edges(NamedTuple):
    """A simple undirected graph."""

    pairs: np.ndarray  # (m, 2) of int64, the smaller vertex first, ascending, each once
    n: int
    build: Build  # the same kind of graph as was passed, of other pairs
    origin: Callable[[np.ndarray], Any] | None  # the same kind of array, where an array was passed


def read_edges(option: str, graph: Any, n: int | None) -> Edges:
    """The graph that the caller passed; loops, multi-edges and directed graphs are refused."""
    origin = None
    if (networkx := sys.modules.get("networkx")) is not None and isinstance(graph, networkx.Graph):
        pairs, vertices = _of_networkx(option, graph)
        build: Build = _networkx
    elif (igraph := sys.modules.get("igraph")) is not None and isinstance(graph, igraph.GraphBase):
        _refuse_directed(option, graph.is_directed())
        pairs, vertices = np.array(graph.get_edgelist(), np.int64).reshape(-1, 2), graph.vcount()
        build = _igraph
    elif (sparse := sys.modules.get("scipy.sparse")) is not None and sparse.issparse(graph):
        pairs, vertices = _of_sparse(option, graph)
        coo = "coo_array" if isinstance(graph, sparse.sparray) else "coo_matrix"
        build = partial(_sparse, kind=coo, form=graph.format, dtype=graph.dtype)
    else:
        vertices = integer("n", n, 1, MAX_VERTICES, "2**31-1")
        pairs, origin = _of_array(option, graph, vertices)
        build = partial(_array, origin=origin)
    if vertices < 1:
        raise InputValueError(f"{option} must have at least one vertex; got none.")
    if n is not None and integer("n", n, 1, MAX_VERTICES, "2**31-1") != vertices:
        raise InputValueError(f"n must be the number of vertices of {option}, {vertices}, or None; got {n}.")
    return Edges(_simple(option, pairs, vertices), vertices, build, origin)


def sort_pairs(pairs: np.ndarray, n: int) -> np.ndarray:
    """The smaller vertex of each pair first, pairs ascending."""
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    first, second = divmod(np.sort(low * n + high), n)
    return np.column_stack([first, second])


def _simple(option: str, pairs: np.ndarray, n: int) -> np.ndarray:
    loops = int((pairs[:, 0] == pairs[:, 1]).sum())
    if loops:
        raise InputValueError(f"{option} must not have loops; got {loops}, leave them out first.")
    pairs = sort_pairs(pairs, n)
    repeated = int((pairs[1:] == pairs[:-1]).all(axis=1).sum())
    if repeated:
        raise InputValueError(
            f"{option} must have each pair of vertices once, in either order; got {repeated} repeated."
        )
    return pairs


def _refuse_directed(option: str, directed: bool) -> None:
    if directed:
        raise InputValueError(f"{option} must be undirected; got a directed graph, whose degrees are pairs of numbers.")


# ---- in


def _of_networkx(option: str, graph: Any) -> tuple[np.ndarray, int]:
    _refuse_directed(option, graph.is_directed())
    if graph.is_multigraph():
        raise InputValueError(
            f"{option} must not be a multigraph; got a {type(graph).__name__}, make a Graph of it first."
        )
    number = {vertex: place for place, vertex in enumerate(graph)}
    flat = np.fromiter((number[end] for edge in graph.edges() for end in edge), np.int64)
    return flat.reshape(-1, 2), len(number)


def _of_sparse(option: str, matrix: Any) -> tuple[np.ndarray, int]:
    """The entries that are not zero, each pair from both sides of the diagonal."""
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputValueError(f"{option} must be a square matrix; got one of shape {matrix.shape}.")
    entries = matrix.tocsr().tocoo()  # which adds up entries of one place
    n, there = matrix.shape[0], entries.data != 0
    rows, columns = entries.row[there].astype(np.int64), entries.col[there].astype(np.int64)
    above, below = rows <= columns, rows >= columns
    one_sided = np.setxor1d(rows[above] * n + columns[above], columns[below] * n + rows[below]).size
    if one_sided:
        raise InputValueError(
            f"{option} must be a symmetric matrix, an undirected graph; got {one_sided} entries without a counterpart."
        )
    return np.column_stack([rows[above], columns[above]]), n


def _of_array(option: str, edges: Any, n: int) -> tuple[np.ndarray, Callable[[np.ndarray], Any] | None]:
    if isinstance(edges, (str, bytes, dict, set)) or not (hasattr(edges, "__len__") or hasattr(edges, "__array__")):
        raise InputTypeError(
            f"{option} must be an array of pairs, a graph of networkx or igraph, or a sparse matrix of SciPy; "
            f"got {describe(edges)}."
        )
    values, origin = read(option, edges)
    if values.size == 0:
        return np.empty((0, 2), np.int64), origin
    if values.dtype.kind not in "iu":
        raise InputTypeError(f"{option} must hold integers, the numbers of vertices; got dtype {values.dtype.name}.")
    if values.ndim != 2 or values.shape[1] != 2:
        raise InputValueError(f"{option} must have two columns, a pair of vertices a row; got shape {values.shape}.")
    outside = int(((values < 0) | (values >= n)).any(axis=1).sum())
    if outside:
        raise InputValueError(f"{option} must hold vertices from 0 to n-1={n - 1}; got {outside} pairs with others.")
    return values.astype(np.int64), origin


# ---- out


def _array(pairs: np.ndarray, n: int, origin: Callable[[np.ndarray], Any] | None) -> Any:
    return pairs.copy() if origin is None else origin(pairs.copy())


def _networkx(pairs: np.ndarray, n: int) -> Any:
    graph = sys.modules["networkx"].Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(pairs.tolist())
    return graph


def _igraph(pairs: np.ndarray, n: int) -> Any:
    return sys.modules["igraph"].Graph(n=n, edges=pairs.tolist())


def _sparse(pairs: np.ndarray, n: int, kind: str, form: str, dtype: Any) -> Any:
    both = np.concatenate([pairs, pairs[:, ::-1]])
    made = getattr(sys.modules["scipy.sparse"], kind)
    return made((np.ones(len(both), dtype), (both[:, 0], both[:, 1])), shape=(n, n)).asformat(form)
