# mypy: allow-untyped-defs, no-check-untyped-defs
"""Lloyd's algorithm with cells of equal size: probability-constrained Lloyd  (Rebollo-Monedero et al. 2013).

n records have m = n // k cells of n // m or one more.  Each cell has a price, and records go where squared distance and
price are least; with the right prices every cell gets its number.  Then centroids move, until nothing improves.  The
paper solves for prices as a smooth system, which needs hundreds of records a cell (section 6.2 of Thaeter's thesis,
2021).  For any number of records the prices are the dual variables of a transportation problem, solved exactly here.
"""

from collections.abc import Sequence

import numpy as np

from mag._compiled.jit import called, jit
from mag._lib.checks import integer
from mag._lib.progress import Progress
from mag._lib.threads import each
from mag.methods._best_of import best_of, sum_of_squares
from mag.methods.kmeans_cleanup import squared
from mag.methods.mondrian.halving import RULE_VARIANCE, labels_of, parts_of

MAX_UNSPLIT_RECORDS = 2**12  # more records are halved first, by Mondrian
MAX_RESTARTS = 10**6  # restarts
MAX_LLOYD_ROUNDS = 100  # at most
RECORDS_PER_CLOCK_LOOK = 16  # records placed between two looks at the clock


def check(k: int, *, restarts: int = 3) -> int:
    """Reject invalid options."""
    return integer("restarts", restarts, 1, MAX_RESTARTS, "most")


def group(
    X: np.ndarray, k: int, *, restarts: int = 3, random_state: np.random.Generator, threads: int, progress: Progress
) -> np.ndarray:
    """Labels of groups whose sizes differ by at most one record; the best of some starts."""
    restarts = check(k, restarts=restarts)
    if len(X) <= MAX_UNSPLIT_RECORDS:
        return _best(X, k, random_state.spawn(restarts), threads, progress)
    order, starts = parts_of(X, k, MAX_UNSPLIT_RECORDS, RULE_VARIANCE, threads, progress)
    members = [np.sort(some) for some in np.split(order, starts[1:])]
    generators, silent = random_state.spawn(len(members)), progress.silent()
    labels, used = np.empty(len(X), np.int64), 0
    for a in range(0, len(members), threads):
        some = range(a, min(a + threads, len(members)))
        runs = each(lambda p: _best(X[members[p]], k, generators[p].spawn(restarts), 1, silent), some, threads)
        for p, own in zip(some, runs, strict=True):
            labels[members[p]] = used + own
            used += len(own)
        progress.step(a / len(members))
    return labels


def _best(X: np.ndarray, k: int, starts: Sequence[np.random.Generator], threads: int, progress: Progress) -> np.ndarray:
    return best_of(lambda random, threads, progress: run(X, k, random, progress), starts, X, threads, progress)[0]


def run(X: np.ndarray, k: int, random: np.random.Generator, progress: Progress) -> np.ndarray:
    """Labels from one start."""
    n, m = len(X), len(X) // k
    if progress.seconds_left() <= 0:
        progress.stop()
        return labels_of(*parts_of(X, k, 0, RULE_VARIANCE, 1, progress))
    centers = X[random.choice(n, m, replace=False)]
    costs, prices, room = np.empty((n, m)), np.zeros(m), None
    labels = best = np.full(n, -1)
    least = np.inf
    for round_ in range(MAX_LLOYD_ROUNDS):
        measure(X, centers, costs)
        if room is None:
            room = np.full(m, n // m)
            popular = np.argsort(-np.bincount(costs.argmin(axis=1), minlength=m), kind="stable")
            room[popular[: n % m]] += 1
        fill_cells(costs, prices, room, labels, progress)
        loss = sum_of_squares(X, labels)
        if not loss < least:
            break
        best, least = labels.copy(), loss
        if progress.step(round_ / MAX_LLOYD_ROUNDS):
            break
        for center, x in zip(centers.T, X.T, strict=True):
            center[:] = np.bincount(labels, x) / room
    return best


def fill_cells(costs: np.ndarray, prices: np.ndarray, room: np.ndarray, labels: np.ndarray, progress: Progress) -> None:
    """Give every cell its number of records, at least cost; prices of the round before are a good start."""
    waiting, done = keep_cheapest(costs, prices, room, labels), 0
    while done < len(waiting) and progress.seconds_left() > 0:
        place(costs, prices, room, labels, waiting[done : done + RECORDS_PER_CLOCK_LOOK])
        done += RECORDS_PER_CLOCK_LOOK
    place_anywhere(costs, room, labels, waiting[done:])


@jit
def measure(X, centers, costs):
    """Squared distances of all records from all centers."""
    for i in range(len(X)):
        for c in range(len(centers)):
            costs[i, c] = squared(X, i, centers, c)


@jit
def keep_cheapest(costs, prices, room, labels):
    """Records go to the cell that is cheapest at these prices while there is room; returns who has to wait."""
    n, m = costs.shape
    left, waiting, count = room.copy(), np.empty(n, np.int64), 0
    for i in range(n):
        best = 0
        for c in range(1, m):
            if costs[i, c] + prices[c] < costs[i, best] + prices[best]:
                best = c
        if left[best] > 0:
            labels[i] = best
            left[best] -= 1
        else:
            labels[i] = -1
            waiting[count] = i
            count += 1
    return waiting[:count]


@jit
def place(costs, prices, room, labels, waiting):
    """Each record takes a place at the end of the cheapest chain of records that move on, and prices follow.

    So every record is always where it is cheapest at the prices of the time (Dijkstra's search from cell to cell).
    """
    n, m = costs.shape
    size, first, following = np.zeros(m, np.int64), np.full(m, -1), np.empty(n, np.int64)
    for i in range(n):
        if labels[i] >= 0:
            _enter(size, first, following, labels, i, labels[i])
    away, mover, done = np.empty(m), np.empty(m, np.int64), np.empty(m, np.bool_)
    for i in waiting:
        for c in range(m):
            away[c], mover[c], done[c] = costs[i, c] + prices[c], i, False
        c = _nearest(away, done)
        while size[c] == room[c]:
            done[c] = True
            x = first[c]
            while x >= 0:
                stay = away[c] - costs[x, c] - prices[c]
                for b in range(m):
                    if not done[b] and stay + costs[x, b] + prices[b] < away[b]:
                        away[b], mover[b] = stay + costs[x, b] + prices[b], x
                x = following[x]
            c = _nearest(away, done)
        for b in range(m):
            if done[b]:
                prices[b] += away[c] - away[b]
        while True:  # back along the chain
            x = mover[c]
            before = labels[x]
            if before >= 0:
                _leave(size, first, following, x, before)
            _enter(size, first, following, labels, x, c)
            if x == i:
                break
            c = before


@called
def _nearest(away, done):
    best = -1
    for c in range(len(away)):
        if not done[c] and (best < 0 or away[c] < away[best]):
            best = c
    return best


@called
def _enter(size, first, following, labels, i, c):
    labels[i], following[i], first[c] = c, first[c], i
    size[c] += 1


@called
def _leave(size, first, following, i, c):
    size[c] -= 1
    if first[c] == i:
        first[c] = following[i]
        return
    x = first[c]
    while following[x] != i:
        x = following[x]
    following[x] = following[i]


@jit
def place_anywhere(costs, room, labels, waiting):
    """Move each record without a cell to the nearest cell that has room; used when time is up."""
    left = room.copy()
    for c in labels:
        if c >= 0:
            left[c] -= 1
    for i in waiting:
        best = -1
        for c in range(len(left)):
            if left[c] > 0 and (best < 0 or costs[i, c] < costs[i, best]):
                best = c
        labels[i] = best
        left[best] -= 1
