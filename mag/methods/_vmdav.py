"""V-MDAV (algorithm 4): a new group grows by whoever is closer to it than to any free record."""

import numpy as np

from mag._jit import called, jit
from mag.methods._assign import CURSOR, GROWN, LEFT, assign, found_group, next_free, place_rest
from mag.methods._field import distance
from mag.methods._lists import first_free, foresee, request


@called
def _nearest(state, i):
    """The free record nearest to i and its squared distance; -2 if the list is missing, -1 if nobody is free."""
    out = np.full(1, -1)
    if not first_free(state.field, state.near, i, -1, 1, out):
        return -2, 0.0
    return out[0], distance(state.rows[i], state.rows[out[0]]) if out[0] >= 0 else np.inf


@called
def _advance(state, members, k, gamma):
    at = state.at
    others = np.empty(k, np.int64)
    while at[LEFT] >= k or at[GROWN] > 0:
        if at[GROWN] == 0:
            r = next_free(state)
            if not first_free(state.field, state.near, r, -1, k - 1, others):
                return r
            found_group(state, r, others, k - 1)
            members[0], members[1:k], at[GROWN] = r, others[: k - 1], k
        while gamma > 0 and at[GROWN] < 2 * k - 1 and at[LEFT] > 0:
            inside, within = -1, np.inf  # x_I and δ_I
            for member in members[: at[GROWN]]:
                other, away = _nearest(state, member)
                if other == -2:
                    return member
                if away < within or (away == within and other < inside):
                    inside, within = other, away
            outside, between = _nearest(state, inside)  # x_O and δ_O
            if outside == -2:
                return inside
            if not within < gamma * between:
                break
            assign(state, inside, state.labels[members[0]])
            members[at[GROWN]] = inside
            at[GROWN] += 1
        at[GROWN] = 0
    place_rest(state)
    return -1


@jit
def grow(state, members, k, gamma, wanted, counts):
    """Assign records until lists are wanted; 0 if none are.  `members` are those of the growing group."""
    need, breadth = _advance(state, members, k, gamma), k - 1 if gamma > 0 else 0
    counts[0] = 0
    if need >= 0:
        counts[0] = request(state.near, wanted[0], 0, need)
        counts[0] = foresee(
            state.field, state.near, state.order, state.at[CURSOR], k - 1, breadth, 1, wanted[0], counts[0]
        )
    return counts[0]
