"""What MD and MDAV need beside the state of all maximum distance methods: which records are opposite to each other."""

from collections import namedtuple

import numpy as np

from mag._compiled.jit import called, jit
from mag._compiled.lanes import at, part, put
from mag._compiled.work import FARTHEST, ZERO, fill
from mag.methods.mdav.nearest_lists import drop_lists, lists_at, make_lists, reserve_lists
from mag.methods.mdav.state import measure_from_centroid, state_at

DEEP = np.int64(8)  # length of the lists of farthest records

# far: lists of the farthest records.  MDAV: total = sum of the free records; center; `order` is sorted by the distance
# `state.away` from `reference`, a former centroid; work[0] counts the distances since.  MD: no record is farther than
# bound[i] from i.
Ends = namedtuple("Ends", "far total center reference bound work")


@called
def ends_at(work, rows, n, d, k, rule):
    """The state of a method, and the ends behind it: (state, ends, r, w)."""
    state, r, w = state_at(work, ZERO, ZERO, rows, n, d, k, rule)
    far, r, w = lists_at(work, r, w, n, DEEP)
    total, center, reference, bound = r, r + d, r + 2 * d, r + 3 * d
    ends = Ends(
        far,
        part(work.reals, total),
        part(work.reals, center),
        part(work.reals, reference),
        part(work.reals, bound),
        part(work.wholes, w),
    )
    return state, ends, bound + n, w + 1


# ---- from Python


@jit
def room_for_ends(work, n, d, k):
    """The memory of a state with its ends."""
    _, _, r, w = ends_at(work, part(work.reals, 0), n, d, k, ZERO)
    return r, w


@jit
def begin_ends(work, X, k):
    """No lists, and all records free; the state has begun before."""
    n, d = X.shape
    state, ends, _, _ = ends_at(work, part(X, 0), n, d, k, ZERO)
    drop_lists(ends.far)
    measure_from_centroid(state, ends.total)
    for j in range(d):
        put(ends.reference, j, at(ends.total, j))
        put(ends.total, j, at(ends.total, j) * n)
    fill(ends.bound, n, np.inf)
    put(ends.work, 0, 0)


@jit
def reserve_farthest(work, X, k):
    """How many lists of farthest records are wanted."""
    _, ends, _, _ = ends_at(work, part(X, 0), X.shape[0], X.shape[1], k, ZERO)
    return reserve_lists(ends.far)


@jit
def make_farthest(work, X, k, count, start, stop):
    """Lists start .. stop of those that were reserved."""
    state, ends, _, _ = ends_at(work, part(X, 0), X.shape[0], X.shape[1], k, ZERO)
    make_lists(state.field, ends.far, state.rows, FARTHEST, count, start, stop)
