"""The standard algorithm over all starts, O(n²), for any cost that needs no interleaved groups  (Wilber 1988)."""

from mag._compiled.anchored_sums import real
from mag._compiled.jit import jit
from mag.solvers.extensions import blocks
from mag.solvers.extensions.spans import columns, later_is_better, memory, run_unbounded, settle, start

__all__ = ["memory", "run", "solve"]


@jit
def solve(cost, x, w, limits, sizes, work):
    """sizes[j] = size of the last group in the best grouping of the first j values; returns the cost of all n."""
    s = start(cost, x, w, limits, sizes, work)
    for c in range(1, columns(s) + 1):
        row = 0
        for r in range(1, c):
            if later_is_better(cost, s, row, r, c):
                row = r
        settle(cost, s, c, row, sizes)
    return real(s.F[s.n])


def run(column, problem):
    """A `Solution`."""
    if problem.cost.blocks:
        return blocks.run_quadratic(column, problem)
    return run_unbounded(solve, column, problem)
