"""Records that are assigned one after another: what all maximum distance methods share."""

from collections import namedtuple

import numpy as np

from mag._jit import called, jit
from mag.methods._centres import Centres, centres_for, closest, join
from mag.methods._field import CODE, field_of, is_free, take
from mag.methods._lists import BATCH, fill, make_lists, room
from mag.methods._pool import side_by_side

CURSOR, LEFT, GROWN = 0, 1, 2  # the position in `order`, how many records are free, members of the growing group

# field: the records; near: lists of their nearest; order: farthest from the centroid first; at: the three counters.
State = namedtuple("State", "rows field near order at labels centres")


@called
def from_centre(rows, order):
    """The squared distance of every record in `order` from the centroid of these records."""
    n, d = order.size, rows.shape[1]
    centre, out = np.zeros(d), np.zeros(n)
    for p in range(n):
        for j in range(d):
            centre[j] += rows[order[p], j]
    for j in range(d):
        centre[j] /= n
    for p in range(n):
        for j in range(d):
            t = rows[order[p], j] - centre[j]
            out[p] += t * t
    return out


@jit
def farthest_first(rows):
    """Record numbers by falling distance from the centroid; equally far ones in the order of the data."""
    n = rows.shape[0]
    return np.argsort(-from_centre(rows, np.arange(n)), kind="mergesort")


@called
def assign(state, i, c):
    """Record i joins group c."""
    take(state.field, i)
    state.labels[i] = c
    join(state.centres, c, state.rows[i])
    state.at[LEFT] -= 1


@called
def found_group(state, i, others, count):
    """A new group of record i and others."""
    c = state.centres.used[0]
    state.centres.used[0] = c + 1
    assign(state, i, c)
    for p in range(count):
        assign(state, others[p], c)


@called
def next_free(state):
    """The free record that is farthest from the centroid."""
    while not is_free(state.field, state.order[state.at[CURSOR]]):
        state.at[CURSOR] += 1
    return state.order[state.at[CURSOR]]


@called
def place_rest(state):
    """Every record that is left, fewer than k of them, joins its closest group."""
    for i in range(state.labels.size):
        if is_free(state.field, i):
            c, _ = closest(state.centres, state.field, state.labels, state.rows[i])
            assign(state, i, c)


@jit
def _no_centres(capacity, d, rule):
    return centres_for(capacity, d, rule)


def state_of(X, k, length, rule):
    """All records free, no groups."""
    n, d = X.shape
    centres = Centres(*_no_centres(n // k, d, rule))
    near = make_lists(n, length)
    return State(X, field_of(X), near, farthest_first(X), np.array([0, n, 0]), np.full(n, -1), centres)


def run(step, state, tables, threads, watch):
    """Call step(wanted, counts) until it wants no more lists; False if the time was up before.

    `tables` are the kinds of lists, (lists, sign): it writes which records of each kind it wants.
    """
    wanted, counts = np.empty((len(tables), BATCH), np.int64), np.zeros(len(tables), np.int64)
    while step(wanted, counts):
        jobs = []
        for (lists, sign), ids, count in zip(tables, wanted, counts.tolist(), strict=True):
            first, share = reserve(lists, ids, count), max(1, -(-count // threads))
            jobs += [(lists, ids, sign, first, a, min(a + share, count)) for a in range(0, count, share)]
        side_by_side(lambda job: fill(state.rows, state.field, *job), jobs, threads)
        if watch.step(1.0 - state.at[LEFT] / state.labels.size):
            return False
    return True


@jit
def reserve(lists, wanted, count):
    """`room` from Python."""
    return room(lists, wanted, count)
