# mypy: allow-untyped-defs, no-check-untyped-defs
"""From where groups start to the label of every record."""

import numpy as np

from mag._compiled.jit import jit
from mag._compiled.lanes import lanes_at, spread
from mag._compiled.memory import part
from mag._lib.threads import PASS_VALUES_PER_THREAD, in_parts

LABELS_PER_WRITE = 8  # labels written at once
CHECKED = 4096  # labels looked at before a short run is noticed


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
    n, labels = len(labels), part(labels, 0)
    stop = starts[last] if last < len(starts) else n
    for g in range(first, last):
        i, end = starts[g], starts[g + 1] if g + 1 < len(starts) else n
        while i < end and i + LABELS_PER_WRITE <= stop:
            labels[lanes_at(i, LABELS_PER_WRITE)] = spread(g, LABELS_PER_WRITE)
            i += LABELS_PER_WRITE
        while i < end:
            labels[i] = g
            i += 1


def at_least(k: int, labels: np.ndarray, n_groups: int, in_runs: bool, threads: int = 1) -> bool:
    """Whether every group has k records or more, found from the labels alone; `in_runs` says where to look first."""
    if threads > 1 and labels.size > PASS_VALUES_PER_THREAD:
        return _at_least_in_parts(k, labels, n_groups, in_runs, threads)
    if in_runs and every_run(k, labels):
        return True
    return smallest_count(labels, np.zeros(n_groups, np.int32)) >= k


def _at_least_in_parts(k: int, labels: np.ndarray, n_groups: int, in_runs: bool, threads: int) -> bool:
    def check_runs(first: int, last: int) -> bool:
        """Runs that begin in a part, each of them whole."""
        return every_run(k, labels[run_from(labels, first) : run_from(labels, last)])

    def count(first: int, last: int) -> np.ndarray:
        counts = np.zeros(n_groups, np.int32)
        smallest_count(labels[first:last], counts)
        return counts

    if in_runs and all(in_parts(check_runs, labels.size, threads)):
        return True
    return sum(in_parts(count, labels.size, min(threads, k))).min() >= k


@jit
def run_from(labels, i):
    """The first of a run of equal labels at i or behind."""
    while 0 < i < len(labels) and labels[i] == labels[i - 1]:
        i += 1
    return i


@jit
def every_run(k, labels):
    """Whether every run of equal labels is k long or longer; gives up soon after the first that is not."""
    n, labels = len(labels), part(labels, 0)
    if n < k:
        return n == 0
    for i in range(1, k):
        if labels[i] != labels[0] or labels[n - 1 - i] != labels[n - 1]:
            return False
    for first in range(1, n - k + 1, CHECKED):
        short = np.int32(0)
        for i in range(first, min(first + CHECKED, n - k + 1)):
            begins = np.int32(labels[i] != labels[i - 1])
            short |= begins & np.int32(labels[i + k - 1] != labels[i])
        if short:
            return False
    return True


@jit
def smallest_count(labels, counts):
    """Count the records of each group; the least of the counts."""
    for i in range(len(labels)):
        counts[labels[i]] += 1
    least = counts[0]
    for g in range(1, len(counts)):
        if counts[g] < least:
            least = counts[g]
    return least
