"""Prefix sums of powers of values, counted from an anchor, so that no offset is ever subtracted from itself."""

import numpy as np

from mag._compiled.groups import distance
from mag._compiled.jit import jit


def power_sums(y, weights, powers, edges, origin):
    """sums[p]: running sums of weights·y**p in rows of flat values; row r lies between edges[r] and edges[r + 1].

    A row of m values has m + 1 sums, from its first position to that after its last value: they are 0 at the position
    `origin` and count values before it as negative.
    """
    terms = np.ones(y.size) if weights is None else weights.astype(np.float64)
    sums = np.empty((powers + 1, y.size + edges.size - 1))
    for p, line in enumerate(sums):
        if p:
            terms *= y
        running_sums(terms, edges, origin, line)
    return sums


@jit
def running_sums(terms, edges, origin, sums):
    """One power of `power_sums`."""
    for row in range(len(edges) - 1):
        zero = edges[row] + origin
        total = 0.0
        sums[zero + row] = total
        for q in range(zero, edges[row + 1]):
            total += terms[q]
            sums[q + 1 + row] = total
        total = 0.0
        for q in range(zero - 1, edges[row] - 1, -1):
            total -= terms[q]
            sums[q + row] = total


def away_from(values, anchors):
    """values - anchors as float64, rounded once: integers are subtracted before they become floats."""
    if values.dtype.kind == "f":
        return values - anchors
    ahead = distance(values, anchors).astype(np.float64)
    return np.where(values >= anchors, ahead, -distance(anchors, values).astype(np.float64))
