"""Edges are added, removed and switched, as few as possible (UMGA; Casas-Roma et al. 2017)."""

import numpy as np

from mag.api.types import DegreeCost
from mag.graphs._additions import add_edges
from mag.graphs._adjacency import Graph, graph_of, pairs_of
from mag.graphs._changes import count_changes
from mag.graphs._probing import Sequence
from mag.graphs._switches import change_three, remove_edges, switch_edges
from mag.graphs.degrees import best_degrees
from mag.graphs.keep import edges

MAX_EDGES_FULLY_TRIED = 2**17  # edges up to which all shuffles are tried, and the best one is taken
FALLBACK_COSTS: tuple[DegreeCost, ...] = ("sse_int", "sae", "roundup", "rounddown")


def change(pairs: np.ndarray, d: np.ndarray, k: int, cost: DegreeCost, generator: np.random.Generator) -> np.ndarray:
    """Edges of a graph with k-anonymous degrees, most of them unchanged.

    If the sequence of this cost cannot be reached, try that of another cost, and finally only add edges.
    """
    for some in dict.fromkeys((cost, *FALLBACK_COSTS)):
        best = None
        for late in (False, True):
            sequence = Sequence(d, best_degrees(np.sort(d), k, some, late=late)[0])
            for rank, targets in sequence.deals(generator):
                graph = graph_of(pairs, np.maximum(d, targets))
                if reach(graph, targets - d, rank, generator):
                    found = pairs_of(graph)
                    changes = count_changes(pairs, found, d.size)
                    if best is None or changes < best[0]:
                        best = changes, found
                    if changes == np.abs(targets - d).sum() // 2 or len(pairs) > MAX_EDGES_FULLY_TRIED:
                        return best[1]
        if best is not None:
            return best[1]
    return edges.change(pairs, d, k, "roundup", generator)


def reach(graph: Graph, need: np.ndarray, rank: np.ndarray, generator: np.random.Generator) -> bool:
    """Change edges until every target degree is met; return False if impossible."""
    seed = generator.integers(1, 2**62, 1)
    while True:  # every change lowers the total need
        order = np.lexsort((rank, -np.abs(need)))[: np.count_nonzero(need)]  # who needs most comes first
        remove_edges(graph, need, order)
        switch_edges(graph, need, order, seed)
        if (need >= 0).all():
            add_edges(graph, need, rank)
        if not need.any():
            return True
        if not (change_three(graph, need, order, -1) or change_three(graph, need, order, 1)):
            return False
