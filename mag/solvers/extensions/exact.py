"""The optimum in Python's integers, O(n log n) costs of groups: for inputs whose costs float64 cannot compare.

Floats are integers times a power of two, so that sums are exact for any scales of values, weights and penalties.
Only means are rounded, GUARD bits below the least cost above 0.  A cost takes microseconds.
"""

import operator
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
    """Costs of groups [i, j) as integers, in units that also hold the penalties.

    `y` are distances from the first value; `W`, `S` and `Q` sum weights, weighted y and, for squares, y².
    """

    def __init__(self, x, weights, problem):
        self.cost, self.k = problem.cost.exact, problem.k
        degree = problem.cost.degree
        x, unit_x = _integers(x)
        w, unit_w = ([1] * len(x), 0) if weights is None else _integers(weights)
        self.y = [a - x[0] for a in x]
        heavy = list(map(operator.mul, w, self.y))
        self.W, self.S = _running(w), _running(heavy)
        self.Q = _running(map(operator.mul, heavy, self.y)) if degree == 2 else []
        penalties = [penalty.as_integer_ratio() for penalty in (problem.fixed, problem.short)]
        unit = degree * unit_x + unit_w
        finest = max(denominator.bit_length() - 1 for _, denominator in penalties)
        self.shift = max(GUARD + self.W[-1].bit_length(), unit + finest)
        self.fixed, self.short = ((a << (self.shift - unit)) // b for a, b in penalties)

    def charged(self, i, j):
        """The cost of a group, including its charges."""
        below = self.k - (j - i)
        return self.group(i, j) + self.fixed + (self.short * below if below > 0 else 0)

    def of(self, starts):
        """The cost of a grouping."""
        return sum(self.charged(i, j) for i, j in pairwise([*starts.tolist(), len(self.y)]))

    def group(self, i, j):
        """The cost of a group."""
        numerator, denominator = self.cost(self, i, j)
        cost = numerator << self.shift
        return cost if denominator == 1 else cost // denominator


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
    """The first column after `low`, where it loses, in which the later row wins; n + 1 if there is no such column."""
    step = 1
    while low + step <= n and not wins(later, earlier, low + step):
        low += step
        step *= 2
    high = min(low + step, n + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if wins(later, earlier, middle) else (middle, high)
    return high
