"""A new graph with the best degrees that shares edges with the original where possible (Liu & Terzi's baseline)."""

import numpy as np

from mag.api.types import DegreeCost
from mag.graphs._adjacency import graph_of, pairs_of
from mag.graphs._overlap import realize, swap_edges
from mag.graphs._probing import probe


def change(pairs: np.ndarray, d: np.ndarray, k: int, cost: DegreeCost, generator: np.random.Generator) -> np.ndarray:
    """Edges of a new graph with k-anonymous degrees."""
    sequence = next(probe(d, k, cost))
    targets = sequence.deal(np.arange(d.size))
    like, graph = graph_of(pairs, d), graph_of(pairs[:0], targets)
    realize(graph, targets.copy(), like)
    swap_edges(graph, like, pairs)
    return pairs_of(graph)
