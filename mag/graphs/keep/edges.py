"""All edges stay, and others are added (Liu & Terzi's supergraph)."""

import numpy as np

from mag.api.types import DegreeCost
from mag.graphs._additions import add_edges, remove_added
from mag.graphs._adjacency import Graph, graph_of, pairs_of
from mag.graphs._probing import SHUFFLES, Sequence, probe


def change(pairs: np.ndarray, d: np.ndarray, k: int, cost: DegreeCost, generator: np.random.Generator) -> np.ndarray:
    """Edges of a supergraph whose degrees are k-anonymous."""
    sequences = probe(d, k, cost)
    sequence = next(sequences)
    while True:  # sequences end at the complete graph, which can always be reached
        graph = graph_of(pairs, sequence.room())
        missing = _fill(graph, d, sequence, generator)
        if not missing:
            return pairs_of(graph)
        sequence = sequences.send(missing)


def _fill(graph: Graph, d: np.ndarray, sequence: Sequence, generator: np.random.Generator) -> int:
    """Add edges until the sequence is reached; if it is not, how many degrees were missing at least."""
    least = d.size**2
    for rank, targets in sequence.deals(generator):
        need = targets - d
        added = add_edges(graph, need, rank)
        least = min(least, int(need.sum()))
        if not least:
            break
        remove_added(graph, added)
        if least > SHUFFLES:  # far too many for a lucky shuffle
            break
    return least
