"""ONA* on every part of a table: few records at a time in one compiled call each, parts side by side on threads."""

import numpy as np

from mag._backends import cpu
from mag._compiled.work import work_for
from mag._lib.progress import Progress
from mag._lib.threads import each
from mag.methods.distances.hierarchies import CategoryColumns, select
from mag.methods.distances.metric import metric_of
from mag.methods.mondrian.halving import RULE_VARIANCE, labels_of, parts_of
from mag.methods.ona import ona_star
from mag.methods.ona.phases import group_part, part_at
from mag.methods.ona.rounds import MAX_ONA_ROUNDS

RECORDS_WORTH_ALL_THREADS = 4096  # records of a part that is worth all threads
RECORDS_PER_JOB = 1 << 13  # records of the small parts that one job groups
NARROW = 1024  # records of a part that is divided because of its categories
WIDE = 2 * NARROW**2  # numbers that a part keeps for places and categories


def group_parts(
    X: np.ndarray,
    k: int,
    order: np.ndarray,
    starts: np.ndarray,
    turn: np.ndarray,
    threads: int,
    progress: Progress,
    trees: CategoryColumns | None = None,
) -> np.ndarray:
    """Labels within each part: those in `turn`, of 2k records or more, are grouped, the others are one group.

    Part p is order[starts[p]:starts[p + 1]].  When the time is up, the remaining parts are halved.
    """
    sizes = np.diff(np.append(starts, len(order)))
    labels = np.zeros(len(X), np.int64)

    def members(p: int) -> np.ndarray:
        return np.sort(order[starts[p] : starts[p] + sizes[p]])

    sparse = trees if trees is not None and trees.is_sparse else None
    records = X if trees is None or sparse or not turn.size else trees.records(X)

    def group(some: np.ndarray) -> None:
        largest = metric_of(records)._replace(n=int(sizes[some].max()))
        work = None if sparse else work_for(part_at, largest, k)
        for p in some:
            own = members(p)
            part = sparse.expanded_records(X, own) if sparse else select(records, own)
            own_work = work_for(part_at, metric_of(part), k) if work is None else work
            if not group_part(own_work, part, k, MAX_ONA_ROUNDS, labels, own):
                labels[own] = star(own, 1, progress.silent())

    def star(own: np.ndarray, threads: int, progress: Progress) -> np.ndarray:
        points, own_trees = X[own], None
        if trees is not None:
            points, own_trees = trees.select(own).expand(points)
        return ona_star(points, k, engine=cpu, trees=own_trees, threads=threads, progress=progress)

    def halve(p: int) -> None:
        labels[members(p)] = labels_of(*parts_of(X[members(p)], k, 0, RULE_VARIANCE, threads, progress))

    for p in turn[sizes[turn] > RECORDS_WORTH_ALL_THREADS]:  # few
        if progress.seconds_left() <= 0:
            halve(p)
        else:
            labels[members(p)] = star(members(p), threads, progress)
    turn = turn[sizes[turn] <= RECORDS_WORTH_ALL_THREADS]
    jobs = np.split(turn, np.flatnonzero(np.diff(np.cumsum(sizes[turn]) // RECORDS_PER_JOB)) + 1) if turn.size else []
    for a in range(0, len(jobs), 2 * threads):
        if progress.step(a / len(jobs)):
            for p in np.concatenate(jobs[a:]):
                halve(p)
            break
        each(group, jobs[a : a + 2 * threads], threads)
    return labels


def divide_wide(
    X: np.ndarray,
    k: int,
    order: np.ndarray,
    starts: np.ndarray,
    trees: CategoryColumns,
    threads: int,
    progress: Progress,
) -> tuple[np.ndarray, np.ndarray]:
    """The same parts, but halved along lines where trees could not be cut and have too many categories for tables."""
    if not trees.is_sparse:
        return order, starts
    orders, cuts = [], []
    for first, own in zip(starts.tolist(), np.split(order, starts[1:]), strict=True):
        inner, begins = np.arange(own.size), np.zeros(1, np.int64)
        if own.size > NARROW and trees.select(own).count_cells() > WIDE:
            inner, begins = parts_of(X[own], k, max(NARROW, 2 * k), RULE_VARIANCE, threads, progress)
        orders.append(own[inner])
        cuts.append(first + begins)
    return np.concatenate(orders), np.concatenate(cuts)
