# mypy: allow-untyped-defs, no-check-untyped-defs
"""Sets of records, and how many groups they have room for.

A group is *in* a set of records if k or more of its records are.  No grouping has more than ⌊|C| / k⌋ groups in a set
C.  Fractions of groups do: for k = 3, a third of each group of three of four records is 4/3 of a group in these four.
These limits are Chvátal–Gomory cuts of rank one: add up 1/k of the equation of every record of C, and round down.  For
k = 2 they are those of Edmonds' odd sets.
"""

from collections import namedtuple

import numpy as np

from mag._compiled.jit import jit

MAX_RECORDS_PER_K, MAX_RECORDS_OF_SMALL_K = 4, 24  # records of a set: at most this many times k, or so many
LEAST_SURPLUS = 0.03  # groups that are too many in a set, for the set to be worth a toll

# inside[c, i]: whether record i is in set c; record i is in the sets of[starts[i]:starts[i + 1]]; room[c], the groups
# that there is room for
Sets = namedtuple("Sets", "inside starts of room")


def sets_of(inside: np.ndarray, k: int) -> Sets:
    """Sets, given which records are in them."""
    records, of = np.nonzero(inside.T)
    starts = np.searchsorted(records, np.arange(inside.shape[1] + 1))
    return Sets(np.ascontiguousarray(inside), starts, np.ascontiguousarray(of), inside.sum(axis=1) // k)


def crowded(
    groups: np.ndarray, sizes: np.ndarray, shares: np.ndarray, used: np.ndarray, k: int, most: int
) -> tuple[np.ndarray, bool]:
    """Which records are in each of some sets that have more groups in them, by their shares, than there is room for.

    With the sets in `used`, a record is in at most `most`; also returns whether that leaves sets out.
    """
    some, n = shares > 1e-3, used.shape[1]
    groups, sizes, shares = groups[some], sizes[some], shares[some]
    members = groups[np.arange(groups.shape[1]) < sizes[:, None]]
    order = np.argsort(members, kind="stable")
    starts, of = np.searchsorted(members[order], np.arange(n + 1)), np.repeat(np.arange(len(sizes)), sizes)[order]
    inside, surplus = np.zeros((n, n), np.bool_), np.zeros(n)
    _grow_sets(groups, sizes, shares, starts, of, k, inside, surplus)
    chosen, omitted, known, times = [], 0, {bytes(one) for one in used}, used.sum(axis=0)
    for c in np.argsort(-surplus, kind="stable"):
        members, name = inside[c], bytes(inside[c])
        if surplus[c] < LEAST_SURPLUS:
            break
        if name in known:
            continue
        known.add(name)
        if times[members].max() < most:
            chosen.append(int(c))
            times[members] += 1
        else:
            omitted += 1
    return inside[chosen], omitted > 0


@jit
def _grow_sets(groups, sizes, shares, starts, of, k, inside, surplus):
    """From every record on, take in the record that shares most with those taken in; keep the set with most surplus."""
    n, largest = len(inside), max(MAX_RECORDS_PER_K * k, MAX_RECORDS_OF_SMALL_K)
    tied, taken, order = np.zeros(n), np.zeros(n, np.bool_), np.empty(largest, np.int64)
    within = np.zeros(len(sizes), np.int64)
    near = np.empty(n, np.int64)
    for i in range(n):
        order[0], taken[i], joined, around, total, best = i, True, 1, 0, 0.0, 0
        while True:
            j = order[joined - 1]
            for at in range(starts[j], starts[j + 1]):
                g = of[at]
                within[g] += 1
                if within[g] == k:
                    total += shares[g]
                for a in range(sizes[g]):
                    r = groups[g, a]
                    if tied[r] == 0.0:
                        near[around] = r
                        around += 1
                    tied[r] += shares[g]
            if total - joined // k > surplus[i]:
                surplus[i], best = total - joined // k, joined
            if joined == largest:
                break
            next_one, most = -1, 0.0
            for a in range(around):
                if not taken[near[a]] and tied[near[a]] > most:
                    next_one, most = near[a], tied[near[a]]
            if next_one < 0:
                break
            order[joined], taken[next_one] = next_one, True
            joined += 1
        for a in range(best):
            inside[i, order[a]] = True
        for a in range(joined):
            taken[order[a]] = False
            for at in range(starts[order[a]], starts[order[a] + 1]):
                within[of[at]] = 0
        for a in range(around):
            tied[near[a]] = 0.0
