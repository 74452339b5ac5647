# mypy: allow-untyped-defs, no-check-untyped-defs
"""Edges added, removed and switched until every vertex has the degree that it needs (UMGA; Casas-Roma et al. 2017).

need[v] is what v's degree must still rise by; where it is negative, v loses.  What changes one edge for two degrees
comes first, then switches, which change two, then what changes three.  Edges are removed, and put, where their
neighborhood centrality |N(i) Δ N(j)| is least: between vertices with nearly the same neighbors an edge matters least to
paths.
"""

import numpy as np

from mag._compiled.jit import called, jit
from mag._compiled.random import draw_below
from mag.graphs._adjacency import adjacent, link, mark_neighbors, marked, unlink

LOOK = 32  # candidates whose neighborhoods are compared


@jit
def remove_edges(graph, need, order):
    """Remove edges between vertices that both lose."""
    for i in order:
        while need[i] < 0:
            mark_neighbors(graph, i)
            best, least = -1, np.int64(0)
            for place in range(graph.start[i], graph.start[i] + graph.degree[i]):
                j = graph.neighbor[place]
                if need[j] < 0:
                    apart = difference(graph, i, j)
                    if best < 0 or apart < least:
                        best, least = j, apart
            if best < 0:
                break
            unlink(graph, i, best)
            need[i] += 1
            need[best] += 1


@jit
def switch_edges(graph, need, order, seed):
    """Make (i, v) an edge (j, v), where i loses and j gains."""
    satisfied = 0  # of the first ones in order, which are not looked at again
    for i in order:
        if need[i] >= 0:
            continue
        while satisfied < order.size and need[order[satisfied]] == 0:
            satisfied += 1
        for j in order[satisfied:]:
            while need[i] < 0 and need[j] > 0:
                v = least_central(graph, i, j, seed)
                if v < 0:
                    break
                unlink(graph, i, v)
                link(graph, j, v)
                need[i] += 1
                need[j] -= 1
            if need[i] >= 0:
                break


@called
def least_central(graph, i, j, seed):
    """A neighbor v of i that is neither j nor its neighbor; of some the one that has most in common with j."""
    mark_neighbors(graph, j)
    size, found = graph.degree[i], 0
    best, least = -1, np.int64(0)
    first = draw_below(seed, size) if size > LOOK else 0
    for step in range(size):
        v = graph.neighbor[graph.start[i] + (first + step) % size]
        if marked(graph, v):
            continue
        apart = difference(graph, j, v)
        if best < 0 or apart < least:
            best, least = v, apart
        found += 1
        if found == LOOK:
            break
    return best


@called
def difference(graph, i, j):
    """|N(i) Δ N(j)| while i and its neighbors are marked."""
    shared = 0
    for place in range(graph.start[j], graph.start[j] + graph.degree[j]):
        w = graph.neighbor[place]
        if w != i and marked(graph, w):
            shared += 1
    return graph.degree[i] + graph.degree[j] - 2 * shared


@jit
def change_three(graph, need, order, sign):
    """`bridge` edges of those that lose, sign -1, or `split` edges for those that gain; True if anything changed."""
    changed, satisfied = False, 0
    for i in order:
        while satisfied < order.size and need[order[satisfied]] == 0:
            satisfied += 1
        for j in order[satisfied:]:
            least = 2 if i == j else 1  # that both need
            while min(sign * need[i], sign * need[j]) >= least:
                if not (split(graph, i, j) if sign > 0 else bridge(graph, i, j)):
                    break
                need[i] -= sign
                need[j] -= sign
                changed = True
            if sign * need[i] <= 0:
                break
    return changed


@called
def bridge(graph, i, j):
    """Make (i, v) and (j, w) an edge (v, w); i and j may be the same."""
    for a in range(graph.start[i], graph.start[i] + graph.degree[i]):
        v = graph.neighbor[a]
        if v == j:
            continue
        mark_neighbors(graph, v)
        for b in range(graph.start[j], graph.start[j] + graph.degree[j]):
            w = graph.neighbor[b]
            if w != i and not marked(graph, w):
                unlink(graph, i, v)
                unlink(graph, j, w)
                link(graph, v, w)
                return True
    return False


@called
def split(graph, i, j):
    """Make an edge (v, w) two, (i, v) and (j, w); i and j may be the same."""
    for v in range(graph.degree.size):
        if v == i or adjacent(graph, i, v):
            continue
        for place in range(graph.start[v], graph.start[v] + graph.degree[v]):
            w = graph.neighbor[place]
            if w != j and not adjacent(graph, j, w):
                unlink(graph, v, w)
                link(graph, i, v)
                link(graph, j, w)
                return True
    return False
