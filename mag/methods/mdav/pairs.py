# mypy: allow-untyped-defs, no-check-untyped-defs
"""MD and MDAV (algorithms 1 and 2): two groups a round, at opposite ends of what is left."""

import numpy as np

from mag._compiled.jit import called, jit
from mag._compiled.memory import part
from mag._compiled.work import FARTHEST, NEAREST, NO, NOBODY, ONE, YES, ZERO, sort_falling
from mag.methods.distances.blocks import distance, is_free
from mag.methods.distances.metric import distance_to, write_centroid
from mag.methods.mdav.ends import HERE, MEASURED, ends_in, find_runs
from mag.methods.mdav.nearest_lists import (
    LIST_WANTED,
    LISTS_PER_BATCH,
    first_free,
    foresee,
    make_lists,
    request_list,
    reserve_lists,
    slot_of,
)
from mag.methods.mdav.state import CURSOR, GROWN, N_FREE, assign, create_group, place_rest

DISTANCE_SLACK = 1e-9  # relative; far above what rounding does to a distance
LONGER = 16  # times as long as to pass an assigned record takes a distance
UNKNOWN = np.int64(-2)
AT_ONCE = 1 << 23  # records that shared lists are chosen from in a step


@called
def _outermost(state, ends):
    """The free record farthest from the centroid of the free ones; equally far ones by number.

    It is at most as far from the centroid as from the reference plus the distance of these two, so that the search
    ends soon.
    """
    metric, order, left, d = state.field.metric, state.order, state.status[N_FREE], state.field.d
    for j in range(d):
        ends.center[j] = ends.total[j] / left
    write_centroid(metric, ends.lane, ZERO, ends.total, left)
    if ends.work[MEASURED] > LONGER * left:
        _sort_again(state, ends)
    shift = np.sqrt(distance(ends.center, ends.reference, d))
    first = state.status[CURSOR]
    while not is_free(state.field, order[first]):
        first += 1
    state.status[CURSOR] = first
    best, most = NOBODY, -1.0
    p, measured = first, ends.work[MEASURED]
    while p < state.field.n:
        i = order[p]
        if state.away[i] < 0.0:  # who had been assigned at the last sort
            break
        if best >= 0 and np.sqrt(state.away[i]) + shift < np.sqrt(most) * (1.0 - DISTANCE_SLACK):
            break
        if not is_free(state.field, i):
            p += 1
            measured += 1
        else:
            p = ends.beyond[p]  # equal records, in the order of their numbers: the first free one will do
            measured += LONGER
            away = distance_to(metric, ends.lane, ZERO, i)
            tied = best >= 0 and abs(away - most) <= metric.rounding * most
            if away > most and not tied:
                best, most = i, away
            elif tied:
                best, most = min(i, best), max(away, most)
    ends.work[MEASURED] = measured
    return best


@called
def _sort_again(state, ends):
    """Order the free records by the distance from today's centroid; the others are behind them."""
    d, count, last = state.field.d, ZERO, state.field.n
    for i in range(state.field.n):
        if is_free(state.field, i):
            state.away[i] = distance_to(state.field.metric, ends.lane, ZERO, i)
            state.order[count] = i
            count += 1
        else:
            state.away[i] = -1.0
            last -= 1
            state.order[last] = i
    sort_falling(state.order, count, state.away)
    find_runs(state, ends, count)
    for j in range(d):
        ends.reference[j] = ends.center[j]
    ends.work[MEASURED] = 0
    state.status[CURSOR] = 0


@called
def _most_distant(state, ends, out):
    """The later one of the two free records that are farthest from each other; UNKNOWN if lists are missing.

    A record's list of farthest ones bounds what is beyond it, so only records with large bounds are looked at.  That
    the later one is x_r is not in the thesis, but its tables say so.
    """
    far, bound, rows, d = ends.far, ends.bound, state.rows, state.field.d
    best, most = UNKNOWN, -1.0
    for i in range(state.field.n):
        if bound[i] > most and is_free(state.field, i):
            if first_free(state.field, far, i, NOBODY, ONE, out):
                other = out[0]
                bound[i] = distance(rows[i], rows[other], d)
                if bound[i] > most:
                    best, most = other, bound[i]
            else:
                slot = slot_of(state.field, far, i)
                if slot >= 0:
                    bound[i] = -far.keys[slot, far.length - 1]
                request_list(state.field, far, i)
    return UNKNOWN if far.used[1] > 0 else best


@called
def _among(others, count, i):
    times = 0
    for p in range(count):
        times += others[p] == i
    return times > 0


@called
def _opposite(state, far, r, others, count):
    """The free record farthest from r that is not among others; UNKNOWN if the list is missing or used up."""
    slot, used_up = slot_of(state.field, far, r), True
    if slot < 0:
        return UNKNOWN
    for rank in range(far.filled[slot]):
        other = far.ids[slot, rank]
        if is_free(state.field, other):
            used_up = False
            if other != r and not _among(others, count, other):
                return other
    if used_up:
        return UNKNOWN
    field, best = state.field, UNKNOWN  # the farthest are among the nearest: all are equally far, the first is taken
    for b in range(field.blocks):
        if field.alive[b] > 0 and (best == UNKNOWN or field.lowest[b] < best):
            for lane in range(field.alive[b]):
                i = field.ids[b, lane]
                if (best == UNKNOWN or i < best) and i != r and not _among(others, count, i):
                    best = i
    return best


@called
def _group_of(state, ends, r, others, count):
    """The group of r and others leaves."""
    d = state.field.d
    for j in range(d):
        t = state.rows[r, j]
        for p in range(count):
            t += state.rows[others[p], j]
        ends.total[j] -= t
    create_group(state, r, others, count)


@called
def _round(state, ends, average, alone, k):
    """The next two groups, or the next one if `alone`; False if lists are missing."""
    field, near, others = state.field, state.near, state.scratch
    if state.status[GROWN] == 0:
        r = _outermost(state, ends) if average else _most_distant(state, ends, others)
        if r == UNKNOWN:
            return False
        ready = first_free(field, near, r, NOBODY, k - 1, others)
        s = NOBODY if alone else _opposite(state, ends.far, r, others, k - 1 if ready else ZERO)
        if not ready:
            request_list(field, near, r)
        if s == UNKNOWN:
            request_list(field, ends.far, r)
        if not ready or s == UNKNOWN:
            return False
        _group_of(state, ends, r, others, k - 1)
        state.status[GROWN] = s + 1
    if not alone:
        s = state.status[GROWN] - 1
        if not first_free(field, near, s, NOBODY, k - 1, others):
            request_list(field, near, s)
            return False
        _group_of(state, ends, s, others, k - 1)
        state.status[GROWN] = 0
    return True


@called
def _try_round(state, ends, average, alone, k):
    """The next round; where equal records share lists, with lists that are made now: that is less work than a step."""
    ready = _round(state, ends, average, alone, k)
    while not ready and ends.work[HERE] > 0:
        ends.work[HERE] -= 1
        near, far = reserve_lists(state.near), reserve_lists(ends.far)
        make_lists(state.field, state.near, NEAREST, near, ZERO, near)
        make_lists(state.field, ends.far, FARTHEST, far, ZERO, far)
        ready = _round(state, ends, average, alone, k)
    return ready


@called
def finish(state, k):
    """Those who are left are a group if they are enough."""
    if state.status[N_FREE] < k:
        place_rest(state)
        return
    g = state.centroids.used[0]
    state.centroids.used[0] = g + 1
    for i in range(state.field.n):
        if is_free(state.field, i):
            assign(state, i, g)


@jit
def pairs(work, X, k, rule, average):
    """Assign records until lists are wanted; False if none are.  `average` is MDAV, otherwise MD."""
    state, ends = ends_in(work, X, k, rule)
    field, near, order, status, out = state.field, state.near, state.order, state.status, part(state.scratch, 2 * k)
    limit, ready = 3 * k if average else 2 * k, True
    ends.work[HERE] = AT_ONCE // field.n + 1 if field.metric.repeats else 0
    while ready and (status[N_FREE] >= limit or status[GROWN] > 0):
        ready = _try_round(state, ends, average, NO, k)
    if ready and average and status[N_FREE] >= 2 * k:
        ready = _try_round(state, ends, average, YES, k)
    if ready:
        finish(state, k)
    elif average:
        cursor = status[CURSOR]
        foresee(field, near, order, cursor, k - 1, ZERO, ZERO, out)
        foresee(field, ends.far, order, cursor, ONE, ZERO, ZERO, out)
        for p in range(cursor, min(cursor + LISTS_PER_BATCH, field.n)):
            out[0] = NOBODY
            i = order[p]
            if is_free(field, i) and first_free(field, ends.far, i, NOBODY, ONE, out) and out[0] >= 0:
                s = out[0]
                if slot_of(field, near, s) != LIST_WANTED and not first_free(field, near, s, NOBODY, k - 1, out):
                    request_list(field, near, s)
    return not ready
