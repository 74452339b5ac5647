# mypy: allow-untyped-defs, no-check-untyped-defs
"""What it costs to give a group of vertices one degree, and the two degrees of least cost with different parities.

A group is v[i:j] of the ascending degrees v; `Sorted` holds what costs are computed from.  A group adds size · degree
to the sum of all degrees: where the size is even, that is even for every degree; where it is odd, it has the parity of
the degree.
"""

from collections import namedtuple

import numpy as np

from mag._compiled.jit import called

COST_CODES = {"rounddown": np.int64(0), "roundup": np.int64(1), "sae": np.int64(2), "sse_int": np.int64(3)}
INFINITE = np.int64(2**62)
Sorted = namedtuple("Sorted", "v below through sums squares")


def sort_degrees(v: np.ndarray) -> Sorted:
    """`below` and `through`: how many degrees are less than, and not more than, each; running sums start with 0."""
    sums, squares = np.zeros(v.size + 1, np.int64), np.zeros(v.size + 1, np.int64)
    np.cumsum(v, out=sums[1:])
    np.cumsum(v * v, out=squares[1:])  # may wrap around: differences of neighbors do not
    return Sorted(v, np.searchsorted(v, v, "left"), np.searchsorted(v, v, "right"), sums, squares)


@called
def candidates(s, i, j, top, code):
    """(degree, cost) of the best degree from 0 to `top` and of the best of the other parity, which may be INFINITE."""
    size, total = j - i, s.sums[j] - s.sums[i]
    if code == 0:
        r = s.v[i]
        cost = total - size * r
        return r, cost, r - 1, cost + size if r > 0 else INFINITE
    if code == 1:
        r = s.v[j - 1]
        cost = size * r - total
        return r, cost, r + 1, cost + size if r < top else INFINITE
    if code == 2:
        middle = i + (size - 1) // 2  # the lower median
        r = s.v[middle]
        cost = (s.sums[j] - s.sums[middle + 1]) - (s.sums[middle] - s.sums[i]) - r * (1 - (size & 1))
        up = cost + 2 * (min(s.through[middle], j) - i) - size if r < top else INFINITE
        down = cost + size - 2 * (max(s.below[middle], i) - i) if r > 0 else INFINITE
        if down < up:
            return r, cost, r - 1, down
        return r, cost, r + 1, up
    low = total // size
    square = s.squares[j] - s.squares[i]
    cost = square + low * (low * size - 2 * total)
    rest = total - low * size
    up = cost + size - 2 * rest  # Σ(v - low - 1)²
    if rest == 0 and low == top:
        return low, cost, low - 1, up if low > 0 else INFINITE
    if up < cost:
        return low + 1, up, low, cost
    return low, cost, low + 1, up
