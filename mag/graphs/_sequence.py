# mypy: allow-untyped-defs, no-check-untyped-defs
"""The best degrees for groups of at least k vertices, with an even sum: a dynamic program with two states.

F[j, p] is the least cost of the first j vertices, in ascending order of degree, where the sum of their new degrees has
parity p.  Groups of 2k or more need not be looked at: their halves may take the same degree.  O(nk), in integers.
"""

from collections import namedtuple

import numpy as np

from mag._compiled.jit import called, jit
from mag.graphs._costs import COST_CODES, INFINITE, candidates, sort_degrees

# F; of the best last group its start, the parity before it, and its degree.
SequenceTable = namedtuple("SequenceTable", "F start before degree")


def group_degrees(
    v: np.ndarray, k: int, top: int, cost: str, parity: bool, late: bool = False
) -> tuple[np.ndarray, int]:
    """The new degrees of the ascending degrees v, at most `top`, and what they cost.

    Of sequences that cost the same, `late` asks for another one.
    """
    shape = v.size + 1, 2
    table = SequenceTable(np.full(shape, INFINITE), *(np.empty(shape, np.int64) for _ in range(3)))
    table.F[0, 0] = 0
    rules = np.array([COST_CODES[cost], parity, late], np.int64)
    fill_table(sort_degrees(v), k, top, rules, table)
    return follow(table), int(table.F[v.size, 0])


def follow_groups(v: np.ndarray, ends: np.ndarray, top: int, cost: str) -> tuple[np.ndarray, int]:
    """The same for groups that are known, v[ends[g] : ends[g + 1]]; their sum may be odd."""
    chosen = np.empty(v.size, np.int64)
    return chosen, int(represent(sort_degrees(v), ends, top, COST_CODES[cost], chosen))


@jit
def represent(s, ends, top, code, chosen):
    """The best degree of each group, and what all cost."""
    loss = 0
    for g in range(ends.size - 1):
        i, j = ends[g], ends[g + 1]
        chosen[i:j], cost, _, _ = candidates(s, i, j, top, code)
        loss += cost
    return loss


@jit
def fill_table(s, k, top, rules, table):
    """For every j and p the last group's start, the parity before it, and its degree.

    Of equal costs the first one found stays, or the last one with `late`.
    """
    F, n, code, parity, late = table.F, s.v.size, rules[0], rules[1], rules[2]
    for j in range(k, n + 1):
        for i in range(max(0, j - 2 * k + 1), j - k + 1):
            if F[i, 0] >= INFINITE and F[i, 1] >= INFINITE:
                continue
            first, cost, second, more = candidates(s, i, j, top, code)
            odd = parity & (j - i)
            p = odd & first
            offer(table, i, j, p, first, cost, late)
            if odd and more < INFINITE:
                offer(table, i, j, 1 - p, second, more, late)


@called
def offer(table, i, j, p, r, cost, late):
    """A group from i to j of degree r, which adds parity p."""
    F, start, before, degree = table
    for q in range(2):
        if F[i, q] < INFINITE and F[i, q] + cost < F[j, p ^ q] + late:
            F[j, p ^ q] = F[i, q] + cost
            start[j, p ^ q], before[j, p ^ q], degree[j, p ^ q] = i, q, r


@jit
def follow(table):
    """The degrees of the last groups, from n back; the sum of all is even."""
    _, start, before, degree = table
    j, p = len(start) - 1, 0
    chosen = np.empty(j, np.int64)
    while j > 0:
        i, q = start[j, p], before[j, p]
        chosen[i:j] = degree[j, p]
        j, p = i, q
    return chosen


def excess_over_graphical(t: np.ndarray) -> int:
    """How far degrees are from those of a simple graph: 0 if there is one (Erdős & Gallai 1960), for an even sum.

    The largest l degrees need Σ t ≤ l(l-1) + Σ of the others min(t, l); the excess is the largest difference.
    """
    t = np.sort(t)[::-1]
    n = t.size
    sums, largest = np.concatenate([[0], np.cumsum(t)]), np.arange(1, n + 1)  # l
    turn = np.maximum(n - np.searchsorted(t[::-1], largest, "left"), largest)  # degrees of l or more, and the first l
    others = largest * (turn - largest) + sums[n] - sums[turn]
    return max(0, int((sums[1:] - largest * (largest - 1) - others).max()))
