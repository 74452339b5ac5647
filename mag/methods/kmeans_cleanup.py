# mypy: allow-untyped-defs, no-check-untyped-defs
"""k-means with factor·n/k clusters; those that are too small join the closest one  (Stamm & Schaub 2024)."""

import numpy as np

from mag._compiled.jit import inlined, jit
from mag._lib.checks import positive
from mag._lib.progress import Progress
from mag._lib.threads import each

MAX_LLOYD_ROUNDS = 100  # of Lloyd's algorithm, at most
RECORDS_PER_TASK = 256  # records that one task assigns
DISTANCES_PER_CALL = 2**24  # distances of seeds in one call


def check(k: int, *, factor: float = 1.0) -> float:
    """Refuse what the options cannot be."""
    return positive("factor", factor)


def group(
    X: np.ndarray, k: int, *, factor: float = 1.0, random_state: np.random.Generator, threads: int, progress: Progress
) -> np.ndarray:
    """Labels of clusters of k records or more."""
    n = len(X)
    count = min(max(round(check(k, factor=factor) * n / k), 1), n)
    centers = _seeds(X, random_state.random(count), progress)
    count = len(centers)
    labels, changed = np.full(n, -1), np.arange(count)
    parts = [slice(i, i + RECORDS_PER_TASK) for i in range(0, n, RECORDS_PER_TASK)]
    distance = np.full(n, np.inf)
    for round_ in range(MAX_LLOYD_ROUNDS):
        moved = np.zeros(count, np.bool_)
        moved[changed] = True
        before = labels.copy()
        task = np.ascontiguousarray(centers[changed].T), changed, moved, np.ascontiguousarray(centers.T)

        def assign_part(part: slice, task: tuple[np.ndarray, ...] = task) -> None:
            assign(X[part], *task, labels[part], distance[part])

        each(assign_part, parts, threads)
        changed = np.unique(np.concatenate([before[before != labels], labels[before != labels]]))
        changed = changed[changed >= 0]
        if not changed.size or progress.step(round_ / MAX_LLOYD_ROUNDS):
            break
        update(X, labels, changed, centers)
    return merge(X, labels, k, count, random_state.permutation(count))


def _seeds(X: np.ndarray, picks: np.ndarray, progress: Progress) -> np.ndarray:
    """A center for every pick, or as many as there is time for."""
    centers, distance, total = np.empty((len(picks), X.shape[1])), np.full(len(X), np.inf), float(len(X))
    share = max(1, DISTANCES_PER_CALL // len(X))
    for first in range(0, len(picks), share):
        last = min(first + share, len(picks))
        total = seeds(X, picks, first, last, centers, distance, total)
        if progress.step(0.0):
            break
    return centers[:last]


@jit
def seeds(X, picks, first, last, centers, distance, total):
    """Records that are far apart: each next one with a chance in proportion to its squared distance (k-means++)."""
    n, d = X.shape
    for step in range(first, last):
        # the record at which the sum of what the records count exceeds the share that was drawn
        left, chosen = picks[step] * total, 0
        while chosen < n - 1:
            left -= 1.0 if step == 0 else distance[chosen]
            if left < 0.0:
                break
            chosen += 1
        for c in range(d):
            centers[step, c] = X[chosen, c]
        total = 0.0
        for i in range(n):
            y = squared(X, i, X, chosen)
            if y < distance[i]:
                distance[i] = y
            total += distance[i]
    return total


@inlined
def squared(X, i, Y, j):
    """The squared distance of two rows."""
    total = 0.0
    for c in range(X.shape[1]):
        y = X[i, c] - Y[j, c]
        total += y * y
    return total


@jit
def assign(X, changed_centers, changed, moved, all_centers, labels, distance):
    """The nearest center of each record, the first of equally near ones; centers that stayed need no second look."""
    room = np.empty(all_centers.shape[1])
    for i in range(len(X)):
        own = labels[i]
        every = own < 0 or moved[own]
        centers = all_centers if every else changed_centers
        m = centers.shape[1]
        room[:m] = 0.0
        for c in range(X.shape[1]):
            x = X[i, c]
            for j in range(m):
                y = centers[c, j] - x
                room[j] += y * y
        best, least = (-1, np.inf) if every else (own, distance[i])
        for j in range(m):
            if room[j] <= least:
                name = j if every else changed[j]
                if room[j] < least or name < best:
                    best, least = name, room[j]
        labels[i], distance[i] = best, least


@jit
def update(X, labels, changed, centers):
    """Means of the clusters that changed; one without records stays where it was."""
    sums, sizes = add_up(X, labels, len(centers))
    for g in changed:
        if sizes[g] > 0:
            for c in range(X.shape[1]):
                centers[g, c] = sums[g, c] / sizes[g]


@jit
def add_up(X, labels, count):
    """The sum and the number of the records of each cluster."""
    sums, sizes = np.zeros((count, X.shape[1])), np.zeros(count, np.int64)
    for i in range(len(X)):
        sizes[labels[i]] += 1
        for c in range(X.shape[1]):
            sums[labels[i], c] += X[i, c]
    return sums, sizes


@jit
def merge(X, labels, k, count, turns):
    """In turn, clusters of fewer than k records join the one whose mean is closest, until there is none."""
    d = X.shape[1]
    sums, sizes = add_up(X, labels, count)
    # clusters that are left stand side by side: which one, its mean; and the place of each, or what it went into
    names, means, left = np.empty(count, np.int64), np.empty((count, d)), 0
    place, into = np.empty(count, np.int64), np.arange(count)
    for g in range(count):
        if sizes[g] > 0:
            names[left], place[g] = g, left
            for c in range(d):
                means[left, c] = sums[g, c] / sizes[g]
            left += 1
    for g in turns:
        while 0 < sizes[g] < k:  # every turn has one cluster less
            here, best, least = place[g], -1, np.inf
            for a in range(left):
                y = squared(means, a, means, here)
                if y < least and a != here:
                    best, least = a, y
            other, left = names[best], left - 1
            into[other] = g
            sizes[g], sizes[other] = sizes[g] + sizes[other], 0
            for c in range(d):
                sums[g, c] += sums[other, c]
                means[here, c] = sums[g, c] / sizes[g]
            names[best], place[names[left]] = names[left], best  # the last one moves up
            for c in range(d):
                means[best, c] = means[left, c]
    for i in range(len(X)):
        while into[labels[i]] != labels[i]:
            labels[i] = into[labels[i]]
    return labels
