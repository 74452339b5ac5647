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
Centers = namedtuple("Centers", "sums x weight size used capacity d")


@called
def centers_at(work, r, w, capacity, d):
    """At most `capacity` groups."""
    lanes = (capacity + LANES - 1) // LANES * LANES
    x = r + capacity * d
    weight = x + lanes * d
    centers = Centers(
        part(work.reals, r),
        part(work.reals, x),
        part(work.reals, weight),
        part(work.wholes, w),
        part(work.wholes, w + capacity),
        capacity,
        d,
    )
    return centers, weight + lanes, w + capacity + 1


@called
def clear(centers):
    """No groups."""
    fill(centers.sums, centers.capacity * centers.d, 0.0)
    fill(centers.weight, (centers.capacity + LANES - 1) // LANES * LANES, 1.0)
    fill(centers.size, centers.capacity, 0)
    put(centers.used, 0, 0)


@called
def join(centers, g, row, rule):
    """The record joins group g."""
    size, d = at(centers.size, g) + 1, centers.d
    put(centers.size, g, size)
    for j in range(d):
        add(centers.sums, g * d + j, at(row, j))
        put(centers.x, (g // LANES * d + j) * LANES + g % LANES, at(centers.sums, g * d + j) / size)
    if rule == COST:  # adding a record costs |C| / (|C|+1) times its squared distance
        put(centers.weight, g, size / (size + 1))


@called
def off_center(centers, g, row):
    """The squared distance of a record from the centroid of group g."""
    total, size = 0.0, at(centers.size, g)
    for j in range(centers.d):
        t = at(row, j) - at(centers.sums, g * centers.d + j) / size
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
