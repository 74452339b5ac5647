# mypy: allow-untyped-defs, no-check-untyped-defs
"""A k-d tree of masked records: how many are as near to an original record as its own (Friedman et al. 1977).

A masked record is a row of `low` and `high`, the ends of its numbers, and of `paths`, the nodes of its categories from
the leaves up; a box of records has the same form.  Of its numbers it has the largest low and the smallest high end, of
its categories the node that all share, or `VARIES`.  The distance from a box is then computed as that from a record,
and rounding keeps it from being larger than that from any record in it: boxes are left out exactly.
"""

import numpy as np

from mag._compiled.jit import inlined, jit

RECORDS_PER_LEAF = 8
MAX_TREE_DEPTH = 64  # boxes halve: enough for 2^64 records
TIE_FACTOR = 1 + 1e-9  # squared distances closer than this are equal
VARIES = -2  # a node on a path of a box whose records have different ones; -1 is below a published node


def cut_into_boxes(
    low: np.ndarray, high: np.ndarray, paths: np.ndarray, keys: np.ndarray
) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """The order of records in the tree; of every box its first record, its end and the box after its part of the tree.

    Boxes are in preorder: the first half of box b is b + 1.  `keys` are what records are sorted by, a column each,
    divided by the unit of the column; the widest column is cut.
    """
    order = np.arange(len(low))
    first: list[int] = []
    end: list[int] = []
    after: list[int] = []

    def cut(start: int, stop: int) -> None:
        box = len(first)
        first.append(start)
        end.append(stop)
        after.append(0)
        if stop - start > RECORDS_PER_LEAF:
            here = order[start:stop]
            values = keys[here]
            column = values[:, np.argmax(values.max(axis=0) - values.min(axis=0))]
            middle = (stop - start) // 2
            order[start:stop] = here[np.argpartition(column, middle)]
            cut(start, start + middle)
            cut(start + middle, stop)
        after[box] = len(first)

    cut(0, len(low))
    places = [np.array(numbers, np.int64) for numbers in (first, end, after)]
    return order, (*places, *bound_boxes(low[order], high[order], paths[order], *places[:2]))


@jit
def bound_boxes(low, high, paths, first, end):
    """Of every box the largest low and the smallest high ends, and the nodes that all its records share."""
    lows, highs = low[first], high[first]
    shared = paths[first]
    for box in range(first.size):
        for record in range(first[box] + 1, end[box]):
            for j in range(low.shape[1]):
                lows[box, j] = max(lows[box, j], low[record, j])
                highs[box, j] = min(highs[box, j], high[record, j])
            for j in range(paths.shape[1]):
                if shared[box, j] != paths[record, j]:
                    shared[box, j] = VARIES
    return lows, highs, shared


@inlined
def measure(record, low, high, paths, limit):
    """The squared distance of an original record from a masked one or a box; above the limit, any number above it."""
    x, squares_of_units, leaves, losses, starts, roots = record
    far = 0.0
    for c in range(x.size):
        apart = max(x[c], high[c]) - min(x[c], low[c])
        far += apart * apart / squares_of_units[c]
        if far > limit:
            return far
    for c in range(roots.size):
        loss = roots[c]
        for level in range(starts[c + 1] - 1, starts[c] - 1, -1):  # from the root down
            if paths[level] != leaves[level] and paths[level] != VARIES:
                break
            loss = losses[level]
        far += loss
    return far


@jit
def count_nearest(original, masked, counts, tree, own):
    """For every original record, how many masked ones are nearest to it; 0 if its own is not among them.

    `counts` : how many records each masked one represents; `own` : the masked one of every original record.
    """
    X, units, all_leaves, all_losses, starts, roots = original
    low, high, paths = masked
    first, end, after, lows, highs, shared = tree
    found = np.zeros(own.size, np.int64)
    waiting, bounds = np.empty(MAX_TREE_DEPTH, np.int64), np.empty(MAX_TREE_DEPTH)
    for i in range(own.size):
        person, mine = (X[i], units, all_leaves[i], all_losses[i], starts, roots), own[i]
        to_own = measure(person, low[mine], high[mine], paths[mine], np.inf)
        least, total = to_own, 0
        for counting in range(2):
            limit = least * TIE_FACTOR if counting else least
            waiting[0], bounds[0], depth = 0, 0.0, 1
            while depth > 0:
                depth -= 1
                box = waiting[depth]
                if bounds[depth] > limit or (not counting and bounds[depth] == limit):
                    continue
                if after[box] > box + 1:  # push both halves, the nearer one last
                    one, other = box + 1, after[box + 1]
                    to_one = measure(person, lows[one], highs[one], shared[one], limit)
                    to_other = measure(person, lows[other], highs[other], shared[other], limit)
                    if to_one < to_other:
                        one, other, to_one, to_other = other, one, to_other, to_one
                    waiting[depth], bounds[depth] = one, to_one
                    waiting[depth + 1], bounds[depth + 1] = other, to_other
                    depth += 2
                    continue
                for record in range(first[box], end[box]):
                    away = measure(person, low[record], high[record], paths[record], limit)
                    if counting:
                        if away <= limit:
                            total += counts[record]
                    elif away < least:
                        least = limit = away
                if to_own > least * TIE_FACTOR:  # another record is nearer
                    break
            if to_own > least * TIE_FACTOR:
                break
        found[i] = total
    return found
