# mypy: allow-untyped-defs, no-check-untyped-defs
"""Edges added until every vertex has the neighbors that it needs; edges that were there before are never touched."""

import heapq

import numpy as np

from mag._compiled.jit import called, jit
from mag.graphs._adjacency import adjacent, link, mark_neighbors, marked, unlink

MAX_SERVED_VERTICES = 16  # vertices that an exchange may serve beside the one that finds nobody


@jit
def add_edges(graph, need, rank):
    """Connect the vertex that needs most to those that need most among the others; ties by rank, one of its own each.

    Returns the edges that were added; `need` holds what is still missing, where nobody is left to connect to.
    """
    n = need.size
    vertex = np.empty(n, np.int64)
    vertex[rank] = np.arange(n)
    added = np.empty((need.sum() // 2 + 1, 2), np.int64)
    count = 0
    waiting = [-need[v] * n + rank[v] for v in range(n) if need[v] > 0]
    heapq.heapify(waiting)
    passed = [np.int64(0) for _ in range(0)]
    while len(waiting) > 0:
        key = heapq.heappop(waiting)
        u = vertex[key % n]
        if -(key // n) != need[u]:  # it needed more when it was put there
            if need[u] > 0:
                heapq.heappush(waiting, -need[u] * n + rank[u])
            continue
        mark_neighbors(graph, u)
        while need[u] > 0 and len(waiting) > 0:
            key = heapq.heappop(waiting)
            w = vertex[key % n]
            if -(key // n) != need[w]:
                if need[w] > 0:
                    heapq.heappush(waiting, -need[w] * n + rank[w])
                continue
            if not marked(graph, w):
                link(graph, u, w)
                added[count, 0], added[count, 1] = u, w
                count += 1
                need[u] -= 1
                need[w] -= 1
            if need[w] > 0:
                passed.append(w)
        for w in passed:
            heapq.heappush(waiting, -need[w] * n + rank[w])
        passed.clear()
        while need[u] > 0:
            if not exchange(graph, need, u, added, count, waiting, vertex):
                break
            count += 1
    return added[:count]


@jit
def remove_added(graph, added):
    """Take back what was added."""
    for e in range(len(added)):
        unlink(graph, added[e, 0], added[e, 1])


@called
def exchange(graph, need, u, added, count, waiting, vertex):
    """Replace an added edge (x, y) by (u, x) and (w, y), where w needs a neighbor, too, or is u if that needs two."""
    n = need.size
    mark_neighbors(graph, u)
    for e in range(count):
        for side in range(2):
            x, y = added[e, side], added[e, 1 - side]
            if marked(graph, x):
                continue
            w = -1
            if need[u] >= 2 and not marked(graph, y):
                w = u
            else:
                for place in range(min(MAX_SERVED_VERTICES, len(waiting))):
                    other = vertex[waiting[place] % n]
                    if need[other] > 0 and other != u and other != x and other != y and not adjacent(graph, other, y):
                        w = other
                        break
            if w >= 0:
                unlink(graph, x, y)
                link(graph, u, x)
                link(graph, w, y)
                need[u] -= 1
                need[w] -= 1
                added[e, 0], added[e, 1] = u, x
                added[count, 0], added[count, 1] = w, y
                return True
    return False
