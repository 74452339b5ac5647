"""Groups that grow: their sums, sizes and centroids, and which of them is closest to a record (section 5.1)."""

from collections import namedtuple

import numpy as np

from mag._compiled.jit import called
from mag._compiled.lanes import at, part, put
from mag._compiled.work import add, fill
from mag.methods.distances.blocks import LANES

CENTROID, MEMBER, COST = np.int64(0), np.int64(1), np.int64(2)
CLOSEST = {"centroid": CENTROID, "member": MEMBER, "cost": COST}  # clos, clos' and clos'' of section 5.1

# sums[g, column]; x[block, column, lane] = centroids; weight[g] = what a squared distance counts; size[g]; used[0]
Centroids = namedtuple("Centroids", "sums x weight size used capacity d")


@called
def centroids_at(work, r, w, capacity, d):
    """At most `capacity` groups."""
    lanes = (capacity + LANES - 1) // LANES * LANES
    x = r + capacity * d
    weight = x + lanes * d
    centroids = Centroids(
        part(work.reals, r),
        part(work.reals, x),
        part(work.reals, weight),
        part(work.wholes, w),
        part(work.wholes, w + capacity),
        capacity,
        d,
    )
    return centroids, weight + lanes, w + capacity + 1


@called
def remove_groups(centroids):
    """Remove all groups."""
    fill(centroids.sums, centroids.capacity * centroids.d, 0.0)
    fill(centroids.weight, (centroids.capacity + LANES - 1) // LANES * LANES, 1.0)
    fill(centroids.size, centroids.capacity, 0)
    put(centroids.used, 0, 0)


@called
def join(centroids, g, row, rule):
    """The record joins group g."""
    size, d = at(centroids.size, g) + 1, centroids.d
    put(centroids.size, g, size)
    for j in range(d):
        add(centroids.sums, g * d + j, at(row, j))
        put(centroids.x, (g // LANES * d + j) * LANES + g % LANES, at(centroids.sums, g * d + j) / size)
    if rule == COST:  # adding a record costs |C| / (|C|+1) times its squared distance
        put(centroids.weight, g, size / (size + 1))


@called
def distance_from_centroid(centroids, g, row):
    """The squared distance of a record from the centroid of group g."""
    total, size = 0.0, at(centroids.size, g)
    for j in range(centroids.d):
        t = at(row, j) - at(centroids.sums, g * centroids.d + j) / size
        total += t * t
    return total


@called
def cost_of(rows, d, i, others, count):
    """The sum of squares of record i and `count` others; sums start at i, so that no offset costs precision."""
    total = 0.0
    for j in range(d):
        s = q = 0.0
        for p in range(count):
            t = at(rows, at(others, p) * d + j) - at(rows, i * d + j)
            s += t
            q += t * t
        total += q - s * s / (count + 1)
    return total
