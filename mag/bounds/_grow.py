# mypy: allow-untyped-defs, no-check-untyped-defs
"""A quick look for groups that cost less than their records pay, less tolls.

Record i pays y[i]; a group in the set c, that is one with k or more records of c, pays toll[c].  What a group costs
beyond its payments is its *excess*.
"""

from collections import namedtuple

import numpy as np

from mag._compiled.jit import called, jit

# Of one anchor: its neighbors and itself, the distances of each from the group summed up, whether it is in the group;
# how many records of the group each set has.
Around = namedtuple("Around", "ids sums inside within")


@jit
def grow(records, prices, anchors, groups, excess):
    """For every anchor i groups with i of little excess, one of each size: groups[i, size - k].

    They grow greedily, and are improved by swaps.  Sizes above k are for anchors in sets with tolls.
    """
    sets, k, near = prices.sets, prices.k, records.others.shape[1] + 1
    within = np.zeros(len(prices.toll), np.int64)
    around = Around(np.empty(near, np.int64), np.empty(near), np.empty(near, np.bool_), within)
    for i in anchors:
        around.ids[0], around.ids[1:] = i, records.others[i]
        around.sums[:], around.inside[:], around.within[:] = 0.0, False, 0
        largest = min(excess.shape[1] + k - 1, near) if _has_toll(prices, i) else k
        excess[i] = np.inf
        joins, pairs = 0, 0.0
        for size in range(1, largest + 1):
            pairs += around.sums[joins]
            _enter(records, sets, around, joins)
            if size >= k:
                pairs = _swap(records, prices, around, size, pairs)
                excess[i, size - k] = _write(prices, around, groups[i, size - k], pairs / size)
            joins = _cheapest(prices, around, size, pairs)


@called
def _has_toll(prices, i):
    sets, total = prices.sets, 0.0
    for at in range(sets.starts[i], sets.starts[i + 1]):
        total += prices.toll[sets.of[at]]
    return total > 0.0


@called
def _enter(records, sets, around, j):
    row = records.distance[around.ids[j]]
    around.inside[j] = True
    for b in range(len(around.ids)):
        around.sums[b] += row[around.ids[b]]
    _count(sets, around, j, 1)


@called
def _count(sets, around, j, change):
    for at in range(sets.starts[around.ids[j]], sets.starts[around.ids[j] + 1]):
        around.within[sets.of[at]] += change


@called
def _tolls(prices, around, j, count):
    """The tolls of the sets of record j that have `count` records of the group."""
    sets, total = prices.sets, 0.0
    for at in range(sets.starts[around.ids[j]], sets.starts[around.ids[j] + 1]):
        if around.within[sets.of[at]] == count:
            total += prices.toll[sets.of[at]]
    return total


@called
def _cheapest(prices, around, size, pairs):
    """The record that raises the excess of a group of `size` records least."""
    y, k, found, least = prices.y, prices.k, -1, np.inf
    for b in range(len(around.ids)):
        if not around.inside[b]:
            adds = (around.sums[b] - pairs / size) / (size + 1) - y[around.ids[b]]
            adds += _tolls(prices, around, b, k - 1)
            if adds < least:
                found, least = b, adds
    return found


@called
def _swap(records, prices, around, size, pairs):
    """Change one member for another while that lowers the excess; the first one stays.  Returns the sum of pairs."""
    y, sets, k, ids, sums, inside = prices.y, prices.sets, prices.k, around.ids, around.sums, around.inside
    for _ in range(2 * k):
        leaves, joins, best = -1, -1, -1e-12 * abs(pairs)
        for a in range(1, len(ids)):
            if not inside[a]:
                continue
            row = records.distance[ids[a]]
            spared = _tolls(prices, around, a, k)
            _count(sets, around, a, -1)
            for b in range(1, len(ids)):
                change = (sums[b] - row[ids[b]] - sums[a]) / size - y[ids[b]] + y[ids[a]] - spared
                if not inside[b] and change < best:
                    change += _tolls(prices, around, b, k - 1)
                    if change < best:
                        leaves, joins, best = a, b, change
            _count(sets, around, a, 1)
        if leaves < 0:
            break
        minus, plus = records.distance[ids[leaves]], records.distance[ids[joins]]
        pairs += sums[joins] - minus[ids[joins]] - sums[leaves]
        inside[leaves], inside[joins] = False, True
        _count(sets, around, leaves, -1)
        _count(sets, around, joins, 1)
        for b in range(len(ids)):
            sums[b] += plus[ids[b]] - minus[ids[b]]
    return pairs


@called
def _write(prices, around, group, cost):
    """List the members; returns the excess."""
    excess, size = cost, 0
    for b in range(len(around.ids)):
        if around.inside[b]:
            group[size] = around.ids[b]
            excess -= prices.y[around.ids[b]]
            size += 1
    for c in range(len(prices.toll)):
        if around.within[c] >= prices.k:
            excess += prices.toll[c]
    return excess
