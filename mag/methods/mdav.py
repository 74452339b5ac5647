"""The maximum distance methods of chapter 5 of Thaeter's thesis: MD, MDAV, MDAV+, V-MDAV, MDAV* and MDAV*γ.

All of them start groups at records far from the centre, which are hard to place later.  Records that are equally far,
and groups that are equally close, are taken in the order of their numbers.
"""

import functools

import numpy as np

from mag.methods._assign import LEFT, run, state_of
from mag.methods._centres import CLOSEST
from mag.methods._lists import make_lists
from mag.methods._pairs import ends_of, pairs
from mag.methods._star import SPARE, star
from mag.methods._vmdav import grow


def md(X, k, *, closest="centroid", threads, watch):
    state = state_of(X, k, 2 * k + SPARE, CLOSEST[closest])
    return _pairs(state, False, k, threads, watch)


def mdav(X, k, *, threads, watch):
    state = state_of(X, k, 2 * k + SPARE, 0)
    return _pairs(state, True, k, threads, watch)


def _pairs(state, average, k, threads, watch):
    far = make_lists(state.labels.size, 8)
    ends = ends_of(state.rows, state.order, far)
    step = functools.partial(pairs, state, ends, average, k)
    run(step, state, [(state.near, 1.0), (far, -1.0)], threads, watch)
    return state.labels


def mdav_plus(X, k, *, closest="centroid", threads, watch):
    return _star(X, k, 0.0, False, closest, threads, watch)


def mdav_star(X, k, *, closest="centroid", threads, watch):
    return _star(X, k, 1.0, False, closest, threads, watch)


def mdav_star_gamma(X, k, *, gamma="search", closest="centroid", threads, watch):
    return _star(X, k, float(gamma), True, closest, threads, watch)


def _star(X, k, gamma, second, closest, threads, watch):
    state = state_of(X, k, 2 * k + SPARE, CLOSEST[closest])
    run(functools.partial(star, state, k, gamma, second), state, [(state.near, 1.0)], threads, watch)
    return state.labels


def v_mdav(X, k, *, gamma="search", closest="centroid", threads, watch):
    state = state_of(X, k, 2 * k + SPARE, CLOSEST[closest])
    step = functools.partial(grow, state, np.empty(2 * k, np.int64), k, float(gamma))
    run(step, state, [(state.near, 1.0)], threads, watch)
    return state.labels
