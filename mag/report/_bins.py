"""Counts of values in bins that reveal nothing about fewer than k records.

Reports are shared, so a report must not disclose values that the release hides.  The edges of the bins are computed
from the *published* values alone: the smallest or largest original value, or a quantile, belongs to one person.  A bin
never counts 1 to k − 1 original values: it is joined with its neighbors until it counts no value or at least k. Writing
"fewer than k" instead would not suffice, since the total is known.
"""

from typing import NamedTuple

import numpy as np

MAX_BINS = 36  # bins
HEAVY_TAIL = 0.01  # share of the published values that a heavy tail may lose on either side


class Bins(NamedTuple):
    """Shares of all values before and after in cells; a cell is ``[edges[c], edges[c + 1])``."""

    edges: np.ndarray
    before: np.ndarray
    after: np.ndarray
    beyond: tuple[float, float]  # shares before and after that lie outside the axis


def bins(original: np.ndarray, masked: np.ndarray, k: int) -> Bins | None:
    """The distributions of a column before and after; None if there is nothing to draw."""
    original, masked = original[~np.isnan(original)], masked[~np.isnan(masked)]
    if original.size < max(k, 1) or masked.size == 0:
        return None
    edges = inner_edges(masked)
    if edges.size < 3:
        return None
    cells = joined(counted(original, edges), k)
    starts = np.array([first for first, _ in cells])
    before = np.array([count for _, count in cells]) / original.size
    after = np.add.reduceat(counted(masked, edges), starts) / masked.size
    return _on_the_axis(edges, starts, before, after)


def inner_edges(masked: np.ndarray) -> np.ndarray:
    """Edges of bins of one width over the published values, without the far ends of heavy tails."""
    low, high = float(masked.min()), float(masked.max())
    near, far = (float(q) for q in np.quantile(masked, [HEAVY_TAIL, 1 - HEAVY_TAIL], method="inverted_cdf"))
    reach = far / 2 - near / 2  # half of the bulk; halves of finite numbers do not overflow
    if reach > 0:
        low = near if near / 2 - low / 2 > reach / 2 else low
        high = far if high / 2 - far / 2 > reach / 2 else high
    most = min(MAX_BINS, max(4, int(np.ceil(2 * masked.size ** (1 / 3)))))
    if high - low < 2**53 and max(-low, high) < 2**53 and (masked == np.rint(masked)).all():
        step = int(np.ceil((high - low + 1) / most))
        return np.arange(low, high + step + 1, step) - 0.5
    fraction = np.linspace(0, 1, most + 1)
    return np.unique(low * (1 - fraction) + high * fraction)


def counted(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """How many values lie below the first edge, in each bin, and above the last edge; the last bin is closed."""
    place = np.searchsorted(edges, values, side="right")
    place[values == edges[-1]] -= 1
    return np.bincount(place, minlength=edges.size + 1)


def joined(counts: np.ndarray, k: int) -> list[tuple[int, int]]:
    """Join bins into runs that hold no value or at least k: the first bin of each run and its count."""
    runs: list[tuple[int, int]] = []
    first = total = 0
    for place, count in enumerate(counts.tolist()):
        first = first if total else place
        total += count
        if total == 0 or total >= k:
            runs.append((first, total))
            total = 0
    if total:  # too few are left at the end: they join the last run that holds values
        while runs[-1][1] == 0:
            runs.pop()
        first, count = runs.pop()
        runs.append((first, count + total))
    return runs


def _on_the_axis(edges: np.ndarray, starts: np.ndarray, before: np.ndarray, after: np.ndarray) -> Bins:
    """Turn cells that lie entirely outside the axis into a note; cut those that cross its ends."""
    ends = np.append(starts[1:], edges.size + 1)
    inside = (ends > 1) & (starts < edges.size)
    places = np.append(np.maximum(starts[inside], 1), min(ends[inside][-1], edges.size)) - 1
    outside = ~inside
    beyond = float(before[outside].sum()), float(after[outside].sum())
    return Bins(edges[places], before[inside], after[inside], beyond)
