# mypy: allow-untyped-defs, no-check-untyped-defs
"""Records that are assigned one after another: what all maximum distance methods share."""

from collections import namedtuple

import numpy as np

from mag._compiled.jit import called
from mag._compiled.memory import grid, part
from mag._compiled.work import NEAREST, NO, NOBODY, ONE, fill, integers, layout, reals, sort_falling, space_in
from mag.methods.distances.blocks import FoundRecords, Query, field_at, fill_field, is_free, nearest_lane, scan, take
from mag.methods.distances.metric import metric_of
from mag.methods.mdav.centroids import MEMBER, centroids_at, join, remove_groups, write
from mag.methods.mdav.nearest_lists import drop_lists, lists_at

SPARE = 6  # entries of a list for what neighbors will have taken
CURSOR, N_FREE, GROWN = 0, 1, 2  # the position in `order`, how many records are free, what a round has yet to do

MdavState = namedtuple(
    "MdavState", "rows field near centroids away real limit order label status nearest scratch rule k"
)


@layout
def list_length(k):
    """The length of lists of nearest records."""
    return 2 * k + SPARE


@layout
def state_at(space, metric, k, rule):
    """Of the records of a metric, grouped by a rule which group is closest."""
    n = metric.n
    return MdavState(
        rows=metric.points,
        field=field_at(space, metric),
        near=lists_at(space, metric, list_length(k)),  # lists of nearest records
        centroids=centroids_at(space, metric, n // k),  # of the groups
        away=reals(space, n),  # squared distance of a record from the centroid of all
        real=reals(space, 1, ONE),  # memory for one number
        limit=reals(space, 1),  # gain factors from the one of the run up to here decide alike
        order=integers(space, n),  # farthest from the centroid first
        label=integers(space, n),
        status=integers(space, 3),  # CURSOR, N_FREE, GROWN
        nearest=integers(space, 2 * k),  # V-MDAV: the free record that was nearest to each member of the last group
        scratch=integers(space, 4 * k + 3),
        rule=rule,
        k=k,
    )


@called
def state_in(work, X, k, rule):
    """What `state_at` cuts from this memory."""
    return state_at(space_in(work), metric_of(X), k, rule)


@called
def begin_state(state):
    """Free all records, and remove all groups."""
    n, order = state.field.n, state.order
    fill_field(state.field, order)
    drop_lists(state.near)
    remove_groups(state.centroids)
    measure_from_centroid(state, np.empty(state.field.d))
    for i in range(n):
        order[i] = i
    sort_falling(order, n, state.away)
    fill(state.label, n, NOBODY)
    state.limit[0] = np.inf
    state.status[CURSOR] = 0
    state.status[N_FREE] = n
    state.status[GROWN] = 0


@called
def measure_from_centroid(state, center):
    """Write the centroid of all records into `center`, and how far each is from it into `state.away`."""
    n, d, rows = state.field.n, state.field.d, state.rows
    center = part(center, 0)
    fill(center, d, 0.0)
    for i in range(n):
        for j in range(d):
            center[j] += rows[i, j]
    for j in range(d):
        center[j] /= n
    for i in range(n):
        total = 0.0
        for j in range(d):
            t = rows[i, j] - center[j]
            total += t * t
        state.away[i] = total


@called
def assign(state, i, g):
    """Record i joins group g."""
    _assign(state, i, g)
    write(state.field.metric, state.centroids, g, state.rule)


@called
def _assign(state, i, g):
    take(state.field, i)
    state.label[i] = g
    join(state.centroids, g, state.rows[i])
    state.status[N_FREE] -= 1


@called
def exceeds(state, gamma, a, b):
    """Whether γ · b > a; where not, factors above a / b would have decided otherwise."""
    if a < gamma * b:
        return True
    if b > 0:
        state.limit[0] = min(state.limit[0], a / b)
    return False


@called
def create_group(state, i, others, count):
    """Start a group of record i and others."""
    g = state.centroids.used[0]
    state.centroids.used[0] = g + 1
    _assign(state, i, g)
    for p in range(count):
        _assign(state, others[p], g)
    write(state.field.metric, state.centroids, g, state.rule)


@called
def next_free(state):
    """The free record that is farthest from the centroid."""
    p = state.status[CURSOR]
    while not is_free(state.field, state.order[p]):
        p += 1
    state.status[CURSOR] = p
    return state.order[p]


@called
def place_rest(state):
    """Every record that is left, fewer than k of them, joins its closest group."""
    for i in range(state.field.n):
        if is_free(state.field, i):
            assign(state, i, closest_group(state, i))


@called
def closest_group(state, i):
    """The group that record i would join; there must be one."""
    field, centroids = state.field, state.centroids
    if state.rule != MEMBER:
        return nearest_lane(field.metric, centroids.x, centroids.weight, centroids.used[0], i)
    one, nearest = part(state.scratch, 4 * state.k), grid(part(state.scratch, 4 * state.k + 1), ONE)
    one[0] = i
    query = Query(field.metric, one, ONE, NEAREST, NO, NO)
    scan(field, query, FoundRecords(state.real, nearest, part(one, 2), ONE))
    return state.label[nearest[0, 0]]
