"""The loss that ways to enforce criteria are compared by."""

import numpy as np

from mag.methods.distances.hierarchies import CategoryColumns
from mag.methods.mondrian.cutting import total_loss


def loss_of(z: np.ndarray, labels: np.ndarray, trees: CategoryColumns | None) -> float:
    """By ranges and nodes where there are categories, by squares of numbers otherwise."""
    if trees is not None:
        return total_loss(z, trees, labels)
    sizes = np.bincount(labels)
    means = np.stack([np.bincount(labels, column) / sizes for column in z.T], axis=1)
    return float(np.square(z - means[labels]).sum())
