# mypy: allow-untyped-defs, no-check-untyped-defs
"""Trees of records, cut into groups (Domingo-Ferrer, Sebé & Solanas 2008, by the cases of Aggarwal et al. 2005).

The published cut lets groups overlap: both sides keep the record where a tree is cut.  Here it belongs to one of them,
as in Stamm & Schaub 2024, and what it held together on the other side is linked to its neighbor there.
"""

from collections import namedtuple

import numpy as np

from mag._compiled.jit import jit
from mag.methods.trees.forest import below

# Per record: how many are below it, those of its largest branch, where that starts; which side it goes to, whether it
# is below u.
Scratch = namedtuple("Scratch", "weight largest end aside inside")


def cut_trees(parent: np.ndarray, k: int, random_state: np.random.Generator) -> np.ndarray:
    """Labels of groups of k to max(2k-1, 3k-5): trees, given by the parent of every record, cut as long as needed."""
    n = len(parent)
    order, tops = below(parent)
    scratch = Scratch(*(np.empty(n, dtype) for dtype in (np.int64, np.int64, np.int64, np.bool_, np.bool_)))
    parts = np.split(order, np.flatnonzero(np.diff(tops)) + 1)
    labels, n_groups = np.empty(n, np.int64), 0
    while parts:
        part = parts.pop()
        one, two = cut(part, parent, scratch, k, random_state.permutation(len(part)))
        if len(two):
            parts += [one, two]
        else:
            labels[one] = n_groups
            n_groups += 1
    return labels


@jit
def cut(part, parent, scratch, k, picks):
    """Cut a tree, records in `part`, at a random one where both sides keep k; if it is small, the second is empty."""
    weight, largest, end = scratch.weight, scratch.largest, scratch.end
    total = len(part)
    if total <= max(2 * k - 1, 3 * k - 5):
        return part, part[:0]
    for u in part:
        weight[u] = 1
    for i in range(total - 1, 0, -1):
        weight[parent[part[i]]] += weight[part[i]]
    for u in part:  # the largest branch of every record, and where it starts
        largest[u], end[u] = total - weight[u], parent[u]
    for u in part[1:]:
        if weight[u] > largest[parent[u]]:
            largest[parent[u]], end[parent[u]] = weight[u], u
    chosen = 0
    while total - largest[part[picks[chosen]]] < k - 1:  # some record has no branch of more than half of them
        chosen += 1
    u = part[picks[chosen]]
    v, most, rest = end[u], largest[u], total - largest[u]
    if rest == k - 1:  # the next record joins what is left
        return split(part, parent, scratch, v, u, k, True)
    if most >= k:  # an edge is cut
        return split(part, parent, scratch, u, v, k, False)
    if most == k - 1:  # the record joins the branch
        return split(part, parent, scratch, u, v, k, True)
    return split(part, parent, scratch, u, -1, k, False)  # branches are put together


@jit
def split(part, parent, scratch, u, v, k, joins):
    """Cut the branch of u off that starts at v, or else as many as make k-1 records; u itself `joins` them or not."""
    weight, aside, inside, total, taken = scratch.weight, scratch.aside, scratch.inside, len(part), 0
    for w in part:
        aside[w] = inside[w] = False
    for w in part:
        if (w == parent[u] or parent[w] == u) and ((v < 0 and taken < k - 1) or w == v):
            aside[w] = True
            taken += weight[w] if parent[w] == u else total - weight[u]
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
    hub = -1  # the neighbor of u on the other side that the others there are linked to
    if parent[u] >= 0 and upwards != joins:
        hub, parent[u] = parent[u], -1
    one, two, ones = np.empty(total, np.int64), np.empty(total, np.int64), 0
    for p in range(total):
        w = part[p]
        if parent[w] == u and aside[w] != joins:
            parent[w] = hub
            hub = w if hub < 0 else hub
        if aside[w]:
            one[ones] = w
            ones += 1
        else:
            two[p - ones] = w
    return one[:ones].copy(), two[: total - ones].copy()  # slices would keep all of the memory
