# mypy: allow-untyped-defs, no-check-untyped-defs
"""MDAV+, MDAV* and MDAV*γ (algorithms 3, 5 and 6): one loop, that stops wherever a list is missing."""

from mag._compiled.jit import called, jit
from mag._compiled.memory import part
from mag._compiled.work import NEAREST, NOBODY, ZERO
from mag.methods.mdav.centroids import CENTROID, cost_of, distance_from_centroid
from mag.methods.mdav.nearest_lists import first_free, foresee, make_lists, request_list, reserve_lists
from mag.methods.mdav.state import (
    CURSOR,
    N_FREE,
    assign,
    begin_state,
    closest_group,
    create_group,
    exceeds,
    next_free,
    place_rest,
    state_at,
    state_in,
)


@called
def _advance(state, k, gamma, second):
    """Assign records until all are (returns -1) or until the list of the record that is returned is missing.

    cost_E < γ · cost_N extends a group by its closest record, and so does cost_E2 < cost_N if `second`.
    """
    rows, field, near, centroids, d = state.rows, state.field, state.near, state.centroids, state.field.d
    others, beyond = state.scratch, part(state.scratch, k)
    while state.status[N_FREE] >= k:
        r = next_free(state)
        if not first_free(field, near, r, NOBODY, k - 1, others):
            return r
        if (gamma > 0 or second) and state.status[N_FREE] > k > 1 and centroids.used[0] > 0:
            v = others[0]
            if not first_free(field, near, v, r, k - 1, beyond):
                return v
            g = closest_group(state, r)
            size = centroids.size[g]
            new = cost_of(rows, d, r, others, k - 1) / k
            away = distance_from_centroid(centroids, g, rows[r])
            more = (away * size / (size + 1) + cost_of(rows, d, v, beyond, k - 1)) / (k + 1)
            if (second and _both(state, g, r, v) < new) or exceeds(state, gamma, more, new):
                assign(state, r, g)
                continue
        create_group(state, r, others, k - 1)
    place_rest(state)
    return NOBODY


@called
def _both(state, g, a, b):
    """What each of two records costs when both join group g, cost_E2: they join as a group of their own."""
    size, d, apart, away = state.centroids.size[g], state.field.d, 0.0, 0.0
    for j in range(d):
        x, y = state.rows[a, j], state.rows[b, j]
        apart += (x - y) ** 2
        away += ((x + y) / 2 - state.centroids.sums[g, j] / size) ** 2
    return (apart / 2 + 2.0 * size / (size + 2) * away) / 2


@called
def _step(state, k, gamma, second):
    """Assign records until lists are wanted; False if none are."""
    need = _advance(state, k, gamma, second)
    if need < 0:
        return False
    request_list(state.field, state.near, need)
    breadth = 1 if gamma > 0 or second else 0
    cursor = state.status[CURSOR]
    foresee(state.field, state.near, state.order, cursor, k - 1, breadth, k - 1, part(state.scratch, 2 * k))
    return True


@jit
def star(work, X, k, rule, gamma, second):
    """`_step` from Python."""
    state = state_in(work, X, k, rule)
    return _step(state, k, gamma, second)


@called
def small_star(space, metric, k, gamma, second):
    """The whole method on a few records, in one call; returns where the labels are."""
    state = state_at(space, metric, k, CENTROID)
    begin_state(state)
    while _step(state, k, gamma, second):
        count = reserve_lists(state.near)
        make_lists(state.field, state.near, NEAREST, count, ZERO, count)
    return state.label
