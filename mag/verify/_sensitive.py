"""Diversity and closeness of a published table, counted class by class in Python's integers.

Shares no code with `mag.tables.criteria`, which decides while groups are made: cells are read and counted here
separately, entropy is compared in decimals of 50 digits, and distances over a tree are flows along its edges.
"""

import bisect
import contextlib
import datetime
import itertools
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from decimal import Decimal, InvalidOperation, localcontext
from fractions import Fraction
from typing import Any

from mag._lib.errors import InputTypeError, InputValueError
from mag.hierarchy import Hierarchy

DECIMAL_DIGITS = 50  # of logarithms, before integers decide
Counts = list[Counter[Any]]


class Absent:
    """The value of all missing cells."""


def value_of(cell: Any) -> Any:
    """The value to count a cell as: all kinds of missing alike, and −0.0 as 0.0."""
    if cell is None or (isinstance(cell, Decimal) and cell.is_nan()):
        return Absent
    try:
        return cell if bool(cell == cell) else Absent
    except TypeError:  # pandas.NA has no truth value
        return Absent
    except ValueError:  # an array has one for every entry
        return cell


def count_values(classes: Sequence[int], cells: Sequence[Sequence[Any]]) -> Counts:
    """How often each value, or combination of values, occurs in each class."""
    counts: dict[int, Counter[Any]] = {}
    values = (
        map(value_of, cells[0]) if len(cells) == 1 else zip(*(map(value_of, column) for column in cells), strict=True)
    )
    try:
        for number, value in zip(classes, values, strict=True):
            counts.setdefault(number, Counter())[value] += 1
    except TypeError:
        raise InputTypeError("sensitive columns must hold values that can be hashed; got lists or similar.") from None
    return list(counts.values())


# ---- diversity


def least_entropy(counts: Counts) -> float:
    """The number of equally frequent values that have the least entropy of a class."""
    least = math.inf
    for own in counts:
        s = own.total()
        bits = sum(c * math.log2(s / c) for c in own.values()) / s
        least = min(least, 2.0**bits)
    return least


def is_uncertain(own: Counter[Any], least: Fraction) -> bool:
    """Whether a class has at least the entropy of this number of equally frequent values."""
    s = own.total()
    with localcontext() as context:
        context.prec = DECIMAL_DIGITS
        needed = Decimal(least.numerator).ln() - Decimal(least.denominator).ln()
        slack = sum((Decimal(c) * (Decimal(s) / Decimal(c)).ln() for c in own.values()), Decimal(0)) - s * needed
        if abs(slack) > Decimal(10) ** (10 - DECIMAL_DIGITS) * s:
            return slack > 0
    product = math.prod(Fraction(s, c) ** c for c in own.values())
    return product >= least**s


def largest_ratio(counts: Counts, l: int) -> Fraction | float:  # noqa: E741 - the usual name
    """The largest count divided by the sum of the counts from the l-th largest on, in the worst class."""
    ratios = []
    for own in counts:
        falling = [c for _, c in own.most_common()]
        rest = sum(falling[l - 1 :])
        ratios.append(Fraction(falling[0], rest) if rest else math.inf)
    return max(ratios)


# ---- closeness


def largest_distance(
    counts: Counts, everybody: Counter[Any], ground: str, order: Sequence[Any] | None, tree: Hierarchy | None
) -> Fraction:
    """The largest earth mover's distance between one of these classes and the whole table."""
    if ground == "ordered":
        return ordered(counts, everybody, order)
    if ground == "hierarchical":
        if tree is None:
            raise InputValueError("hierarchy is needed with ground 'hierarchical'; got None.")
        return hierarchical(counts, everybody, tree)
    return equal(counts, everybody)


def equal(counts: Counts, everybody: Counter[Any]) -> Fraction:
    """The surplus shares of a class, which add up to its deficits."""
    n = everybody.total()
    return max(
        sum(
            (max(Fraction(c, own.total()) - Fraction(everybody[value], n), Fraction(0)) for value, c in own.items()),
            Fraction(0),
        )
        for own in counts
    )


def ordered(counts: Counts, everybody: Counter[Any], order: Sequence[Any] | None) -> Fraction:
    """The area between the steps of a class and those of all, by the number of values but one."""
    values = [value for value in everybody if value is not Absent]
    try:
        if order is None:
            values.sort()
        else:
            places = dict(zip(values, map(ranks_of(order), values), strict=True))
            values.sort(key=places.__getitem__)
            if None in places.values():
                raise TypeError
    except TypeError:
        raise InputTypeError(
            "sensitive must hold values with an order with ground 'ordered'; got other values."
        ) from None
    values += [Absent] * (Absent in everybody)
    place = {value: i for i, value in enumerate(values)}
    n, m = everybody.total(), len(values)
    below = list(itertools.accumulate(everybody[value] for value in values))[:-1]  # all are below the last
    area = [0, *itertools.accumulate(below)]
    farthest = Fraction(0)
    for own in counts:
        s, reached, work, start = own.total(), 0, 0, 0
        for value in [*sorted(own, key=place.__getitem__), None]:
            end = m - 1 if value is None else min(place[value], m - 1)
            # between two of its values the class stays at `reached`, while all go past n·reached / s once
            cross = min(max(bisect.bisect_left(below, -(-n * reached // s)), start), end)
            work += n * reached * (2 * cross - start - end) + s * (area[end] + area[start] - 2 * area[cross])
            start, reached = end, reached if value is None else reached + own[value]
        farthest = max(farthest, Fraction(work, n * s * max(m - 1, 1)))
    return farthest


def ranks_of(order: Sequence[Any]) -> Callable[[Any], int | None]:
    """The place of a value in an order; an entry of text also means the number or the day that it is the text of."""
    places: dict[Any, int] = {}
    meant: dict[Any, set[int]] = {}
    for place, entry in enumerate(order):
        if places.setdefault(entry, place) != place:
            raise _repeats(place)
        if isinstance(entry, str):
            for reading in (Decimal, float, datetime.date.fromisoformat, datetime.datetime.fromisoformat):
                with contextlib.suppress(ValueError, InvalidOperation):
                    meant.setdefault(reading(entry), set()).add(place)
        meant.setdefault(entry, set()).add(place)

    def rank(value: Any) -> int | None:
        if isinstance(value, str):
            return places.get(value)
        found = meant.get(value) or {place for text in (str(value),) if (place := places.get(text)) is not None}
        if len(found) > 1:
            raise _repeats(max(found))
        return min(found, default=None)

    return rank


def _repeats(place: int) -> InputValueError:
    return InputValueError(f"order must list every value once; entry {place + 1} repeats another one.")


def hierarchical(counts: Counts, everybody: Counter[Any], tree: Hierarchy) -> Fraction:
    """The flow along the edges of the tree; an edge to the parent is half as long as the rise of the loss."""
    values = [value for value in everybody if value is not Absent]
    leaves = tree.find(values)
    if (leaves < 0).any():
        missing = int((leaves < 0).sum())
        raise InputValueError(f"hierarchy must have a leaf for each value; {missing} values have no leaf.")
    rows = tree.to_levels()
    heights = heights_of(rows)
    root = (len(rows[0]) - 1, rows[0][-1])
    paths = {value: list(enumerate(rows[leaf])) for value, leaf in zip(values, leaves.tolist(), strict=True)}
    paths[Absent] = [(-1, None), root]
    climb = {}
    for path in paths.values():
        for node, parent in itertools.pairwise(path):
            climb[node] = (heights[parent] if parent != root else max(heights[root], 1)) - heights.get(node, 0)
    n, farthest = everybody.total(), Fraction(0)
    whole = flows(everybody, paths)
    for own in counts:
        s, mine = own.total(), flows(own, paths)
        work = sum(climb[node] * abs(n * mine.get(node, 0) - s * whole[node]) for node in whole if node != root)
        farthest = max(farthest, Fraction(work, 2 * n * s * max(heights[root], 1)))
    return farthest


def heights_of(rows: Iterable[Sequence[Hashable]]) -> dict[Any, int]:
    """The longest way from a node down to a leaf, in changes of the label."""
    heights: dict[Any, int] = {}
    for row in rows:
        changes = 0
        for level, label in enumerate(row):
            changes += level > 0 and label != row[level - 1]
            heights[level, label] = max(heights.get((level, label), 0), changes)
    return heights


def flows(own: Counter[Any], paths: dict[Any, list[Any]]) -> dict[Any, int]:
    """How many records are below every node."""
    below: Counter[Any] = Counter()
    for value, c in own.items():
        for node in paths[value]:
            below[node] += c
    return below
