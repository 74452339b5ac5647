"""k-means with factor·n/k clusters; those that are too small join the closest one  (Stamm & Schaub 2024)."""

import numpy as np

from mag._checks import positive
from mag._jit import jit
from mag.backends._threads import each

ROUNDS = 100  # of Lloyd's algorithm, at most
PART = 256  # records that one task assigns


def group(X, k, *, factor=1.0, random_state, threads, watch):
    """Labels of clusters of k records or more."""
    n = len(X)
    count = min(max(round(positive("factor", factor) * n / k), 1), n)
    centres, labels, changed = seeds(X, random_state.random(count)), np.full(n, -1), np.arange(count)
    parts = [slice(i, i + PART) for i in range(0, n, PART)]
    distance = np.full(n, np.inf)
    for round_ in range(ROUNDS):
        moved = np.zeros(count, np.bool_)
        moved[changed] = True
        before = labels.copy()
        task = np.ascontiguousarray(centres[changed].T), changed, moved, np.ascontiguousarray(centres.T)
        each(lambda part, task=task: assign(X[part], *task, labels[part], distance[part]), parts, threads)
        changed = np.unique(np.concatenate([before[before != labels], labels[before != labels]]))
        changed = changed[changed >= 0]
        if not changed.size or watch.step(round_ / ROUNDS):
            break
        update(X, labels, changed, centres)
    return merge(X, labels, k, count, random_state.permutation(count))


@jit
def seeds(X, picks):
    """Records that are far apart: each next one with a chance in proportion to its squared distance (k-means++)."""
    n, d = X.shape
    centres, distance, sums = np.empty((len(picks), d)), np.full(n, np.inf), np.empty(n)
    chosen = min(int(picks[0] * n), n - 1)
    for step in range(len(picks)):
        centres[step] = X[chosen]
        total = 0.0
        for i in range(n):
            y = 0.0
            for c in range(d):
                y += (X[i, c] - X[chosen, c]) ** 2
            distance[i] = min(distance[i], y)
            total += distance[i]
            sums[i] = total
        if step + 1 < len(picks):
            chosen = min(np.searchsorted(sums, picks[step + 1] * total, side="right"), n - 1)
    return centres


@jit
def assign(X, some, changed, moved, everyone, labels, distance):
    """The nearest centre of each record, the first of equally near ones; centres that stayed need no second look."""
    room = np.empty(everyone.shape[1])
    for i in range(len(X)):
        own = labels[i]
        whole = own < 0 or moved[own]
        centres = everyone if whole else some
        m = centres.shape[1]
        room[:m] = 0.0
        for c in range(X.shape[1]):
            x = X[i, c]
            for j in range(m):
                y = centres[c, j] - x
                room[j] += y * y
        best, least = (-1, np.inf) if whole else (own, distance[i])
        for j in range(m):
            if room[j] <= least:
                name = j if whole else changed[j]
                if room[j] < least or name < best:
                    best, least = name, room[j]
        labels[i], distance[i] = best, least


@jit
def update(X, labels, changed, centres):
    """Means of the clusters that changed; one without records stays where it was."""
    d = X.shape[1]
    sums, sizes, affected = np.zeros(centres.shape), np.zeros(len(centres)), np.zeros(len(centres), np.bool_)
    affected[changed] = True
    for i in range(len(X)):
        g = labels[i]
        if affected[g]:
            sizes[g] += 1.0
            for c in range(d):
                sums[g, c] += X[i, c]
    for g in changed:
        if sizes[g] > 0.0:
            for c in range(d):
                centres[g, c] = sums[g, c] / sizes[g]


@jit
def merge(X, labels, k, count, turns):
    """In turn, clusters of fewer than k records join the one whose mean is closest, until there is none."""
    n, d = X.shape
    sums, sizes, into = np.zeros((count, d)), np.zeros(count, np.int64), np.arange(count)
    for i in range(n):
        sizes[labels[i]] += 1
        for c in range(d):
            sums[labels[i], c] += X[i, c]
    alive = np.flatnonzero(sizes)
    means = np.empty((len(alive), d))
    for a in range(len(alive)):
        means[a] = sums[alive[a]] / sizes[alive[a]]
    place = np.full(count, -1)
    place[alive] = np.arange(len(alive))
    m = len(alive)
    for g in turns:
        while 0 < sizes[g] < k:
            best, least = -1, np.inf
            for a in range(m):
                if a == place[g]:
                    continue
                y = 0.0
                for c in range(d):
                    y += (means[a, c] - means[place[g], c]) ** 2
                if y < least:
                    best, least = a, y
            other = alive[best]
            sizes[g] += sizes[other]
            sums[g] += sums[other]
            sizes[other] = 0
            into[other] = g
            means[place[g]] = sums[g] / sizes[g]
            m -= 1
            alive[best], means[best], place[alive[m]] = alive[m], means[m], best
    for i in range(n):
        g = labels[i]
        while into[g] != g:
            g = into[g]
        labels[i] = g
    return labels
