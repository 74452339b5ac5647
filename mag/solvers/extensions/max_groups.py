"""At most q groups: a price per group is raised until the optimum has q of them.

The cost of q groups is convex in q for concave costs: q groups are optimal at the prices between the slopes on both
sides of q.  The search keeps a grouping with too many groups and one with too few.  The number of groups falls about as
a power of the price, so the secant through the logarithms of the last two gives the next price.  That takes few steps,
but does not end where costs are straight in q.  So wherever it comes no closer, the next price is the slope between the
two groupings: either the optimum lies between them, or both are optimal at that price, and tails of the two are
swapped (Aggarwal, Schieber & Tokuyama 1994).
"""

import math
from typing import NamedTuple

import numpy as np

from mag._lib.errors import REPORT

DEAR = 2.0**30  # prices are rounded: q of them may cost at most this many times as much as the groups
ROUNDING_FACTOR = 1 + 2.0**-43
POWER = 3.0  # of the price in the number of groups where nothing is known: sums of squares of evenly spread values


class _Priced(NamedTuple):
    """A grouping, its cost without the price, and a price at which it is optimal."""

    starts: np.ndarray
    cost: float
    price: float


def at_most(q, n, solve, cost_of, exact=False):
    """Starts of the best grouping into at most q groups, and whether rounded prices cannot have misled.

    `solve(price)` returns the starts of an optimum with `price` added per group, `cost_of(starts)` their cost without
    it; `exact`: both compute in integers.  An optimum at too high a price is searched again at a lower one.
    """

    def group_at(price):
        starts = solve(price)
        return _Priced(starts, cost_of(starts), price)

    def sure(price, cost):
        return exact or cost == 0 or price * q <= DEAR * cost

    many, one = group_at(0), np.zeros(1, np.int64)
    if len(many.starts) <= q:
        return many.starts, True
    few, closer, seen = _Priced(one, cost_of(one), math.inf), True, []
    while True:  # of two turns, one is the last or brings the numbers of groups in `few` and `many` closer together
        guess = _interpolate(many, few, seen, q) if closer and not exact else None
        price = _slope(many, few, exact) if guess is None else guess
        between = group_at(price)
        groups = len(between.starts)
        if groups == q and sure(price, between.cost):
            return between.starts, True
        closer = len(few.starts) < groups < len(many.starts)
        gains = between.cost + price * groups < many.cost + price * len(many.starts)
        if guess is None and not (closer and gains):
            break  # both are optimal at this price
        seen = [*seen[-1:], between]
        if groups > q:
            many = between if closer else many._replace(price=price)
        else:
            few = between if closer else few._replace(price=price)
    starts = few.starts if len(few.starts) == q else _swap(np.append(many.starts, n), np.append(few.starts, n), q)
    cost, bound = cost_of(starts), many.cost + price * (len(many.starts) - q)  # no q groups cost less than the bound
    return starts, exact or (sure(price, cost) and cost <= bound * ROUNDING_FACTOR)


def _slope(many, few, exact):
    """The additional cost of one group less, between many and few."""
    parts = len(many.starts) - len(few.starts)
    return (few.cost - many.cost) // parts if exact else (few.cost - many.cost) / parts


def _interpolate(many, few, seen, q):
    """A price that may lead to q groups: interpolated on a power of the price between the last two groupings."""
    price, groups = many.cost / len(many.starts), len(many.starts)
    power = POWER
    if seen:
        price, groups = seen[-1].price, len(seen[-1].starts)
    if len(seen) == 2 and seen[0].price > 0 and len(seen[0].starts) != groups:
        power = math.log(price / seen[0].price) / math.log(len(seen[0].starts) / groups)
    guess = price * (groups / q) ** min(max(power, POWER / 4), 4 * POWER) if price > 0 else 0.0
    if not many.price < guess < few.price:
        guess = math.sqrt(many.price) * math.sqrt(few.price)
    return guess if many.price < guess < few.price else None


def _swap(many, few, q):
    """Follow `few` up to a group that contains one of `many`, then `many`, such that there are q groups."""
    skipped = len(many) - 1 - q
    for u in range(len(few) - 1):
        v = u + skipped
        if few[u] <= many[v] and many[v + 1] <= few[u + 1]:
            return np.concatenate([few[: u + 1], many[v + 1 : -1]])
    raise RuntimeError(f"No grouping with the requested number of groups was found; {REPORT}")
