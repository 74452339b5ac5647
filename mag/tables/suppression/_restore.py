"""Suppressed cells that are restored, where all demands still hold: where a missing cell is a value."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from mag.tables.suppression._patterns import Demand


def restore_cells(
    codes: np.ndarray, published: np.ndarray, demands: list[Demand], prices: np.ndarray, units: np.ndarray | None
) -> np.ndarray:
    """The published codes, with cells of the original in them: the dearest first, one after the other."""
    places = [np.array(demand.columns) for demand in demands]
    unit = range(len(codes)) if units is None else units.tolist()
    classes = [_count_units(map(tuple, published[:, own].tolist()), unit) for own in places]
    rows, columns = np.nonzero(codes != published)
    for i in np.argsort(-prices[columns], kind="stable").tolist():
        r, j = int(rows[i]), int(columns[i])
        before, after = published[r], published[r].copy()
        after[j] = codes[r, j]
        moves = [
            (own, tuple(before[at].tolist()), tuple(after[at].tolist()), demand.k)
            for own, at, demand in zip(classes, places, demands, strict=True)
            if j in demand.columns
        ]
        if all(_can_lose(own[old], unit[r], k) and len(own.get(new, ())) >= k for own, old, new, k in moves):
            for own, old, new, _ in moves:
                own[old] -= Counter([unit[r]])
                own[new][unit[r]] += 1
            published[r] = after
    return published


def _count_units(classes: Iterable[tuple[int, ...]], units: Sequence[int]) -> dict[tuple[int, ...], Counter[int]]:
    """How many records of each unit every class has."""
    counts: dict[tuple[int, ...], Counter[int]] = {}
    for own, unit in zip(classes, units, strict=True):
        counts.setdefault(own, Counter())[unit] += 1
    return counts


def _can_lose(units: Counter[int], unit: int, k: int) -> bool:
    """Whether a class without a record of this unit has at least k units, or no record."""
    return units[unit] > 1 or len(units) != k
