"""Suppressed cells that are restored, where all demands still hold: where a missing cell is a value."""

from collections import Counter

import numpy as np

from mag.tables.suppression._patterns import Demand


def restore_cells(codes: np.ndarray, published: np.ndarray, demands: list[Demand], prices: np.ndarray) -> np.ndarray:
    """The published codes, with cells of the original in them: the dearest first, one after the other."""
    places = [np.array(demand.columns) for demand in demands]
    classes = [Counter(map(tuple, published[:, own].tolist())) for own in places]
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
        if all(own[old] != k and own[new] >= k for own, old, new, k in moves):
            for own, old, new, _ in moves:
                own[old] -= 1
                own[new] += 1
            published[r] = after
    return published
