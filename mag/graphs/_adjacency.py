# mypy: allow-untyped-defs, no-check-untyped-defs
"""Graphs that change: a list of neighbors for every vertex, with room for the degree that it may reach."""

from collections import namedtuple

import numpy as np

from mag._compiled.jit import called, jit

# v has the neighbors neighbor[start[v] : start[v] + degree[v]], in any order; marks[v] equals clock[0] if v is marked
Graph = namedtuple("Graph", "start degree neighbor marks clock")


def graph_of(pairs: np.ndarray, room: np.ndarray) -> Graph:
    """A graph with these edges, in which vertex v may get up to room[v] neighbors."""
    n = room.size
    start = np.zeros(n + 1, np.int64)
    np.cumsum(room, out=start[1:])
    graph = Graph(
        start, np.zeros(n, np.int64), np.empty(start[n], np.int32), np.zeros(n, np.int64), np.zeros(1, np.int64)
    )
    link_all(graph, pairs)
    return graph


@jit
def link_all(graph, pairs):
    """Add all of these edges."""
    for e in range(len(pairs)):
        link(graph, pairs[e, 0], pairs[e, 1])


@jit
def pairs_of(graph):
    """Every edge once, the smaller vertex first."""
    pairs = np.empty((graph.degree.sum() // 2, 2), np.int64)
    e = 0
    for u in range(graph.degree.size):
        for place in range(graph.start[u], graph.start[u] + graph.degree[u]):
            w = graph.neighbor[place]
            if u < w:
                pairs[e, 0], pairs[e, 1] = u, w
                e += 1
    return pairs


@called
def link(graph, u, w):
    """Add the edge (u, w)."""
    graph.neighbor[graph.start[u] + graph.degree[u]] = w
    graph.neighbor[graph.start[w] + graph.degree[w]] = u
    graph.degree[u] += 1
    graph.degree[w] += 1


@called
def unlink(graph, u, w):
    """Remove the edge (u, w)."""
    drop(graph, u, w)
    drop(graph, w, u)


@called
def drop(graph, u, w):
    """Take w from the neighbors of u; the last one fills its place."""
    last = graph.start[u] + graph.degree[u] - 1
    place = graph.start[u]
    while graph.neighbor[place] != w:
        place += 1
    graph.neighbor[place] = graph.neighbor[last]
    graph.degree[u] -= 1


@called
def adjacent(graph, u, w):
    """Whether (u, w) is an edge."""
    if graph.degree[w] < graph.degree[u]:
        u, w = w, u
    place, stop = graph.start[u], graph.start[u] + graph.degree[u]
    while place < stop and graph.neighbor[place] != w:
        place += 1
    return place < stop


@called
def mark_neighbors(graph, u):
    """Mark u and its neighbors, and nobody else."""
    graph.clock[0] += 1
    graph.marks[u] = graph.clock[0]
    for place in range(graph.start[u], graph.start[u] + graph.degree[u]):
        graph.marks[graph.neighbor[place]] = graph.clock[0]


@called
def marked(graph, u):
    """Whether u is marked."""
    return graph.marks[u] == graph.clock[0]
