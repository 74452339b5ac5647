# mypy: ignore-errors
"""Trees of records that point to a near one, cut into groups  (Domingo-Ferrer, Sebé & Solanas 2008).

The published cut lets groups overlap; this is the disjoint variant of Stamm & Schaub 2024: a record where a tree is cut
belongs to one part and only holds the other together.
"""

from collections import namedtuple

import numpy as np

from mag._compiled.jit import jit
from mag.methods.distances.neighbors import neighbors

# Per node: records below it, those of its largest branch, where that starts; which side it goes to, whether below u.
Scratch = namedtuple("Scratch", "weight largest end aside inside")


def group(X, k, *, random_state, threads):
    """Labels of trees of k records or more, cut wherever they have more than max(2k-1, 3k-5)."""
    n = len(X)
    room = n + n // k + 1  # every cut may copy a node
    parent, record = np.full(room, -1), np.full(room, -1)
    parent[:n], record[:n] = grow(neighbors(X, k - 1, threads), k, random_state.random(n)), np.arange(n)
    scratch = Scratch(*(np.empty(room, dtype) for dtype in (np.int64, np.int64, np.int64, np.bool_, np.bool_)))
    order, tops = below(parent[:n])
    parts = np.split(order, np.flatnonzero(np.diff(tops)) + 1)
    used, labels, n_groups = n, np.empty(n, np.int64), 0
    while parts:
        part = parts.pop()
        one, two, used = cut(part, parent, record, scratch, k, random_state.permutation(len(part)), used)
        if len(two):
            parts += [one, two]
        else:
            labels[record[one[record[one] >= 0]]] = n_groups
            n_groups += 1
    return labels


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
                top = v
                while above[top] != top:
                    above[top] = above[above[top]]
                    top = above[top]
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


@jit
def cut(part, parent, record, scratch, k, picks, used):
    """Cut a tree, nodes in `part`, at a random node where both sides keep k records; the second is empty if none does.

    Nodes without a record only hold their part together.
    """
    weight, largest, end = scratch.weight, scratch.largest, scratch.end
    total = 0
    for u in part:
        weight[u] = record[u] >= 0
        total += weight[u]
    if total <= max(2 * k - 1, 3 * k - 5):
        return part, part[:0], used
    for i in range(len(part) - 1, 0, -1):
        weight[parent[part[i]]] += weight[part[i]]
    for u in part:  # the largest branch of every node, and where it starts
        largest[u], end[u] = total - weight[u], parent[u]
    for u in part[1:]:
        if weight[u] > largest[parent[u]]:
            largest[parent[u]], end[parent[u]] = weight[u], u
    for pick in picks:
        u = part[pick]
        v, most, rest = end[u], largest[u], total - largest[u]
        if record[u] < 0 or rest < k - 1 or (rest == k - 1 and record[v] < 0):
            continue
        if rest == k - 1:  # the next node joins what is left
            return split(part, parent, scratch, v, u, k, True, used)
        if most >= k:  # an edge is cut
            return split(part, parent, scratch, u, v, k, False, used)
        if most == k - 1:  # the node joins the branch
            return split(part, parent, scratch, u, v, k, True, used)
        return split(part, parent, scratch, u, -1, k, False, used)  # branches are put together
    return part, part[:0], used


@jit
def split(part, parent, scratch, u, v, k, joins, used):
    """Cut the branch of u off that starts at v, or else as many as make k-1 records; u itself `joins` them or not."""
    weight, aside, inside = scratch.weight, scratch.aside, scratch.inside
    total = weight[part[0]]
    taken, branches, others = 0, 0, 0
    for w in part:
        aside[w] = inside[w] = False
    for w in part:
        if w == parent[u] or parent[w] == u:
            if (v < 0 and taken < k - 1) or w == v:
                aside[w] = True
                taken += weight[w] if parent[w] == u else total - weight[u]
                branches += 1
            else:
                others += 1
    if v < 0:
        joins = taken < k or taken + 1 <= total - taken - 1  # u goes where there are fewer
    upwards = parent[u] >= 0 and aside[parent[u]]
    inside[u] = True
    for w in part:
        if parent[w] >= 0 and inside[parent[w]]:
            inside[w] = True
            if parent[w] != u:
                aside[w] = aside[parent[w]]
    for w in part:
        if not inside[w]:
            aside[w] = upwards
    aside[u] = joins
    copied = (others if joins else branches) > 1  # the side without u needs something to hold it together
    copy = used if copied else -1
    one, two, ones, twos = np.empty(len(part) + 1, np.int64), np.empty(len(part) + 1, np.int64), 0, 0
    for w in part:
        if w == u and copied:
            if joins:
                two[twos] = copy
                twos += 1
            else:
                one[ones] = copy
                ones += 1
        if parent[w] == u and aside[w] != joins:
            parent[w] = copy
        if aside[w]:
            one[ones] = w
            ones += 1
        else:
            two[twos] = w
            twos += 1
    if parent[u] >= 0 and upwards != joins:
        if copied:
            parent[copy] = parent[u]
        parent[u] = -1
    return one[:ones], two[:twos], used + copied
