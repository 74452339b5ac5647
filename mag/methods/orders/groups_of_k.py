# mypy: allow-untyped-defs, no-check-untyped-defs
"""Groups of exactly k around far-away records, one after the other, as an order of all records."""

from collections.abc import Callable

import numpy as np

from mag._compiled.jit import jit
from mag._lib.progress import Progress
from mag.methods.distances.remaining import measure, nearest, remaining, sweep, take, the_rest


def order_of(X: np.ndarray, k: int, gather: Callable[..., int], progress: Progress) -> np.ndarray:
    """Let `gather` take groups of k until fewer are left than it needs, or time runs out; the rest go by their sums.

    `gather(rest, k, order, done)` writes the next records of the order and returns how many there are then, or the same
    number if too few are left.
    """
    n = len(X)
    order, rest, done = np.empty(n, np.int64), remaining(X), -1
    after = 0
    while after > done and not progress.step(1.0 - (1.0 - after / n) ** 2):
        done = after
        after = gather(rest, k, order, done)
    order[after:] = the_rest(X, order[:after])
    return order


@jit
def gather_around(rest, point, k, order, done):
    """Take the k records nearest to a point, nearest first; the distances are measured here."""
    measure(rest, point)
    for step in range(done, done + k):
        order[step] = take(rest, nearest(rest))
    sweep(rest)
