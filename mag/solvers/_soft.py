"""Groups of 1 to 2k-1 values for small k, where each value below k costs something and nothing else is added.

A group of 2k values or more is never better than two of k or more.  As `_narrow` for k = 2 and 3: in panels, the costs
of all groups that end in a panel, in SIMD lanes; then the recurrence; then which size it was, the smallest of equals.
"""

from collections import namedtuple

from mag._compiled.anchored_sums import AnchoredSums
from mag._compiled.cost import number, terms
from mag._compiled.jit import jit
from mag._compiled.lanes import lanes_at, select, spread, stripe_at
from mag._compiled.memory import part
from mag._compiled.work import integers, layout, length_for, reals, space_in
from mag.solvers import _narrow
from mag.solvers._narrow import COLUMNS_PER_STEP, PAD, PANEL, add, clear, group_costs, restart, stripes

SoftBuffers = namedtuple("SoftBuffers", "anchors narrow costs")


@layout
def buffers_at(space, n, k):
    """The memory of a solver."""
    return SoftBuffers(
        anchors=integers(space, n + 1),  # of every column, where `growing` has them
        narrow=_narrow.lines_at(space, k),
        costs=reals(space, 2 * k - 1, PANEL),  # of groups of 1, 2 … values that end at the columns of a panel
    )


def memory(n, k):
    """How many float64 it takes."""
    return length_for(buffers_at, n, k)


@jit
def solve(cost, tag, x, w, short, sizes, work):
    """As `growing.solve` with fixed = 0 and least = 1."""
    k, n = number(tag), len(x) - 2 * PAD
    memory = buffers_at(space_in(work), n, k)
    F, inverse, C = memory.narrow.F, memory.narrow.inverse, memory.costs
    for t in range(PAD):
        F[t] = float("inf")
        inverse[t] = 1.0 / t
    F[PAD - 1] = 0.0
    for j in range(1, n + 1):
        memory.anchors[j] = j - 1
    values, weights, sizes = part(x, PAD), part(w, PAD), part(sizes, 0)
    sums = stripes(cost)
    spent = 0.0
    for b in range(1, n + 1, PANEL):
        m = min(PANEL, n + 1 - b)
        for t in range(0, m, COLUMNS_PER_STEP):
            now, j = lanes_at(t, COLUMNS_PER_STEP), stripe_at(2 * k, COLUMNS_PER_STEP)
            f = AnchoredSums(values, weights, b + t - 2 * k, values[now + (b - 1)], sums, inverse)
            carry = clear(sums, j)
            for L in range(1, 2 * k):
                carry = add(sums, terms(cost, f, j - L), carry, j - L)
                C[L - 1, now] = group_costs(cost, f, j, L) + max(k - L, 0) * short
        last = F[PAD - 1]
        for t in range(m):
            best = F[PAD + t - (2 * k - 1)] + C[2 * k - 2, t]
            for L in range(2 * k - 2, 1, -1):
                candidate = F[PAD + t - L] + C[L - 1, t]
                best = select(candidate < best, candidate, best)
            candidate = last + C[0, t]  # the one that waits for the column before
            last = select(candidate < best, candidate, best)
            F[PAD + t] = last
        for t in range(0, m, COLUMNS_PER_STEP):
            now = lanes_at(t, COLUMNS_PER_STEP)
            best, size = F[now + PAD], spread(2 * k - 1, COLUMNS_PER_STEP)
            for L in range(2 * k - 2, 0, -1):
                same = F[now + (PAD - L)] + C[L - 1, now] == best
                size = select(same, spread(L, COLUMNS_PER_STEP), size)
            sizes[now + b] = size
        spent += restart(F, k, m)
    return spent + F[PAD - 1]
