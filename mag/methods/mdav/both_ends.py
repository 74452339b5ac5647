# mypy: allow-untyped-defs, no-check-untyped-defs
"""Groups around the first free record of one order and the first of another, in turn: SBM, and how TFRP begins."""

from mag._compiled.jit import called, jit
from mag._compiled.memory import grid, part
from mag._compiled.work import NOBODY
from mag.methods.distances.blocks import is_free
from mag.methods.mdav.centroids import CENTROID
from mag.methods.mdav.nearest_lists import LIST_WANTED, LISTS_PER_BATCH, first_free, request_list, slot_of
from mag.methods.mdav.pairs import finish
from mag.methods.mdav.state import N_FREE, create_group, state_in

TURN = 2  # behind the two positions: which order is next


@called
def _skip_assigned(field, order, p):
    """The position of the first free record from p on, or n."""
    while p < field.n and not is_free(field, order[p]):
        p += 1
    return p


@called
def _foresee(state, orders, cursors, k, ahead, out):
    """Request lists for those that come next in both orders."""
    field, near = state.field, state.near
    ahead[0] = cursors[0]
    ahead[1] = cursors[1]
    for seen in range(2 * LISTS_PER_BATCH):
        end = seen % 2
        p = _skip_assigned(field, orders[end], ahead[end])
        ahead[end] = p + 1
        if p < field.n:
            i = orders[end, p]
            if slot_of(field, near, i) != LIST_WANTED and not first_free(field, near, i, NOBODY, k - 1, out):
                request_list(field, near, i)


@jit
def both_ends(work, X, k, orders, cursors, least):
    """Assign records until lists are wanted; False if none are.

    Records are grouped while `least` are left; those left then are a group if they are enough.  `cursors` are the
    positions in both orders and whose turn it is, all 0 at first.
    """
    state = state_in(work, X, k, CENTROID)
    field, orders, cursors, others = state.field, grid(orders, X.shape[0]), part(cursors, 0), state.scratch
    while state.status[N_FREE] >= least:
        end = cursors[TURN]
        cursors[end] = _skip_assigned(field, orders[end], cursors[end])
        r = orders[end, cursors[end]]
        if not first_free(field, state.near, r, NOBODY, k - 1, others):
            request_list(field, state.near, r)
            _foresee(state, orders, cursors, k, part(others, 4 * k), part(others, 2 * k))
            return True
        create_group(state, r, others, k - 1)
        cursors[TURN] = 1 - end
    finish(state, k)
    return False
