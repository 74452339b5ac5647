"""Slow, obvious and exact: the oracle of the tests.  Rational numbers throughout; no code in common with the solvers.

`exhaustive` looks at every way to put at most 12 records into groups, contiguous or not.  `optimum` is the textbook
dynamic program over sorted values.  `cost_of` evaluates a grouping from the definition of its cost.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

from mag._lib.errors import ValueMistake

Numbers = Sequence[Fraction]


def _mean(x: Numbers, w: Numbers) -> Fraction:
    weight = sum(w, Fraction(0))
    return sum((a * b for a, b in zip(x, w, strict=True)), Fraction(0)) / weight if weight else Fraction(0)


def _sse(x: Numbers, w: Numbers) -> Fraction:
    center = _mean(x, w)
    return sum((b * (a - center) ** 2 for a, b in zip(x, w, strict=True)), Fraction(0))


def _sae(x: Numbers, w: Numbers) -> Fraction:
    # a sum of absolute distances is least at one of the values
    return min(sum((b * abs(a - center) for a, b in zip(x, w, strict=True)), Fraction(0)) for center in set(x))


def _sse_int(x: Numbers, w: Numbers) -> Fraction:
    below = sum(x) // len(x)
    return min(sum(((a - center) ** 2 for a in x), Fraction(0)) for center in (below, below + 1))


COSTS: dict[str, Callable[[Numbers, Numbers], Fraction]] = {
    "maxdist": lambda x, w: (max(x) - min(x)) / 2,
    "rounddown": lambda x, w: sum(x) - len(x) * min(x),
    "roundup": lambda x, w: len(x) * max(x) - sum(x),
    "sae": _sae,
    "sse": _sse,
    "sse_int": _sse_int,
}


def _exact(numbers: Sequence[Any]) -> list[Fraction]:
    return [Fraction(a.item() if hasattr(a, "item") else a) for a in numbers]


def _ascending(x: Sequence[Any], weights: Sequence[Any] | None) -> tuple[list[Fraction], list[Fraction]]:
    """Exact values in ascending order, and their weights."""
    order = sorted(range(len(x)), key=lambda r: x[r])
    weight = [1] * len(x) if weights is None else [weights[r] for r in order]
    return _exact([x[r] for r in order]), _exact(weight)


def cost_of(
    x: Sequence[Any], labels: Sequence[Any], cost: str = "sse", weights: Sequence[Any] | None = None
) -> Fraction:
    """The exact cost of a grouping, from the cost's definition.

    >>> cost_of([1, 2, 10, 12], [0, 0, 1, 1])
    Fraction(5, 2)
    """
    values = _exact(x)
    weight = [Fraction(1)] * len(values) if weights is None else _exact(weights)
    members: dict[int, list[int]] = {}
    for record, group in enumerate(labels):
        members.setdefault(int(group), []).append(record)
    evaluate = COSTS[cost]
    parts = ([values[r] for r in group] for group in members.values())
    shares = ([weight[r] for r in group] for group in members.values())
    return sum((evaluate(a, b) for a, b in zip(parts, shares, strict=True)), Fraction(0))


def exhaustive(
    x: Sequence[Any],
    k: int,
    cost: str = "sse",
    weights: Sequence[Any] | None = None,
    group_penalty: float = 0,
    max_groups: int | None = None,
    soft: float | None = None,
    contiguous: bool = False,
) -> Fraction:
    """The least cost over all groupings of at most 12 records, penalties included.

    `contiguous` leaves only groups of consecutive values.

    >>> exhaustive([1, 10, 2, 11], 2)
    Fraction(1, 1)
    """
    n = len(x)
    if n > 12:
        raise ValueMistake(f"x must hold at most 12 values; got {n}.")
    values, weight = _ascending(x, weights)
    fixed, least = Fraction(group_penalty), k if soft is None else 1

    @cache
    def group(members: int) -> Fraction:
        records = [r for r in range(n) if members >> r & 1]
        price = COSTS[cost]([values[r] for r in records], [weight[r] for r in records]) + fixed
        return price + Fraction(soft or 0) * max(0, k - len(records))

    @cache
    def best(left: int, groups: int) -> Fraction | None:
        if not left:
            return Fraction(0)
        if groups == 0:
            return None
        first = left & -left
        others, lowest = left ^ first, None
        some = others
        while True:  # every subset of the records left that contains the first of them
            members = some | first
            run = members // first
            if members.bit_count() >= least and not (contiguous and run & (run + 1)):
                rest = best(left ^ members, groups - 1)
                if rest is not None and (lowest is None or rest + group(members) < lowest):
                    lowest = rest + group(members)
            if not some:
                return lowest
            some = (some - 1) & others

    least_cost = best(2**n - 1, n if max_groups is None else max_groups)
    if least_cost is None:
        raise ValueMistake(f"k must be an integer in [1, n={n}]; got {k}.")
    return least_cost


class _Sums:
    """Exact cost of [i, j) of sorted values from exact running sums."""

    def __init__(self, values: Numbers, weight: Numbers, cost: str) -> None:
        self.x, self.w, self.cost = values, weight, cost
        self.W, self.S, self.Q = [Fraction(0)], [Fraction(0)], [Fraction(0)]
        for a, b in zip(values, weight, strict=True):
            self.W.append(self.W[-1] + b)
            self.S.append(self.S[-1] + a * b)
            self.Q.append(self.Q[-1] + a * a * b)

    def __call__(self, i: int, j: int) -> Fraction:
        x, size = self.x, j - i
        total = self.S[j] - self.S[i]
        if self.cost == "sse":
            weight = self.W[j] - self.W[i]
            return self.Q[j] - self.Q[i] - total * total / weight if weight else Fraction(0)
        if self.cost == "sse_int":
            center = (2 * total + size) // (2 * size)
            return self.Q[j] - self.Q[i] - 2 * center * total + center * center * size
        if self.cost == "maxdist":
            return (x[j - 1] - x[i]) / 2
        if self.cost == "roundup":
            return size * x[j - 1] - total
        if self.cost == "rounddown":
            return total - size * x[i]
        half, m = (self.W[i] + self.W[j]) / 2, i
        if all(w == 1 for w in (self.w[i], self.w[j - 1])) and self.W[j] - self.W[i] == size:
            m = i + (size - 1) // 2
        else:
            while self.W[m + 1] < half:
                m += 1
        above, below = self.S[j] - self.S[m], self.S[m] - self.S[i]
        return above - below - x[m] * ((self.W[j] - self.W[m]) - (self.W[m] - self.W[i]))


def optimum(
    x: Sequence[Any],
    k: int,
    cost: str = "sse",
    weights: Sequence[Any] | None = None,
    group_penalty: float = 0,
    max_groups: int | None = None,
    soft: float | None = None,
) -> Fraction:
    """The least cost of any grouping, penalties included, by dynamic programming over the sorted values.

    O(kn) where groups need fewer than 2k values, O(n²) with a penalty, O(n²·max_groups) with a largest number.

    >>> optimum([0, 0, 0, 0, 0, 1, 1, 2, 8, 8], 3)
    Fraction(74, 3)
    """
    values, weight = _ascending(x, weights)
    group, n = _Sums(values, weight, cost), len(values)
    least = k if soft is None else 1
    bounded = soft is None and not group_penalty and max_groups is None

    def price(i: int, j: int) -> Fraction:
        return group(i, j) + Fraction(group_penalty) + Fraction(soft or 0) * max(0, k - (j - i))

    def layer(before: list[Fraction | None], same: bool) -> list[Fraction | None]:
        costs: list[Fraction | None] = [Fraction(0) if same else None] + [None] * n
        for j in range(least, n + 1):
            first = max(0, j - 2 * k + 1) if bounded else 0
            starts = (i for i in range(first, j - least + 1) if (costs if same else before)[i] is not None)
            costs[j] = min(((costs if same else before)[i] + price(i, j) for i in starts), default=None)  # type: ignore[operator]
        return costs

    if max_groups is None:
        result = layer([], True)[n]
    else:
        layers: list[list[Fraction | None]] = [[Fraction(0)] + [None] * n]
        for _ in range(max_groups):
            layers.append(layer(layers[-1], False))
        result = min((total for last in layers if (total := last[n]) is not None), default=None)
    if result is None:
        raise ValueMistake(f"k must be an integer in [1, n={n}]; got {k}.")
    return result
