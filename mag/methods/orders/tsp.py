# mypy: allow-untyped-defs, no-check-untyped-defs
"""A short tour through all records, cut open  (Mortazavi & Jalili 2014; Heaton 2012).

The tour starts as a walk to the nearest point next.  2-opt and Or-opt moves among near neighbors shorten it, and then
small random exchanges of two neighboring stretches, each kept if those moves make something shorter of it.
"""

from collections import namedtuple
from collections.abc import Iterator

import numpy as np

from mag._compiled.jit import inlined, jit
from mag._compiled.memory import part
from mag._compiled.random import draw_below
from mag._lib.checks import not_negative
from mag._lib.progress import Progress
from mag.methods.distances.neighbors import neighbors
from mag.methods.orders import npn
from mag.methods.orders.consecutive import IntegerColumns, best_in_orders

N_NEIGHBORS_TRIED = 10  # neighbors that are tried
SEGMENT = 3  # largest number of records that an Or-opt move takes along
REACH = 5000  # positions that a move may span after an exchange: reversing more takes too long
STRETCH = 50  # largest number of records in a stretch that is exchanged
EXCHANGES_PER_RECORD, MAX_EXCHANGES = 10, 50_000  # that are tried per record and in total, unless asked otherwise
CHUNK = 1000  # exchanges between two looks at the clock
CUTS = 4  # longest steps at which a tour is opened
STATIONS = 4  # tours on the way that are looked at
SHORTER = 1 - 1e-12  # smaller relative gains may be rounding errors

# Records, their near neighbors, the tour and each record's position in it, records whose surroundings changed and
# whether they wait already, reversals since the last exchange, [waiting from, waiting to, reversals, random state].
Tour = namedtuple("Tour", "X near tour position waiting waits done count")


def check(k: int, *, exchanges: float | None = None) -> float | None:
    """Reject invalid options."""
    return None if exchanges is None else not_negative("exchanges", exchanges)


def group(
    X: np.ndarray,
    k: int,
    *,
    exchanges: float | None = None,
    integers: IntegerColumns | None,
    random_state: np.random.Generator,
    threads: int,
    progress: Progress,
) -> np.ndarray:
    """The best groups of consecutive records in any of the tours on the way; `exchanges` are tried per record."""
    exchanges = check(k, exchanges=exchanges)
    tried = min(EXCHANGES_PER_RECORD, MAX_EXCHANGES / len(X)) if exchanges is None else exchanges
    return best_in_orders(X, orders(X, tried, random_state, threads, progress), k, integers)


def orders(
    X: np.ndarray, exchanges: float, random_state: np.random.Generator, threads: int, progress: Progress
) -> Iterator[np.ndarray]:
    """The walk that the tour starts from, then tours that grow shorter, cut open at each of their longest steps."""
    # Equal records are one stop of the tour.
    stops, copies = np.unique(X, axis=0, return_inverse=True)
    place = np.empty(len(stops), np.int64)
    for stop in _paths(stops, exchanges, random_state, threads, progress):
        place[stop] = np.arange(len(stops))
        yield np.argsort(place[copies.ravel()], kind="stable")


def _paths(
    X: np.ndarray, exchanges: float, random_state: np.random.Generator, threads: int, progress: Progress
) -> Iterator[np.ndarray]:
    n = len(X)
    walking, exploring = progress.span(0.0, 0.2), progress.span(0.3, 1.0)
    walk = npn.order(X, walking, threads)
    yield walk
    if n < 8 or walking.step(1.0):
        return
    position = np.empty(n, np.int64)
    position[walk] = np.arange(n)
    s = Tour(
        X,
        neighbors(X, min(N_NEIGHBORS_TRIED, n - 1), threads),
        walk.copy(),
        position,
        np.empty(n, np.int64),
        np.zeros(n, np.bool_),
        np.empty((1000, 2), np.int64),
        np.array([0, 0, 0, random_state.integers(1, 2**62)]),
    )
    for record in walk:
        wait(s, record)
    settle(s, n)
    yield from _cuts(s)
    total, tried = int(exchanges * n), 0
    for step in range(1, STATIONS + 1):
        while tried < total * step // STATIONS and not exploring.step(tried / total):
            tries = min(CHUNK, total * step // STATIONS - tried)
            explore(s, tries)
            tried += tries
        yield from _cuts(s)
        if exploring.stopped:
            return


def _cuts(s: Tour) -> Iterator[np.ndarray]:
    """The tour, opened at its longest steps."""
    steps = s.X[s.tour] - s.X[np.roll(s.tour, 1)]
    for cut in np.argsort(-np.square(steps).sum(axis=1), kind="stable")[:CUTS]:
        yield np.roll(s.tour, -cut)


@inlined
def length(s, a, b):
    """The distance of two records."""
    total = 0.0
    for c in range(s.X.shape[1]):
        y = s.X[a, c] - s.X[b, c]
        total += y * y
    return np.sqrt(total)


@inlined
def after(s, a):
    """The next record of the tour."""
    p = s.position[a] + 1
    return s.tour[p if p < len(s.tour) else 0]


@inlined
def before(s, a):
    """The record before on the tour."""
    return s.tour[s.position[a] - 1]


@jit
def wait(s, a):
    """Look at the record's surroundings later."""
    if not s.waits[a]:
        s.waits[a] = True
        s.waiting[s.count[1] % len(s.waiting)] = a
        s.count[1] += 1


@jit
def reverse(s, i, j):
    """Reverse positions i .. j, around the end if j < i, or all others if these are fewer: the tour is the same."""
    n = len(s.tour)
    inside = (j - i) % n + 1
    if 2 * inside > n:
        i, j, inside = (j + 1) % n, (i - 1) % n, n - inside
    if s.count[2] < len(s.done):
        s.done[s.count[2], 0], s.done[s.count[2], 1] = i, j
    s.count[2] += 1
    for _ in range(inside // 2):
        a, b = s.tour[i], s.tour[j]
        s.tour[i], s.tour[j] = b, a
        s.position[b], s.position[a] = i, j
        i, j = i + 1 if i + 1 < n else 0, j - 1 if j > 0 else n - 1


@jit
def turn(s, outside, a, b):
    """Reverse the path a .. b, where `outside` is a's neighbor that is not on it."""
    if after(s, outside) == a:
        reverse(s, s.position[a], s.position[b])
    else:
        reverse(s, s.position[b], s.position[a])


@jit
def shorten(s, a, reach):
    """Apply the first move that brings a and a near neighbor together and gains; return the gain, or 0.

    Neighbors more than `reach` positions away are left alone.
    """
    for forward in (True, False):
        b = after(s, a) if forward else before(s, a)
        old = length(s, a, b)
        for t in range(s.near.shape[1]):
            c = s.near[a, t]
            new = length(s, a, c)
            if new >= old:
                break
            gap = abs(s.position[a] - s.position[c])
            if min(gap, len(s.tour) - gap) > reach:
                continue
            # 2-opt: a-b and c-d become a-c and b-d
            d = after(s, c) if forward else before(s, c)
            removed, added = old + length(s, c, d), new + length(s, b, d)
            if added < SHORTER * removed and c != b and d != a:
                turn(s, a, b, c)
                for record in (a, b, c, d):
                    wait(s, record)
                return removed - added
            # Or-opt: b-[a .. e]-q becomes b-q, and the segment goes between c and a neighbor of c
            e = a
            for size in range(SEGMENT):
                if size > 0:
                    e = before(s, e) if forward else after(s, e)
                if e in (b, c):
                    break
                q = before(s, e) if forward else after(s, e)
                if q == b:
                    break
                freed, closed = old + length(s, e, q), new + length(s, b, q)
                for other in (after(s, c), before(s, c)):
                    if closed >= freed or other in (a, e):
                        continue
                    removed, added = freed + length(s, c, other), closed + length(s, other, e)
                    if added < SHORTER * removed:
                        insert(s, b, a, e, q, c, other)
                        for record in (a, b, c, e, q, other):
                            wait(s, record)
                        return removed - added
    return 0.0


@jit
def insert(s, b, a, e, q, c, other):
    """b-[a .. e]-q … c-other … becomes b-q … c-[a .. e]-other: two or three reversals."""
    # From b across the segment and on from q, either c or `other` is reached first.
    along = after(s, b) == a
    near = c if (after(s, c) == other) == along else other
    turn(s, b, a, near)  # b-near … q-e … a-far
    if near != q:
        turn(s, b, near, q)  # b-q … near-e … a-far
    if near == c:
        turn(s, c, e, a)  # c-a … e-other


@jit
def settle(s, reach):
    """Shorten the tour until no move within reach helps; return the gain.

    That ends: every move shortens the tour by more than lengths are rounded, and there are finitely many tours.
    """
    total = 0.0
    while s.count[0] < s.count[1]:
        a = s.waiting[s.count[0] % len(s.waiting)]
        s.count[0] += 1
        s.waits[a] = False
        gain = shorten(s, a, reach)
        while gain > 0.0:
            total += gain
            gain = shorten(s, a, reach)
    return total


@jit
def explore(s, tries):
    """Exchange two neighboring stretches, settle, and undo both if the tour is not shorter."""
    n, seed = len(s.tour), part(s.count, 3)
    longest = min(STRETCH, n // 8)
    for _ in range(tries):
        s.count[2] = 0
        i = draw_below(seed, n)
        first, second = 1 + draw_below(seed, longest), 1 + draw_below(seed, longest)
        a, b = s.tour[i], s.tour[(i + 1) % n]
        c, d = s.tour[(i + first) % n], s.tour[(i + first + 1) % n]
        e, f = s.tour[(i + first + second) % n], s.tour[(i + first + second + 1) % n]
        gain = length(s, a, b) + length(s, c, d) + length(s, e, f)
        gain -= length(s, a, d) + length(s, e, b) + length(s, c, f)
        reverse(s, (i + 1) % n, (i + first + second) % n)
        reverse(s, (i + 1) % n, (i + second) % n)
        reverse(s, (i + second + 1) % n, (i + first + second) % n)
        for record in (a, b, c, d, e, f):
            wait(s, record)
        gain += settle(s, REACH)
        if gain <= 0.0 and s.count[2] <= len(s.done):
            for step in range(s.count[2] - 1, -1, -1):
                i, j = s.done[step]
                count = s.count[2]
                reverse(s, i, j)
                s.count[2] = count
