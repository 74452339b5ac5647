"""Records that are assigned one after another: what all maximum distance methods share."""

from collections import namedtuple

import numpy as np

from mag._compiled.jit import called
from mag._compiled.lanes import at, part, put
from mag._compiled.work import NEAREST, NO, NOBODY, ONE, fill, sort_falling
from mag.methods.distances.blocks import field_at, fill_field, is_free, nearest_lane, scan, take
from mag.methods.mdav.centroids import MEMBER, centroids_at, join, remove_groups
from mag.methods.mdav.nearest_lists import drop_lists, lists_at

SPARE = 6  # entries of a list for what neighbors will have taken
CURSOR, LEFT, GROWN = 0, 1, 2  # the position in `order`, how many records are free, what a round has yet to do

# rows: the records; field, near: their blocks and lists of nearest; order: farthest from the centroid first; label;
# status: the three numbers above; centroids: of the groups; scratch, real: memory for 4k + 3 and 1
# numbers; away[record] = squared distance from the centroid; rule: which group is closest
State = namedtuple("State", "rows field near centroids away real order label status scratch rule k")


@called
def state_at(work, r, w, rows, n, d, k, rule):
    """For n records."""
    field, r, w = field_at(work, r, w, n, d)
    near, r, w = lists_at(work, r, w, n, 2 * k + SPARE)
    centroids, r, w = centroids_at(work, r, w, n // k, d)
    label, status = w + n, w + 2 * n
    state = State(
        rows,
        field,
        near,
        centroids,
        part(work.reals, r),
        part(work.reals, r + n),
        part(work.wholes, w),
        part(work.wholes, label),
        part(work.wholes, status),
        part(work.wholes, status + 3),
        rule,
        k,
    )
    return state, r + n + 1, status + 6 + 4 * k


@called
def begin_state(state):
    """Free all records, and remove all groups."""
    n, order = state.field.n, state.order
    fill_field(state.field, state.rows, order)
    drop_lists(state.near)
    remove_groups(state.centroids)
    measure_from_centroid(state, np.empty(state.field.d))
    for i in range(n):
        put(order, i, i)
    sort_falling(order, n, state.away)
    fill(state.label, n, NOBODY)
    put(state.status, CURSOR, 0)
    put(state.status, LEFT, n)
    put(state.status, GROWN, 0)


@called
def measure_from_centroid(state, center):
    """Write the centroid of all records into `center`, and how far each is from it into `state.away`."""
    n, d, rows = state.field.n, state.field.d, state.rows
    fill(center, d, 0.0)
    for i in range(n):
        for j in range(d):
            put(center, j, at(center, j) + at(rows, i * d + j))
    for j in range(d):
        put(center, j, at(center, j) / n)
    for i in range(n):
        total = 0.0
        for j in range(d):
            t = at(rows, i * d + j) - at(center, j)
            total += t * t
        put(state.away, i, total)


@called
def assign(state, i, g):
    """Record i joins group g."""
    take(state.field, i)
    put(state.label, i, g)
    join(state.centroids, g, part(state.rows, i * state.field.d), state.rule)
    put(state.status, LEFT, at(state.status, LEFT) - 1)


@called
def create_group(state, i, others, count):
    """Start a group of record i and others."""
    g = at(state.centroids.used, 0)
    put(state.centroids.used, 0, g + 1)
    assign(state, i, g)
    for p in range(count):
        assign(state, at(others, p), g)


@called
def next_free(state):
    """The free record that is farthest from the centroid."""
    p = at(state.status, CURSOR)
    while not is_free(state.field, at(state.order, p)):
        p += 1
    put(state.status, CURSOR, p)
    return at(state.order, p)


@called
def place_rest(state):
    """Every record that is left, fewer than k of them, joins its closest group."""
    for i in range(state.field.n):
        if is_free(state.field, i):
            assign(state, i, closest_group(state, i))


@called
def closest_group(state, i):
    """The group that record i would join; there must be one."""
    field, centroids, row = state.field, state.centroids, part(state.rows, i * state.field.d)
    if state.rule != MEMBER:
        return nearest_lane(centroids.x, field.d, centroids.weight, at(centroids.used, 0), row)
    found = part(state.scratch, 4 * state.k)
    put(found, 0, i)
    scan(field, state.rows, found, ONE, NO, NEAREST, NO, state.real, part(found, 1), ONE, part(found, 2))
    return at(state.label, at(found, 1))
