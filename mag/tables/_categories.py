"""The representatives of groups of categories."""

import datetime
import re
from collections.abc import Hashable
from decimal import Decimal
from typing import Any

import numpy as np

from mag.frames import Column
from mag.frames.categories import CategoryCodes, publish_text
from mag.frames.units import SECONDS_PER_UNIT, Units
from mag.hierarchy import text_of
from mag.tables._aggregate import representatives
from mag.tables._round import round_floats_outwards, round_outwards

ALLOWED = {  # aggregates allowed on each scale, the default first
    "number": ("mean", "max", "median", "mid_range", "min", "range"),
    "nominal": ("mode", "medoid"),
    "ordinal": ("median", "max", "medoid", "min", "mode", "range"),
    "nominal with a hierarchy": ("ancestor", "medoid", "mode"),
    "ordinal with a hierarchy": ("ancestor", "max", "median", "medoid", "min", "mode", "range"),
}
TRUE = ("ancestor", "range")  # for every record of a group
WEIGHTED = ("mean", "median", "medoid", "mode")


def mask_categories(
    column: Column,
    categories: CategoryCodes,
    how: str,
    labels: np.ndarray,
    n_groups: int,
    weights: np.ndarray | None,
    order: np.ndarray | None,
) -> Any:
    """Every record's representative, in the order of publication: a value of the column, or text."""
    there = slice(None) if categories.missing is None else ~categories.missing
    codes, groups = categories.values[there], labels[there]
    present = np.unique(groups)
    dense = np.searchsorted(present, groups)
    own = None if weights is None else weights[there]
    published = labels if order is None else labels[order]
    missing = categories.missing if order is None or categories.missing is None else categories.missing[order]
    if not codes.size:
        return column.take(order if order is not None else np.arange(labels.size), np.ones(labels.size, bool))
    if how in TRUE:
        texts = _common_labels(categories, codes, dense) if how == "ancestor" else _ranges(categories, codes, dense)
        short = np.full(n_groups, "", object)
        short[present] = texts
        return publish_text(column, short.tolist(), published, missing)
    codes_of_groups = np.zeros(n_groups, np.int64)
    codes_of_groups[present] = _members(how, categories, codes, dense, own)
    return column.take(categories.first[codes_of_groups][published], missing)


def mask_range(
    column: Column, unit: Units, labels: np.ndarray, n_groups: int, decimals: int | None, order: np.ndarray | None
) -> Any:
    """The range of every group's numbers, as text."""
    there = slice(None) if unit.missing is None else ~unit.missing
    low, high = (representatives(how, unit.values[there], labels[there], n_groups, None) for how in ("min", "max"))
    ends = zip(_texts(column, unit, low, decimals, False), _texts(column, unit, high, decimals, True), strict=True)
    texts = [one if one == other else f"[{one}, {other}]" for one, other in ends]
    missing = unit.missing if order is None or unit.missing is None else unit.missing[order]
    return publish_text(column, texts, labels if order is None else labels[order], missing)


def _texts(column: Column, unit: Units, ends: np.ndarray, decimals: int | None, up: bool) -> list[str]:
    """The ends of ranges as text, exactly; rounded so that the ranges only become wider."""
    if not unit.is_integer:
        if decimals is None:
            return _texts_of_floats(ends)
        rounded, sure = round_floats_outwards(ends, decimals, up)
        texts = _texts_of_floats(rounded)
        for place in np.flatnonzero(~sure).tolist():
            texts[place] = _text_of_decimal(round_outwards(Decimal(repr(float(ends[place]))), decimals, up))
        return texts
    below = ends % 1000 if unit.step == SECONDS_PER_UNIT["ns"] else None  # Python's times have no nanoseconds
    every = np.arange(ends.size)
    if below is None:
        return [text_of(cell) for cell in _cells(column.to_column(ends, every, None))]
    cells = _cells(column.to_column(ends - below, every, None))
    return [_with_nanoseconds(cell, rest) for cell, rest in zip(cells, below.tolist(), strict=True)]


def _texts_of_floats(numbers: np.ndarray) -> list[str]:
    """As they are printed; integers without a point and with all printed digits."""
    texts = list(map(repr, numbers.tolist()))
    for place in np.flatnonzero(numbers == np.floor(numbers)).tolist():
        number = float(numbers[place])
        texts[place] = str(int(number)) if abs(number) < 2**53 else _text_of_decimal(Decimal(texts[place]))
    return texts


def _text_of_decimal(number: Decimal) -> str:
    """As the float is printed that means this number; all digits of integers, and where no float does."""
    if number == number.to_integral_value():
        return str(int(number))
    near = float(number)
    return repr(near) if Decimal(repr(near)) == number else f"{number:f}"


def _with_nanoseconds(cell: Any, rest: int) -> str:
    """A time of whole microseconds and some nanoseconds more, as text."""
    if rest == 0 or isinstance(cell, np.generic):
        return text_of(cell + np.timedelta64(rest, "ns") if rest else cell)
    text = cell.isoformat() if isinstance(cell, datetime.datetime) else str(cell)
    moment, fraction, zone = re.fullmatch(r"(.*\d:\d\d:\d\d)(?:\.(\d+))?([+-][\d:]+)?", text).groups("")  # type: ignore[union-attr]
    return f"{moment}.{fraction[:6]:0<6}{rest:03}{zone}"


def _cells(column: Any) -> list[Any]:
    for method in ("to_pylist", "to_list"):
        if hasattr(column, method):
            return getattr(column, method)()
    array = np.asarray(column)
    return list(array) if array.dtype.kind in "Mm" else array.tolist()


def _common_labels(categories: CategoryCodes, codes: np.ndarray, groups: np.ndarray) -> list[str]:
    tree, leaves = categories.tree, categories.leaves
    assert tree is not None
    assert leaves is not None
    return [text_of(tree.labels[node]) for node in tree.common_ancestors(leaves[codes], groups).tolist()]


def _ranges(categories: CategoryCodes, codes: np.ndarray, groups: np.ndarray) -> list[str]:
    low, high = (
        [text_of(categories.labels[code]) for code in _members(how, categories, codes, groups, None).tolist()]
        for how in ("min", "max")
    )
    return [one if one == other else f"[{one}, {other}]" for one, other in zip(low, high, strict=True)]


def _members(
    how: str, categories: CategoryCodes, codes: np.ndarray, groups: np.ndarray, weights: np.ndarray | None
) -> np.ndarray:
    """The code of a member of every group; groups are 0, 1, … without gaps.

    Ties of mode and medoid go to the value that more records of the table have, then to the first in order.
    """
    m = len(categories.labels)
    pairs, place = np.unique(groups * m + codes, return_inverse=True)
    group, code = pairs // m, pairs % m
    if weights is None:
        counts = np.bincount(place)
    else:
        order = np.lexsort((weights, place))  # the order of records must not show in sums
        counts = np.bincount(place[order], weights[order])
    first = np.flatnonzero(np.diff(group, prepend=-1))
    if how == "min":
        return code[first]
    if how == "max":
        return code[np.append(first[1:], group.size) - 1]
    if how == "median":  # the lower one: at least half of the group is not above it
        total = np.cumsum(counts)
        before = (total - counts)[first]
        within, whole = total - before[group], np.add.reduceat(counts, first)
        reached = np.flatnonzero(2 * within >= whole[group])
        return code[reached[np.unique(group[reached], return_index=True)[1]]]
    frequent = np.bincount(codes, minlength=m)[code]
    equally_far = categories.tree is None and not categories.ordered  # then the medoid is the mode
    worse = -counts if how == "mode" or equally_far else _away(categories, counts, group, code, first)
    order = np.lexsort((code, -frequent, worse, group))
    return code[order][first]


def _away(
    categories: CategoryCodes, counts: np.ndarray, group: np.ndarray, code: np.ndarray, first: np.ndarray
) -> np.ndarray:
    """Squared distances of values from the centroid of their group, in the embedding."""
    points = categories.embedding()[code]
    whole = np.maximum(np.add.reduceat(counts, first), np.finfo(float).tiny)
    centers = np.add.reduceat(points * counts[:, None], first, axis=0) / whole[:, None]
    return np.round(np.square(points - centers[group]).sum(axis=1), 12)  # equal distances stay equal


def generalized_columns(aggregates: dict[Hashable, str]) -> tuple[Hashable, ...]:
    """Columns whose published cells are true for every record."""
    return tuple(name for name, how in aggregates.items() if how in TRUE)
