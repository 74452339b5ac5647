"""Groups that grow: their sums, sizes and centroids, and which of them is closest to a record (section 5.1)."""

from collections import namedtuple

import numpy as np

from mag._jit import called
from mag.methods._field import LANES, nearest_lane, scan

CENTROID, MEMBER, COST = 0, 1, 2
CLOSEST = {"centroid": CENTROID, "member": MEMBER, "cost": COST}  # clos, clos' and clos'' of section 5.1

# sums[c, column], size[c], x[block, column, lane] = centroids, weight[c] = what a squared distance counts, used[0]
Centres = namedtuple("Centres", "sums size x weight used rule")


@called
def centres_for(capacity, d, rule):
    """No groups yet; `rule` is one of CLOSEST."""
    blocks = (capacity + LANES - 1) // LANES
    x, weight = np.zeros((blocks, d, LANES)), np.ones(blocks * LANES)
    return Centres(np.zeros((capacity, d)), np.zeros(capacity, np.int64), x, weight, np.zeros(1, np.int64), rule)


@called
def join(centres, c, row):
    """The record joins group c."""
    centres.size[c] += 1
    size = centres.size[c]
    for j in range(row.size):
        centres.sums[c, j] += row[j]
        centres.x[c // LANES, j, c % LANES] = centres.sums[c, j] / size
    if centres.rule == COST:  # adding a record costs |C| / (|C|+1) times its squared distance
        centres.weight[c] = size / (size + 1)


@called
def closest(centres, field, labels, row):
    """The group closest to a record, and the squared distance of its centroid.  There must be one."""
    if centres.rule == MEMBER:
        keys, ids, found = np.empty((1, 1)), np.empty((1, 1), np.int64), np.zeros(1, np.int64)
        scan(field, row.reshape(1, -1), np.full(1, -1), 1.0, False, keys, ids, found)
        c = labels[ids[0, 0]]
    else:
        c = nearest_lane(centres.x, centres.weight, centres.used[0], row)
    total = 0.0
    for j in range(row.size):
        t = centres.x[c // LANES, j, c % LANES] - row[j]
        total += t * t
    return c, total


@called
def cost_of(rows, i, others, count):
    """The sum of squares of record i and `count` others; sums start at i, so that no offset costs precision."""
    total = 0.0
    for j in range(rows.shape[1]):
        s = q = 0.0
        for p in range(count):
            t = rows[others[p], j] - rows[i, j]
            s += t
            q += t * t
        total += q - s * s / (count + 1)
    return total
