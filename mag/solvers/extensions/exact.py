"""The optimum in Python's integers, O(n log n) costs of groups: for inputs whose costs float64 cannot compare.

Floats are integers times a power of two, so that sums are exact whatever the scales of values, weights and penalties.
Only means are rounded, GUARD bits below the least cost above 0.  A cost takes microseconds.
"""

import operator
from bisect import bisect_left
from itertools import accumulate, pairwise

import numpy as np

from mag.solvers.extensions.max_groups import at_most

GUARD = 96


def solve(x, weights, problem):
    """Where the groups of sorted values start, for a `Problem` with a cost of the table."""
    costs = _Costs(x, weights, problem)
    n, least = len(x), problem.least

    def starts_at(price):
        return _least_path(n, least, lambda i, j: costs.charged(i, j) + price)

    if problem.max_groups is None:
        return starts_at(0)
    return at_most(problem.max_groups, n, starts_at, costs.of, exact=True)[0]


class _Costs:
    """Costs of groups [i, j) as integers, in units that also hold the penalties."""

    def __init__(self, x, weights, problem):
        self.name, self.k = problem.cost.name, problem.k
        squares = self.name in ("sse", "sse_int")
        x, unit_x = _integers(x)
        w, unit_w = ([1] * len(x), 0) if weights is None else _integers(weights)
        self.y = [a - x[0] for a in x]
        heavy = list(map(operator.mul, w, self.y))
        self.W, self.S = _running(w), _running(heavy)
        self.Q = _running(map(operator.mul, heavy, self.y)) if squares else []
        penalties = [penalty.as_integer_ratio() for penalty in (problem.fixed, problem.short)]
        unit = (2 if squares else 1) * unit_x + unit_w
        finest = max(denominator.bit_length() - 1 for _, denominator in penalties)
        self.shift = max(GUARD + self.W[-1].bit_length(), unit + finest)
        self.fixed, self.short = ((a << (self.shift - unit)) // b for a, b in penalties)

    def charged(self, i, j):
        """The cost of a group, with what is added to it."""
        below = self.k - (j - i)
        return self.group(i, j) + self.fixed + (self.short * below if below > 0 else 0)

    def of(self, starts):
        """The cost of a grouping."""
        return sum(self.charged(i, j) for i, j in pairwise([*starts.tolist(), len(self.y)]))

    def group(self, i, j):
        """The cost of a group."""
        y, size = self.y, j - i
        total = self.S[j] - self.S[i]
        if self.name == "sse":
            weight = self.W[j] - self.W[i]
            return (((self.Q[j] - self.Q[i]) * weight - total * total) << self.shift) // weight if weight else 0
        if self.name == "sse_int":
            center = (2 * total + size) // (2 * size)
            cost = self.Q[j] - self.Q[i] + center * (center * size - 2 * total)
        elif self.name == "sae":
            W, S = self.W, self.S
            m = bisect_left(W, (W[i] + W[j] + 1) // 2, i + 1, j) - 1  # up to and including m is half of the weight
            cost = S[j] + S[i] - 2 * S[m] - y[m] * (W[j] + W[i] - 2 * W[m])
        elif self.name == "roundup":
            cost = size * y[j - 1] - total
        elif self.name == "rounddown":
            cost = total - size * y[i]
        else:
            return (y[j - 1] - y[i]) << (self.shift - 1)  # half the range
        return cost << self.shift


def _integers(values):
    """Numbers as integers times 2**unit."""
    if values.dtype.kind != "f":
        return values.tolist(), 0
    part, exponent = np.frexp(values)
    whole, exponent = np.ldexp(part, 53).astype(np.int64), exponent.astype(np.int64) - 53
    unit = int(exponent[whole != 0].min()) if whole.any() else 0
    shifts = np.where(whole != 0, exponent - unit, 0).tolist()
    return [a << b for a, b in zip(whole.tolist(), shifts, strict=True)], unit


def _running(numbers):
    return list(accumulate(numbers, initial=0))


def _least_path(n, least, cost):
    """Starts of the groups of `least` values or more whose concave costs sum to the least.

    A row that is better than an earlier one in some column stays better: `rows` are those that will be the best, each
    from column `since` on (Galil & Park 1990, section 2).
    """
    F, row = [0] * (n + 1), np.zeros(n + 1, np.int64)
    rows, since, head = [0], [least], 0

    def wins(later, earlier, j):
        return F[later] + cost(later, j) <= F[earlier] + cost(earlier, j)

    for j in range(least, n + 1):
        if j >= 2 * least:
            new = j - least
            while len(rows) > head and wins(new, rows[-1], max(since[-1], j)):
                rows.pop()
                since.pop()
            first = _first_win(wins, new, rows[-1], max(since[-1], j), n) if len(rows) > head else j
            if first <= n:
                rows.append(new)
                since.append(first)
        if head + 1 < len(rows) and since[head + 1] <= j:
            head += 1
        row[j] = rows[head]
        F[j] = F[rows[head]] + cost(rows[head], j)
    starts = [n]
    while starts[-1]:
        starts.append(int(row[starts[-1]]))
    return np.array(starts[:0:-1], np.int64)


def _first_win(wins, later, earlier, low, n):
    """The first column behind `low`, where it loses, in which the later row wins; n + 1 if there is none."""
    step = 1
    while low + step <= n and not wins(later, earlier, low + step):
        low += step
        step *= 2
    high = min(low + step, n + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if wins(later, earlier, middle) else (middle, high)
    return high
