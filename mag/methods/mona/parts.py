"""ONA* on every part of a table: few records at a time in one compiled call each, parts side by side on threads."""

import numpy as np

from mag._backends import cpu
from mag._compiled.work import work_for
from mag._lib.progress import Progress
from mag._lib.threads import each
from mag.methods.mondrian.halving import VARIANCE, labels_of, parts_of
from mag.methods.ona import ona_star
from mag.methods.ona.phases import group_part, part_at
from mag.methods.ona.rounds import ROUNDS

LARGE = 4096  # records of a part that is worth all threads
SHARE = 1 << 13  # records of the small parts that one job groups


def group_parts(
    X: np.ndarray, k: int, order: np.ndarray, starts: np.ndarray, turn: np.ndarray, threads: int, progress: Progress
) -> np.ndarray:
    """Labels within each part: those in `turn`, of 2k records or more, are grouped, the others are one group.

    Part p is order[starts[p]:starts[p + 1]].  When the time is up, what is left is halved.
    """
    sizes = np.diff(np.append(starts, len(order)))
    labels = np.zeros(len(X), np.int64)

    def members(p: int) -> np.ndarray:
        return np.sort(order[starts[p] : starts[p] + sizes[p]])

    def group(some: np.ndarray) -> None:
        work = work_for(part_at, int(sizes[some].max()), X.shape[1], k)
        for p in some:
            own = members(p)
            rows = X[own]
            if not group_part(work, rows, k, ROUNDS, labels, own):
                labels[own] = ona_star(rows, k, engine=cpu, threads=1, progress=progress.silent())

    def halve(p: int) -> None:
        labels[members(p)] = labels_of(*parts_of(X[members(p)], k, 0, VARIANCE, threads, progress))

    for p in turn[sizes[turn] > LARGE]:  # few
        if progress.left() <= 0:
            halve(p)
        else:
            labels[members(p)] = ona_star(X[members(p)], k, engine=cpu, threads=threads, progress=progress)
    turn = turn[sizes[turn] <= LARGE]
    jobs = np.split(turn, np.flatnonzero(np.diff(np.cumsum(sizes[turn]) // SHARE)) + 1) if turn.size else []
    for a in range(0, len(jobs), 2 * threads):
        if progress.step(a / len(jobs)):
            for p in np.concatenate(jobs[a:]):
                halve(p)
            break
        each(group, jobs[a : a + 2 * threads], threads)
    return labels
