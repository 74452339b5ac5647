"""The differences between two graphs of the same vertices."""

import numpy as np


def edges_added(before: np.ndarray, after: np.ndarray, n: int) -> np.ndarray:
    """The pairs of `after` that are not in `before`, ascending; in both, the smaller vertex is first."""
    new = np.setdiff1d(after[:, 0] * n + after[:, 1], before[:, 0] * n + before[:, 1], assume_unique=True)
    return np.column_stack(divmod(np.sort(new), n))


def count_changes(before: np.ndarray, after: np.ndarray, n: int) -> int:
    """How many edges were added or removed."""
    return len(edges_added(before, after, n)) + len(edges_added(after, before, n))
