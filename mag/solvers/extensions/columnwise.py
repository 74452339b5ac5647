"""Weights of any ratio, groups of k to 2k-1 values, O(kn): costs grow value by value, and nothing is subtracted.

Sums from an anchor that weighs next to nothing can be larger than the cost of a group by the ratio of the weights.
Here a group grows to the left of column j, and all that is added to its cost is positive.
"""

import numpy as np

from mag._compiled.jit import inlined, jit

EVEN = 2**10  # largest ratio of sums from an anchor to the cost of a group that loses no precision


@jit
def solve(x, w, k, squares, F, sizes):
    """sizes[j] = size of the last group in the best grouping of the first j values; squares or distances are summed."""
    n = len(x)
    F[0] = 0.0
    F[1:k] = np.inf
    for j in range(k, n + 1):
        if j % k == 0 and j >= 2 * k:  # F restarts near 0
            F[j - 2 * k : j] -= F[j - 2 * k : j].min()
        if squares:
            grow_squares(x, w, k, j, F, sizes)
        else:
            grow_distances(x, w, k, j, F, sizes)


@inlined
def consider(cost, i, j, k, F, sizes):
    """Settle for the group [i, j) if it is allowed and the best so far."""
    if j - i == k:
        F[j] = np.inf
    if j - i >= k and F[i] + cost < F[j]:
        F[j] = F[i] + cost
        sizes[j] = j - i


@inlined
def grow_squares(x, w, k, j, F, sizes):
    """A value d below the mean of the weight W adds d²·wW/(w + W), and leaves the mean dW/(w + W) above itself."""
    W, above, cost = w[j - 1], 0.0, 0.0
    for i in range(j - 2, max(j - 2 * k, -1), -1):
        d = above + float(x[i + 1] - x[i])
        rest = W / (W + w[i]) if W > 0.0 else 0.0
        cost += w[i] * rest * d * d
        above = rest * d
        W += w[i]
        consider(cost, i, j, k, F, sizes)


@inlined
def grow_distances(x, w, k, j, F, sizes):
    """The median m moves to the left while there is more weight; distances to both sides of it are summed apart.

    The amount that a move of m subtracts from the left is at most four times the cost, unless m reaches the value that
    was added, which has nothing on its left.
    """
    m, left, right, below, above = j - 1, 0.0, w[j - 1], 0.0, 0.0
    for i in range(j - 2, max(j - 2 * k, -1), -1):
        below += w[i] * float(x[m] - x[i])
        left += w[i]
        while left > right and m > i:
            m -= 1
            gap = float(x[m + 1] - x[m])
            above += right * gap
            below = max(below - left * gap, 0.0)
            left = max(left - w[m], 0.0)
            right += w[m]
        if m == i:
            left = below = 0.0
        consider(below + above, i, j, k, F, sizes)


@jit
def at_stake(x, w, reach, squares):
    """The largest possible total, over all groups of any grouping, of sums from anchors at most `reach` values away."""
    n = len(x)
    total = 0.0
    for i in range(n):
        farthest = max(float(x[min(i + reach, n - 1)] - x[i]), float(x[i] - x[max(i - reach, 0)]))
        total += w[i] * (farthest * farthest if squares else farthest)
    return total
