# mypy: ignore-errors
"""Records with categories in compiled code: squared distances from tables of leaves, not from coordinates.

A tree has as many coordinates as nodes, but only as many different points as leaves.  A block of records, or of
centroids, therefore has a row for every leaf of every tree: the squared distances from that leaf.  The distance of a
record from all lanes of a block is the sum of one such row for every tree, and of one square for every number.

`None` stands for records without categories, of which nothing here is compiled.
"""

from collections import namedtuple

from numba import types
from numba.extending import overload

from mag._compiled.jit import INLINE, called, inlined
from mag._compiled.lanes import lanes_at, spread
from mag._compiled.memory import grid, part
from mag._compiled.work import layout

LANES_PER_STEP = 16  # lanes at a time: four registers of four

# What compiled functions get in place of an array X; arrays, and how many there are of what.
Records = namedtuple(
    "Records",
    "shape points numbers codes keys twins coordinate trees leaves apart axes steps origin n_numbers n_trees n_leaves",
)
# The same without the coordinates, as bare memory.
Terms = namedtuple(
    "Terms", "numbers codes keys twins coordinate trees leaves apart axes steps origin n_numbers n_trees n_leaves"
)

# Columns of `trees`: the first row of a tree and how many it has, its first coordinate and how many; of `leaves`:
# where the distances of the leaf from all of its tree start in `apart`, and where its coordinates start in `axes` and
# `steps`, as far as they differ from the `origin` by a step, and how many do; -1 for missing cells, which are equal to
# all that they can meet.
ROW, ROWS, FIRST, MANY = range(4)
APART, STEPS, COUNT = range(3)


def rows_of(X):
    """The coordinates of all records."""
    return X.points if isinstance(X, Records) else X


def terms_of(X):
    """What distances are made of, None without categories."""
    return X if isinstance(X, Records) else None


@overload(rows_of, **INLINE)
def _rows_of(X):
    if isinstance(X, types.Array):
        return lambda X: grid(X, X.shape[1])
    return lambda X: grid(X.points, X.shape[1])


@overload(terms_of, **INLINE)
def _terms_of(X):
    if isinstance(X, types.Array):
        return lambda X: None
    return lambda X: Terms(
        grid(X.numbers, X.n_numbers),
        grid(X.codes, X.n_trees),
        grid(X.keys, X.n_numbers + X.n_trees),
        part(X.twins, 0),
        part(X.coordinate, 0),
        grid(X.trees, MANY + 1),
        grid(X.leaves, COUNT + 1),
        part(X.apart, 0),
        part(X.axes, 0),
        part(X.steps, 0),
        part(X.origin, 0),
        X.n_numbers,
        X.n_trees,
        X.n_leaves,
    )


@layout
def width_of(terms, d):
    """How many rows a block has."""
    if terms is None:
        return d
    return terms.n_numbers + terms.n_leaves


# ---- distances


@inlined
def distances(terms, block, first, d, point, i):
    """The squared distances of STEP lanes of a block from record i, which is `point`; columns are added in order."""
    total, here = spread(0.0, LANES_PER_STEP), lanes_at(first, LANES_PER_STEP)
    if terms is None:
        for j in range(d):
            t = block[j, here] - point[j]
            total = total + t * t
    else:
        for j in range(terms.n_numbers):
            t = block[j, here] - terms.numbers[i, j]
            total = total + t * t
        for c in range(terms.n_trees):
            total = total + block[terms.codes[i, c], here]
    return total


@called
def distance_to(terms, block, lane, d, point, i):
    """The squared distance of one lane, rounded as in `distances`."""
    total = 0.0
    if terms is None:
        for j in range(d):
            t = block[j, lane] - point[j]
            total += t * t
    else:
        for j in range(terms.n_numbers):
            t = block[j, lane] - terms.numbers[i, j]
            total += t * t
        for c in range(terms.n_trees):
            total += block[terms.codes[i, c], lane]
    return total


@inlined
def twin_of(terms, i):
    """The first record that equals record i; without categories, itself: equal ones are rare then."""
    if terms is None:
        return i
    return terms.twins[i]


# ---- rows of blocks


@called
def write_record(terms, block, lane, i):
    """Record i into a lane of a block."""
    for j in range(terms.n_numbers):
        block[j, lane] = terms.numbers[i, j]
    for c in range(terms.n_trees):
        leaf, tree = terms.leaves[terms.codes[i, c] - terms.n_numbers], terms.trees[c]
        for q in range(tree[ROWS]):
            block[tree[ROW] + q, lane] = terms.apart[leaf[APART] + q]


@called
def write_centroid(terms, block, lane, sums, size, d):
    """The centroid of records with these sums into a lane of a block."""
    if terms is None:
        for j in range(d):
            block[j, lane] = sums[j] / size
    else:
        for j in range(terms.n_numbers):
            block[j, lane] = sums[terms.coordinate[j]] / size
        share = 1.0 / size
        for c in range(terms.n_trees):
            _write_tree(terms, terms.trees[c], block, lane, sums, share)


@called
def _write_tree(terms, tree, block, lane, sums, share):
    """The rows of one tree: the squared distance from the origin, but for the few coordinates that a leaf has."""
    whole = 0.0
    for j in range(tree[FIRST], tree[FIRST] + tree[MANY]):
        t = sums[j] * share - terms.origin[j]
        whole += t * t
    for row in range(tree[ROW], tree[ROW] + tree[ROWS]):
        leaf, total = terms.leaves[row - terms.n_numbers], whole
        for q in range(leaf[STEPS], leaf[STEPS] + leaf[COUNT]):
            j = terms.axes[q]
            t = sums[j] * share - terms.origin[j]
            total += terms.steps[q] * (terms.steps[q] - 2.0 * t)
        block[row, lane] = max(total, 0.0) if leaf[COUNT] >= 0 else 0.0
