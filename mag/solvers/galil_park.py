"""The concave least-weight subsequence on line, O(n)  (Galil & Park 1990).

`tentative[c]` is the best row of column c among the rows looked at so far.  Rows from `base` on may still matter to
columns beyond `horizon`; up to there the rows base .. (the newest when the horizon was set) have been searched.
"""

from collections import namedtuple

import numpy as np

from mag._compiled.anchored_sums import real
from mag._compiled.jit import inlined, jit
from mag.solvers._smawk import column_minima, notebook
from mag.solvers.extensions.spans import columns, later_is_better, memory, run_unbounded, settle, start

__all__ = ["memory", "run", "solve"]


class Ahead(namedtuple("Ahead", "cost s first")):
    """Known rows against the columns from `first` on."""


def later_wins(m, a, b, c):
    return later_is_better(m.cost, m.s, a, b, m.first + c)


Ahead.later_wins = inlined(later_wins)


@jit
def solve(cost, x, w, limits, sizes, work):
    """As `quadratic.solve`."""
    s = start(cost, x, w, limits, sizes, work)
    last = columns(s)
    tentative = np.full(last + 1, -1, sizes.dtype)
    best = np.empty(last + 1, sizes.dtype)
    rows = notebook(last, sizes.dtype)
    base = horizon = np.int64(0)
    for c in range(1, last + 1):
        newest = c - 1  # the row that column c is the first to see
        if c > horizon:
            # every row from base on against as many columns as there are rows
            count = min(newest - base + 1, last - c + 1)
            column_minima(Ahead(cost, s, c), base, newest, count, best, rows)
            for q in range(count):
                if tentative[c + q] < 0 or later_is_better(
                    cost, s, np.int64(tentative[c + q]), np.int64(best[q]), c + q
                ):
                    tentative[c + q] = best[q]
            horizon = c + count - 1
        elif later_is_better(cost, s, np.int64(tentative[c]), newest, c):
            # the newest row wins at once, hence everywhere: forget the others
            tentative[c] = newest
            tentative[c + 1 : horizon + 1] = -1
            base = newest
            horizon = c
        elif later_is_better(cost, s, np.int64(tentative[horizon]), newest, horizon):
            # it wins at the horizon, hence beyond: the older rows keep their columns up to there and nothing more
            base = newest
            horizon = c
        settle(cost, s, c, np.int64(tentative[c]), sizes)
    return real(s.F[s.n])


def run(column, problem):
    """A `Solution`."""
    return run_unbounded(solve, column, problem)
