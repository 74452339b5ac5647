# mypy: allow-untyped-defs, no-check-untyped-defs
"""A search that misses no group that costs less than its records pay, less tolls.

A group G of s records costs SSE(G) = S(G) / s, where S adds up the squared distances of its pairs.  Its records pay
y(G); if it is in a set c, it pays the toll of c.  The *excess* is SSE(G) - y(G) + tolls.  All groups are searched whose
first record is the anchor.  They are divided into cases: in a set, or not, for each set with a toll.  Either says how
many records the group has, at least, on one side of the set; and all groups that are in the set pay its toll.  Of more
than k records, only groups that are contained in a set are searched (`lp` proves that these are enough).
"""

from collections import namedtuple

import numpy as np

from mag._compiled.jit import called, jit

# distance[i, j]; others[i], the nearest of record i in rising order, and how far they are: near[i]
Records = namedtuple("Records", "distance others near")

# What records pay, the tolls of sets, the sets, and k.
Prices = namedtuple("Prices", "y toll sets k")

# Per depth of the search: candidates, the distances of each from those chosen summed up, the least that each adds to
# the excess; how many there are, the next to choose, the excess so far.  Then those chosen; whether a record is a
# candidate, and memory for the smallest of some numbers.  Of a case: the sets that it decides about; whether groups
# are in each; per depth, how many more records they need inside of it, or outside.  Per set, its candidates.
Tree = namedtuple("Tree", "ids sums keys count next base chosen mark least decided inside need tally")

# For every anchor i: a group of sizes[i] records, if one was found that `improves`, and the excess to fall below; no
# group has less than least[i].
FoundGroups = namedtuple("FoundGroups", "groups sizes least improves excess")

MAX_DECIDED = 24  # sets that cases are divided by


def tree(n: int, k: int, sets: int) -> Tree:
    """Memory for a search in n records."""
    depth = 2 * k - 1
    ids, sums, keys = (np.empty((depth, n), kind) for kind in (np.int64, np.float64, np.float64))
    count, following, chosen = (np.empty(depth, np.int64) for _ in range(3))
    base, mark, least = np.empty(depth), np.zeros(n, np.bool_), np.empty(depth)
    decided, inside = np.empty(MAX_DECIDED, np.int64), np.empty(MAX_DECIDED, np.bool_)
    need, tally = np.zeros((depth, MAX_DECIDED), np.int64), np.zeros(sets, np.int64)
    return Tree(ids, sums, keys, count, following, base, chosen, mark, least, decided, inside, need, tally)


@jit
def search(records, prices, rank, limit, anchors, tree, found):
    """For every anchor i, least[i] ≤ 0: no group whose first record by `rank` is i has less excess.

    Only groups with less than excess[i], at most 0, are searched for; if there are any, excess[i] is the least one, and
    groups[i] the group, which `improves`.  A search of more than `limit` steps ends, with the least bound of the part
    that it has not searched.
    """
    y, toll, sets, k = prices
    for i in anchors:
        count = 0
        for j in range(len(y)):
            if rank[j] > rank[i]:
                tree.ids[-1, count], tree.sums[-1, count] = j, records.distance[i, j]
                count += 1
        least, steps = _cases(records, prices, k, i, count, limit, tree, found)
        for at in range(sets.starts[i], sets.starts[i + 1]):
            c = sets.of[at]
            if toll[c] == 0.0:
                continue
            for size in range(k + 1, 2 * k):
                count = 0
                for j in range(len(y)):
                    if sets.inside[c, j] and rank[j] > rank[i]:
                        tree.ids[-1, count], tree.sums[-1, count] = j, records.distance[i, j]
                        count += 1
                if count + 1 < size:
                    break
                other, steps = _cases(records, prices, size, i, count, steps, tree, found)
                least = min(least, other)
        found.least[i] = min(least, found.excess[i])


@called
def _cases(records, prices, size, i, count, steps, tree, found):
    """Search the groups of `size` records, case by case; returns the least bound of what is not searched, and the steps
    that are left."""
    y, toll, sets, k = prices
    root = len(tree.base) - 1  # a depth that no search reaches
    tree.base[root], tree.chosen[0] = -y[i], i
    _narrow(records, prices, size, tree, 0, root, count, found.excess[i])
    decided = _decide(prices, size, i, tree, root)
    level, least, fresh = 0, np.inf, True  # whether nothing is decided on this level
    while level >= 0:
        if level < decided:
            if not fresh and not tree.inside[level]:
                level -= 1
                continue
            tree.inside[level] = fresh
            fresh = False
            c = tree.decided[level]
            among = sets.inside[c, i] == tree.inside[level]
            tree.need[root, level] = (k if tree.inside[level] else size - k + 1) - (1 if among else 0)
            tree.base[root] = -y[i]
            for q in range(level + 1):
                if tree.inside[q]:
                    tree.base[root] += toll[tree.decided[q]]
            bound = _bound(sets, size - 1, tree, level + 1, root)
            if bound >= found.excess[i]:
                continue
            if steps <= 0:
                least = min(least, bound)
                continue
            steps -= 1
        if level < decided - 1:
            level, fresh = level + 1, True
            continue
        count = tree.count[root]
        tree.ids[0, :count], tree.sums[0, :count] = tree.ids[root, :count], tree.sums[root, :count]
        tree.base[0], tree.need[0, :decided] = tree.base[root], tree.need[root, :decided]
        _narrow(records, prices, size, tree, decided, 0, count, found.excess[i])
        rest, steps = _branch(records, prices, size, i, decided, steps, tree, found)
        least = min(least, rest)
        if decided == 0:
            break
    return least, steps


@called
def _decide(prices, size, i, tree, root):
    """List the sets that groups of the candidates can be in; returns how many there are."""
    toll, sets, k = prices.toll, prices.sets, prices.k
    decided, count = 0, tree.count[root]
    for c in range(-1, count):
        j = i if c < 0 else tree.ids[root, c]
        for at in range(sets.starts[j], sets.starts[j + 1]):
            tree.tally[sets.of[at]] += 1
            enough = tree.tally[sets.of[at]] == k and toll[sets.of[at]] > 0.0
            if enough and decided < MAX_DECIDED and (size > k or sets.inside[sets.of[at], i]):
                tree.decided[decided] = sets.of[at]
                decided += 1
    for c in range(-1, count):
        j = i if c < 0 else tree.ids[root, c]
        for at in range(sets.starts[j], sets.starts[j + 1]):
            tree.tally[sets.of[at]] = 0
    return decided


@called
def _branch(records, prices, size, i, decided, steps, tree, found):
    """Search the groups of one case; returns the least bound of what is not searched, and the steps that are left."""
    sets, depth, least = prices.sets, 0, np.inf
    while depth >= 0:
        bound = _bound(sets, size - 1 - depth, tree, decided, depth)
        if bound >= found.excess[i]:
            depth -= 1
            continue
        if steps <= 0:
            least = min(least, bound)
            depth -= 1
            continue
        if depth == size - 2:  # nothing was estimated
            _finish(sets, size, i, decided, tree, found)
            depth -= 1
            continue
        first = tree.next[depth]
        j, row = tree.ids[depth, first], records.distance[tree.ids[depth, first]]
        tree.next[depth] += 1
        if _barred(sets, size - 1 - depth, j, tree, decided, depth):
            continue
        tree.chosen[depth + 1] = j
        count = tree.count[depth] - first - 1
        for c in range(count):
            other = tree.ids[depth, first + 1 + c]
            tree.ids[depth + 1, c], tree.sums[depth + 1, c] = other, tree.sums[depth, first + 1 + c] + row[other]
        tree.base[depth + 1] = tree.base[depth] + tree.sums[depth, first] / size - prices.y[j]
        for q in range(decided):
            tree.need[depth + 1, q] = tree.need[depth, q] - (sets.inside[tree.decided[q], j] == tree.inside[q])
        depth, steps = depth + 1, steps - 1
        _narrow(records, prices, size, tree, decided, depth, count, found.excess[i])
    return least, steps


@called
def _barred(sets, missing, j, tree, decided, depth):
    """Whether all that are missing are on the other side of a set."""
    for q in range(decided):
        if tree.need[depth, q] >= missing and sets.inside[tree.decided[q], j] != tree.inside[q]:
            return True
    return False


@called
def _finish(sets, size, i, decided, tree, found):
    """Take the first candidate that the case allows as the last record."""
    depth = size - 2
    for c in range(tree.next[depth], tree.count[depth]):
        j = tree.ids[depth, c]
        allowed = True
        for q in range(decided):
            if tree.need[depth, q] > (sets.inside[tree.decided[q], j] == tree.inside[q]):
                allowed = False
        if allowed:
            excess = tree.base[depth] + tree.keys[depth, c]
            if excess < found.excess[i]:
                found.excess[i], found.improves[i], found.sizes[i] = excess, True, size
                tree.chosen[size - 1] = j
                found.groups[i, :size] = tree.chosen[:size]
            break


@called
def _bound(sets, missing, tree, decided, depth):
    """The least excess with the next candidate or later ones."""
    first, count = tree.next[depth], tree.count[depth]
    if first + missing > count:
        return np.inf
    largest = 0.0
    for c in range(first, first + missing):
        largest += tree.keys[depth, c]
    for q in range(decided):
        need = tree.need[depth, q]
        if need <= 0:
            continue
        total, places, inside = 0.0, missing, sets.inside[tree.decided[q]]
        for c in range(first, count):
            if inside[tree.ids[depth, c]] == tree.inside[q]:
                need -= 1
            elif places <= need:
                continue
            total += tree.keys[depth, c]
            places -= 1
            if places == 0:
                break
        if places > 0 or need > 0:
            return np.inf
        largest = max(largest, total)
    return tree.base[depth] + largest


@called
def _narrow(records, prices, size, tree, decided, depth, count, best):
    """Drop candidates that no group better than `best` can have, and sort the others by their keys.

    With Q the candidates that a group has, S(Q) adds up half the distances of every record of Q from |Q| - 1 others,
    at least those from the nearest candidates.  The fewer there are, the farther these.
    """
    ids, sums, keys = tree.ids[depth], tree.sums[depth], tree.keys[depth]
    missing = size - 1 if depth == len(tree.base) - 1 else size - 1 - depth
    tree.next[depth] = tree.count[depth] = 0
    for q in range(decided):
        if tree.need[depth, q] > missing:
            return
        if tree.need[depth, q] == missing:  # all others are on that side
            count = _on_side(ids, sums, count, prices.sets.inside[tree.decided[q]], tree.inside[q])
    before = count + 1
    while count < before:
        if count < missing:
            return
        for c in range(count):
            tree.mark[ids[c]] = True
        for c in range(count):
            near = _nearest(records, tree, ids, count, c, missing - 1)
            keys[c] = sums[c] / size - prices.y[ids[c]] + near / (2 * size)
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
def _on_side(ids, sums, count, inside, wanted):
    """Keep the candidates that are in a set, or those that are not; returns their number."""
    kept = 0
    for c in range(count):
        if inside[ids[c]] == wanted:
            ids[kept], sums[kept] = ids[c], sums[c]
            kept += 1
    return kept


@called
def _keep(least, filled, size, value):
    """Insert a value among the `size` smallest, in rising order; return their number."""
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
