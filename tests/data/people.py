"""Tables that measures of loss and risk are tested on."""

import numpy as np


def people(n=60, d=3, seed=0):
    """Correlated columns around 5."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 5


def in_groups_of(k, X):
    """Means of k neighbors in the first column; the last group takes the rest."""
    labels = np.minimum(np.argsort(np.argsort(X[:, 0])) // k, len(X) // k - 1)
    sums = np.zeros((labels.max() + 1, X.shape[1]))
    np.add.at(sums, labels, X)
    return (sums / np.bincount(labels)[:, None])[labels]
