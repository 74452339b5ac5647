"""At most q groups: a price per group is raised until the optimum has q of them.

The cost of q groups is convex in q for concave costs, so the price is the slope between a grouping with too many groups
and one with too few; where the optimum jumps over q, tails of the two are swapped (Aggarwal, Schieber & Tokuyama 1994).
"""

import numpy as np

from mag._lib.errors import REPORT

DEAR = 2.0**30  # prices are rounded: q of them may cost at most this many times as much as the groups
ROUNDED = 1 + 2.0**-43


def at_most(q, n, solve, cost_of, exact=False):
    """Starts of the best grouping into at most q groups, and whether rounded prices cannot have misled.

    `solve(price)` are the starts of an optimum with `price` added per group, `cost_of(starts)` what they cost without;
    `exact` says that both compute in integers.  An optimum at too dear a price is sought again at a lower one.
    """

    def sure(price, cost):
        return exact or cost == 0 or price * q <= DEAR * cost

    many = solve(0)
    if len(many) <= q:
        return many, True
    few = np.zeros(1, np.int64)
    cost_many, cost_few = cost_of(many), cost_of(few)
    while True:
        parts = len(many) - len(few)
        price = (cost_few - cost_many) // parts if exact else (cost_few - cost_many) / parts
        between = solve(price)
        cost = cost_of(between)
        if len(between) == q and sure(price, cost):
            return between, True
        if not len(few) < len(between) < len(many):
            break  # both are optimal at this price
        if cost + price * len(between) >= cost_many + price * len(many):
            break
        if len(between) > q:
            many, cost_many = between, cost
        else:
            few, cost_few = between, cost
    found = few if len(few) == q else _swap(np.append(many, n), np.append(few, n), q)
    cost, bound = cost_of(found), cost_many + price * (len(many) - q)  # no q groups cost less than the bound
    return found, exact or (sure(price, cost) and cost <= bound * ROUNDED)


def _swap(many, few, q):
    """Follow `few` up to a group that contains one of `many`, then `many`, such that there are q groups."""
    skipped = len(many) - 1 - q
    for u in range(len(few) - 1):
        v = u + skipped
        if few[u] <= many[v] and many[v + 1] <= few[u + 1]:
            return np.concatenate([few[: u + 1], many[v + 1 : -1]])
    raise RuntimeError(f"No grouping with the requested number of groups was found; {REPORT}")
