"""At most q groups: a price per group is raised until the optimum has q of them.

The cost of q groups is convex in q for concave costs, so the price is the slope between a grouping with too many groups
and one with too few; where the optimum jumps over q, tails of the two are swapped (Aggarwal, Schieber & Tokuyama 1994).
"""

import numpy as np


def at_most(q, n, solve, cost_of):
    """Starts of the best grouping into at most q groups.

    `solve(price)` are the starts of an optimum with `price` added per group, `cost_of(starts)` what they cost without.
    """
    many = solve(0.0)
    if len(many) <= q:
        return many
    few = np.zeros(1, np.int64)
    cost_many, cost_few = cost_of(many), cost_of(few)
    while True:
        price = (cost_few - cost_many) / (len(many) - len(few))
        between = solve(price)
        if len(between) == q:
            return between
        if not len(few) < len(between) < len(many):
            break  # both are optimal at this price
        cost = cost_of(between)
        if cost + price * len(between) >= cost_many + price * len(many):
            break
        if len(between) > q:
            many, cost_many = between, cost
        else:
            few, cost_few = between, cost
    return _swap(np.append(many, n), np.append(few, n), q)


def _swap(many, few, q):
    """Follow `few` up to a group that contains one of `many`, then `many`, such that there are q groups."""
    skipped = len(many) - 1 - q
    for u in range(len(few) - 1):
        v = u + skipped
        if few[u] <= many[v] and many[v + 1] <= few[u + 1]:
            return np.concatenate([few[: u + 1], many[v + 1 : -1]])
    raise RuntimeError("No grouping with the requested number of groups was found; please report this.")
