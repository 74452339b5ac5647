"""Bars of categories before and after that tell nothing about fewer than k records.

The rule is that of `_bins`.  Bars have the labels of *published* cells alone; all other values are one bar.  A bar
never counts 1 to k − 1 original values: it is joined with its neighbor until it counts none or at least k.  Where
published cells are true for every record, anyone can count the cells that are published as they were; what is left is
in more general cells, and also none or at least k of every bar.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mag._lib.missing import is_missing
from mag.hierarchy import text_of

MAX_BARS = 12  # bars
OTHERS_LABEL = "others"
NAMED = 2  # labels of a joined bar that are written out


class ShareBar(NamedTuple):
    """Shares of all values before and after."""

    label: str
    before: float
    after: float


class _Run(NamedTuple):
    labels: tuple[str, ...]
    before: int
    after: int

    def join(self, other: "_Run") -> "_Run":
        return _Run(self.labels + other.labels, self.before + other.before, self.after + other.after)

    def is_safe(self, k: int, generalized: bool) -> bool:
        counts = [self.before, abs(self.before - self.after)] if generalized else [self.before]
        return all(count == 0 or count >= k for count in counts)


def texts(cells: np.ndarray) -> np.ndarray:
    """Cells that are not missing, as text."""
    return np.array([text_of(cell) for cell in cells.tolist() if not is_missing(cell)], object)


def bars(
    before: np.ndarray, after: np.ndarray, order: Sequence[str], k: int, generalized: bool
) -> list[ShareBar] | None:
    """The bars of a column whose published labels stand in this order; None if there is nothing to draw."""
    original, published = texts(before), texts(after)
    if original.size < max(k, 1) or published.size == 0:
        return None
    labels, counts = np.unique(published.astype(str), return_counts=True)
    after_of = dict(zip(labels.tolist(), counts.tolist(), strict=True))
    frequent = sorted(after_of, key=lambda label: -after_of[label])[
        : MAX_BARS if len(after_of) <= MAX_BARS else MAX_BARS - 1
    ]
    places = {label: place for place, label in enumerate(order)}
    shown = sorted(frequent, key=lambda label: places.get(label, len(places)))
    before_of = dict.fromkeys(shown, 0)
    for label in original.tolist():
        if label in before_of:
            before_of[label] += 1
    runs = [_Run((label,), before_of[label], after_of[label]) for label in shown]
    rest = published.size - sum(run.after for run in runs)
    hidden = original.size - sum(run.before for run in runs)
    if rest or hidden:
        runs.append(_Run((), hidden, rest))
    joined = join(runs, k, generalized)
    if len(joined) < 2:
        return None
    return [ShareBar(_name(run.labels), run.before / original.size, run.after / published.size) for run in joined]


def join(runs: Sequence[_Run], k: int, generalized: bool) -> list[_Run]:
    """Neighbors joined until each counts no record or at least k."""
    joined: list[_Run] = []
    current: _Run | None = None
    for run in runs:
        current = run if current is None else current.join(run)
        if current.is_safe(k, generalized):
            joined.append(current)
            current = None
    while current is not None:
        current = joined.pop().join(current) if joined else current
        if current.is_safe(k, generalized) or not joined:
            joined.append(current)
            current = None
    return joined


def _name(labels: tuple[str, ...]) -> str:
    if not labels:
        return OTHERS_LABEL
    rest = len(labels) - NAMED
    return ", ".join(labels[:NAMED]) + (f" and {rest} more" if rest > 0 else "")
