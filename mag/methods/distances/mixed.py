# mypy: allow-untyped-defs, no-check-untyped-defs
"""The metric of records with categories: squared distances from tables of leaves, not from coordinates.

A tree has as many coordinates as nodes, but only as many different points as leaves.  A block of records, or of
centroids, therefore has a row for every leaf of every tree: the squared distances from that leaf.  The distance of a
record from all lanes of a block is the sum of one such row for every tree, and of one square for every number.
"""

from collections import namedtuple

from mag._compiled.jit import called
from mag._compiled.lanes import lanes_at, spread
from mag._compiled.memory import grid, part
from mag.methods.distances.euclidean import BOXES_PER_STEP, LANES_PER_STEP, gap

ROUNDING = 1e-10  # relative: categories are often equally far from a centroid, but for rounding

# The fields of `Euclidean`, then tables: arrays of `CategoryColumns.records`, or the same as bare memory.
Mixed = namedtuple(
    "Mixed",
    "points n d wide repeats rounding numbers codes keys twins coordinate trees leaves apart axes steps origin "
    "n_numbers n_trees",
)

# Columns of `trees`: the first row of a tree and how many it has, its first coordinate and how many; of `leaves`:
# where the distances of the leaf from all of its tree start in `apart`, and where its coordinates start in `axes` and
# `steps`, as far as they differ from the `origin` by a step, and how many do; -1 for missing cells, which are equal to
# all that they can meet.
ROW, ROWS, FIRST, MANY = range(4)
APART, STEPS, COUNT = range(3)


@called
def in_memory(X):
    """The metric with bare memory in place of arrays."""
    return Mixed(
        points=grid(X.points, X.d),
        n=X.n,
        d=X.d,
        wide=X.wide,
        repeats=X.repeats,
        rounding=X.rounding,
        numbers=grid(X.numbers, X.n_numbers),
        codes=grid(X.codes, X.n_trees),
        keys=grid(X.keys, X.n_numbers + X.n_trees),
        twins=part(X.twins, 0),
        coordinate=part(X.coordinate, 0),
        trees=grid(X.trees, MANY + 1),
        leaves=grid(X.leaves, COUNT + 1),
        apart=part(X.apart, 0),
        axes=part(X.axes, 0),
        steps=part(X.steps, 0),
        origin=part(X.origin, 0),
        n_numbers=X.n_numbers,
        n_trees=X.n_trees,
    )


# ---- what `metric` lists


def distances(metric, block, first, i):
    """One square for every number, one row of the block for every tree."""
    total, here = spread(0.0, LANES_PER_STEP), lanes_at(first, LANES_PER_STEP)
    for j in range(metric.n_numbers):
        t = block[j, here] - metric.numbers[i, j]
        total = total + t * t
    for c in range(metric.n_trees):
        total = total + block[metric.codes[i, c], here]
    return total


def distance_to(metric, block, lane, i):
    """The same for one lane."""
    total = 0.0
    for j in range(metric.n_numbers):
        t = block[j, lane] - metric.numbers[i, j]
        total += t * t
    for c in range(metric.n_trees):
        total += block[metric.codes[i, c], lane]
    return total


def distances_to_boxes(metric, low, high, first, i, sign):
    """A box holds the least and the largest distance from every leaf."""
    here, total = lanes_at(first, BOXES_PER_STEP), spread(0.0, BOXES_PER_STEP)
    for j in range(metric.n_numbers):
        t = gap(low[j, here], high[j, here], metric.numbers[i, j], sign)
        total = total + t * t
    edge = low if sign > 0 else high
    for c in range(metric.n_trees):
        total = total + edge[metric.codes[i, c], here]
    return total


def write_record(metric, block, lane, i):
    """Its numbers, and the distances of its leaves from all of their trees."""
    for j in range(metric.n_numbers):
        block[j, lane] = metric.numbers[i, j]
    for c in range(metric.n_trees):
        leaf, tree = metric.leaves[metric.codes[i, c] - metric.n_numbers], metric.trees[c]
        for q in range(tree[ROWS]):
            block[tree[ROW] + q, lane] = metric.apart[leaf[APART] + q]


def write_centroid(metric, block, lane, sums, size):
    """The means of the numbers, and the distances from all leaves."""
    for j in range(metric.n_numbers):
        block[j, lane] = sums[metric.coordinate[j]] / size
    share = 1.0 / size
    for c in range(metric.n_trees):
        _write_tree(metric, metric.trees[c], block, lane, sums, share)


@called
def _write_tree(metric, tree, block, lane, sums, share):
    """The rows of one tree: the squared distance from the origin, but for the few coordinates that a leaf has."""
    whole = 0.0
    for j in range(tree[FIRST], tree[FIRST] + tree[MANY]):
        t = sums[j] * share - metric.origin[j]
        whole += t * t
    for row in range(tree[ROW], tree[ROW] + tree[ROWS]):
        leaf, total = metric.leaves[row - metric.n_numbers], whole
        for q in range(leaf[STEPS], leaf[STEPS] + leaf[COUNT]):
            j = metric.axes[q]
            t = sums[j] * share - metric.origin[j]
            total += metric.steps[q] * (metric.steps[q] - 2.0 * t)
        block[row, lane] = max(total, 0.0) if leaf[COUNT] >= 0 else 0.0


def sort_keys(metric):
    """The numbers, and one position on a line for every tree."""
    return metric.keys, metric.n_numbers + metric.n_trees


def first_equal(metric, i):
    """The first record with the same numbers and leaves."""
    return metric.twins[i]
