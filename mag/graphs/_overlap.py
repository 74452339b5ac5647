# mypy: allow-untyped-defs, no-check-untyped-defs
"""A new graph of given degrees, made more and more like another one (Liu & Terzi's ConstructGraph and GreedySwap)."""

import heapq

import numpy as np

from mag._compiled.jit import called, jit
from mag.graphs._adjacency import adjacent, link, mark_neighbors, marked, unlink


@jit
def realize(graph, need, like):
    """Connect the vertex that needs most to those that need most (Havel 1955, Hakimi 1962).

    Of those that need the same, its neighbors in `like` come first.  All needs are met if a graph has these degrees.
    """
    n = need.size
    waiting = [-need[v] * n + v for v in range(n) if need[v] > 0]
    heapq.heapify(waiting)
    taken = [np.int64(0) for _ in range(0)]
    while len(waiting) > 0:
        u = heapq.heappop(waiting) % n
        for _ in range(2 * need[u]):  # as many again, to choose from
            if len(waiting) > 0:
                taken.append(heapq.heappop(waiting))
        link_those_in_need(graph, need, like, u, taken)
        for key in taken:
            w = key % n
            if need[w] > 0:
                heapq.heappush(waiting, -need[w] * n + w)
        taken.clear()


@called
def link_those_in_need(graph, need, like, u, taken):
    """Who needs more than the last one that fits must be taken; then those like it, neighbors in `like` first."""
    n = need.size
    least = -(taken[need[u] - 1] // n)
    mark_neighbors(like, u)
    for turn in range(3):
        for key in taken:
            w, needed = key % n, -(key // n)
            if need[u] == 0 or needed != need[w]:  # done, or linked already
                continue
            if needed > least if turn == 0 else needed == least and (turn == 2 or marked(like, w)):
                link(graph, u, w)
                need[u] -= 1
                need[w] -= 1


@jit
def swap_edges(graph, like, pairs):
    """For every (x, u) of `like` that is missing, make edges (x, y), (u, v) that are not in it edges (x, u), (y, v)."""
    for e in range(len(pairs)):
        x, u = pairs[e, 0], pairs[e, 1]
        if not adjacent(graph, x, u):
            swap_into(graph, like, x, u)


@called
def swap_into(graph, like, x, u):
    """The edge (x, u), if two edges outside `like` can be given for it."""
    for a in range(graph.start[x], graph.start[x] + graph.degree[x]):
        y = graph.neighbor[a]
        if adjacent(like, x, y):
            continue
        mark_neighbors(graph, y)
        for b in range(graph.start[u], graph.start[u] + graph.degree[u]):
            v = graph.neighbor[b]
            if not marked(graph, v) and not adjacent(like, u, v):
                unlink(graph, x, y)
                unlink(graph, u, v)
                link(graph, x, u)
                link(graph, y, v)
                return
