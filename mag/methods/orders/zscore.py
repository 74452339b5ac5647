"""Records in the order of the sum of their standardized columns  (Nin, Herranz & Torra 2008)."""

import numpy as np

from mag.methods.orders.consecutive import IntegerColumns, labels_in_order


def group(X: np.ndarray, k: int, *, integers: IntegerColumns | None) -> np.ndarray:
    """The best groups of consecutive records."""
    return labels_in_order(X, order(X), k, integers)


def order(X: np.ndarray) -> np.ndarray:
    """Ascending sums; equal ones in the order of the data."""
    return np.argsort(X.sum(axis=1), kind="stable")
