"""MDAV+, MDAV* and MDAV*γ (algorithms 3, 5 and 6): one loop, that stops wherever a list is missing."""

import numpy as np

from mag._jit import called, jit
from mag.methods._assign import CURSOR, LEFT, State, assign, farthest_first, found_group, next_free, place_rest
from mag.methods._centres import centres_for, closest, cost_of
from mag.methods._field import small_field
from mag.methods._lists import BATCH, fill, first_free, foresee, lists_for, request, room

SPARE = 6  # what neighbours will have taken from a list


@called
def _advance(state, k, gamma, second):
    """Assign records until all are (returns -1) or until the list of the record that is returned is missing.

    cost_E < γ · cost_N extends a group by its closest record, and so does cost_E2 < cost_N if `second`.
    """
    rows, field, near, centres = state.rows, state.field, state.near, state.centres
    others, beyond = np.empty(k, np.int64), np.empty(k, np.int64)
    while state.at[LEFT] >= k:
        r = next_free(state)
        if not first_free(field, near, r, -1, k - 1, others):
            return r
        if (gamma > 0 or second) and state.at[LEFT] > k and centres.used[0] > 0:
            v = others[0]
            if not first_free(field, near, v, r, k - 1, beyond):
                return v
            c, away = closest(centres, field, state.labels, rows[r])
            size = centres.size[c]
            new = cost_of(rows, r, others, k - 1) / k
            more = (away * size / (size + 1) + cost_of(rows, v, beyond, k - 1)) / (k + 1)
            if more < gamma * new or (second and _both(state, c, r, v) < new):
                assign(state, r, c)
                continue
        found_group(state, r, others, k - 1)
    place_rest(state)
    return -1


@called
def _both(state, c, a, b):
    """What each of two records costs when both join group c, cost_E2: they join as a group of their own."""
    size, apart, away = state.centres.size[c], 0.0, 0.0
    for j in range(state.rows.shape[1]):
        x, y = state.rows[a, j], state.rows[b, j]
        apart += (x - y) ** 2
        away += ((x + y) / 2 - state.centres.sums[c, j] / size) ** 2
    return (apart / 2 + 2.0 * size / (size + 2) * away) / 2


@jit
def star(state, k, gamma, second, wanted, counts):
    """Assign records until lists are wanted; 0 if none are."""
    need, breadth = _advance(state, k, gamma, second), 1 if gamma > 0 or second else 0
    counts[0] = 0
    if need >= 0:
        counts[0] = request(state.near, wanted[0], 0, need)
        counts[0] = foresee(
            state.field, state.near, state.order, state.at[CURSOR], k - 1, breadth, k - 1, wanted[0], counts[0]
        )
    return counts[0]


@jit
def small_star(rows, k, gamma, second, rule, code):
    """The whole method on few records, in one call."""
    n, d = rows.shape
    state = State(
        rows,
        small_field(rows, code),
        lists_for(n, 2 * k + SPARE),
        farthest_first(rows),
        np.array([0, n, 0]),
        np.full(n, -1),
        centres_for(n // k, d, rule),
    )
    wanted, counts = np.empty((1, BATCH), np.int64), np.zeros(1, np.int64)
    while star(state, k, gamma, second, wanted, counts) > 0:
        first = room(state.near, wanted[0], counts[0])
        fill(rows, state.field, state.near, wanted[0], 1.0, first, 0, counts[0])
    return state.labels
