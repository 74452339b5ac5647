"""Records of several columns, and checks of the lists of neighbors that a device finds."""

import numpy as np

from mag._backends.cuda.neighbors import RECORDS_PER_BLOCK, DeviceNeighbors
from mag._backends.protocol import Boxes


def table(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + rng.integers(0, 3, (n, 1))


def boxes_of(X):
    """Records in the order of their first column, 64 to a block."""
    n, d = X.shape
    blocks = -(-n // RECORDS_PER_BLOCK)
    order = np.argsort(X[:, 0], kind="stable").astype(np.int32)
    x, ids = np.zeros((blocks, d, RECORDS_PER_BLOCK)), np.zeros(blocks * RECORDS_PER_BLOCK, np.int32)
    low, high = np.full((d, blocks + 3), np.inf), np.full((d, blocks + 3), -np.inf)
    ids[:n] = order
    for b in range(blocks):
        rows = X[order[b * RECORDS_PER_BLOCK : (b + 1) * RECORDS_PER_BLOCK]]
        x[b, :, : len(rows)] = rows.T
        low[:, b], high[:, b] = rows.min(axis=0), rows.max(axis=0)
    return Boxes(x, low, high, ids, n, d)


def squared_distances(X, i):
    """Added up column by column."""
    total = np.zeros(len(X))
    for j in range(X.shape[1]):
        total += (X[:, j] - X[i, j]) ** 2
    return total


def check_lists(device, n, d, m, sign):
    rng = np.random.default_rng(n)
    X = rng.normal(scale=3, size=(n, d)).round(0 if n < 1000 else 3)  # ties
    boxes = boxes_of(X)
    field = DeviceNeighbors(device, boxes)
    place = np.empty(n, np.int32)
    place[boxes.ids[:n]] = np.arange(n)
    free = np.ones(n, bool)
    for share in (0.0, 0.5, 0.9):
        gone = np.flatnonzero(free & (rng.random(n) < share))
        free[gone] = False
        field.take(place[gone])
        queries = rng.integers(0, n, 3 if n < 10_000 else 1)
        keys, found, lengths = field.lists(place[queries], m, sign)
        for q, i in enumerate(queries):
            others = np.flatnonzero(free & (np.arange(n) != i))
            away = sign * squared_distances(X, i)[others]
            best = np.lexsort((others, away))[:m]
            assert lengths[q] == best.size
            assert np.array_equal(found[q, : best.size], others[best])
            assert keys[q, : best.size].tobytes() == away[best].tobytes()


def check_edges(device):
    """Two blocks on a line; the fifth nearest of the last in the first stands at the edge of the other one's box.

    In its own block it would be 5 away: the other is nearer, or as near and then the one with the smaller number.
    """
    for gap in (4.9, 4.99, 5.0):
        for first in (False, True):  # whether the other block has the smaller numbers
            x = np.concatenate([np.arange(64.0), 63 + gap + np.arange(64)])
            X = np.column_stack([np.roll(x, 64) if first else x, np.zeros(128)])
            boxes, itself = boxes_of(X), 127 if first else 63
            place = np.empty(128, np.int32)
            place[boxes.ids] = np.arange(128)
            keys, found, _ = DeviceNeighbors(device, boxes).lists(place[[itself]], 5, 1.0)
            away = squared_distances(X, itself)
            away[itself] = np.inf
            expected = np.lexsort((np.arange(128), away))[:5]
            assert np.array_equal(found[0], expected)
            assert np.array_equal(keys[0], away[expected])
            assert (X[found[0, 4], 0] > 63) == (gap < 5 or first)
