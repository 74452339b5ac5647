"""All edges stay, and others are added (Liu & Terzi's supergraph)."""

import numpy as np

from mag.graphs._additions import add_edges
from mag.graphs._adjacency import graph_of, pairs_of
from mag.graphs._probing import probe
from mag.graphs.degrees import DegreeCost


def change(
    pairs: np.ndarray, d: np.ndarray, k: int, cost: DegreeCost, generator: np.random.Generator
) -> np.ndarray:
    """Edges of a supergraph whose degrees are k-anonymous."""
    for sequence in probe(d, k, cost):
        for rank, targets in sequence.deals(generator):
            graph = graph_of(pairs, targets)
            if add_edges(graph, targets - d, rank):
                return pairs_of(graph)
    raise AssertionError("the complete graph has room for every edge")
