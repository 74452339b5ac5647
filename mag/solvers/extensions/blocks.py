"""`staggered` and `quadratic` for costs that are functions of prefix sums (`mag.Cost.from_blocks`).

Costs do not depend on F, so a block of groups is evaluated by one call of the user's function, in the library of the
data, from sums that start at a value inside of all groups of the block, as in `_anchored`.  Shapes are always the same,
because some libraries compile anew for every shape.  All calls are of bounded memory.
"""

import numpy as np

from mag._compiled.jit import jit
from mag._compiled.prefix import away_from, power_sums
from mag._compiled.starts import trace
from mag._lib.interrupt import raise_if_abandoned
from mag.solvers._contract import Solution
from mag.solvers._narrow import PAD
from mag.solvers.extensions import diagonal

ENTRIES = 2**18  # groups that are evaluated at a time
DENSE = 256  # k up to which all groups of a diagonal block are evaluated
ROWS_PER_TILE = 2**12  # of a tile of `quadratic`


def staggered(cost, x, weights, k, sizes):
    """sizes[j] = size of the last group in the best grouping of the first j sorted values; the cost of all n."""
    solve = _dense if k <= DENSE else _by_levels
    F = np.empty(x.size + 1)
    F[0] = 0.0
    with np.errstate(all="ignore"):
        spent = solve(cost, x, weights, k, F, sizes)
    return spent + float(F[-1])


def _dense(cost, x, weights, k, F, sizes):
    """All groups of many blocks at a time; the next ones are under way while these are searched."""
    blocks = -(-(x.size + 1 - k) // k)
    batch = min(blocks, max(1, ENTRIES // k**2))
    no_left, no_right = np.zeros((batch, 2 * k - 1)), np.zeros((batch, k))

    def begin(first, places):
        sums = _windows(cost, x, weights, k, np.arange(first, first + batch))
        return first, cost.evaluate([cost.moved(line) for line in sums], *places)

    def finish(first, wait):
        raise_if_abandoned()
        costs = wait()
        cost.check(costs.reshape(-1, k)[: x.size + 1 - (first + 1) * k])  # of columns up to the last value
        return diagonal.search(no_left, costs, no_right, first, F, sizes)

    spent, ahead = 0.0, begin(0, _places(cost, k, batch, from_the_start=True))
    places = _places(cost, k, batch)
    for first in range(batch, blocks, batch):
        now, ahead = ahead, begin(first, places)
        spent += finish(*now)
    return spent + finish(*ahead)


def _windows(cost, x, weights, k, blocks):
    """Power sums of some blocks, one after the other: 3k-1 positions each, from the first row to the last column."""
    b = (blocks + 1) * k
    places = np.clip((b - 2 * k + 1)[:, None] + np.arange(3 * k - 2), 0, x.size - 1)
    anchors = x[np.minimum(b - 1, x.size - 1)]
    y = away_from(x[places], anchors[:, None])
    edges = np.arange(b.size + 1) * (3 * k - 2)
    heavy = None if weights is None else weights[places].ravel()
    return power_sums(y.ravel(), heavy, cost.powers, edges, 2 * k - 1)


def _places(cost, k, batch, from_the_start=False):
    """Positions of all groups of a batch of blocks: [block, column, size].

    No group starts at the values 1 .. k-1, so that the first two blocks repeat one that does not.
    """
    j = 2 * k - 1 + np.arange(k)[:, None]
    i = np.repeat((j - k - np.arange(k))[None], batch, axis=0)
    if from_the_start:
        i[0] = k - 1
        i[1:2] = np.maximum(i[1:2], k - 1)
    row = (3 * k - 1) * np.arange(batch)[:, None, None]
    return cost.moved(i + row), cost.moved(j + row)


def _by_levels(cost, x, weights, k, F, sizes):
    """Block by block: the best row of a middle column bounds those of the columns on both sides.

    A level has at most as many groups as a block has rows and columns; all levels of a block are log₂ k calls.
    """
    n, spent = x.size, 0.0
    room = 3 * k
    for t in range(-(-(n + 1 - k) // k)):
        b = (t + 1) * k
        columns, top = min(k, n + 1 - b), b - 2 * k + 1
        spent += diagonal.restart(F, b, k)
        sums = [cost.moved(line) for line in _windows(cost, x, weights, k, np.array([t]))]
        best = np.zeros(columns, np.int64)
        step = 1 << (columns.bit_length() - 1)
        while step:
            raise_if_abandoned()
            some = np.arange(step - 1, columns, 2 * step)
            low, high = _bounds(best, some, step, b, k, n)
            i, j, starts = _ranges(low, high, b + some, room)
            costs = cost.evaluate(sums, cost.moved(i - top), cost.moved(j - top))()[: starts[-1]]
            settle(F, i, cost.check(costs), starts, b + some, sizes)
            best[some] = b + some - sizes[b + some]
            step //= 2
    return spent


def _bounds(best, some, step, b, k, n):
    """The first and the last row of some columns, between the best rows of the columns that are `step` away."""
    j = b + some
    if b < 2 * k:
        return np.zeros_like(j), np.zeros_like(j)
    low, high = np.maximum(k, j - 2 * k + 1), j - k
    before, after = some >= step, some + step < best.size
    low[before] = np.maximum(low[before], best[some[before] - step])
    high[after] = np.minimum(high[after], best[some[after] + step])
    return low, high


def _ranges(low, high, columns, room):
    """The groups from the rows low .. high to each column, flat, and where a column's begin; padded with the last."""
    starts = np.concatenate(([0], np.cumsum(high - low + 1)))
    i = np.arange(starts[-1]) - np.repeat(starts[:-1] - low, high - low + 1)
    j = np.repeat(columns, high - low + 1)
    padding = (0, room - starts[-1])
    return np.pad(i, padding, "edge"), np.pad(j, padding, "edge"), starts


@jit
def settle(F, rows, costs, starts, columns, sizes):
    """F and the size of the last group of some columns, from candidates in ascending rows; the later of equals."""
    for c in range(len(columns)):
        best, row = F[rows[starts[c]]] + costs[starts[c]], rows[starts[c]]
        for q in range(starts[c] + 1, starts[c + 1]):
            candidate = F[rows[q]] + costs[q]
            if candidate <= best:
                best, row = candidate, rows[q]
        F[columns[c]] = best
        sizes[columns[c]] = columns[c] - row


def quadratic(cost, x, weights, k, least, fixed, short, sizes):
    """The same over all starts; `least`, `fixed` and `short` as in `spans`.  Rows and columns are numbered as there.

    The columns of a block, `least` of them, are reached from rows up to b-1, so that x[b-1] lies in all groups.
    """
    n = x.size
    F = np.empty(n + 1)
    F[0] = 0.0
    height = min(ROWS_PER_TILE, max(1, n - 2 * least + 2), max(1, ENTRIES // least))
    tile = np.arange(height)
    sums = np.zeros((cost.powers + 1, n + 1))
    for b in range(least, n + 1, least):
        raise_if_abandoned()
        j = np.minimum(np.arange(b, b + least), n)[:, None]
        with np.errstate(all="ignore"):
            y = away_from(x[: j[-1, 0]], x[b - 1])
            heavy = None if weights is None else weights[: y.size]
            sums[:, : y.size + 1] = power_sums(y, heavy, cost.powers, np.array([0, y.size]), b)
        lines, columns = [cost.moved(line) for line in sums], cost.moved(j)
        last = np.maximum(j - 2 * least + 1, 0)  # row of every column
        best, rows = np.full(least, np.inf), np.zeros(least, np.int64)
        for top in range(0, int(last[-1, 0]) + 1, height):
            r = np.minimum(top + tile, last)
            i = np.where(r > 0, least - 1 + r, 0)
            costs = cost.check(cost.evaluate(lines, cost.moved(i), columns)())
            candidates = F[i] + costs + short * np.maximum(k - (j - i), 0)
            at = height - 1 - np.argmin(candidates[:, ::-1], axis=1)  # the later of equals
            found = candidates[np.arange(least), at]
            better = found <= best
            best, rows = np.where(better, found, best), np.where(better, i[np.arange(least), at], rows)
        F[j[:, 0]] = best + fixed
        sizes[j[:, 0]] = j[:, 0] - rows
    return float(F[-1])


def run_staggered(column, problem):
    """The `run` of "staggered" for a cost from blocks."""
    values, weights, sizes = _room_for(column)
    total = staggered(problem.cost, values, weights, problem.k, sizes)
    return Solution(trace(sizes, problem), total)


def run_quadratic(column, problem):
    """The `run` of "quadratic" for a cost from blocks."""
    values, weights, sizes = _room_for(column)
    added = problem.least, problem.fixed, problem.short
    total = quadratic(problem.cost, values, weights, problem.k, *added, sizes)
    return Solution(trace(sizes, problem), total)


def _room_for(column):
    """Values, weights or None, and memory for sizes, of this call alone: the user's function may call the library."""
    values, weights = column.values[PAD:-PAD], column.weights[PAD:-PAD] if column.weights.size else None
    return values, weights, np.empty(values.size + 1, np.int32 if values.size < 2**31 else np.int64)
