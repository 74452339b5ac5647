"""Suppression where a missing cell is a value: records are equal only if they miss the same cells.

A record's class is its pattern and the values that it leaves, and has at least k records, or records of k units.
Finding the fewest cells is NP-hard (Meyerson and Williams 2004).  Records of small classes take the cheapest pattern
that leaves k of them equal; then records and whole classes move wherever that saves cells.
"""

import numpy as np

from mag._lib.number import count_distinct, number_rows
from mag.tables.suppression._moves import NOT_TOUCHED, UNPLACED, PatternClasses, State, absorb_all, improve, place_all
from mag.tables.suppression._patterns import MISSING, Demand, Kinds, count_members, list_patterns, number_classes
from mag.tables.suppression._restore import restore_cells

MAX_PASSES = 12  # of improvements; most tables need fewer


def suppress(
    codes: np.ndarray, demands: list[Demand], prices: np.ndarray, units: np.ndarray | None = None
) -> np.ndarray:
    """The same codes with suppressed cells, so that all demands hold, for units of records if there are any.

    Several are met one after the other until all hold: suppressed cells may separate classes of other columns, but
    there are only so many cells.  Cells that no demand needs in the end are restored.
    """
    published = codes.copy()
    while failing := [demand for demand in demands if _smallest(published, demand, units) < demand.k]:
        for columns, k in failing:
            own = np.array(columns)
            published[:, own] = _suppress_once(published[:, own], k, prices[own], units)
    return published if len(demands) == 1 else restore_cells(codes, published, demands, prices, units)


def _smallest(codes: np.ndarray, demand: Demand, units: np.ndarray | None) -> int:
    return int(count_members(number_rows(list(codes[:, np.array(demand.columns)].T)), units).min())


def _suppress_once(codes: np.ndarray, k: int, prices: np.ndarray, units: np.ndarray | None) -> np.ndarray:
    """The same for all columns together."""
    kinds = Kinds.of(codes, units)
    patterns, price = list_patterns(prices.tolist(), kinds)
    classes = _number_all(kinds, patterns, price, k)
    state = _start(classes, kinds, patterns)
    _place_together(classes, state)
    order = np.argsort(-state.paid, kind="stable")
    place_all(classes, state, order)
    absorb_all(classes, state, order)
    for _ in range(MAX_PASSES):
        if improve(classes, state, np.argsort(-state.paid, kind="stable")) == 0:
            break
    gone = np.array(patterns)[state.pattern][:, None] >> np.arange(codes.shape[1]) & 1
    return np.where(gone == 1, MISSING, codes)


def _number_all(kinds: Kinds, patterns: list[int], price: np.ndarray, k: int) -> PatternClasses:
    """The classes of all patterns, with their kinds and records."""
    of_kind = np.empty((len(patterns), len(kinds.codes)), np.int32)
    members, starts, n_classes, n_members = [], [], 0, 0
    for s, pattern in enumerate(patterns):
        within = np.flatnonzero(kinds.missing & ~pattern == 0)
        own = number_rows([number_classes(kinds, pattern)[within]])
        of_kind[s] = -1
        of_kind[s, within] = own + n_classes
        members.append(within[np.argsort(own, kind="stable")].astype(np.int32))
        sizes = np.bincount(own)
        starts.append(n_members + np.cumsum(sizes) - sizes)
        n_classes, n_members = n_classes + sizes.size, n_members + within.size
    counts = np.bincount(kinds.of_record)
    first = np.append(0, np.cumsum(counts))
    records = np.argsort(kinds.of_record, kind="stable")
    start = np.append(np.concatenate(starts), n_members)
    unit = np.arange(records.size) if kinds.units is None else number_rows([kinds.units])
    first_of_unit = np.append(0, np.cumsum(np.bincount(unit)))
    return PatternClasses(
        k, price, np.array(patterns), of_kind, start, np.concatenate(members), first, records, kinds.of_record, unit,
        first_of_unit, np.argsort(unit, kind="stable"),
    )  # fmt: skip


def _start(classes: PatternClasses, kinds: Kinds, patterns: list[int]) -> State:
    """Every record with the pattern that it has already; those of small classes are unplaced."""
    number = {pattern: s for s, pattern in enumerate(patterns)}
    own = np.array([number[pattern] for pattern in kinds.missing.tolist()])
    is_enough = kinds.count(np.arange(len(kinds.codes))) >= classes.k
    pattern = np.where(is_enough, own, UNPLACED)[kinds.of_record]
    n, n_classes = pattern.size, classes.start.size - 1
    paid = np.where(pattern != UNPLACED, classes.price[pattern], classes.price[-1])
    units, size = np.zeros(n_classes, np.int64), np.zeros(n_classes, np.int64)
    return State(pattern, paid, units, size, np.zeros(n_classes, bool), np.empty(n, np.int64), np.full(n, NOT_TOUCHED))


def _place_together(classes: PatternClasses, state: State) -> None:
    """Give all records of a class that has k of them its pattern: cheap patterns first, of equal ones the fullest."""
    left = np.flatnonzero(state.pattern == UNPLACED)
    for price in np.unique(classes.price):
        same = np.flatnonzero(classes.price == price)
        same = same[np.argsort([-_joining(classes, state, s, left).sum() for s in same.tolist()], kind="stable")]
        for s in same.tolist():
            joining = left[_joining(classes, state, s, left)]
            state.pattern[joining], state.paid[joining] = s, price
            left = left[state.pattern[left] == UNPLACED]
    placed = np.flatnonzero(state.pattern != UNPLACED)
    own = classes.of_kind[state.pattern[placed], classes.kind[placed]]
    state.size[:] = np.bincount(own, minlength=state.size.size)
    state.units[:] = count_distinct(own, classes.unit[placed], state.units.size)


def _joining(classes: PatternClasses, state: State, s: int, left: np.ndarray) -> np.ndarray:
    """Which of the records that are left would be in a class of at least k with this pattern."""
    records = np.append(left, np.flatnonzero(state.pattern == s))
    own = classes.of_kind[s, classes.kind[records]]
    numbers = number_rows([own + 1])
    has_units = classes.unit.size >= classes.first_of_unit.size
    counts = count_members(numbers, classes.unit[records] if has_units else None)
    return ((own >= 0) & (counts[numbers] >= classes.k))[: left.size]
