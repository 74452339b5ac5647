"""How a maximum distance method is run from Python: short compiled steps, and lists made on several threads between."""

from collections import namedtuple

import numpy as np

from mag._compiled.jit import called, jit
from mag._compiled.lanes import at, part, put
from mag._compiled.work import FARTHEST, NEAREST, ZERO, fill, work_for
from mag._lib.threads import each
from mag.methods.mdav.nearest_lists import forget, lists_at, make, reserve
from mag.methods.mdav.state import LEFT, begin, from_center, state_at
from mag.methods.mondrian.halving import VARIANCE, labels_of, parts_of

DEEP = np.int64(8)  # length of the lists of farthest records

# far: lists of the farthest records.  MDAV: total = sum of the free records; center; `order` is sorted by the distance
# `state.away` from `reference`, a former centroid; work[0] counts the distances since.  MD: no record is farther than
# bound[i] from i.
Ends = namedtuple("Ends", "far total center reference bound work")


@called
def ends_at(work, rows, n, d, k, rule):
    """The state of a method, and what MD and MDAV need beside it: (state, ends, r, w)."""
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


@jit
def _room(work, n, d, k):
    _, _, r, w = ends_at(work, part(work.reals, 0), n, d, k, ZERO)
    return r, w


@jit
def _begin(work, X, k):
    n, d = X.shape
    state, ends, _, _ = ends_at(work, part(X, 0), n, d, k, ZERO)
    begin(state)
    forget(ends.far)
    fill(ends.total, d, 0.0)
    from_center(state, ends.total)
    for j in range(d):
        put(ends.reference, j, at(ends.total, j))
        put(ends.total, j, at(ends.total, j) * n)
    fill(ends.bound, n, np.inf)
    put(ends.work, 0, 0)


@jit
def _reserve(work, X, k):
    """How many lists of nearest and of farthest records are wanted, and how many records are left."""
    state, ends, _, _ = ends_at(work, part(X, 0), X.shape[0], X.shape[1], k, ZERO)
    return reserve(state.near), reserve(ends.far), at(state.status, LEFT)


@jit
def _make(work, X, k, far, count, start, stop):
    """Lists start .. stop of those that were reserved."""
    state, ends, _, _ = ends_at(work, part(X, 0), X.shape[0], X.shape[1], k, ZERO)
    if far:
        make(state.field, ends.far, state.rows, FARTHEST, count, start, stop)
    else:
        make(state.field, state.near, state.rows, NEAREST, count, start, stop)


@jit
def _labels(work, X, k, labels):
    state, _, _, _ = ends_at(work, part(X, 0), X.shape[0], X.shape[1], k, ZERO)
    for i in range(labels.size):
        labels[i] = at(state.label, i)


def drive(step, X, k, *options, threads, progress):
    """Call step(work, X, k, *options) until it wants no more lists; when the time is up, Mondrian groups the rest."""
    work = work_for(_room, *X.shape, k)
    _begin(work, X, k)
    while step(work, X, k, *options):
        *counts, left = _reserve(work, X, k)
        jobs = []
        for far, count in enumerate(counts):
            share = max(8, -(-count // threads))
            jobs += [(far == 1, count, a, min(a + share, count)) for a in range(0, count, share)]
        each(lambda job: _make(work, X, k, *job), jobs, threads)
        if progress.step(1.0 - left / len(X)):
            break
    labels = np.empty(len(X), np.int64)
    _labels(work, X, k, labels)
    _group_rest(X, k, labels, threads, progress)
    return labels


def _group_rest(X, k, labels, threads, progress):
    """Groups for records without one; fewer than k of them join the nearest group."""
    rest, used = np.flatnonzero(labels < 0), int(labels.max()) + 1
    if rest.size >= k:
        labels[rest] = used + labels_of(*parts_of(X[rest], k, 0, VARIANCE, threads, progress))
    elif rest.size:
        done = labels >= 0
        sizes = np.bincount(labels[done])
        means = np.stack([np.bincount(labels[done], x) / sizes for x in X[done].T], axis=1)
        for i in rest:
            labels[i] = np.argmin(np.square(means - X[i]).sum(axis=1))
