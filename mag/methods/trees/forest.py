# mypy: allow-untyped-defs, no-check-untyped-defs
"""Trees of k records or more: the tops of smaller ones point to a near record (algorithm 22 of Thaeter's thesis)."""

import numpy as np

from mag._compiled.jit import jit
from mag._compiled.work import find_top


@jit
def grow(near, k, picks):
    """Each record's parent, -1 for the tops of trees; in random order, tops of trees below k point to a near record."""
    n = len(near)
    parent, above, sizes = np.full(n, -1), np.arange(n), np.ones(n, np.int64)
    waiting, left, step = np.arange(n), n, 0
    while left:
        pick = min(int(picks[step] * left), left - 1)
        step += 1
        u = waiting[pick]
        if parent[u] < 0 and sizes[u] < k:
            for v in near[u]:  # the tree has at most k-2 other records: one of the k-1 nearest is outside
                top = find_top(above, v)
                if top != u:
                    parent[u] = v
                    above[u] = top
                    sizes[top] += sizes[u]
                    break
        left -= 1
        waiting[pick] = waiting[left]
    return parent


@jit
def below(parent):
    """Records tree by tree, parents before their children, and the top of each."""
    n = len(parent)
    first, following = np.full(n + 1, -1), np.full(n, -1)
    for u in range(n - 1, -1, -1):
        following[u] = first[parent[u]]  # the tops are children of the last entry
        first[parent[u]] = u
    order, tops, waiting, done = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64), 0
    top = first[-1]
    while top >= 0:
        waiting[0], left = top, 1
        while left:
            left -= 1
            u = waiting[left]
            order[done], tops[done] = u, top
            done += 1
            child = first[u]
            while child >= 0:
                waiting[left] = child
                left += 1
                child = following[child]
        top = following[top]
    return order, tops
