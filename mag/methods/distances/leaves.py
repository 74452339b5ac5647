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

STEP = 16  # lanes at a time: four registers of four

# What compiled functions get in place of an array X; arrays, and how many there are of what.
Records = namedtuple(
    "Records", "shape points numbers codes keys twins coordinate leaves apart places n_numbers n_trees n_leaves"
)
# The same without the coordinates, as bare memory.
Terms = namedtuple("Terms", "numbers codes keys twins coordinate leaves apart places n_numbers n_trees n_leaves")

# Columns of `leaves`: where the distances of the leaf from those of its tree start in `apart`, the first row of the
# tree and how many it has, where the coordinates of the leaf start in `places`, the first of them and how many.
APART, ROW, ROWS, PLACES, FIRST, MANY = range(6)


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
        grid(X.leaves, MANY + 1),
        part(X.apart, 0),
        part(X.places, 0),
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
    total, here = spread(0.0, STEP), lanes_at(first, STEP)
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
        leaf = terms.leaves[terms.codes[i, c] - terms.n_numbers]
        for q in range(leaf[ROWS]):
            block[leaf[ROW] + q, lane] = terms.apart[leaf[APART] + q]


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
        for r in range(terms.n_leaves):
            leaf, total = terms.leaves[r], 0.0
            for q in range(leaf[MANY]):
                t = terms.places[leaf[PLACES] + q] - sums[leaf[FIRST] + q] * share
                total += t * t
            block[terms.n_numbers + r, lane] = total
