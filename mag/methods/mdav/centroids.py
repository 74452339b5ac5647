# mypy: allow-untyped-defs, no-check-untyped-defs
"""Groups that grow: their sums, sizes and centroids, and which of them is closest to a record (section 5.1)."""

from collections import namedtuple

import numpy as np

from mag._compiled.jit import called
from mag._compiled.work import fill, integers, layout, reals
from mag.methods.distances.blocks import RECORDS_PER_BLOCK
from mag.methods.distances.metric import write_centroid

CENTROID, MEMBER, COST = np.int64(0), np.int64(1), np.int64(2)
CLOSEST = {"centroid": CENTROID, "member": MEMBER, "cost": COST}  # clos, clos' and clos'' of section 5.1

Centroids = namedtuple("Centroids", "sums x weight size used capacity d")


@layout
def centroids_at(space, metric, capacity):
    """At most `capacity` groups."""
    blocks = (capacity + RECORDS_PER_BLOCK - 1) // RECORDS_PER_BLOCK
    return Centroids(
        sums=reals(space, capacity, metric.d),
        x=reals(space, blocks, metric.wide, RECORDS_PER_BLOCK),  # centroids in blocks
        weight=reals(space, blocks * RECORDS_PER_BLOCK),  # what a squared distance counts
        size=integers(space, capacity),
        used=integers(space, 1),  # how many groups there are
        capacity=capacity,
        d=metric.d,
    )


@called
def remove_groups(centroids):
    """Remove all groups."""
    fill(centroids.sums, centroids.capacity * centroids.d, 0.0)
    fill(centroids.weight, (centroids.capacity + RECORDS_PER_BLOCK - 1) // RECORDS_PER_BLOCK * RECORDS_PER_BLOCK, 1.0)
    fill(centroids.size, centroids.capacity, 0)
    centroids.used[0] = 0


@called
def join(centroids, g, row):
    """The record joins group g, whose centroid has yet to be written."""
    centroids.size[g] += 1
    for j in range(centroids.d):
        centroids.sums[g, j] += row[j]


@called
def write(metric, centroids, g, rule):
    """The centroid of group g as it is now."""
    size = centroids.size[g]
    block, lane = centroids.x[g // RECORDS_PER_BLOCK], g % RECORDS_PER_BLOCK
    write_centroid(metric, block, lane, centroids.sums[g], size)
    if rule == COST:  # adding a record costs |C| / (|C|+1) times its squared distance
        centroids.weight[g] = size / (size + 1)


@called
def distance_from_centroid(centroids, g, row):
    """The squared distance of a record from the centroid of group g."""
    total, size = 0.0, centroids.size[g]
    for j in range(centroids.d):
        t = row[j] - centroids.sums[g, j] / size
        total += t * t
    return total


@called
def cost_of(rows, d, i, others, count):
    """The sum of squares of record i and `count` others; sums start at i, so that no offset costs precision."""
    total = 0.0
    for j in range(d):
        s = q = 0.0
        for p in range(count):
            t = rows[others[p], j] - rows[i, j]
            s += t
            q += t * t
        total += q - s * s / (count + 1)
    return total
