"""`staggered` over diagonal blocks whose costs were computed elsewhere: by a user's function, or on a device.

Block t has the columns j = b .. b+k-1, b = k(t+1), and the rows i = b-2k+1 .. b-1.  The cost of the group [i, j) is the
sum of three parts, in the order in which `staggered` adds them:

    left[t, i - (b-2k+1)]      the part that depends on the row alone
    joint[t, j - b, j - i - k]   the part that depends on both, for every size k .. 2k-1
    right[t, j - b]            the part that depends on the column alone
"""

from collections import namedtuple

import numpy as np

from mag._compiled.cost import join
from mag._compiled.cost import left as left_of
from mag._compiled.cost import right as right_of
from mag._compiled.jit import inlined, jit
from mag.solvers._anchored import first_row, frame_at, last_row, memory, start
from mag.solvers._smawk import column_minima, notebook

__all__ = ["fill", "memory", "restart", "search"]


class Diagonal(namedtuple("Diagonal", "G joint k")):
    """One block; rows count from the first one, columns from b."""


def later_wins(m, a, b, c):
    # as `staggered`: too small a group loses to any, too large a group loses to any shorter one
    smallest = m.k - 1 + c  # the row of the group of k values
    if b > smallest:
        return False
    if a < c:
        return True
    return m.G[b] + m.joint[c, smallest - b] <= m.G[a] + m.joint[c, smallest - a]


Diagonal.later_wins = inlined(later_wins)


@jit
def search(left, joint, right, first, F, sizes):
    """Search the columns of the blocks in `joint`, beginning with block `first`; return the value subtracted from F.

    F[j] is the least cost of the first j values, minus the subtracted value; F[0] = 0 at the beginning.
    """
    n, k = len(F) - 1, joint.shape[2]
    spent = 0.0
    G, best, kept = np.empty(2 * k - 1), np.empty(k, sizes.dtype), notebook(k, sizes.dtype)
    for t in range(len(joint)):
        b = (first + t + 1) * k
        if b > n:
            break
        columns, top = min(k, n + 1 - b), b - 2 * k + 1
        base = restart(F, b, k)
        spent += base
        for i in range(first_row(b, k), last_row(b, k) + 1):
            G[i - top] = F[i] + left[t, i - top]
        if b < 2 * k:
            best[:columns] = -top  # one group
        else:
            column_minima(Diagonal(G, joint[t], k), first_row(b, k) - top, k + columns - 2, columns, best, kept)
        for c in range(columns):
            row = np.int64(best[c])
            F[b + c] = (G[row] + joint[t, c, k - 1 + c - row]) + right[t, c]
            sizes[b + c] = 2 * k - 1 + c - row
    return spent


@jit
def restart(F, b, k):
    """Take the least F of the block's rows from all of them."""
    first, last = first_row(b, k), last_row(b, k)
    base = F[first]
    for i in range(first + 1, last + 1):
        base = min(F[i], base)
    for i in range(first, last + 1):
        F[i] -= base
    return base


@jit
def fill(cost, x, w, k, first, blocks, work):
    """The blocks `first` and following of a built-in cost, as kernels/blocks.cu computes them; `work` as `staggered`'s.

    `blocks` : left, joint and right.  Entries without a group are 0.
    """
    left, joint, right = blocks
    s = start(cost, x, w, k, np.empty(len(x) + 1, np.int32), work)
    for t in range(len(joint)):
        b = (first + t + 1) * k
        if b > s.n:
            break
        columns = min(k, s.n + 1 - b)
        f = frame_at(cost, s, b, columns)
        top, last = b - 2 * k + 1, last_row(b, k)
        for i in range(first_row(b, k), last + 1):
            left[t, i - top] = left_of(cost, f, i - f.shift)
        for c in range(columns):
            p = 2 * k + c
            right[t, c] = right_of(cost, f, p)
            for size in range(k, 2 * k):
                i = b + c - size
                group = first_row(b, k) <= i <= last
                joint[t, c, size - k] = join(cost, f, 0.0, p - size, p, size) if group else 0.0
