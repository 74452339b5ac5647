# mypy: allow-untyped-defs, no-check-untyped-defs
"""Mondrian over trees: a part is cut into the children of the closest common ancestor of one of its columns.

A number is cut between the two values nearest the median that leave k records on both sides, a category into the
children that occur.  Children of fewer than k records are pooled, with the smallest of the others while they are too
few together: the pool is published as if nothing had been cut.  Of all columns the one is cut that lowers the loss
most: a column loses the share of its range, or the loss of the closest common ancestor, of every record.

Equal values are never divided, so the parts do not depend on the order of the records.
"""

import itertools
from collections import deque, namedtuple
from collections.abc import Callable

import numpy as np

from mag._compiled.jit import called, jit
from mag._lib.progress import Progress
from mag._lib.threads import each
from mag.methods.distances.hierarchies import CategoryColumns
from mag.methods.mondrian.halving import CLEARLY, sort_part

RECORDS_PER_CALL = 1 << 14  # records that one compiled call may divide

# `values` and `codes` of records; `nodes`, the ancestors of each code from itself to the root; the `loss` of nodes;
# the loss of a `unit` of each number; `columns`, in the order of the table, number j as j, tree c as -1 - c.
MixedTable = namedtuple("MixedTable", "values codes nodes loss unit columns")
# The `order` of records, and memory to sort it in; where the parts of the part that is cut `ends`; 1 in `cuts` where a
# part starts.
CutParts = namedtuple("CutParts", "order spare values ends cuts")


def table_of(X: np.ndarray, trees: CategoryColumns) -> MixedTable:
    """The columns for compiled functions."""
    values = np.ascontiguousarray(X[:, trees.numbers])
    codes = np.empty((len(X), len(trees.columns)), np.int64)
    levels = [column.levels.shape[1] for column in trees.columns]
    nodes = np.zeros((sum(len(column.levels) for column in trees.columns), max(levels, default=0)), np.int64)
    loss, row, node = [np.zeros(0)], 0, 0
    for c, column in enumerate(trees.columns):
        m = len(column.levels)
        codes[:, c] = column.codes + row
        nodes[row : row + m, : levels[c]] = column.levels + node
        loss.append(column.loss * column.importance)
        row, node = row + m, node + column.loss.size
    ranges = np.ptp(values, axis=0)
    unit = np.divide(trees.importance, ranges, out=np.zeros(ranges.size), where=ranges > 0)
    places = [(j, number) for number, j in enumerate(trees.numbers.tolist())]
    places += [(column.first, -1 - c) for c, column in enumerate(trees.columns)]
    return MixedTable(values, codes, nodes, np.concatenate(loss), unit, np.array([at for _, at in sorted(places)]))


def new_parts(n: int) -> CutParts:
    """All of n records as one part."""
    parts = CutParts(
        np.arange(n), np.empty(n, np.int64), np.empty((2, n)), np.empty(n, np.int64), np.zeros(n, np.int64)
    )
    parts.cuts[0] = 1
    return parts


def total_loss(X: np.ndarray, trees: CategoryColumns, labels: np.ndarray) -> float:
    """The loss of all records in all columns in groups with labels 0, 1, …"""
    ends = np.cumsum(np.bincount(labels))
    return float(sum_losses(table_of(X, trees), np.argsort(labels, kind="stable"), ends))


def parts_of_trees(
    X: np.ndarray,
    k: int,
    limit: int,
    trees: CategoryColumns,
    threads: int,
    progress: Progress,
    allowed: Callable[[np.ndarray], bool] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The order of the records and the starts of parts in it; parts of at most `limit` records are not cut.

    `allowed` takes the numbers of some records and decides whether they may be a part.
    """
    n, table = len(X), table_of(X, trees)
    parts = new_parts(n)
    order, cuts = parts.order, parts.cuts
    large, small = deque([(0, n)]), []
    while large and not progress.stopped:
        start, stop = large.popleft()
        if allowed is None and stop - start <= RECORDS_PER_CALL:
            small.append((start, stop))
            continue
        ends = _ends(table, parts, start, stop, k, limit, allowed or (lambda part: True))
        cuts[ends[:-1]] = 1
        large += zip([start, *ends[:-1]], ends, strict=True) if len(ends) > 1 else []
        progress.step(0.0)
    share = 2 * threads
    for a in range(0, len(small), share):
        if progress.step(a / len(small)):
            break
        each(lambda job: divide(table, parts, *job, k, limit), small[a : a + share], threads)
    return order, np.flatnonzero(cuts)


def _ends(
    table: MixedTable,
    parts: CutParts,
    start: int,
    stop: int,
    k: int,
    limit: int,
    may_be: Callable[[np.ndarray], bool],
) -> list[int]:
    """The ends of the parts of order[start:stop]; a single part if they cannot be cut."""
    order, ends = parts.order, parts.ends
    best, most = (order[start:stop].copy(), [stop]), 0.0
    for column in table.columns if stop - start > limit and stop - start >= 2 * k else ():
        children = list_children(table, parts, start, stop, k, column)
        bounds = [start, *ends[start : start + children].tolist()]
        fit = np.array([b - a >= k and may_be(order[a:b]) for a, b in itertools.pairwise(bounds)], bool)
        count = pool(parts, start, stop, k, children, column, fit)
        gain = gain_of(table, parts, start, stop, column, count)
        if gain > most * CLEARLY and (fit.all() or may_be(order[ends[start + count - 2] : stop])):
            best, most = (order[start:stop].copy(), ends[start : start + count].tolist()), gain
    order[start:stop] = best[0]
    return best[1]


# ---- compiled


@called
def _level(table, order, start, stop, c):
    """The lowest level of tree c on which all records have the same node."""
    first = table.codes[order[start], c]
    level = 0
    for p in range(start + 1, stop):
        code = table.codes[order[p], c]
        if code != first:
            while table.nodes[code, level] != table.nodes[first, level]:
                level += 1
    return level


@called
def loss_of(table, order, start, stop, column):
    """The loss of each record of order[start:stop] in a column."""
    if column < 0:
        level = _level(table, order, start, stop, -1 - column)
        return table.loss[table.nodes[table.codes[order[start], -1 - column], level]]
    low = high = table.values[order[start], column]
    for p in range(start + 1, stop):
        v = table.values[order[p], column]
        low, high = min(low, v), max(high, v)
    return (high - low) * table.unit[column]


@jit
def list_children(table, parts, start, stop, k, column):
    """Sort order[start:stop] by child, or divide it at a value; ends[start:] are the ends of these; how many, or 0."""
    order, values, ends = parts.order, parts.values, parts.ends
    level, count = 0, 0
    if column < 0:
        level = _level(table, order, start, stop, -1 - column)
        if level == 0:
            return 0
    for p in range(start, stop):
        i = order[p]
        values[0, p] = table.values[i, column] if column >= 0 else table.nodes[table.codes[i, -1 - column], level - 1]
    sort_part(parts, start, stop)
    if column < 0:
        for p in range(start + 1, stop + 1):
            if p == stop or values[0, p] != values[0, p - 1]:
                ends[start + count] = p
                count += 1
        return count
    best = start
    for p in range(start + k, stop - k + 1):
        if values[0, p] != values[0, p - 1] and abs(2 * p - start - stop) < abs(2 * best - start - stop):
            best = p
    if best > start:
        ends[start], ends[start + 1], count = best, stop, 2
    return count


@jit
def pool(parts, start, stop, k, children, column, fit):
    """The children that are not `fit` go to the end of order[start:stop], together; how many parts, 0 if that fails."""
    order, spare, ends, pooled = parts.order, parts.spare, parts.ends, 0
    for q in range(children):
        if not fit[q]:
            pooled += ends[start + q] - (start if q == 0 else ends[start + q - 1])
    while 0 < pooled < k and column < 0:  # the smallest of the others joins them, the first of equally small ones
        least, smallest = stop - start + 1, 0
        for q in range(children):
            size = ends[start + q] - (start if q == 0 else ends[start + q - 1])
            if fit[q] and size < least:
                least, smallest = size, q
        fit[smallest] = False
        pooled += least
    if children == 0 or pooled == stop - start or (column >= 0 and pooled > 0):
        return 0
    count, kept, rest, a = 0, start, stop - pooled, start
    for q in range(children):
        b = ends[start + q]
        for p in range(a, b):
            if fit[q]:
                spare[kept] = order[p]
                kept += 1
            else:
                spare[rest] = order[p]
                rest += 1
        if fit[q]:
            ends[start + count] = kept
            count += 1
        a = b
    for p in range(start, stop):
        order[p] = spare[p]
    if pooled:
        ends[start + count] = stop
        count += 1
    return count


@jit
def gain_of(table, parts, start, stop, column, count):
    """How much less the records lose in a column after it was cut into `count` parts."""
    order, ends = parts.order, parts.ends
    whole, gain, a = loss_of(table, order, start, stop, column), 0.0, start
    for q in range(count):
        b = ends[start + q]
        gain += (b - a) * (whole - loss_of(table, order, a, b, column))
        a = b
    return gain


@jit
def sum_losses(table, order, ends):
    """The loss of all records in all columns in groups that end there."""
    total, a = 0.0, 0
    for b in ends:
        for column in table.columns:
            total += (b - a) * loss_of(table, order, a, b, column)
        a = b
    return total


@jit
def divide(table, parts, start, stop, k, limit):
    """Cut order[start:stop], and its parts, until they have at most `limit` records or cannot be cut."""
    ends, cuts = parts.ends, parts.cuts
    stack = np.empty((stop - start) // k + 1, np.int64)  # ends of parts, the first on top
    stack[0], depth = stop, 1
    fit = np.empty(stop - start, np.bool_)
    while depth > 0:
        stop = stack[depth - 1]
        best, most, count = 0, 0.0, 0
        tries = table.columns.size if stop - start > limit and stop - start >= 2 * k else -1
        for number in range(tries + 1):  # the best column once more, at the end
            if number == tries and most == 0.0:
                break
            column = table.columns[number] if number < tries else best
            children, a = list_children(table, parts, start, stop, k, column), start
            for q in range(children):
                fit[q] = ends[start + q] - a >= k
                a = ends[start + q]
            count = pool(parts, start, stop, k, children, column, fit)
            gain = gain_of(table, parts, start, stop, column, count)
            if gain > most * CLEARLY:
                best, most = column, gain
        if most > 0.0:
            depth -= 1
            for q in range(count - 1, -1, -1):
                stack[depth] = ends[start + q]
                depth += 1
            for q in range(count - 1):
                cuts[ends[start + q]] = 1
        else:
            start, depth = stop, depth - 1
