"""MONA (section 7.2 of Thaeter's thesis, 2021): Mondrian halves the records, ONA* groups those of each part."""

import numpy as np

from mag._checks import fraction
from mag.backends._threads import each
from mag.methods._exchange import group_part, room_for_part
from mag.methods._memory import work_for
from mag.methods._partition import PAIRS, VARIANCE, labels_of, parts_of
from mag.methods._polish import ROUNDS
from mag.methods._search import Quiet
from mag.methods.mondrian import mondrian_v
from mag.methods.ona import ona_star

LARGE = 4096  # records of a part that is worth all threads
SHARE = 1 << 13  # records of the small parts that one job groups
HALVING = 0.05  # of the progress


def mona(X, k, *, rho=0.5, threads, watch):
    """Halve by the column with the largest variance until parts have at most n**rho records (algorithm 20)."""
    return _mona(X, k, VARIANCE, rho, threads, watch)


def mona_2d(X, k, *, rho=0.5, threads, watch):
    """… or by the sum or difference of two columns."""
    return _mona(X, k, PAIRS, rho, threads, watch)


def _mona(X, k, rule, rho, threads, watch):
    n, limit = len(X), int(len(X) ** fraction("rho", rho))
    order, starts = parts_of(X, k, limit, rule, threads, watch.part(0.0, HALVING))
    sizes = np.diff(np.append(starts, n))
    labels, parts = np.zeros(n, np.int64), labels_of(order, starts)
    turn = np.flatnonzero((sizes >= 2 * k) & (sizes <= limit))  # Mondrian's own parts are left as they are
    watch.part(HALVING, 1.0)

    def members(p):
        return np.sort(order[starts[p] : starts[p] + sizes[p]])

    def group(some):
        work = work_for(room_for_part, int(sizes[some].max()), X.shape[1], k)
        for p in some:
            rows = X[members(p)]
            if not group_part(work, rows, k, ROUNDS, labels, members(p)):
                labels[members(p)] = ona_star(rows, k, threads=1, watch=Quiet(watch))

    for p in turn[sizes[turn] > LARGE]:  # few: all but rho ≈ 1 has none
        run = mondrian_v if watch.left() <= 0 else ona_star
        labels[members(p)] = run(X[members(p)], k, threads=threads, watch=watch)
    turn = turn[sizes[turn] <= LARGE]
    jobs = np.split(turn, np.flatnonzero(np.diff(np.cumsum(sizes[turn]) // SHARE)) + 1) if turn.size else []
    for a in range(0, len(jobs), 2 * threads):
        if watch.step(a / len(jobs)):
            for p in np.concatenate(jobs[a:]):
                labels[members(p)] = mondrian_v(X[members(p)], k, threads=threads, watch=watch)
            break
        each(group, jobs[a : a + 2 * threads], threads)
    return parts + starts.size * labels
