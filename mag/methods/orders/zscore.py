"""Records in the order of the sum of their standardized columns  (Nin, Herranz & Torra 2008)."""

import numpy as np

from mag.methods.orders.consecutive import labels_in_order


def group(X, k, *, whole):
    """The best groups of consecutive records."""
    return labels_in_order(X, order(X), k, whole)


def order(X):
    """Ascending sums; equal ones in the order of the data."""
    return np.argsort(X.sum(axis=1), kind="stable")
