"""The dynamic program of `simple`, which never looks before the previous column's best row  (Stamm & Schaub 2024)."""

from mag._compiled.anchored_sums import real
from mag._compiled.jit import jit
from mag.solvers._anchored import anchor, first_row, memory, run_bounded, scan, settle, start

__all__ = ["memory", "run", "solve"]


@jit
def solve(cost, x, w, k, sizes, work):
    """As `simple.solve`; O(kn) where values are tied, much less elsewhere."""
    s = start(cost, x, w, k, sizes, work)
    spent = 0.0
    earliest = 0
    for b in range(k, s.n + 1, k):
        columns = min(k, s.n + 1 - b)
        f, base = anchor(cost, s, b, columns)
        spent += real(base)
        earliest = max(earliest, first_row(b, k))
        for p in range(2 * k, 2 * k + columns):
            low = max(earliest - f.shift, p - 2 * k + 1)
            high = -f.shift if b < 2 * k else p - k
            best, row = scan(cost, f, s.G, p, low, high)
            settle(cost, s, f, p, row, best, sizes)
            earliest = row + f.shift
    return spent + real(s.F[s.n])


def run(column, problem):
    """A `Solution`."""
    return run_bounded(solve, column, problem)
