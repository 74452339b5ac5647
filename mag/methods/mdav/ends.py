# mypy: allow-untyped-defs, no-check-untyped-defs
"""The additional state of MD and MDAV: which records are opposite to each other."""

from collections import namedtuple

import numpy as np

from mag._compiled.jit import called, jit
from mag._compiled.work import FARTHEST, ONE, ZERO, fill, integers, layout, reals, space_in
from mag.methods.distances.blocks import are_equal
from mag.methods.distances.metric import metric_of
from mag.methods.mdav.nearest_lists import drop_lists, lists_at, make_lists, reserve_lists
from mag.methods.mdav.state import measure_from_centroid, state_at

MEASURED, HERE = 0, 1
DEEP = np.int64(8)  # length of the lists of farthest records

Ends = namedtuple("Ends", "far total center lane reference bound beyond work")


@layout
def ends_at(space, metric, k, rule):
    """The state of a method, followed by the ends."""
    n, d, state = metric.n, metric.d, state_at(space, metric, k, rule)
    ends = Ends(
        far=lists_at(space, metric, DEEP),  # lists of the farthest records
        total=reals(space, d),  # MDAV: the sum of the free records
        center=reals(space, d),  # and their centroid
        lane=reals(space, metric.wide, ONE),  # the same as a block of one lane
        reference=reals(space, d),  # a former centroid: `order` is sorted by the distance `away` from it
        bound=reals(space, n),  # MD: no record is farther from i than this
        beyond=integers(space, n),  # MDAV: where the records end in `order` that equal the one at a position
        work=integers(space, 2),  # MDAV: MEASURED, the work since the last sort; HERE, lists to make in a step
    )
    return state, ends


# ---- from Python


@called
def ends_in(work, X, k, rule):
    """Cut the layout of `ends_at` from this memory."""
    return ends_at(space_in(work), metric_of(X), k, rule)


@jit
def begin_ends(work, X, k):
    """No lists, and all records free; the state has begun before."""
    state, ends = ends_in(work, X, k, ZERO)
    n, d = state.field.n, state.field.d
    drop_lists(ends.far)
    measure_from_centroid(state, ends.total)
    for j in range(d):
        ends.reference[j] = ends.total[j]
        ends.total[j] *= n
    fill(ends.bound, n, np.inf)
    ends.work[MEASURED] = 0
    find_runs(state, ends, n)


@called
def find_runs(state, ends, count):
    """Find runs of consecutive equal records among the first in `order`."""
    order = state.order
    ends.beyond[count - 1] = count
    for p in range(count - 2, -1, -1):
        same = state.away[order[p]] == state.away[order[p + 1]] and are_equal(state.field, order[p], order[p + 1])
        ends.beyond[p] = ends.beyond[p + 1] if same else p + 1


@jit
def reserve_farthest(work, X, k):
    """How many lists of farthest records are needed."""
    _, ends = ends_in(work, X, k, ZERO)
    return reserve_lists(ends.far)


@jit
def make_farthest(work, X, k, count, start, stop):
    """Make the reserved lists start .. stop."""
    state, ends = ends_in(work, X, k, ZERO)
    make_lists(state.field, ends.far, FARTHEST, count, start, stop)
