"""From the sizes of last groups to the label of every record."""

import numpy as np

from mag._jit import jit
from mag._lanes import lanes_at, put, spread

LANES = 8  # labels written at once


@jit
def starts_of(sizes, k, plain, starts):
    """Write starts, the last one last, and return where the first one stands.

    Where the problem is plain, groups of 2k values or more are split.
    """
    g, j = len(starts), len(sizes) - 1
    while j > 0:
        i = j - np.int64(sizes[j])
        while plain and j - i >= 2 * k:
            j -= k
            g -= 1
            starts[g] = j
        g -= 1
        starts[g] = i
        j = i
    return g


@jit
def label(starts, first, last, order, labels):
    """labels[order[l]] = the group of sorted value l, for the groups first .. last-1."""
    for g in range(first, last):
        end = starts[g + 1] if g + 1 < len(starts) else len(order)
        for i in range(starts[g], end):
            labels[order[i]] = g


@jit
def label_sorted(starts, first, last, labels):
    """As `label`, for values that are sorted already; whole lanes are written, the next group overwrites the rest."""
    n = len(labels)
    stop = starts[last] if last < len(starts) else n
    for g in range(first, last):
        i, end = starts[g], starts[g + 1] if g + 1 < len(starts) else n
        while i < end and i + LANES <= stop:
            put(labels, lanes_at(i, LANES), spread(g, LANES))
            i += LANES
        while i < end:
            labels[i] = g
            i += 1


@jit
def smallest_group(labels, n_groups):
    """The size of the smallest group, counted from the labels alone."""
    counts = np.zeros(n_groups, np.int32)
    for i in range(len(labels)):
        counts[labels[i]] += 1
    return counts.min()
