"""The standard dynamic program over group sizes k .. 2k-1, O(kn)  (Stamm & Schaub 2024, algorithm 2)."""

from mag._compiled.anchored_sums import real
from mag._compiled.jit import jit
from mag.solvers._anchored import anchor, first_row, memory, run_bounded, scan, settle, start

__all__ = ["memory", "run", "solve"]


@jit
def solve(cost, x, w, k, sizes, work):
    """sizes[j] = size of the last group in the best grouping of the first j values; returns the cost of all n."""
    s = start(cost, x, w, k, sizes, work)
    spent = 0.0
    for b in range(k, s.n + 1, k):
        columns = min(k, s.n + 1 - b)
        f, base = anchor(cost, s, b, columns)
        spent += real(base)
        for p in range(2 * k, 2 * k + columns):
            low = max(first_row(b, k) - f.shift, p - 2 * k + 1)
            high = -f.shift if b < 2 * k else p - k
            best, row = scan(cost, f, s.G, p, low, high)
            settle(cost, s, f, p, row, best, sizes)
    return spent + real(s.F[s.n])


def run(column, problem):
    """A `Solution`."""
    return run_bounded(solve, column, problem)
