"""k-means for many small clusters (algorithms 8 and 9): the start of LMaS."""

import numpy as np

from mag._jit import jit
from mag._lanes import at, lanes_at, least_lane, part, put, select
from mag.methods._field import LANES, STEP, bounds, distances, field_at, fill_field, scan
from mag.methods._memory import NEAREST, YES, ZERO, fill, work_for
from mag.methods._pool import side_by_side

ROUNDS = 50
LITTLE = 0.001  # two rounds that differ by less have converged (section 6.5)
SHARE = 1024


@jit
def _room(work, n, d):
    _, r, w = field_at(work, ZERO, ZERO, n, d)
    return r, w


@jit
def spread_out(work, X, draws, chosen):
    """k-means++: each next centre is drawn with a probability proportional to its squared distance from the others.

    Blocks whose box is farther from the new centre than all their records are from the others' are skipped.
    """
    n, d = X.shape
    field, _, _ = field_at(work, ZERO, ZERO, n, d)
    order, away = np.empty(n, np.int64), np.full(field.blocks * LANES, np.inf)
    most, total, bound = np.full(field.blocks, np.inf), np.zeros(field.blocks), np.empty(field.boxes)
    fill_field(field, part(X, 0), order)
    chosen[0] = min(int(draws[0] * n), n - 1)
    for c in range(1, chosen.size):
        point = part(X, chosen[c - 1] * d)
        bounds(field, point, NEAREST, part(bound, 0))
        for b in range(field.blocks):
            if bound[b] < most[b]:
                x, size = part(field.x, b * d * LANES), at(field.size, b)
                for first in range(0, size, STEP):
                    here, there = distances(x, first, d, point), at(away, lanes_at(b * LANES + first, STEP))
                    put(away, lanes_at(b * LANES + first, STEP), select(here < there, here, there))
                most[b], total[b] = 0.0, 0.0
                for p in range(b * LANES, b * LANES + size):
                    most[b], total[b] = max(most[b], away[p]), total[b] + away[p]
        left = draws[c] * total.sum()
        b = 0
        while b < field.blocks - 1 and left >= total[b]:
            left -= total[b]
            b += 1
        p = b * LANES
        while p < b * LANES + at(field.size, b) - 1 and left >= away[p]:
            left -= away[p]
            p += 1
        chosen[c] = at(field.ids, p)


@jit
def _fill(work, centres):
    field, _, _ = field_at(work, ZERO, ZERO, centres.shape[0], centres.shape[1])
    fill_field(field, part(centres, 0), np.empty(centres.shape[0], np.int64))


@jit
def _nearest(work, X, groups, start, stop, keys, ids):
    """The nearest of so many centres for these records."""
    n, d = X.shape
    field, _, _ = field_at(work, ZERO, ZERO, groups, d)
    queries, found = np.arange(start, stop), np.empty(stop - start, np.int64)
    for a in range(0, stop - start, LANES):
        many = min(LANES, stop - start - a)
        scan(
            field,
            part(X, 0),
            part(queries, a),
            many,
            YES,
            NEAREST,
            YES,
            part(keys, start + a),
            part(ids, start + a),
            np.int64(1),
            part(found, a),
        )
    return queries.size + found.size  # keeps both alive


def lloyd(X, groups, random, threads, watch):
    """A label per record, from 0 to groups - 1; some groups may be empty."""
    n, d = X.shape
    chosen = np.empty(groups, np.int64)
    spread_out(work_for(_room, n, d), X, random.random(groups), chosen)
    centres, work = X[chosen], work_for(_room, groups, d)
    keys, labels, before = np.empty(n), np.empty(n, np.int64), np.inf
    jobs = [(a, min(a + SHARE, n)) for a in range(0, n, SHARE)]
    for _ in range(ROUNDS):
        _fill(work, centres)
        side_by_side(lambda job: _nearest(work, X, groups, *job, keys, labels), jobs, threads)
        sizes = np.bincount(labels, minlength=groups)
        full = sizes > 0
        for j in range(d):
            sums = np.bincount(labels, X[:, j], groups)
            centres[full, j] = sums[full] / sizes[full]
        cost = float(keys.sum())
        if before - cost < LITTLE or watch.left() <= 0:
            break
        before = cost
    return labels
