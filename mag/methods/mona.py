"""MONA (section 7.2): Mondrian halves the records until parts have n**rho of them, ONA* groups those."""

import numpy as np

from mag._jit import jit
from mag._lanes import part
from mag.methods._exchange import room_for_small, small_ona
from mag.methods._memory import work_for
from mag.methods._partition import PAIRS, VARIANCE, labels_of, parts_of
from mag.methods._pool import side_by_side
from mag.methods.ona import ona_star

LARGE = 4096  # records of a part that is worth all threads
SHARE = 1 << 14  # records that one job groups


def mona(X, k, *, rho=0.5, threads, watch):
    return _mona(X, k, VARIANCE, rho, threads, watch)


def mona_2d(X, k, *, rho=0.5, threads, watch):
    return _mona(X, k, PAIRS, rho, threads, watch)


def _mona(X, k, rule, rho, threads, watch):
    n = len(X)
    limit = max(int(n**rho), 0)
    order, starts = parts_of(X, k, limit, rule, threads, watch, done=0.05)
    sizes = np.diff(np.append(starts, n))
    labels = np.zeros(n, np.int64)
    worth = (sizes >= 2 * k) & (sizes <= limit)
    large = [p for p in np.flatnonzero(worth) if sizes[p] > LARGE]
    small = np.flatnonzero(worth & (sizes <= LARGE))
    if small.size:
        cuts = np.flatnonzero(np.diff(np.cumsum(sizes[small]) // SHARE, prepend=-1))
        jobs = np.split(small, cuts[1:])
        most = int(sizes[small].max())

        def group(job):
            work = work_for(room_for_small, most, X.shape[1], k)
            for p in job:
                members = np.sort(order[starts[p] : starts[p] + sizes[p]])
                group_part(work, X[members], k, 30, labels, members)
        side_by_side(group, jobs, threads)
    for p in large:
        members = np.sort(order[starts[p] : starts[p] + sizes[p]])
        labels[members] = ona_star(X[members], k, threads=threads, watch=watch)
    return labels_of(order, starts) + n * labels


@jit
def group_part(work, rows, k, rounds, labels, members):
    """ONA* on one part."""
    n, d = rows.shape
    found = np.empty(n, np.int64)
    small_ona(work, part(rows, 0), n, d, k, rounds, found)
    for p in range(n):
        labels[members[p]] = found[p]
