"""Suppression where a missing cell equals every value: the weaker reading, that of sdcMicro.

A record then equals all records that differ from it in missing cells only; k counts them, or their units.  k-1
records without any cell would meet that demand for all others, and protect no record.  So every record of a small class
loses cells itself: the cheapest ones without which it equals k records of the original, which depends on no other
record.  It then gets the first cheaper pattern with which k published records still equal it, and those that count on
it.
"""

from functools import lru_cache

import numpy as np

from mag.tables.suppression._patterns import MISSING, Demand, Kinds, list_patterns, number_classes

COUNTS_KEPT = 256  # arrays of class sizes
MAX_CHECKED = 64  # records that are counted again before one is changed


def suppress(
    codes: np.ndarray, demands: list[Demand], prices: np.ndarray, units: np.ndarray | None = None
) -> np.ndarray:
    """The same codes with suppressed cells, so that every record equals k published records, or units, by demand."""
    kinds = Kinds.of(codes, units)
    patterns, price = list_patterns(prices.tolist(), kinds)
    own = find_cheapest(kinds, demands, patterns)[kinds.of_record]
    bits = np.array(patterns)[own]
    published = np.where(bits[:, None] >> np.arange(codes.shape[1]) & 1 == 1, MISSING, codes)
    if len(demands) == 1:  # with several, each change would have to be checked in all of them
        missing = kinds.missing[kinds.of_record]
        pairs = list(zip(missing.tolist(), own.tolist(), strict=True))
        cheaper = {pair: _list_cheaper(*pair, patterns, price) for pair in set(pairs)}
        fewer = [(r, cheaper[pairs[r]]) for r in np.argsort(-price[own], kind="stable").tolist() if cheaper[pairs[r]]]
        _restore(codes, published, fewer, demands[0], units)
    return published


def _list_cheaper(missing: int, own: int, patterns: list[int], price: np.ndarray) -> list[int]:
    """Patterns that cost less than the one at this place, with more columns than were missing before."""
    cheaper = patterns[: int(np.searchsorted(price, price[own]))]
    return [one for one in cheaper if missing & ~one == 0 and one != missing]


def find_lower_bound(
    codes: np.ndarray, demands: list[Demand], prices: np.ndarray, units: np.ndarray | None = None
) -> float:
    """The price of cells below which no suppression holds where a missing cell is a value.

    A record of a class then equals k records, or units, of the original in all columns that it has left.
    """
    kinds = Kinds.of(codes, units)
    patterns, price = list_patterns(prices.tolist(), kinds)
    own = find_cheapest(kinds, demands, patterns)[kinds.of_record]
    return float(price[own].sum() - (codes == MISSING).sum(axis=0) @ prices)


def find_cheapest(kinds: Kinds, demands: list[Demand], patterns: list[int]) -> np.ndarray:
    """For every kind the first pattern without which it equals k records, or units, of the original, by demand."""
    found = np.full(len(kinds.codes), -1)
    everything = patterns[-1]

    @lru_cache(COUNTS_KEPT)
    def count(pattern: int) -> np.ndarray:
        own = number_classes(kinds, pattern)
        return kinds.count(own)[own]

    for s, pattern in enumerate(patterns):
        left = np.flatnonzero((found < 0) & (kinds.missing & ~pattern == 0))
        for demand in demands:
            if not left.size:
                break
            left = left[count(everything & ~demand.bits | pattern)[left] >= demand.k]
        found[left] = s
        if (found >= 0).all():
            break
    return found


def _restore(
    codes: np.ndarray,
    published: np.ndarray,
    fewer: list[tuple[int, list[int]]],
    demand: Demand,
    units: np.ndarray | None,
) -> None:
    """Give records the first pattern of their lists with which all still equal enough records."""
    cells = [np.ascontiguousarray(column) for column in published.T]
    restored: list[int] = []
    for r, patterns in fewer:
        for pattern in patterns:
            after = np.array([MISSING if pattern >> j & 1 else code for j, code in enumerate(codes[r].tolist())])
            if _can_change(cells, demand.k, units, r, after, np.array(restored, np.int64)):
                restored.append(r)
                published[r] = after
                break


def _can_change(
    cells: list[np.ndarray], k: int, units: np.ndarray | None, r: int, after: np.ndarray, others: np.ndarray
) -> bool:
    """Give a record these cells if it and the others, which may count on it, still equal enough records."""
    before = np.array([column[r] for column in cells])
    counting = others[_equal(cells, before, others)]
    _set_row(cells, r, after)
    left = counting[~_equal(cells, after, counting)]
    if left.size <= MAX_CHECKED and all(_count_equal(cells, other, units) >= k for other in (r, *left.tolist())):
        return True
    _set_row(cells, r, before)
    return False


def _set_row(cells: list[np.ndarray], r: int, row: np.ndarray) -> None:
    for column, code in zip(cells, row.tolist(), strict=True):
        column[r] = code


def _equal(cells: list[np.ndarray], row: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Which of the others equal a row, where missing cells equal everything."""
    equal = np.ones(others.size, bool)
    for column, code in zip(cells, row.tolist(), strict=True):
        if code != MISSING:
            own = column[others]
            equal &= (own == code) | (own == MISSING)
    return equal


def _count_equal(cells: list[np.ndarray], r: int, units: np.ndarray | None) -> int:
    """How many records equal a record, itself included; with units, of how many units they are."""
    equal = None
    for column in cells:
        if (code := column[r]) != MISSING:
            own = column if equal is None else column[equal]
            same = np.flatnonzero((own == code) | (own == MISSING))
            equal = same if equal is None else equal[same]
    if units is not None:
        return np.unique(units if equal is None else units[equal]).size
    return cells[0].size if equal is None else equal.size
