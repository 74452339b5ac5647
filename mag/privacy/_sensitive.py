"""What is known of the sensitive values inside each class."""

from typing import Any, NamedTuple

import numpy as np

from mag._lib.equal import classes, classes_of


class Counts(NamedTuple):
    """How often each value occurs in each class, where it occurs at all."""

    sizes: np.ndarray  # of the classes
    home: np.ndarray  # the class of each count
    number: np.ndarray


def count(table: Any, sensitive: Any) -> Counts:
    """From the published quasi-identifiers and the sensitive values."""
    labels = classes("table", table)
    values = classes_of("sensitive", sensitive, "table", labels.size)
    pairs, counts = np.unique(labels * (values.max() + 1) + values, return_counts=True)
    return Counts(np.bincount(labels), pairs // (values.max() + 1), counts)


def entropies(counts: Counts) -> np.ndarray:
    """Of the sensitive values of each class, in bits: H = log n − Σ c log c / n."""
    inside = np.bincount(counts.home, counts.number * np.log2(counts.number))
    return np.maximum(np.log2(counts.sizes) - inside / counts.sizes, 0.0)
