"""From the sizes of last groups to where groups start."""

import numpy as np

from mag._compiled.jit import jit
from mag._lib.workspace import borrow


@jit
def starts_of(sizes, k, plain, starts):
    """Write starts, the last one last, and return the position of the first one.

    Where the problem is plain, groups of 2k values or more are split.
    """
    g, j = len(starts), len(sizes) - 1
    while j > 0:
        i = j - np.int64(sizes[j])
        while plain and j - i >= 2 * k:
            j -= k
            g -= 1
            starts[g] = j
        g -= 1
        starts[g] = i
        j = i
    return g


def trace(sizes, problem):
    """Where groups start: follow the last groups back from the end."""
    room = (len(sizes) - 1) // problem.k + 1 if problem.plain else len(sizes) - 1
    starts = borrow("starts", room, np.int64)
    return starts[starts_of(sizes, problem.k, problem.plain, starts) :].copy()
