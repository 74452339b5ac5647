"""`mag.graphs.anonymize`: a graph with few changes in which every degree belongs to at least k vertices."""

import warnings
from typing import Any

import numpy as np

from mag._lib.checks import describe, flag, integer, one_of, unused
from mag._lib.edges import Edges, read_edges, sort_pairs
from mag._lib.errors import REPORT, InputValueError, NotAnonymousError
from mag._lib.interrupt import interruptible
from mag._lib.wording import named
from mag.api.options import generator_of
from mag.api.types import DegreeCost, KeepName, RandomState
from mag.graphs._changes import edges_added
from mag.graphs._exact import change_fewest
from mag.graphs._recount import recount
from mag.graphs.degrees import best_degrees
from mag.graphs.keep import KEEP
from mag.graphs.result import AnonymousGraph


def anonymize(
    edges: Any,
    n: int | None = None,
    k: int | None = None,
    *,
    keep: KeepName = "edges",
    cost: DegreeCost | None = None,
    exact: bool = False,
    shuffle: bool = False,
    random_state: RandomState = None,
) -> AnonymousGraph:
    """Change few edges of a graph so that every degree belongs to at least k vertices.

    Someone who knows how many neighbors a person has in the published graph then finds at least k vertices with that
    degree.  Nothing else is protected: see the notes.

    Parameters
    ----------
    edges : array of int, shape (m, 2), networkx.Graph, igraph.Graph or sparse matrix of SciPy
        A simple undirected graph: every edge once in an array, in either order, and on both sides of the diagonal of a
        matrix, where every entry but 0 is an edge.  Loops, multi-edges and directed graphs are refused.
    n : int
        The number of vertices of an array, numbered from 0; not needed for a graph or a matrix.
    k : int
        How many vertices must share a degree, in [1, n].
    keep : {"degrees", "edges", "nodes"}
        The part that stays: all edges, and others are added; the vertices, whose edges are added, removed and switched,
        which changes fewer; or the degrees alone: a new graph with these degrees that shares edges with the original
        where possible, a baseline.
    cost : {"rounddown", "roundup", "sae", "sse_int"}, optional
        The cost of changed degrees, see `mag.graphs.degrees`: ``"roundup"`` with ``keep="edges"``, by default
        ``"sse_int"`` with ``keep="nodes"``, which changes fewest edges, and ``"sae"`` with ``keep="degrees"``.
    exact : bool
        Change the fewest edges that is possible, by an integer program: up to some 40 vertices, and without `cost`.
        Not for ``keep="degrees"``; needs SciPy, extra ``matching``.
    shuffle : bool
        Number the published vertices at random.  Otherwise vertex i is the i-th one of the original.
    random_state : int or numpy.random.Generator, optional
        Seed of random choices and of `shuffle`; None is 0, but numbers that cannot be reproduced for `shuffle`.

    Returns
    -------
    AnonymousGraph
        The graph, of the kind that was passed, the changed edges, and a lower bound on their number.  The degrees are
        counted on the returned graph; if k fails, `mag.NotAnonymousError` is raised.

    Warns
    -----
    UserWarning
        Where only the complete graph was found.

    Notes
    -----
    The published graph holds vertices 0 to n-1 and edges: no names, weights or other attributes, and no order of edges.

    Neighborhoods, subgraphs and distances are not protected: a person who is known to have two neighbors that know each
    other may be unique.  Added edges can sometimes be recognized, since they join vertices that have little in common;
    see the guide on graphs.

    Degrees are those of `mag.graphs.degrees`.  Where no graph is found for them, vertices of equal degree are
    exchanged, then other degrees are tried; with ``keep="nodes"`` those of the other costs, and in the end edges are
    only added.

    References
    ----------
    K. Liu & E. Terzi, *Towards identity anonymization on graphs*, SIGMOD 2008; J. Casas-Roma, J. Herrera-Joancomartí &
    V. Torra, *k-degree anonymity and edge selection*, Knowledge and Information Systems 50, 2017.

    Examples
    --------
    >>> import mag
    >>> star_and_path = [[0, 1], [0, 2], [0, 3], [3, 4], [4, 5]]
    >>> found = mag.graphs.anonymize(star_and_path, n=6, k=2)
    >>> found
    <AnonymousGraph: 6 vertices, 6 edges, k=2, smallest class 2, 1 edges added, 0 removed, bound 1>
    >>> found.added
    array([[1, 3]])
    """
    original = read_edges("edges", edges, n)
    k = integer("k", k, 1, original.n, "n")
    chosen = KEEP[one_of("keep", keep, KEEP)]
    generator = generator_of(random_state)
    before = np.bincount(original.pairs.ravel(), minlength=original.n)
    least, bound = chosen.bound, 0
    if flag("exact", exact):
        if keep == "degrees":
            raise InputValueError(
                f"{named('exact', True)} is for {named('keep', 'edges', 'nodes')}; got {named('keep', 'degrees')}."
            )
        unused("cost", cost, named("exact", True))
        after = interruptible(change_fewest, original.pairs, before, k, keep == "nodes")
    else:
        least = chosen.costs[0] if cost is None else _cost(cost, keep, chosen.costs)
        bound = best_degrees(np.sort(before), k, chosen.bound)[1] // 2
        after = interruptible(chosen.change, original.pairs, before, k, least, generator)
    after = sort_pairs(after, original.n)
    _warn_of_complete(original.n, len(original.pairs), len(after))
    added, removed = edges_added(original.pairs, after, original.n), edges_added(after, original.pairs, original.n)
    change = np.bincount(after.ravel(), minlength=original.n) - before
    if flag("shuffle", shuffle):
        numbers = np.random.default_rng() if random_state is None else generator
        after = sort_pairs(numbers.permutation(original.n)[after], original.n)
    return _publish(
        original,
        after,
        k,
        cost=int((change**2 if least == "sse_int" else np.abs(change)).sum()),
        n_added=len(added),
        n_removed=len(removed),
        bound=len(added) + len(removed) if exact else bound,
        added=added,
        removed=removed,
    )


def _cost(cost: Any, keep: str, allowed: tuple[DegreeCost, ...]) -> DegreeCost:
    if len(allowed) == 1 and cost != allowed[0]:
        raise InputValueError(f"cost must be {allowed[0]!r} with {named('keep', keep)}, or None; got {describe(cost)}.")
    one_of("cost", cost, allowed)
    return cost


def _warn_of_complete(n: int, before: int, after: int) -> None:
    if before < after == n * (n - 1) // 2:
        warnings.warn("Only the complete graph was found, which is useless; try a smaller k.", stacklevel=3)


def _publish(original: Edges, pairs: np.ndarray, k: int, **facts: Any) -> AnonymousGraph:
    """The graph and its edges, both counted as they leave."""
    graph, origin = original.build(pairs, original.n), original.origin
    degrees = recount(graph, original.n, k)
    edges = graph if origin is not None or isinstance(graph, np.ndarray) else pairs.copy()
    if recount(edges, original.n, k) != degrees:
        raise NotAnonymousError(f"The graph and its edges have different degrees and were withheld; {REPORT}")
    for name in ("added", "removed"):
        facts[name] = facts[name] if origin is None else origin(facts[name])
    counted = np.array(degrees, np.int64)
    return AnonymousGraph(
        graph=graph,
        edges=edges,
        degrees=counted if origin is None else origin(counted),
        k=k,
        smallest=int(np.unique(counted, return_counts=True)[1].min()),
        **facts,
    )
