"""Slow, obvious and exact: the oracle of the tests.  Rational numbers throughout; no code in common with the solvers.

`exhaustive` tries every way to put at most 12 records into groups, contiguous or not.  `optimum` is the textbook
dynamic program over sorted values.  `cost_of` evaluates a grouping from the definition of its cost, which is the
`rational` of the cost's file.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any, ClassVar

from mag._lib.errors import InputValueError
from mag.costs import COSTS

Numbers = Sequence[Fraction]


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
    evaluate = COSTS[cost].rational
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
        raise InputValueError(f"x must hold at most 12 values; got {n}.")
    values, weight = _ascending(x, weights)
    fixed, least = Fraction(group_penalty), k if soft is None else 1

    @cache
    def group(members: int) -> Fraction:
        records = [r for r in range(n) if members >> r & 1]
        price = COSTS[cost].rational([values[r] for r in records], [weight[r] for r in records]) + fixed
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
        raise InputValueError(f"k must be an integer in [1, n={n}]; got {k}.")
    return least_cost


class _Sums:
    """Exact cost of [i, j) of sorted values from exact running sums."""

    def __init__(self, values: Numbers, weight: Numbers, cost: str) -> None:
        self.x, self.w = values, weight
        self.W, self.S, self.Q = [Fraction(0)], [Fraction(0)], [Fraction(0)]
        for a, b in zip(values, weight, strict=True):
            self.W.append(self.W[-1] + b)
            self.S.append(self.S[-1] + a * b)
            self.Q.append(self.Q[-1] + a * a * b)
        self._rational, self._quick = COSTS[cost].rational, self.QUICK.get(cost)

    def __call__(self, i: int, j: int) -> Fraction:
        return self._rational(self.x[i:j], self.w[i:j]) if self._quick is None else self._quick(self, i, j)

    def _sse(self, i: int, j: int) -> Fraction:
        total, weight = self.S[j] - self.S[i], self.W[j] - self.W[i]
        return self.Q[j] - self.Q[i] - total * total / weight if weight else Fraction(0)

    def _sse_int(self, i: int, j: int) -> Fraction:
        total, size = self.S[j] - self.S[i], j - i
        center = (2 * total + size) // (2 * size)
        return self.Q[j] - self.Q[i] - 2 * center * total + center * center * size

    def _sae(self, i: int, j: int) -> Fraction:
        half, m, size = (self.W[i] + self.W[j]) / 2, i, j - i
        if all(w == 1 for w in (self.w[i], self.w[j - 1])) and self.W[j] - self.W[i] == size:
            m = i + (size - 1) // 2
        else:
            while self.W[m + 1] < half:
                m += 1
        above, below = self.S[j] - self.S[m], self.S[m] - self.S[i]
        return above - below - self.x[m] * ((self.W[j] - self.W[m]) - (self.W[m] - self.W[i]))

    QUICK: ClassVar = {  # costs that need not be computed from their definition, which takes long for large groups
        "maxdist": lambda s, i, j: (s.x[j - 1] - s.x[i]) / 2,
        "rounddown": lambda s, i, j: s.S[j] - s.S[i] - (j - i) * s.x[i],
        "roundup": lambda s, i, j: (j - i) * s.x[j - 1] - (s.S[j] - s.S[i]),
        "sae": _sae,
        "sse": _sse,
        "sse_int": _sse_int,
    }


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
        raise InputValueError(f"k must be an integer in [1, n={n}]; got {k}.")
    return result
