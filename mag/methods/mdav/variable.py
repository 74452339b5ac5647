# mypy: allow-untyped-defs, no-check-untyped-defs
"""V-MDAV (algorithm 4): a new group grows by whoever is closer to it than to any free record."""

import numpy as np

from mag._compiled.jit import called, jit
from mag._compiled.memory import part
from mag._compiled.work import NOBODY, ONE, ZERO, fill
from mag.methods.distances.blocks import distance, is_free
from mag.methods.mdav.nearest_lists import LIST_WANTED, first_free, foresee, request_list, slot_of
from mag.methods.mdav.state import (
    CURSOR,
    GROWN,
    N_FREE,
    assign,
    create_group,
    exceeds,
    next_free,
    place_rest,
    state_in,
)

UNKNOWN = np.int64(-2)


@called
def _nearest(state, i, before, out):
    """The free record nearest to i and its squared distance; UNKNOWN if the list is missing, or NOBODY.

    `before` was the nearest one: while it is free, it still is.
    """
    out[0] = before
    known = before >= 0 and is_free(state.field, before)
    if not known:
        out[0] = NOBODY
        if not first_free(state.field, state.near, i, NOBODY, ONE, out):
            return UNKNOWN, np.inf
    other, d = out[0], state.field.d
    if other == NOBODY:
        return NOBODY, np.inf
    return other, distance(state.rows[i], state.rows[other], d)


@called
def _grow(state, members, k, gamma, out):
    """Extend the group of members; returns the record whose list is missing, or NOBODY.

    Lists may be forgotten whenever others are made, and a group has more members than there is room for lists.  What a
    list said is therefore noted in `state.nearest`, so that every list that is made is of use.
    """
    while state.status[GROWN] < 2 * k - 1 and state.status[N_FREE] > 0:
        many = state.status[GROWN]
        inside, within = NOBODY, np.inf  # x_I and δ_I
        for p in range(many):
            other, away = _nearest(state, members[p], state.nearest[p], out)
            if other == UNKNOWN:
                return members[p]
            state.nearest[p] = other
            if away < within or (away == within and other < inside):
                inside, within = other, away
        outside, between = _nearest(state, inside, NOBODY, out)  # x_O and δ_O
        if outside == UNKNOWN:
            return inside
        if not exceeds(state, gamma, within, between):
            break
        assign(state, inside, state.label[members[0]])
        members[many] = inside
        state.nearest[many] = outside
        state.status[GROWN] = many + 1
    state.status[GROWN] = 0
    return NOBODY


@called
def _advance(state, k, gamma):
    """Assign records until all are, or until the list of the record that is returned is missing."""
    members, out = state.scratch, part(state.scratch, 2 * k)
    while state.status[N_FREE] >= k or state.status[GROWN] > 0:
        if state.status[GROWN] == 0:
            r = next_free(state)
            if not first_free(state.field, state.near, r, NOBODY, k - 1, part(members, 1)):
                return r
            members[0] = r
            create_group(state, r, part(members, 1), k - 1)
            if gamma > 0:
                state.status[GROWN] = k
                fill(state.nearest, k, NOBODY)
            else:
                state.limit[0] = 0.0  # nothing was compared
        if state.status[GROWN] > 0:
            need = _grow(state, members, k, gamma, out)
            if need != NOBODY:
                return need
    place_rest(state)
    return NOBODY


@called
def _request_for_members(state):
    """Request the lists that the group needs as it is now."""
    field, near, out = state.field, state.near, part(state.scratch, 2 * state.k)
    for p in range(state.status[GROWN]):
        i, other = state.scratch[p], state.nearest[p]
        known = slot_of(field, near, i) == LIST_WANTED or (other >= 0 and is_free(field, other))
        if not known and not first_free(field, near, i, NOBODY, ONE, out):
            request_list(field, near, i)


@jit
def grow(work, X, k, rule, gamma):
    """Assign records until lists are wanted; False if none are."""
    state = state_in(work, X, k, rule)
    need = _advance(state, k, gamma)
    if need < 0:
        return False
    request_list(state.field, state.near, need)
    _request_for_members(state)
    cursor, breadth, out = state.status[CURSOR], k - 1 if gamma > 0 else ZERO, part(state.scratch, 2 * k)
    foresee(state.field, state.near, state.order, cursor, k - 1, breadth, ONE, out)
    return True
