"""DBA, TFRP, SBM and the methods of trees, written down plainly."""

import numpy as np

from tests.oracles.families import away, farthest, near
from tests.oracles.groups import group


def spread(X, members):
    """The sum of squares, from sums around the first member."""
    total = 0.0
    for x in X[members].T:
        y = x - x[0]
        total += np.square(y).sum() - y.sum() ** 2 / len(members)
    return total


def center(X, members):
    return X[members].sum(axis=0) / len(members)


def join_rest(X, U, C):
    for i in sorted(U):
        C[int(np.argmin(away(np.array([center(X, c) for c in C]), X[i])))].append(i)
    return C


def dissolve(X, C, order):
    """Part A: every group once; centroids do not move while the members of a group choose."""
    C = [sorted(c) for c in C]
    for g in order:
        others = [h for h, c in enumerate(C) if c and h != g]
        if not others:
            continue
        centers = np.array([center(X, C[h]) for h in others])
        targets = [others[int(np.argmin(away(centers, X[i])))] for i in C[g]]
        gone = 0.0
        for h in dict.fromkeys(targets):
            some = [i for i, target in zip(C[g], targets, strict=True) if target == h]
            a, b = len(C[h]), len(some)
            gone += spread(X, some) + a * b / (a + b) * away(center(X, some)[None], center(X, C[h]))[0]
        if spread(X, C[g]) > gone:
            for i, h in zip(C[g], targets, strict=True):
                C[h].append(i)
            C[g] = []
    return [c for c in C if c]


def split_by(X, C, k, split):
    """Part B."""
    parts = []
    for c in map(sorted, C):
        parts += [[c[p] for p in some] for some in split(X[c], k)] if len(c) >= 2 * k else [c]
    return parts


def by_mdav(X, k):
    labels = group(X, k, "mdav")
    return [np.flatnonzero(labels == g).tolist() for g in np.unique(labels)]


def densest_first(X, k):
    U, C = set(range(len(X))), []
    while len(U) >= k:
        _, i = min((spread(X, near(X, i, U, k)), i) for i in U)
        C.append(near(X, i, U, k))
        U -= set(C[-1])
    return join_rest(X, U, C)


def dba(X, k):
    C = densest_first(X, k)
    return split_by(X, dissolve(X, C, reversed(range(len(C)))), k, by_mdav)


def far_from_points(X, k):
    U, C = set(range(len(X))), []
    while len(U) >= k:
        point = np.full(X.shape[1], X.max() if len(C) % 2 else X.min())
        C.append(near(X, farthest(X, point, U), U, k))
        U -= set(C[-1])
    return join_rest(X, U, C)


def tfrp(X, k):
    C = far_from_points(X, k)
    order = np.argsort([-spread(X, sorted(c)) for c in C], kind="stable")
    return split_by(X, dissolve(X, C, order), k, far_from_points)


def sbm(X, k):
    n = len(X)
    ranks = np.array(
        [[sum((y, j) < (x, i) for j, y in enumerate(column)) for i, x in enumerate(column)] for column in X.T]
    )
    order = sorted(range(n), key=lambda i: (ranks[:, i].sum(), i))
    U, C = set(range(n)), []
    while len(U) >= 3 * k:
        for end in (0, -1):
            C.append(near(X, [i for i in order if i in U][end], U, k))
            U -= set(C[-1])
    if len(U) >= 2 * k:
        C.append(near(X, next(i for i in order if i in U), U, k))
        U -= set(C[-1])
    return [*C, sorted(U)]


def kruskal(X):
    """The edges of the minimum spanning tree; equal ones by their lower, then their higher record."""
    n, tree = len(X), np.arange(len(X))
    pairs = sorted((away(X[[j]], X[i])[0], i, j) for i in range(n) for j in range(i + 1, n))
    edges = []
    for length, i, j in pairs:
        if tree[i] != tree[j]:
            tree[tree == tree[j]] = tree[i]
            edges.append((length, i, j))
    return edges


def reached(n, edges, start):
    seen, new = {start}, {start}
    while new:
        new = {b for _, i, j in edges for a, b in ((i, j), (j, i)) if a in new} - seen
        seen |= new
    return seen


def mst(X, k, split=by_mdav):
    n, edges = len(X), kruskal(X)
    for edge in sorted(edges, key=lambda edge: (-edge[0], *edge[1:])):
        others = [other for other in edges if other != edge]
        if min(len(reached(n, others, end)) for end in edge[1:]) >= k:
            edges = others
    C = {min(members): sorted(members) for members in (reached(n, edges, i) for i in range(n))}
    return split_by(X, C.values(), k, split)


def forest(X, k, picks):
    """The parent of every record, as they are drawn: tops of trees of fewer than k point to the nearest one outside."""
    n = len(X)
    parent, tree, waiting = {}, np.arange(n), list(range(n))
    for pick in picks:
        place = int(pick * len(waiting))
        u = waiting[place]
        if u not in parent and (tree == tree[u]).sum() < k:
            parent[u] = next(v for v in near(X, u, range(n), k)[1:] if tree[v] != tree[u])
            tree[tree == tree[u]] = tree[parent[u]]
        waiting[place] = waiting[-1]
        waiting.pop()
    return parent


def trees_of(parent, n):
    """The records of each tree: parents before their children, and those from the last to the first."""
    children = {u: [v for v in range(n) if parent.get(v) == u] for u in range(n)}

    def walk(u):
        return [u, *(w for v in reversed(children[u]) for w in walk(v))]

    return [walk(u) for u in range(n) if u not in parent]


def branches(part, links, u):
    """Every neighbor of u, and what hangs together with it without u."""
    for v in (v for v in part if v in links[u]):
        seen, new = {v}, {v}
        while new:
            new = {b for a in new for b in links[a] if b != u} - seen
            seen |= new
        yield v, seen


def cut_tree(part, links, k, picks):
    """One side, and the record where the tree is cut."""
    hanging = {u: list(branches(part, links, u)) for u in part}
    largest = {u: max(hanging[u], key=lambda branch: len(branch[1])) for u in part}
    u = next(part[p] for p in picks if len(part) - len(largest[part[p]][1]) >= k - 1)
    v, branch = largest[u]
    rest = len(part) - len(branch)
    if rest == k - 1:
        return set(part) - branch | {v}, v
    if len(branch) >= k:
        return branch, u
    if len(branch) == k - 1:
        return branch | {u}, u
    taken = set()
    for _, branch in hanging[u]:
        taken |= branch if len(taken) < k - 1 else set()
    fewer = len(taken) < k or len(taken) + 1 <= len(part) - len(taken) - 1
    return taken | ({u} if fewer else set()), u


def nearest_neighbor(X, k, rng):
    """Trees that are cut where records are drawn; who was held together by one of the other side is linked anew."""
    n, C = len(X), []
    parent = forest(X, k, rng.random(n))
    links = {u: {v for v in range(n) if parent.get(u) == v or parent.get(v) == u} for u in range(n)}
    parts = trees_of(parent, n)
    while parts:
        part = parts.pop()
        picks = rng.permutation(len(part))
        if len(part) <= max(2 * k - 1, 3 * k - 5):
            C.append(part)
            continue
        one, u = cut_tree(part, links, k, picks)
        others = [v for v in part if v in links[u] and (v in one) != (u in one)]
        for v in others:
            links[u] -= {v}
            links[v] -= {u}
            if v != others[0]:
                links[v] |= {others[0]}
                links[others[0]] |= {v}
        parts += [[v for v in part if v in one], [v for v in part if v not in one]]
    return C


def mu_approx(X, k, rng):
    return split_by(X, nearest_neighbor(X, k, rng), k, by_mdav)


def seeded(oracle):
    """As `group` does."""
    return lambda X, k: oracle(X, k, np.random.default_rng(0))


ORACLES = {
    "dba": dba,
    "mst": mst,
    "mu_approx": seeded(mu_approx),
    "nearest_neighbor": seeded(nearest_neighbor),
    "sbm": sbm,
    "tfrp": tfrp,
}
