# mypy: allow-untyped-defs, no-check-untyped-defs
"""A spanning tree without its longest edges, as far as every part keeps k records."""

import numpy as np

from mag._compiled.jit import jit


def cut_long_edges(edges: np.ndarray, lengths: np.ndarray, k: int) -> np.ndarray:
    """Labels of the parts.  Edges of equal length go by their lower, then their higher record.

    One pass is enough: where an edge has to stay, it has to stay later too, since parts only become smaller.
    """
    order = np.lexsort((edges[:, 1], edges[:, 0], -lengths))
    return cut(edges[order], k)


@jit
def cut(edges, k):
    """Take the edges away in turn, unless one side would have fewer than k records."""
    n = len(edges) + 1
    # the tree from record 0 on: parents before their children
    starts, near = np.zeros(n + 2, np.int64), np.empty(2 * (n - 1), np.int64)
    for a, b in edges:
        starts[a + 2] += 1
        starts[b + 2] += 1
    for i in range(n):
        starts[i + 2] += starts[i + 1]
    for a, b in edges:
        near[starts[a + 1]], near[starts[b + 1]] = b, a
        starts[a + 1] += 1
        starts[b + 1] += 1
    parent, order, seen = np.full(n, -1), np.zeros(n, np.int64), 1
    for p in range(n):
        u = order[p]
        for q in range(starts[u], starts[u + 1]):
            if near[q] != parent[u]:
                parent[near[q]], order[seen] = u, near[q]
                seen += 1
    below = np.ones(n, np.int64)  # records of the part that are reached through this one
    for p in range(n - 1, 0, -1):
        below[parent[order[p]]] += below[order[p]]
    for a, b in edges:
        v = a if parent[a] == b else b
        if below[v] < k:
            continue
        top = parent[v]
        while parent[top] >= 0:
            top = parent[top]
        if below[top] - below[v] < k:
            continue
        u = parent[v]
        while u >= 0:
            below[u] -= below[v]
            u = parent[u]
        parent[v] = -1
    labels = np.empty(n, np.int64)
    for p in range(n):
        u = order[p]
        labels[u] = u if parent[u] < 0 else labels[parent[u]]
    return labels
