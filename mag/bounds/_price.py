# mypy: allow-untyped-defs, no-check-untyped-defs
"""A search that misses no group that costs less than its records pay, less tolls.

A group G of s records costs SSE(G) = S(G) / s, where S adds up the squared distances of its pairs.  Its records pay
y(G); if it is in a set c, it pays the toll of c.  The *excess* is SSE(G) - y(G) + tolls.  All groups are searched whose
first record is the anchor, from the records chosen so far on.  Without tolls, the candidates with the smallest keys
give a bound.  If a set with a toll contains so many of them that they would pay, the groups are divided: those in that
set pay its toll and have few candidates; the others have records outside of it.  Otherwise they are divided by
the candidate with the smallest key: those with it, and those without.  Of more than k records, only groups that are
contained in a set are searched (`lp` proves that these are enough).
"""

from collections import namedtuple

import numpy as np

from mag._compiled.jit import called, jit

# distance[i, j]; others[i], the nearest of record i in rising order, and how far they are: near[i]; nearest_sum[i, m],
# the sum of the first m of these
Records = namedtuple("Records", "distance others near nearest_sum")

# What records pay, the tolls of sets, the sets, and k.
Prices = namedtuple("Prices", "y toll sets k")

# Per level of the search: candidates, the distances of each from those chosen summed up, the least that each adds to
# the excess; how many there are, the next to choose, the excess so far; how many records are missing, about how many
# sets it is decided, and the set of which the groups in it remain to be searched, or -1.  Then those chosen; whether a
# record is a candidate, and memory for the smallest of some numbers.  The sets that it is decided about; whether groups
# are in each; per level, how many more records they need inside of it, or outside.  Per set, its records in a group.
Tree = namedtuple(
    "Tree", "ids sums keys count next base missing decisions undone chosen mark least decided inside need tally"
)

# For every anchor i: a group of sizes[i] records, if one was found that `improves`, and the excess to fall below; no
# group has less than least[i].  Or, if listed[0] ≥ 0, that many groups, all with less than excess[i], in any place.
FoundGroups = namedtuple("FoundGroups", "groups sizes least improves excess listed")

MAX_DECIDED = 24  # sets that it is decided about at once: tolls of others count as 0


def records_of(distance: np.ndarray, others: np.ndarray) -> Records:
    """Records, given their distances and the nearest others of each."""
    near = np.take_along_axis(distance, others, axis=1)
    return Records(distance, others, near, np.hstack([np.zeros((len(near), 1)), near.cumsum(axis=1)]))


def tree(n: int, k: int, sets: int) -> Tree:
    """Memory for a search in n records."""
    levels = 2 * k + MAX_DECIDED
    ids, sums, keys = (np.empty((levels, n), kind) for kind in (np.int64, np.float64, np.float64))
    count, following, missing, decisions, undone, chosen = (np.empty(levels, np.int64) for _ in range(6))
    base, mark, least = np.empty(levels), np.zeros(n, np.bool_), np.empty(2 * k)
    decided, inside = np.empty(MAX_DECIDED, np.int64), np.empty(MAX_DECIDED, np.bool_)
    need, tally = np.zeros((levels, MAX_DECIDED), np.int64), np.zeros(sets, np.int64)
    levelled = (ids, sums, keys, count, following, base, missing, decisions, undone)
    return Tree(*levelled, chosen, mark, least, decided, inside, need, tally)


@jit
def search(records, prices, rank, limit, anchors, tree, found):
    """For every anchor i, least[i] ≤ 0: no group whose first record by `rank` is i has less excess.

    Only groups with less than excess[i], at most 0, are searched for; if there are any, excess[i] is the least one, and
    groups[i] the group, which `improves`.  A search of more than `limit` steps ends, with the least bound of the part
    that it has not searched.
    """
    y, toll, sets, k = prices
    for i in anchors:
        _gather(records, rank, i, tree)
        least, steps = _search_size(records, prices, k, -1, limit, tree, found)
        for at in range(sets.starts[i], sets.starts[i + 1]):
            c = sets.of[at]
            if toll[c] == 0.0:
                continue
            for size in range(k + 1, 2 * k):
                count = 0
                for j in range(len(y)):
                    if sets.inside[c, j] and rank[j] > rank[i]:
                        tree.ids[0, count], tree.sums[0, count] = j, records.distance[i, j]
                        count += 1
                if count + 1 < size:
                    break
                tree.count[0] = count
                other, steps = _search_size(records, prices, size, c, steps, tree, found)
                least = min(least, other)
        found.least[i] = min(least, found.excess[i])


@jit
def list_groups(records, prices, rank, limit, anchors, tree, found):
    """List all groups of k to 2k-1 records with less than excess[i], for every anchor i.

    Returns whether these are all: no search took more than `limit` steps, and there is room for all groups.
    """
    for i in anchors:
        for size in range(prices.k, 2 * prices.k):
            count = _gather(records, rank, i, tree)
            if count + 1 < size:
                break
            least, _ = _search_size(records, prices, size, -1, limit, tree, found)
            if least < np.inf or found.listed[0] > len(found.sizes):
                return False
    return True


@called
def _gather(records, rank, i, tree):
    """Choose record i, and make all records behind it candidates; returns their number."""
    count = 0
    for j in range(len(rank)):
        if rank[j] > rank[i]:
            tree.ids[0, count], tree.sums[0, count] = j, records.distance[i, j]
            count += 1
    tree.chosen[0], tree.count[0] = i, count
    return count


@called
def _search_size(records, prices, size, within, steps, tree, found):
    """Search the groups of `size` records, those in the set `within` unless it is -1; returns the least bound of what
    is not searched, and the steps that are left."""
    i = tree.chosen[0]
    tree.base[0], tree.missing[0] = -prices.y[i], size - 1
    tree.decisions[0], tree.undone[0] = 0, -1
    if within >= 0:
        _decide(prices, size, tree, 0, within, True)
    _narrow(records, prices, size, tree, 0, found.excess[i])
    level, least = 0, np.inf
    while level >= 0:
        bound = _bound(prices.sets, tree, level)
        if bound >= found.excess[i]:
            level -= 1
            continue
        if steps <= 0:
            least = min(least, bound)
            level -= 1
            continue
        steps -= 1
        c = tree.undone[level]
        if c >= 0:
            _copy(tree, level, level, tree.next[level])
            _decide(prices, size, tree, level, c, True)
        else:
            c = _paying_set(prices, size, tree, level)
            if c >= 0:
                _copy(tree, level, level + 1, tree.next[level])
                _decide(prices, size, tree, level + 1, c, False)
                tree.undone[level] = c
            elif tree.missing[level] == 1:  # nothing was estimated
                _note(size, i, bound, tree, level, found)
                tree.next[level] += 1
                continue
            else:
                _choose(records, prices, size, tree, level)
            level += 1
        _narrow(records, prices, size, tree, level, found.excess[i])
    return least, steps


@called
def _copy(tree, level, to, first):
    """Hand the candidates from `first` on, and the decisions, to a level."""
    count = tree.count[level] - first
    for c in range(count):
        tree.ids[to, c], tree.sums[to, c] = tree.ids[level, first + c], tree.sums[level, first + c]
    tree.count[to], tree.base[to], tree.missing[to], tree.undone[to] = count, tree.base[level], tree.missing[level], -1
    tree.decisions[to] = tree.decisions[level]
    for q in range(tree.decisions[level]):
        tree.need[to, q] = tree.need[level, q]


@called
def _decide(prices, size, tree, level, c, inside):
    """Search groups that are in set c, or those that are not."""
    q, among = tree.decisions[level], 0
    for a in range(size - tree.missing[level]):
        among += prices.sets.inside[c, tree.chosen[a]] == inside
    tree.decided[q], tree.inside[q] = c, inside
    tree.need[level, q] = (prices.k if inside else size - prices.k + 1) - among
    tree.decisions[level] += 1
    if inside:
        tree.base[level] += prices.toll[c]


@called
def _choose(records, prices, size, tree, level):
    """Choose the next candidate: the next level has it, this one will not."""
    first = tree.next[level]
    j = tree.ids[level, first]
    row = records.distance[j]
    _copy(tree, level, level + 1, first + 1)
    for c in range(tree.count[level + 1]):
        tree.sums[level + 1, c] += row[tree.ids[level + 1, c]]
    tree.chosen[size - tree.missing[level]] = j
    tree.base[level + 1] += tree.sums[level, first] / size - prices.y[j]
    for q in range(tree.decisions[level]):
        tree.need[level + 1, q] -= prices.sets.inside[tree.decided[q], j] == tree.inside[q]
    tree.missing[level + 1] -= 1
    tree.next[level] += 1


@called
def _paying_set(prices, size, tree, level):
    """The undecided set with the largest toll that those chosen and the next candidates would pay, or -1."""
    toll, sets, k = prices.toll, prices.sets, prices.k
    found, among = -1, size - tree.missing[level]
    if tree.decisions[level] == MAX_DECIDED:
        return -1
    for a in range(size):
        j = tree.chosen[a] if a < among else tree.ids[level, tree.next[level] + a - among]
        for at in range(sets.starts[j], sets.starts[j + 1]):
            c = sets.of[at]
            tree.tally[c] += 1
            if tree.tally[c] == k and toll[c] > (0.0 if found < 0 else toll[found]):
                decided = False
                for q in range(tree.decisions[level]):
                    decided |= tree.decided[q] == c
                if not decided:
                    found = c
    for a in range(size):
        j = tree.chosen[a] if a < among else tree.ids[level, tree.next[level] + a - among]
        for at in range(sets.starts[j], sets.starts[j + 1]):
            tree.tally[sets.of[at]] = 0
    return found


@called
def _note(size, i, excess, tree, level, found):
    """Keep the group of those chosen and the next candidate."""
    slot = i
    if found.listed[0] >= 0:
        slot = found.listed[0]
        found.listed[0] += 1
        if slot >= len(found.sizes):
            found.excess[i] = -np.inf  # ends the search
            return
    else:
        found.excess[i], found.improves[i] = excess, True
    tree.chosen[size - 1] = tree.ids[level, tree.next[level]]
    found.sizes[slot] = size
    found.groups[slot, :size] = tree.chosen[:size]


@called
def _bound(sets, tree, level):
    """The least excess with the next candidate or later ones."""
    first, count, missing = tree.next[level], tree.count[level], tree.missing[level]
    if first + missing > count:
        return np.inf
    largest = 0.0
    for c in range(first, first + missing):
        largest += tree.keys[level, c]
    for q in range(tree.decisions[level]):
        need = tree.need[level, q]
        if need <= 0:
            continue
        total, places, inside = 0.0, missing, sets.inside[tree.decided[q]]
        for c in range(first, count):
            if inside[tree.ids[level, c]] == tree.inside[q]:
                need -= 1
            elif places <= need:
                continue
            total += tree.keys[level, c]
            places -= 1
            if places == 0:
                break
        if places > 0 or need > 0:
            return np.inf
        largest = max(largest, total)
    return tree.base[level] + largest


@called
def _narrow(records, prices, size, tree, level, best):
    """Drop candidates that no group better than `best` can have, and sort the others by their keys.

    With Q the candidates that a group has, S(Q) adds up half the distances of every record of Q from |Q| - 1 others,
    at least those from the nearest candidates.  The fewer there are, the farther these.  The nearest of all records,
    which are known, tell most candidates apart at first.
    """
    ids, sums, keys = tree.ids[level], tree.sums[level], tree.keys[level]
    missing, count = tree.missing[level], tree.count[level]
    tree.next[level] = tree.count[level] = 0
    for q in range(tree.decisions[level]):
        if tree.need[level, q] > missing:
            return
        if tree.need[level, q] == missing:  # all others are on that side
            count = _on_side(ids, sums, count, prices.sets.inside[tree.decided[q]], tree.inside[q])
    for rough in (True, False):  # further looks take more time than they save
        if count < missing:
            return
        for c in range(count):
            tree.mark[ids[c]] = True
        for c in range(count):
            if rough:
                near = records.nearest_sum[ids[c], missing - 1]
            else:
                near = _nearest(records, tree, ids, count, c, missing - 1)
            keys[c] = sums[c] / size - prices.y[ids[c]] + near / (2 * size)
        for c in range(count):
            tree.mark[ids[c]] = False
        filled = 0
        for c in range(count):
            filled = _keep(tree.least, filled, missing, keys[c])
        others = tree.base[level]
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
    tree.count[level] = count


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
    for rank in range(listed):
        if tree.mark[records.others[i, rank]]:
            total += records.near[i, rank]
            filled += 1
            if filled == size:
                return total
    if count > 2 * listed:  # the others are no nearer than the last one listed
        return total + (size - filled) * records.near[i, listed - 1]
    total, filled = 0.0, 0
    row = records.distance[i]
    for o in range(count):
        if o != c:
            filled = _keep(tree.least, filled, size, row[ids[o]])
    for place in range(size):
        total += tree.least[place]
    return total
