# mypy: allow-untyped-defs, no-check-untyped-defs
"""Groups of k records that cost less than their records pay: a quick look for some, and a search that misses none.

Record i pays y[i].  A group G of k records costs SSE(G) = S(G) / k, where S adds up the squared distances of its pairs;
what it costs beyond its payments, SSE(G) - y(G), is its *excess*.
"""

from collections import namedtuple

import numpy as np

from mag._compiled.jit import called, jit

# distance[i, j]; others[i], the nearest of record i in rising order, and how far they are: near[i]
Records = namedtuple("Records", "distance others near")

# Per depth of the search: candidates, the distances of each from those chosen summed up, the least that each adds to
# the excess; how many there are, the next to choose, the excess so far.  Then those chosen; whether a record is a
# candidate, and memory for the smallest of some numbers.
Tree = namedtuple("Tree", "ids sums keys count next base chosen mark least")

# For every anchor i: a group, groups[i], if it `improves`, and its excess; no group of i has less excess than least[i].
FoundGroups = namedtuple("FoundGroups", "groups least improves excess")


def tree(n: int, k: int) -> Tree:
    """Memory for a search in n records."""
    ids, sums, keys = (np.empty((k, n), kind) for kind in (np.int64, np.float64, np.float64))
    count, following, chosen = (np.empty(k, np.int64) for _ in range(3))
    return Tree(ids, sums, keys, count, following, np.empty(k), chosen, np.zeros(n, np.bool_), np.empty(k))


# ---- a quick look


@jit
def grow(records, y, anchors, groups, excess):
    """For every anchor i a group with i of little excess, groups[i]: grown greedily, then improved by swaps."""
    around, k = records.others.shape[1] + 1, groups.shape[1]
    ids, sums, inside = np.empty(around, np.int64), np.empty(around), np.empty(around, np.bool_)
    for i in anchors:
        ids[0], ids[1:] = i, records.others[i]
        sums[:], inside[:] = 0.0, False
        pairs, paid, joins = 0.0, 0.0, 0
        for size in range(1, k + 1):
            pairs += sums[joins]
            paid += y[ids[joins]]
            inside[joins] = True
            row, cheapest = records.distance[ids[joins]], np.inf
            for j in range(around):
                sums[j] += row[ids[j]]
                adds = (sums[j] - pairs / size) / (size + 1) - y[ids[j]]
                if not inside[j] and adds < cheapest:
                    joins, cheapest = j, adds
        excess[i] = _swap(records, y, ids, sums, inside, k, pairs / k - paid)
        count = 0
        for j in range(around):
            if inside[j]:
                groups[i, count] = ids[j]
                count += 1


@called
def _swap(records, y, ids, sums, inside, k, excess):
    """Change one member for another while that lowers the excess, which is returned; the first member stays."""
    around = len(ids)
    for _ in range(2 * k):
        leaves, joins, best = -1, -1, 0.0
        for a in range(1, around):
            if inside[a]:
                row = records.distance[ids[a]]
                for b in range(1, around):
                    change = (sums[b] - row[ids[b]] - sums[a]) / k - y[ids[b]] + y[ids[a]]
                    if not inside[b] and change < best:
                        leaves, joins, best = a, b, change
        if leaves < 0:
            break
        excess += best
        minus, plus = records.distance[ids[leaves]], records.distance[ids[joins]]
        inside[leaves], inside[joins] = False, True
        for j in range(around):
            sums[j] += plus[ids[j]] - minus[ids[j]]
    return excess


# ---- the search


@jit
def search(records, y, rank, limit, anchors, tree, found):
    """For every anchor i, least[i] ≤ 0: no group whose first record by `rank` is i has less excess.

    improves[i] says whether a group with excess[i] below 0 is in groups[i].  A search of more than `limit` steps ends,
    with the least bound of what it has not looked at.
    """
    groups, least, improves, excess = found
    k = groups.shape[1]
    for i in anchors:
        count, best, improves[i] = 0, 0.0, False
        for j in range(len(y)):
            if rank[j] > rank[i]:
                tree.ids[0, count], tree.sums[0, count] = j, records.distance[i, j]
                count += 1
        tree.base[0], tree.chosen[0] = -y[i], i
        _narrow(records, y, tree, 0, count, best)
        depth, steps = 0, 0
        while depth >= 0:
            bound = _bound(tree, depth)
            if bound >= best:
                depth -= 1
                continue
            if steps >= limit:
                break
            first = tree.next[depth]
            j, row = tree.ids[depth, first], records.distance[tree.ids[depth, first]]
            tree.next[depth] += 1
            tree.chosen[depth + 1] = j
            if depth == k - 2:  # nothing was estimated
                best, improves[i] = bound, True
                groups[i] = tree.chosen
                depth -= 1
                continue
            count = tree.count[depth] - first - 1
            for c in range(count):
                other = tree.ids[depth, first + 1 + c]
                tree.ids[depth + 1, c], tree.sums[depth + 1, c] = other, tree.sums[depth, first + 1 + c] + row[other]
            tree.base[depth + 1] = tree.base[depth] + tree.sums[depth, first] / k - y[j]
            depth, steps = depth + 1, steps + 1
            _narrow(records, y, tree, depth, count, best)
        least[i] = excess[i] = best
        for level in range(depth + 1):
            least[i] = min(least[i], _bound(tree, level))


@called
def _bound(tree, depth):
    """The least excess with the next candidate or later ones."""
    first, missing = tree.next[depth], len(tree.least) - 1 - depth
    if first + missing > tree.count[depth]:
        return np.inf
    total = tree.base[depth]
    for c in range(first, first + missing):
        total += tree.keys[depth, c]
    return total


@called
def _narrow(records, y, tree, depth, count, best):
    """Drop candidates that no group better than `best` can have, and sort the others by their keys.

    With Q the candidates that a group has, S(Q) adds up half the distances of every record of Q from |Q| - 1 others,
    at least those from the nearest candidates.  The fewer there are, the farther these.
    """
    ids, sums, keys, k = tree.ids[depth], tree.sums[depth], tree.keys[depth], len(tree.least)
    missing, before = k - 1 - depth, count + 1
    tree.next[depth] = tree.count[depth] = 0
    while count < before:
        if count < missing:
            return
        for c in range(count):
            tree.mark[ids[c]] = True
        for c in range(count):
            keys[c] = sums[c] / k - y[ids[c]] + _nearest(records, tree, ids, count, c, missing - 1) / (2 * k)
        for c in range(count):
            tree.mark[ids[c]] = False
        filled = 0
        for c in range(count):
            filled = _keep(tree.least, filled, missing, keys[c])
        others = tree.base[depth]
        for c in range(missing - 1):
            others += tree.least[c]
        last = tree.least[missing - 1]
        if others + last >= best:
            return
        before, count = count, 0
        for c in range(before):
            if keys[c] <= last or others + keys[c] < best:
                ids[count], sums[count], keys[count] = ids[c], sums[c], keys[c]
                count += 1
    order = np.argsort(keys[:count])
    ids[:count], sums[:count], keys[:count] = ids[:count][order], sums[:count][order], keys[:count][order]
    tree.count[depth] = count


@called
def _keep(least, filled, size, value):
    """Note a value among the `size` smallest, in rising order; returns how many there are."""
    if filled == size and value >= least[size - 1]:
        return filled
    place = min(filled, size - 1)
    while place > 0 and least[place - 1] > value:
        least[place] = least[place - 1]
        place -= 1
    least[place] = value
    return min(filled + 1, size)


@called
def _nearest(records, tree, ids, count, c, size):
    """At most the sum of the `size` smallest distances between candidate c and other candidates."""
    if size == 0:
        return 0.0
    i, listed, total, filled = ids[c], records.others.shape[1], 0.0, 0
    if count > 2 * listed:  # the list of i is shorter, and has some of them
        for rank in range(listed):
            if tree.mark[records.others[i, rank]]:
                total += records.near[i, rank]
                filled += 1
                if filled == size:
                    return total
        return total + (size - filled) * records.near[i, listed - 1]
    row = records.distance[i]
    for o in range(count):
        if o != c:
            filled = _keep(tree.least, filled, size, row[ids[o]])
    for place in range(size):
        total += tree.least[place]
    return total
