# mypy: allow-untyped-defs, no-check-untyped-defs
"""Records in a fixed order: the best groups of consecutive ones  (Domingo-Ferrer et al. 2006; Mortazavi 2020).

The sum of squares of d columns in a fixed order is not concave: every size k .. 2k-1 is looked at, O(knd).
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from mag._compiled.jit import inlined, jit
from mag._compiled.lanes import cumulative, lanes_at, last_lane, spread
from mag._compiled.memory import grid, part

PADDED_COLUMNS = 4  # columns are padded to a multiple of this many, and summed in as many parts


@dataclass(frozen=True)
class IntegerColumns:
    """Integers for which integer representatives are to be optimal.

    `x` : the data as float64, each column relative to an integer near its mean; `unit` : what a unit of each column is
    worth in the standardized data.
    """

    x: np.ndarray
    unit: np.ndarray


def labels_in_order(X: np.ndarray, order: np.ndarray, k: int, integers: IntegerColumns | None) -> np.ndarray:
    """The label of every record, in the best grouping of records that are consecutive in the order."""
    return best_in_orders(X, [order], k, integers)


def best_in_orders(X: np.ndarray, orders: Iterable[np.ndarray], k: int, integers: IntegerColumns | None) -> np.ndarray:
    """The labels of the best grouping in any of the orders; of equally good ones, in the first of these."""
    n, d = X.shape
    values, weight = (X, np.ones(d)) if integers is None else (integers.x, np.square(integers.unit))
    wide = -(-d // PADDED_COLUMNS) * PADDED_COLUMNS
    x, weights = np.zeros((n, wide)), np.zeros(wide)
    weights[:d] = weight
    sizes, labels = np.zeros(n + 1, np.int64), np.empty(n, np.int64)
    least = np.inf
    for order in orders:
        np.take(values, order, axis=0, out=x[:, :d])
        cost = solve(x, weights, integers is not None, k, sizes)
        if cost < least:
            least = cost
            write_labels(sizes, order, labels)
    return labels


@jit
def solve(x, weights, integer, k, sizes):
    """sizes[j] = size of the last group in the best grouping of the first j records; returns the cost of all.

    Sums start at the last record x[j-1], so that no offset costs precision; F only ever adds what is not negative.
    """
    n, d = x.shape
    F = np.full(n + 1, np.inf)
    F[0] = 0.0
    total, squares = np.empty(d), np.empty(d)
    for j in range(k, n + 1):
        total[:] = 0.0
        squares[:] = 0.0
        for size in range(2, k):
            extend(x, j, size, total, squares)
        for size in range(k, min(2 * k, j + 1)):
            apart = extend(x, j, size, total, squares)
            i = j - size
            if F[i] < np.inf:
                cost = F[i] + (rounded(total, squares, weights, size) if integer else apart)
                if cost <= F[j]:  # of equally good groupings, that with the larger last group (as in Mortazavi 2020)
                    F[j] = cost
                    sizes[j] = size
    return F[n]


@inlined
def extend(x, j, size, total, squares):
    """Add the first record of the group of this size that ends before j; Σ|y|² - |Σy|²/size of the group.

    The sums of integers are exact, so that equal costs compare equal.
    """
    d = x.shape[1]
    rows, total, squares = grid(x, d), part(total, 0), part(squares, 0)
    first, last = rows[j - size], rows[j - 1]
    all_squares = square_of_total = spread(0.0, PADDED_COLUMNS)
    for c in range(0, d, PADDED_COLUMNS):
        here = lanes_at(c, PADDED_COLUMNS)
        y = first[here] - last[here]
        t, q = total[here] + y, squares[here] + y * y
        total[here] = t
        squares[here] = q
        square_of_total = square_of_total + t * t
        all_squares = all_squares + q
    return last_lane(cumulative(all_squares, 1)) - last_lane(cumulative(square_of_total, 1)) / size


@inlined
def rounded(total, squares, weights, size):
    """Σ(y - c)² = Σy² + c(c·size - 2Σy) with the integer c nearest to the mean; a half either way costs the same."""
    cost = 0.0
    for column in range(len(total)):
        center = np.rint(total[column] / size)
        cost += weights[column] * (squares[column] + center * (center * size - 2.0 * total[column]))
    return cost


@jit
def write_labels(sizes, order, labels):
    """Follow the last groups back from the end."""
    j, g = len(order), 0
    while j > 0:
        for i in range(j - sizes[j], j):
            labels[order[i]] = g
        j -= sizes[j]
        g += 1
