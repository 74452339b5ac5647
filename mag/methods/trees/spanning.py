# mypy: allow-untyped-defs, no-check-untyped-defs
"""The minimum spanning tree of all records, by Borůvka's rounds on lists of neighbors.

In each round every component takes its shortest edge to another one; edges of equal length go by their lower, then
their higher record.  A record offers the first of its list that is outside its component.  If the list has no such
record, it searches all others, but only if it could find an edge shorter than that of its component, and it stores the
result. All of that is exact, and costs little more than one search for neighbors.
"""

from collections import namedtuple

import numpy as np

from mag._compiled.jit import called, jit
from mag._compiled.lanes import lanes_at, least_lane
from mag._compiled.memory import part, scratch
from mag._compiled.work import NEAREST, NOBODY, find_top, space_in, work_for
from mag._lib.progress import Progress
from mag._lib.threads import each
from mag.methods.distances.blocks import RECORDS_PER_BLOCK, bounds, field_at
from mag.methods.distances.euclidean import LANES_PER_STEP
from mag.methods.distances.metric import distances, metric_of
from mag.methods.distances.neighbors import neighbor_lists

RECORDS_PER_LIST = 16  # records of a list
RECORDS_PER_SEARCH = 64  # records that one call searches for
CALLS_PER_CLOCK_LOOK = 16  # calls of a thread between two looks at the clock
SHARE_OF_LISTS = 0.7  # of the progress is for the lists

# Records: their component, position in the list, nearest record outside if that was searched for, how far that is at
# least.  Components: the length, lower and higher record of the shortest edge.
Offers = namedtuple("Offers", "component rank other bound length low high")


def spanning_tree(X: np.ndarray, threads: int, progress: Progress) -> tuple[np.ndarray, np.ndarray]:
    """The n-1 edges, as lower and higher records, and their squared lengths; fewer if the time is up."""
    n, work = len(X), work_for(field_at, metric_of(X))
    lists = neighbor_lists(work, X, min(RECORDS_PER_LIST, n - 1), threads, progress.span(0.0, SHARE_OF_LISTS))
    edges, lengths, count = np.empty((n - 1, 2), np.int64), np.empty(n - 1), 0
    whole = np.empty(-(-n // RECORDS_PER_BLOCK), np.int64)  # the component of a block
    offers = Offers(
        component=np.arange(n),
        rank=np.zeros(n, np.int64),
        other=np.full(n, NOBODY),
        bound=np.zeros(n),
        length=np.empty(n),
        low=np.empty(n, np.int64),
        high=np.empty(n, np.int64),
    )
    while count < n - 1 and not progress.stopped:  # every component finds an edge: a round halves their number
        searching = np.flatnonzero(offer(X, offers, *lists))
        mark_blocks(work, X, offers.component, whole)
        share = CALLS_PER_CLOCK_LOOK * RECORDS_PER_SEARCH * threads
        # also an empty search, so that the same code is compiled for any data
        for a in range(0, max(searching.size, 1), share):
            some = searching[a : a + share]
            some = some[offers.bound[some] <= offers.length[offers.component[some]]]
            batches = [some[b : b + RECORDS_PER_SEARCH] for b in range(0, max(some.size, 1), RECORDS_PER_SEARCH)]
            each(lambda batch: search_outside(work, X, offers, whole, batch), batches, threads)
            offer_edges(offers, some)
            if progress.step(SHARE_OF_LISTS + (1.0 - SHARE_OF_LISTS) * count / n):
                return edges[:0], lengths[:0]
        count = join(offers, edges, lengths, count)
    return edges[:count], lengths[:count]


@called
def _offer(offers, i, other, length):
    """Record i offers its component an edge."""
    c, low, high = offers.component[i], min(i, other), max(i, other)
    shortest = offers.length[c]
    if length > shortest:
        return
    if length < shortest or low < offers.low[c] or (low == offers.low[c] and high < offers.high[c]):
        offers.length[c], offers.low[c], offers.high[c] = length, low, high


@jit
def offer(X, offers, ids, keys):
    """The edges that records can offer; return the records without an offer that may still have one.

    Of equal records, the one with the lowest number offers the same, and its edges come first.
    """
    n, near = ids.shape
    component, rank, other, bound = offers.component, offers.rank, offers.other, offers.bound
    offers.length[:] = np.inf
    for i in range(n):
        own = component[i]
        while rank[i] < near and component[ids[i, rank[i]]] == own:
            rank[i] += 1
        if rank[i] < near:
            _offer(offers, i, ids[i, rank[i]], keys[i, rank[i]])
        elif other[i] != NOBODY and component[other[i]] != own:
            _offer(offers, i, other[i], bound[i])
        else:
            other[i] = NOBODY
            bound[i] = max(bound[i], keys[i, near - 1])
    searching = np.empty(n, np.bool_)
    for i in range(n):
        searching[i] = rank[i] == near and other[i] == NOBODY and bound[i] <= offers.length[component[i]]
        twin = ids[i, 0]  # the first of those at distance 0
        if searching[i] and twin < i and keys[i, 0] == 0.0 and component[twin] == component[i]:
            searching[i] = not (X[twin] == X[i]).all()
    return searching


@jit
def offer_edges(offers, some):
    """Offer the edges that the search of these records gave."""
    for i in some:
        if offers.other[i] != NOBODY:
            _offer(offers, i, offers.other[i], offers.bound[i])


@jit
def mark_blocks(work, X, component, whole):
    """The component that all records of a block belong to, or NOBODY."""
    field = field_at(space_in(work), metric_of(X))
    for b in range(field.blocks):
        own = component[field.ids[b, 0]]
        for lane in range(1, field.size[b]):
            if component[field.ids[b, lane]] != own:
                own = NOBODY
        whole[b] = own


@jit
def search_outside(work, X, offers, whole, records):
    """The nearest record outside the component, unless it is farther than the shortest edge of the component."""
    field = field_at(space_in(work), metric_of(X))
    reach = np.empty(field.boxes)
    for i in records:
        own = offers.component[i]
        _search(field, offers, whole, i, own, reach)


@called
def _search(field, offers, whole, i, own, reach):
    best, least = NOBODY, offers.length[own]
    bounds(field.metric, field, i, NEAREST, part(reach, 0))
    home = field.place[i] // RECORDS_PER_BLOCK
    for step in range(field.blocks + 1):
        b = home if step == 0 else step - 1
        if whole[b] == own or reach[b] > least or (step > 0 and b == home):
            continue
        best, least = _visit(field, b, i, offers.component, best, least)
    offers.other[i], offers.bound[i] = best, least


@called
def _visit(field, b, i, component, best, least):
    """The nearest record so far, and how far it is, with those of block b."""
    buffer, ids, own = scratch(LANES_PER_STEP), field.ids[b], component[i]
    for first in range(0, field.size[b], LANES_PER_STEP):
        key = distances(field.metric, field.x[b], first, i)
        if least_lane(key) <= least:
            buffer[lanes_at(0, LANES_PER_STEP)] = key
            for lane in range(first, min(first + LANES_PER_STEP, field.size[b])):
                away, other = buffer[lane - first], ids[lane]
                if away <= least and component[other] != own and (away < least or best == NOBODY or other < best):
                    best, least = other, away
    return best, least


@jit
def join(offers, edges, lengths, count):
    """Add the shortest edge of every component to the tree, and number components by the ones they are joined to."""
    component, n = offers.component, len(offers.component)
    above = np.arange(n)
    for c in range(n):
        if offers.length[c] < np.inf:
            low, high = offers.low[c], offers.high[c]
            one, two = find_top(above, component[low]), find_top(above, component[high])
            if one != two:  # both ends may have chosen it
                above[max(one, two)] = min(one, two)
                edges[count, 0], edges[count, 1], lengths[count] = low, high, offers.length[c]
                count += 1
    for i in range(n):
        component[i] = find_top(above, component[i])
    return count
