# mypy: allow-untyped-defs, no-check-untyped-defs
"""Halving by Mondrian (algorithms 18 and 19): the records of a part are divided at the median of its widest direction.

Halves are exact, also where many records share a value.  Equal values stay in the order of the directions that the
part was divided by before, and at first in the order of the data: neighbors in one direction stay together when
another one cannot tell them apart.
"""

from collections import namedtuple
from typing import Any

import numpy as np

from mag._backends import cpu
from mag._compiled.jit import called, jit
from mag._compiled.memory import grid, part
from mag._lib.progress import Progress
from mag._lib.threads import each
from mag.methods.distances.blocks import squares

RULE_RANGE, RULE_VARIANCE, RULE_PAIRS = np.int64(0), np.int64(1), np.int64(2)
CLEARLY = 1.0 + 1e-9  # variances closer than this are equal, and the first column is taken: all are 1 at the start
RECORDS_PER_CALL = 1 << 14  # records that one compiled call may divide

# The `order` of records, and memory to sort it in; 1 in `cuts` where a part starts.
Halves = namedtuple("Halves", "order spare values cuts")


@called
def _widest_range(X, order, start, stop):
    best, widest = 0, -1.0
    for j in range(X.shape[1]):
        low = high = X[order[start], j]
        for p in range(start, stop):
            low, high = min(low, X[order[p], j]), max(high, X[order[p], j])
        if high - low > widest:
            best, widest = j, high - low
    return best


@called
def _largest(variance):
    """The column with the largest variance."""
    best = 0
    for j in range(1, variance.size):
        if variance[j] > variance[best] * CLEARLY:
            best = j
    return best


@called
def _widest_pair(X, order, start, stop, mean, variance):
    """The direction of largest variance among the columns and (e_i ± e_j) / √2, as (i, j, ±1 or 0)."""
    d = X.shape[1]
    best, other, sign = _largest(variance), 0, 0.0
    most = variance[best]
    product, centered = np.zeros((d, d)), np.empty(d)
    for p in range(start, stop):
        for j in range(d):
            centered[j] = X[order[p], j] - mean[j]
        for i in range(d):
            for j in range(i + 1, d):
                product[i, j] += centered[i] * centered[j]
    for i in range(d):
        for j in range(i + 1, d):
            both = (variance[i] + variance[j]) / 2 + abs(product[i, j])
            if both > most * CLEARLY:
                best, other, sign, most = i, j, 1.0 if product[i, j] >= 0 else -1.0, both
    return best, other, sign


@called
def sort_part(parts, start, stop):
    """Sort values[0, start:stop] and `order` with them, equal values as they are: merges of runs that double."""
    order, spare, values, other, run = parts.order, parts.spare, parts.values[0], parts.values[1], 16
    for a in range(start, stop, run):
        for p in range(a + 1, min(a + run, stop)):
            v, i, q = values[p], order[p], p
            while q > a and values[q - 1] > v:
                values[q], order[q] = values[q - 1], order[q - 1]
                q -= 1
            values[q], order[q] = v, i
    while run < stop - start:
        for a in range(start, stop, 2 * run):
            middle, end = min(a + run, stop), min(a + 2 * run, stop)
            p, q = a, middle
            for t in range(a, end):
                if p < middle and (q == end or values[p] <= values[q]):
                    other[t], spare[t] = values[p], order[p]
                    p += 1
                else:
                    other[t], spare[t] = values[q], order[q]
                    q += 1
        for t in range(start, stop):
            values[t], order[t] = other[t], spare[t]
        run *= 2


@called
def _halve(X, halves, start, stop, rule, statistics):
    """Divide order[start:stop]; returns where the second half starts.  A record in the middle goes to it."""
    order, values, d = halves.order, halves.values, X.shape[1]
    mean, variance = statistics[0], statistics[1]
    i, j, sign = 0, 0, 0.0
    if rule == RULE_RANGE:
        i = _widest_range(X, order, start, stop)
    else:
        squares(grid(X, d), d, part(order, 0), start, stop, mean, variance)
        if rule == RULE_PAIRS:
            i, j, sign = _widest_pair(X, order, start, stop, mean, variance)
        else:
            i = _largest(variance)
    for p in range(start, stop):
        row = X[order[p]]
        values[0, p] = row[i] + sign * row[j] if sign != 0.0 else row[i]
    sort_part(halves, start, stop)
    return (start + stop) // 2


@jit
def divide(X, halves, start, stop, k, limit, rule, once):
    """Halve order[start:stop], and its halves, until they have at most `limit` records or could not be halved.

    cuts[p] = 1 where a part starts.  With `once`, only the first step.
    """
    cuts, statistics = halves.cuts, np.empty((2, X.shape[1]))
    stack = np.empty((128, 2), np.int64)
    stack[0, 0], stack[0, 1], depth = start, stop, 1
    while depth > 0:
        depth -= 1
        start, stop = stack[depth, 0], stack[depth, 1]
        cuts[start] = 1
        if stop - start <= limit or stop - start < 2 * k:
            continue
        middle = _halve(X, halves, start, stop, rule, statistics)
        cuts[middle] = 1
        if once:
            return middle
        stack[depth, 0], stack[depth, 1] = middle, stop
        stack[depth + 1, 0], stack[depth + 1, 1] = start, middle
        depth += 2
    return -1


def parts_of(
    X: np.ndarray, k: int, limit: int, rule: np.int64, threads: int, progress: Progress, engine: Any = cpu
) -> tuple[np.ndarray, np.ndarray]:
    """The order of the records and where parts start in it."""
    n = len(X)
    if engine is not cpu and engine.supports_halving(*X.shape, k, int(rule)):

        def divisible(sizes: np.ndarray) -> np.ndarray:
            return (sizes > limit) & (sizes >= 2 * k)

        return engine.halve(X, int(rule), CLEARLY, divisible, lambda: progress.step(0.0))
    halves = Halves(np.arange(n), np.empty(n, np.int64), np.empty((2, n)), np.zeros(n, np.int64))
    large, small = [(0, n)], []
    while large:
        start, stop = large.pop()
        if stop - start > RECORDS_PER_CALL:
            middle = divide(X, halves, start, stop, k, limit, rule, True)
            if middle >= 0:
                large += [(start, middle), (middle, stop)]
            progress.step(0.0)
        else:
            small.append((start, stop))

    def halve(job: tuple[int, int]) -> None:
        divide(X, halves, *job, k, limit, rule, False)

    share = 2 * threads
    for a in range(0, len(small), share):
        each(halve, small[a : a + share], threads)
        progress.step(a / len(small))
    return halves.order, np.flatnonzero(halves.cuts)


def labels_of(order: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """A label per record: the number of its part."""
    labels = np.empty(order.size, np.int64)
    labels[order] = np.repeat(np.arange(starts.size), np.diff(np.append(starts, order.size)))
    return labels
