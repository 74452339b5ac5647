"""Suppression where a missing cell is a value: records are equal only if they miss the same cells.

A record's class is its pattern and the values that it leaves, and has at least k records.  Finding the fewest cells is
NP-hard (Meyerson and Williams 2004).  Records of small classes take the cheapest pattern that leaves k of them equal;
then records and whole classes move wherever that saves cells.
"""

import numpy as np

from mag._lib.number import number_rows
from mag.tables.suppression._moves import NOT_TOUCHED, UNPLACED, PatternClasses, State, absorb_all, improve, place_all
from mag.tables.suppression._patterns import MISSING, Demand, Kinds, list_patterns, number_classes
from mag.tables.suppression._restore import restore_cells

MAX_PASSES = 12  # of improvements; most tables need fewer


def suppress(codes: np.ndarray, demands: list[Demand], prices: np.ndarray) -> np.ndarray:
    """The same codes with suppressed cells, so that all demands hold.

    Several are met one after the other until all hold: suppressed cells may separate classes of other columns, but
    there are only so many cells.  Cells that no demand needs in the end are restored.
    """
    published = codes.copy()
    while failing := [demand for demand in demands if _smallest(published, demand) < demand.k]:
        for columns, k in failing:
            own = np.array(columns)
            published[:, own] = _suppress_once(published[:, own], k, prices[own])
    return published if len(demands) == 1 else restore_cells(codes, published, demands, prices)


def _smallest(codes: np.ndarray, demand: Demand) -> int:
    return int(np.bincount(number_rows(list(codes[:, np.array(demand.columns)].T))).min())


def _suppress_once(codes: np.ndarray, k: int, prices: np.ndarray) -> np.ndarray:
    """The same for all columns together."""
    kinds = Kinds.of(codes)
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
    return PatternClasses(
        k, price, np.array(patterns), of_kind, start, np.concatenate(members), first, records, kinds.of_record
    )


def _start(classes: PatternClasses, kinds: Kinds, patterns: list[int]) -> State:
    """Every record with the pattern that it has already; those of small classes are unplaced."""
    number = {pattern: s for s, pattern in enumerate(patterns)}
    own = np.array([number[pattern] for pattern in kinds.missing.tolist()])
    pattern = np.where(np.bincount(kinds.of_record) >= classes.k, own, UNPLACED)[kinds.of_record]
    n, n_classes = pattern.size, classes.start.size - 1
    placed = pattern != UNPLACED
    size = np.bincount(classes.of_kind[pattern[placed], kinds.of_record[placed]], minlength=n_classes)
    paid = np.where(placed, classes.price[pattern], classes.price[-1])
    return State(pattern, paid, size, np.zeros(n_classes, bool), np.empty(n, np.int64), np.full(n, NOT_TOUCHED))


def _place_together(classes: PatternClasses, state: State) -> None:
    """Give all records of a class that has k of them its pattern: cheap patterns first, of equal ones the fullest."""
    left = np.flatnonzero(state.pattern == UNPLACED)
    for price in np.unique(classes.price):
        same = np.flatnonzero(classes.price == price)
        same = same[np.argsort([-_joining(classes, state, s, left).sum() for s in same.tolist()], kind="stable")]
        for s in same.tolist():
            joining = left[_joining(classes, state, s, left)]
            state.pattern[joining], state.paid[joining] = s, price
            np.add.at(state.size, classes.of_kind[s, classes.kind[joining]], 1)
            left = left[state.pattern[left] == UNPLACED]


def _joining(classes: PatternClasses, state: State, s: int, left: np.ndarray) -> np.ndarray:
    """Which of the records that are left would be in a class of at least k with this pattern."""
    own = classes.of_kind[s, classes.kind[left]]
    there = own >= 0
    _, place, counts = np.unique(own, return_inverse=True, return_counts=True)
    return there & (counts[place] + state.size[own] >= classes.k)
