"""The standard dynamic program over group sizes k .. 2k-1, O(kn)  (Stamm & Schaub 2024, algorithm 2)."""

from mag._jit import inlined, jit, real
from mag._lanes import at
from mag.solvers._anchored import anchor, first_row, memory, scan, settle, start

__all__ = ["memory", "solve", "solve_columnwise"]


@jit
def solve(cost, x, w, k, sizes, work):
    """sizes[j] = size of the last group in the best grouping of the first j values; returns the cost of all n."""
    return in_blocks(cost, x, w, k, k, sizes, work)


@jit
def solve_columnwise(cost, x, w, k, sizes, work):
    """As `solve`, with every column's last value as its anchor, for weights that may leave all others without one.

    It takes a few times longer, since the sums of a block serve one column.
    """
    return in_blocks(cost, x, w, k, 1, sizes, work)


@inlined
def in_blocks(cost, x, w, k, width, sizes, work):
    """The dynamic program in blocks of `width` columns, at most k."""
    s = start(cost, x, w, k, sizes, work)
    spent = 0.0
    for b in range(k, s.n + 1, width):
        columns = min(width, s.n + 1 - b)
        f, base = anchor(cost, s, b, columns)
        spent += real(base)
        for p in range(2 * k, 2 * k + columns):
            low = max(first_row(b, k) - f.shift, p - 2 * k + 1)
            high = -f.shift if b < 2 * k else p - k
            best, row = scan(cost, f, s.G, p, low, high)
            settle(cost, s, f, p, row, best, sizes)
    return spent + real(at(s.F, s.n))
