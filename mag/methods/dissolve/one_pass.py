# mypy: allow-untyped-defs, no-check-untyped-defs
"""One look at every group: its members go to their nearest other groups where that costs less in all.

The check is that of ONA* (algorithm 16), for groups of any size.  All members find their targets with the centroids as
they are, none moves before all have gone.  Members are a linked list, since nothing bounds the size of a group.
"""

from collections import namedtuple

import numpy as np

from mag._compiled.jit import called, jit
from mag._compiled.memory import part
from mag._compiled.work import NOBODY, fill, integers, layout, space_in, work_for
from mag._lib.progress import Progress
from mag._lib.threads import each_in_time
from mag.methods.distances.metric import metric_of
from mag.methods.mdav.centroids import cost_of
from mag.methods.ona.joining import is_first, joint_cost
from mag.methods.ona.journal import add_record, clear_journal, erase, journal_at, nearest, refresh_record, write

RECORDS_PER_STEP = 512  # records, or groups, a step

Pass = namedtuple("Pass", "journal label first last following members targets inside")


@layout
def pass_at(space, metric, m):
    """Of the records of a metric in m groups."""
    n = metric.n
    return Pass(
        journal=journal_at(space, metric, m, m),
        label=integers(space, n),
        first=integers(space, m),  # members of a group, in the order in which they came
        last=integers(space, m),
        following=integers(space, n),
        members=integers(space, n),  # memory for those of one group
        targets=integers(space, n),
        inside=integers(space, n),
    )


@called
def _pass_in(work, X, m):
    """What `pass_at` cuts from this memory."""
    return pass_at(space_in(work), metric_of(X), m)


@called
def _enter(groups, i, g):
    """Record i joins group g; its centroid has yet to be written."""
    if groups.first[g] == NOBODY:
        groups.first[g] = i
    else:
        groups.following[groups.last[g]] = i
    groups.last[g] = i
    groups.following[i] = NOBODY
    groups.label[i] = g
    add_record(groups.journal, g, i)


@called
def _list_members(groups, g):
    """Write the members of group g; returns how many there are."""
    i, count = groups.first[g], 0
    while i != NOBODY:
        groups.members[count] = i
        count += 1
        i = groups.following[i]
    return count


@called
def _cost(groups, g):
    """The sum of squares of group g, whose members are listed."""
    count, members = _list_members(groups, g), groups.members
    return cost_of(groups.journal.rows, groups.journal.d, members[0], part(members, 1), count - 1)


@called
def _try_dissolve(groups, g):
    """Let the members of group g go if that costs less."""
    journal, members, targets = groups.journal, groups.members, groups.targets
    keep, count = _cost(groups, g), journal.size[g]
    for p in range(count):
        target, _ = nearest(journal, members[p], g)
        if target == NOBODY:  # the only group
            return
        targets[p] = target
    if not keep > joint_cost(journal, members, targets, count, groups.inside):
        return
    for p in range(count):
        _enter(groups, members[p], targets[p])
    erase(journal, g)
    for p in range(count):
        if is_first(targets, p):
            write(journal, targets[p])


# ---- from Python


def dissolve_groups(
    X: np.ndarray, labels: np.ndarray, order: np.ndarray, threads: int, progress: Progress
) -> np.ndarray:
    """Labels after a look at groups 0, 1, … in this order, or at as many as there is time for."""
    n, m = len(X), len(order)
    if progress.step(0.0):
        return labels
    work = work_for(pass_at, metric_of(X), m)
    form(work, X, m, labels)
    parts = [(a, min(a + RECORDS_PER_STEP, n)) for a in range(0, n, RECORDS_PER_STEP)]
    each_in_time(lambda part: refresh(work, X, m, *part), parts, threads, lambda: progress.seconds_left() <= 0)
    for a in range(0, m, RECORDS_PER_STEP):
        if progress.step(a / m):
            break
        visit(work, X, m, order[a : a + RECORDS_PER_STEP])
    left = np.empty(n, np.int64)
    copy_labels(work, X, m, left)
    return np.unique(left, return_inverse=True)[1]


def group_costs(X: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The sum of squares of each group."""
    m = int(labels.max()) + 1
    work, costs = work_for(pass_at, metric_of(X), m), np.empty(m)
    form(work, X, m, labels)
    write_costs(work, X, costs)
    return costs


@jit
def form(work, X, m, labels):
    """The groups of labels 0 .. m-1, members in the order of their numbers."""
    groups = _pass_in(work, X, m)
    clear_journal(groups.journal)
    fill(groups.first, m, NOBODY)
    for i in range(labels.size):
        _enter(groups, i, labels[i])
    for g in range(m):
        write(groups.journal, g)


@jit
def refresh(work, X, m, start, stop):
    """Bring the memories of these records up to date; several threads may do that at once."""
    groups = _pass_in(work, X, m)
    for i in range(start, stop):
        refresh_record(groups.journal, i)


@jit
def visit(work, X, m, order):
    """Look at these groups."""
    groups = _pass_in(work, X, m)
    for g in order:
        _try_dissolve(groups, g)


@jit
def write_costs(work, X, costs):
    """What each group costs."""
    groups = _pass_in(work, X, costs.size)
    for g in range(costs.size):
        costs[g] = _cost(groups, g)


@jit
def copy_labels(work, X, m, labels):
    """The groups as they are now."""
    groups = _pass_in(work, X, m)
    for i in range(labels.size):
        labels[i] = groups.label[i]
