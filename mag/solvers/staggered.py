"""SMAWK on diagonal blocks of k columns, O(n)  (Stamm & Schaub 2024, algorithm 1)."""

from collections import namedtuple

import numpy as np

from mag._compiled.anchored_sums import real
from mag._compiled.cost import join
from mag._compiled.jit import inlined, jit
from mag.solvers._anchored import anchor, first_row, memory, run_bounded, settle, start
from mag.solvers._smawk import column_minima, notebook
from mag.solvers.extensions import blocks

__all__ = ["memory", "run", "solve"]


class StaggeredBlock(namedtuple("StaggeredBlock", "cost f G k")):
    """The block's rows and columns, both as positions; column c stands at 2k + c."""


def later_wins(m, a, b, c):
    # Equation (6) without large numbers: too small a group loses to any, too large a group loses to any shorter one.
    p = 2 * m.k + c
    if b > p - m.k:
        return False
    if a < p - 2 * m.k + 1:
        return True
    return join(m.cost, m.f, m.G[b], b, p, p - b) <= join(m.cost, m.f, m.G[a], a, p, p - a)


StaggeredBlock.later_wins = inlined(later_wins)


@jit
def solve(cost, x, w, k, sizes, work):
    """As `simple.solve`."""
    s = start(cost, x, w, k, sizes, work)
    spent = 0.0
    best = np.empty(k, sizes.dtype)
    rows = notebook(k, sizes.dtype)
    for b in range(k, s.n + 1, k):
        columns = min(k, s.n + 1 - b)
        f, base = anchor(cost, s, b, columns)
        spent += real(base)
        row = first_row(b, k) - f.shift
        if b < 2 * k:
            best[:columns] = row  # one group
        else:
            column_minima(StaggeredBlock(cost, f, s.G, k), row, k + columns - 1, columns, best, rows)
        for c in range(columns):
            p, i = 2 * k + c, np.int64(best[c])
            settle(cost, s, f, p, i, join(cost, f, s.G[i], i, p, p - i), sizes)
    return spent + real(s.F[s.n])


def run(column, problem):
    """A `Solution`."""
    if problem.cost.blocks:
        return blocks.run_staggered(column, problem)
    return run_bounded(solve, column, problem)
