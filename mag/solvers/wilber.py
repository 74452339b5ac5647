"""The concave least-weight subsequence by guess and check, O(n)  (Wilber 1988).

Columns up to c are known.  The rows r .. c give the next columns a guess; the guess is taken as true, and the rows that
would follow from it are searched for the first column that contradicts it.
"""

from collections import namedtuple

import numpy as np

from mag._compiled.anchored_sums import real
from mag._compiled.jit import inlined, jit
from mag.solvers._smawk import column_minima, notebook
from mag.solvers.extensions.spans import columns, later_is_better, memory, run_unbounded, settle, settled_row, start

__all__ = ["memory", "run", "solve"]


class Guess(namedtuple("Guess", "cost s first")):
    """Known rows, and rows that rest on guessed columns, against the columns from `first` on."""


def later_wins(m, a, b, c):
    if b >= m.first + c:  # a group of too few values loses to any
        return False
    return later_is_better(m.cost, m.s, a, b, m.first + c)


Guess.later_wins = inlined(later_wins)


@jit
def solve(cost, x, w, limits, sizes, work):
    """As `quadratic.solve`."""
    s = start(cost, x, w, limits, sizes, work)
    last = columns(s)
    best = np.empty(last + 1, sizes.dtype)
    rows = notebook(last, sizes.dtype)
    r = c = np.int64(0)
    while c < last:
        p = min(2 * c - r + 1, last)
        column_minima(Guess(cost, s, c + 1), r, c, p - c, best, rows)
        for q in range(p - c):
            settle(cost, s, c + 1 + q, np.int64(best[q]), sizes)
        wrong = p + 1
        if p > c + 1:
            column_minima(Guess(cost, s, c + 2), c + 1, p - 1, p - c - 1, best, rows)
            for q in range(p - c - 1):
                column = c + 2 + q
                if later_is_better(cost, s, settled_row(s, column, sizes), np.int64(best[q]), column):
                    wrong = column
                    break
        if wrong <= p:
            # the columns before it stand; from it on, the rows up to c are beaten
            r, c = c + 1, wrong - 1
        else:
            r, c = max(r, settled_row(s, p, sizes)), p
    return real(s.F[s.n])


def run(column, problem):
    """A `Solution`."""
    return run_unbounded(solve, column, problem)
