"""Parts of a table that are improved by themselves: groups that lie near each other, divided anew in every round."""

import numpy as np

from mag._lib.progress import Progress
from mag.methods.mondrian.halving import RULE_VARIANCE, labels_of, parts_of


def divide_groups(
    X: np.ndarray,
    labels: np.ndarray,
    directions: np.ndarray,
    records: int,
    least: int,
    threads: int,
    progress: Progress,
) -> list[np.ndarray]:
    """The members of each part, in order: groups are halved by their means, seen from these directions, (d, m).

    A part has groups of about that number of `records` at most, but `least` groups may always be in one.
    """
    sizes = np.bincount(labels)
    means = np.stack([np.bincount(labels, x) / sizes for x in X.T], axis=1)
    turned = np.einsum("ij,jk->ik", means, directions)
    limit = max(records * sizes.size // labels.size, least)
    part = labels_of(*parts_of(turned, 1, limit, RULE_VARIANCE, threads, progress))[labels]
    return np.split(np.argsort(part, kind="stable"), np.cumsum(np.bincount(part))[:-1])


def rotation(d: int, random: np.random.Generator) -> np.ndarray:
    """Random directions at right angles: a product of reflections, which has the same bits on every machine."""
    turn = np.eye(d)
    for v in random.standard_normal((d, d)):
        turn -= np.multiply.outer((turn * v).sum(axis=1), v) * (2.0 / np.square(v).sum())
    return turn
