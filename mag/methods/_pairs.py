"""MD and MDAV (algorithms 1 and 2): two groups a round, at opposite ends of what is left."""

from collections import namedtuple

import numpy as np

from mag._jit import called, jit
from mag.methods._assign import CURSOR, GROWN, LEFT, found_group, from_centre, place_rest
from mag.methods._field import distance, is_free
from mag.methods._lists import first_free, foresee, request

SLACK = 1e-9  # relative; far above what rounding does to a distance

# far: lists of the farthest records; total: sum of the free records (MDAV).  `order` is sorted by the distances `away`
# from `reference`, a former centroid; `work` counts the distances computed since.  bound (MD): no record is farther.
Ends = namedtuple("Ends", "far total reference away work bound")


@jit
def ends_of(rows, order, far):
    """For all records free."""
    n, d = rows.shape
    total = np.zeros(d)
    for i in range(n):
        total += rows[i]
    away = np.sqrt(from_centre(rows, order))
    return Ends(far, total, total / n, away, np.zeros(1, np.int64), np.full(n, np.inf))


@called
def _outermost(state, ends):
    """The free record farthest from the centroid of the free ones; equally far ones by number.

    It is at most as far from the centroid as from the reference plus the distance of these two, so that the search
    ends soon.
    """
    rows, order, left = state.rows, state.order, state.at[LEFT]
    centre = ends.total / left
    shift = np.sqrt(distance(centre, ends.reference))
    if ends.work[0] > left:
        _sort_again(state, ends, centre)
        shift = 0.0
    while not is_free(state.field, order[state.at[CURSOR]]):
        state.at[CURSOR] += 1
    best, most = -1, -1.0
    for p in range(state.at[CURSOR], order.size):
        if ends.away[p] + shift < np.sqrt(most) * (1.0 - SLACK):
            break
        i = order[p]
        if is_free(state.field, i):
            ends.work[0] += 1
            away = distance(rows[i], centre)
            if away > most or (away == most and i < best):
                best, most = i, away
    return best


@called
def _sort_again(state, ends, centre):
    """Order the free records by the distance from today's centroid."""
    rows, left = state.rows, state.at[LEFT]
    free, away, count = np.empty(left, np.int64), np.empty(left), 0
    for i in range(state.labels.size):
        if is_free(state.field, i):
            free[count], away[count] = i, np.sqrt(distance(rows[i], centre))
            count += 1
    by = np.argsort(-away, kind="mergesort")
    state.order[left:] = state.order[0]  # those after the free ones are not looked at
    ends.away[left:] = -1.0
    state.order[:left], ends.away[:left] = free[by], away[by]
    if left < state.labels.size:
        for i in range(state.labels.size):
            if not is_free(state.field, i):
                state.order[left:] = i
                break
    ends.reference[:] = centre
    ends.work[0] = state.at[CURSOR] = 0


@called
def _most_distant(state, ends, wanted, counts):
    """The later one of the two free records that are farthest from each other; -1 if lists are missing.

    A record's list of farthest ones bounds what is beyond it, so only records with large bounds are looked at.  That
    the later one is x_r is not in the thesis, but its tables say so.
    """
    far, bound = ends.far, ends.bound
    best, most, out = -1, -1.0, np.empty(1, np.int64)
    for i in range(state.labels.size):
        if bound[i] > most and is_free(state.field, i):
            out[0] = -1
            if first_free(state.field, far, i, -1, 1, out):
                bound[i] = distance(state.rows[i], state.rows[out[0]])
                if bound[i] > most:
                    best, most = out[0], bound[i]
            else:
                if far.slot[i] >= 0:
                    bound[i] = -far.keys[far.slot[i], far.found[far.slot[i]] - 1]
                counts[1] = request(far, wanted[1], counts[1], i)
    return -1 if counts[1] > 0 else best


@called
def _opposite(state, far, r, others, count):
    """The free record farthest from r that is not among others; -2 if the list is missing or used up."""
    slot = far.slot[r]
    if slot < 0:
        return -2
    for rank in range(far.found[slot]):
        other = far.ids[slot, rank]
        if is_free(state.field, other):
            inside = False
            for p in range(count):
                inside |= others[p] == other
            if not inside:
                return other
    return -2


@called
def _group_of(state, ends, r, others, count):
    """The group of r and others leaves."""
    ends.total[:] -= state.rows[r]
    for p in range(count):
        ends.total[:] -= state.rows[others[p]]
    found_group(state, r, others, count)


@called
def _all_left(state, k):
    """One group of everybody who is free."""
    free, count = np.empty(state.at[LEFT], np.int64), 0
    for i in range(state.labels.size):
        if is_free(state.field, i):
            free[count] = i
            count += 1
    found_group(state, free[0], free[1:], count - 1)


@called
def _advance(state, ends, average, k, wanted, counts):
    """Assign records until all are, or until lists are missing: they are written into `wanted`."""
    near, at = state.near, state.at
    others = np.empty(k, np.int64)
    limit = 3 * k if average else 2 * k
    while at[LEFT] >= limit or at[GROWN] > 0 or (average and at[LEFT] >= 2 * k):
        alone = at[LEFT] < limit  # MDAV's last round has no second group
        if at[GROWN] == 0:
            r = _outermost(state, ends) if average else _most_distant(state, ends, wanted, counts)
            if r < 0:
                return
            ready = first_free(state.field, near, r, -1, k - 1, others)
            s = -1 if alone else _opposite(state, ends.far, r, others, k - 1 if ready else 0)
            if not ready:
                counts[0] = request(near, wanted[0], counts[0], r)
            if s == -2:
                counts[1] = request(ends.far, wanted[1], counts[1], r)
            if not ready or s == -2:
                return
            _group_of(state, ends, r, others, k - 1)
            at[GROWN] = s + 1
        if at[GROWN] > 0:
            s = at[GROWN] - 1
            if not first_free(state.field, near, s, -1, k - 1, others):
                counts[0] = request(near, wanted[0], counts[0], s)
                return
            _group_of(state, ends, s, others, k - 1)
            at[GROWN] = 0
    if at[LEFT] >= k:
        _all_left(state, k)
    else:
        place_rest(state)


@jit
def pairs(state, ends, average, k, wanted, counts):
    """Assign records until lists are wanted; 0 if none are.  `average` is MDAV, otherwise MD."""
    counts[:] = 0
    _advance(state, ends, average, k, wanted, counts)
    if counts[0] + counts[1] > 0 and average:
        field, order, cursor = state.field, state.order, state.at[CURSOR]
        counts[0] = foresee(field, state.near, order, cursor, k - 1, 0, 0, wanted[0], counts[0])
        counts[1] = foresee(field, ends.far, order, cursor, 1, 0, 0, wanted[1], counts[1])
        out, many = np.empty(k, np.int64), np.empty(1, np.int64)
        for p in range(cursor, min(cursor + wanted.shape[1], order.size)):
            many[0] = -1
            if is_free(field, order[p]) and first_free(field, ends.far, order[p], -1, 1, many) and many[0] >= 0:
                if state.near.slot[many[0]] != -2 and not first_free(field, state.near, many[0], -1, k - 1, out):
                    counts[0] = request(state.near, wanted[0], counts[0], many[0])
    return counts[0] + counts[1]
