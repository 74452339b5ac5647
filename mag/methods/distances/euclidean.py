# mypy: allow-untyped-defs, no-check-untyped-defs
"""The Euclidean metric: records are points, and a block has a row for every coordinate."""

from collections import namedtuple

from mag._compiled.jit import inlined
from mag._compiled.lanes import lanes_at, select, spread
from mag._compiled.work import NO, layout

LANES_PER_STEP = 16  # lanes at a time: four registers of four
BOXES_PER_STEP = 8  # boxes at a time

# What every metric has: the coordinates of n records, (n, d); the rows of a block; whether many records are equal, so
# that they share what is kept for each; up to which share of themselves squared distances differ by rounding alone.
Euclidean = namedtuple("Euclidean", "points n d wide repeats rounding")


@layout
def euclidean(points, n, d):
    """The metric of n points: an array, or memory in compiled code."""
    return Euclidean(points=points, n=n, d=d, wide=d, repeats=NO, rounding=0.0)


@inlined
def gap(low, high, v, sign):
    """How far v is from intervals: from the near end (0 inside) if sign = 1, from the far one if -1."""
    below, above = low - v, v - high
    if sign > 0:
        t = select(below > above, below, above)
        return select(t > 0.0, t, spread(0.0, BOXES_PER_STEP))
    return select(below < above, below, above)


# ---- what `metric` lists


def distances(metric, block, first, i):
    """One square for every coordinate."""
    point = metric.points[i]
    total, here = spread(0.0, LANES_PER_STEP), lanes_at(first, LANES_PER_STEP)
    for j in range(metric.d):
        t = block[j, here] - point[j]
        total = total + t * t
    return total


def distance_to(metric, block, lane, i):
    """The same for one lane."""
    point, total = metric.points[i], 0.0
    for j in range(metric.d):
        t = block[j, lane] - point[j]
        total += t * t
    return total


def distances_to_boxes(metric, low, high, first, i, sign):
    """One square for every coordinate, 0 inside if sign = 1."""
    point = metric.points[i]
    here, total = lanes_at(first, BOXES_PER_STEP), spread(0.0, BOXES_PER_STEP)
    for j in range(metric.d):
        t = gap(low[j, here], high[j, here], point[j], sign)
        total = total + t * t
    return total


def write_record(metric, block, lane, i):
    """Its coordinates."""
    for j in range(metric.d):
        block[j, lane] = metric.points[i, j]


def write_centroid(metric, block, lane, sums, size):
    """The means of the coordinates."""
    for j in range(metric.d):
        block[j, lane] = sums[j] / size


def sort_keys(metric):
    """The coordinates."""
    return metric.points, metric.d


def first_equal(metric, i):
    """The record itself: equal ones are rare."""
    return i
