# mypy: allow-untyped-defs, no-check-untyped-defs
"""The two phases of ONA* (algorithms 16 and 17): dissolve groups of k records, pass records of larger ones on."""

from typing import Any

import numpy as np

from mag._compiled.jit import called, jit
from mag._compiled.memory import part
from mag._compiled.work import NO, NOBODY, ZERO, Room, integers, layout, reals, rest_of, space_in
from mag.methods.distances.euclidean import euclidean
from mag.methods.distances.metric import metric_of
from mag.methods.mdav.centroids import CENTROID, cost_of
from mag.methods.mdav.star import small_star
from mag.methods.mdav.state import state_at
from mag.methods.ona.groups import (
    CHANGED,
    USED,
    VISITS,
    form,
    groups_at,
    groups_in,
    least_gain,
    move,
    renumber,
    replace,
)
from mag.methods.ona.joining import is_first, joint_cost
from mag.methods.ona.journal import erase, nearest, refresh_record, write

ALL_GROUPS = np.int64(1 << 62)  # more than any phase visits
MAX_VISITS_PER_GROUP = 8  # of a phase, times the largest number of groups


@called
def gather(rows, d, members, count, out):
    """The rows of members, in the order of their numbers: both are sorted in place."""
    for p in range(1, count):
        i, q = members[p], p
        while q > 0 and members[q - 1] > i:
            members[q] = members[q - 1]
            q -= 1
        members[q] = i
    for p in range(count):
        for j in range(d):
            out[p, j] = rows[members[p], j]


@called
def _split(space, groups, g):
    """Split a group of 2k or more records by MDAV*."""
    spare, size, d, k = rest_of(space), groups.size[g], groups.d, groups.k
    members, own, rows = groups.member[g], integers(spare, size), reals(spare, size, d)
    for p in range(size):
        own[p] = members[p]
    gather(groups.rows, d, own, size, rows)
    parts = small_star(spare, euclidean(rows, size, d), k, 1.0, NO)
    replace(groups, g, own, parts, size)


@called
def too_large(groups, g):
    """Update the centroid of a group that gained records; return True if it must be split instead."""
    if groups.size[g] >= 2 * groups.k:
        return True
    write(groups.journal, g)
    return False


@called
def try_dissolve(groups, g):
    """Algorithm 16: every member goes to its nearest other group if that costs less than keeping them together.

    True if they went.  Members and targets are left in `scratch`; the targets have yet to be settled.
    """
    k, d = groups.k, groups.d
    members, targets, inside = groups.scratch, part(groups.scratch, k), part(groups.scratch, 2 * k)
    for p in range(k):
        i = groups.member[g, p]
        target, _ = nearest(groups.journal, i, g)
        if target == NOBODY:
            return False
        members[p] = i
        targets[p] = target
    keep = cost_of(groups.rows, d, members[0], part(members, 1), k - 1)
    if not keep - joint_cost(groups.journal, members, targets, k, inside) > least_gain(groups, keep):
        return False
    for p in range(k):
        move(groups, members[p], g, targets[p])
    erase(groups.journal, g)
    return True


@called
def _reassign(groups, g):
    """Algorithm 17: the member whose move gains most goes to its nearest other group, while such a member exists.

    Stops at a group that has to be split, and returns it; NOBODY at the end.
    """
    d, k, rows = groups.d, groups.k, groups.rows
    while groups.size[g] > k:
        best, gain, where, size = NOBODY, 0.0, NOBODY, groups.size[g]
        for p in range(size):
            i = groups.member[g, p]
            h, away = nearest(groups.journal, i, g)
            if h == NOBODY:
                return NOBODY
            here = 0.0
            for j in range(d):
                here += (rows[i, j] - groups.sums[g, j] / size) ** 2
            there = groups.size[h]
            improvement = here * size / (size - 1) - away * there / (there + 1) - least_gain(groups, here)
            if improvement > gain or (improvement == gain and best >= 0 and i < best):
                best, gain, where = i, improvement, h
        if best == NOBODY:
            return NOBODY
        move(groups, best, g, where)
        write(groups.journal, g)
        if too_large(groups, where):
            return where
    return NOBODY


@called
def _visit(space, groups, phase, cursor, many):
    """Continue phase 0 (dissolve) or 1 (reassign) at group `cursor`, for `many` groups; NOBODY after the last one.

    Groups that a split appends are visited in the same phase.  In exact numbers that ends, because changes and splits
    only lower the sum of squares.  Rounded costs may fall in a circle: after some visits a change has to gain more than
    rounding does, and a phase has at most MOST_VISITS.
    """
    for _ in range(many):
        cursor = renumber(groups, cursor)
        if cursor >= groups.counts[USED] or groups.counts[VISITS] >= MAX_VISITS_PER_GROUP * (groups.n // groups.k):
            groups.counts[VISITS] = 0
            return NOBODY
        if groups.journal.serial[cursor] >= 0:
            groups.counts[VISITS] += 1
            # up to k groups have to be split, in turn; one call of `_split` in the code, for the compiler's sake
            dissolved = phase == 0 and groups.size[cursor] == groups.k and try_dissolve(groups, cursor)
            p, targets = 0, part(groups.scratch, groups.k)
            while (dissolved and p < groups.k) or phase == 1:
                large = NOBODY
                if phase == 1:
                    large = _reassign(groups, cursor)
                    if large == NOBODY:
                        break
                elif is_first(targets, p) and too_large(groups, targets[p]):
                    large = targets[p]
                p += 1
                if large != NOBODY:
                    _split(space, groups, large)
        cursor += 1
    return cursor


@called
def _run_rounds(space, groups, rounds):
    """Run both phases, `rounds` times or until nothing changes; return the number of records that moved."""
    moved = ZERO
    for _ in range(rounds):
        groups.counts[CHANGED] = 0
        for phase in range(2):
            groups.counts[VISITS] = 0
            _visit(space, groups, phase, ZERO, ALL_GROUPS)
        if groups.counts[CHANGED] == 0:
            break
        moved += groups.counts[CHANGED]
    return moved


@layout
def rounds_at(space, metric, k):
    """Groups that exchange records, and the memory of `_split`."""
    groups = groups_at(space, metric, k)
    _split_at(space, 3 * k, metric.d, k)
    return groups


@layout
def _split_at(space, n, d, k):
    """A few records, and the state of MDAV*."""
    rows = reals(space, n, d)
    integers(space, n)
    return state_at(space, euclidean(rows, n, d), k, CENTROID)


def part_at(space: Room, metric: Any, k: int) -> None:
    """The memory of `group_part`: MDAV* first, then the groups in its place."""
    star, rounds = Room(), Room()
    state_at(star, metric, k, CENTROID)
    rounds_at(rounds, metric, k)
    space.reals += max(star.reals, rounds.reals)
    space.integers += max(star.integers, rounds.integers)


# ---- from Python


@jit
def group_part(work, X, k, rounds, labels, members):
    """ONA* on few records in one call; write the labels of members, and return whether it could.

    It cannot if MDAV* makes a group of 2k or more records, which never happened in the thesis: `polish` can.
    """
    space, metric, n = space_in(work), metric_of(X), members.size
    parts, sizes = small_star(rest_of(space), metric, k, 1.0, NO), np.zeros(n // k, np.int64)
    own = np.empty(n, np.int64)
    for p in range(n):
        own[p] = parts[p]
        sizes[own[p]] += 1
        if sizes[own[p]] == 2 * k:
            return False
    groups = groups_at(space, metric, k)
    form(groups, part(own, 0))
    _run_rounds(space, groups, rounds)
    for p in range(n):
        labels[members[p]] = groups.label[p]
    return own.size == n  # the array is alive until here


@jit
def polish_part(work, X, k, rounds, labels):
    """ONA* from groups with labels 0, 1, … of fewer than 2k records; returns how many records moved."""
    space = space_in(work)
    groups = groups_at(space, metric_of(X), k)
    form(groups, part(labels, 0))
    moved = _run_rounds(space, groups, rounds)
    for p in range(labels.size):
        labels[p] = groups.label[p]
    return moved


@jit
def form_groups(work, X, k, labels):
    """The groups of these labels."""
    groups = groups_in(work, X, k)
    form(groups, part(labels, 0))


@jit
def refresh(work, X, k, start, stop):
    """Bring the memories of these records up to date; several threads may do that at once."""
    groups = groups_in(work, X, k)
    for i in range(start, stop):
        refresh_record(groups.journal, i)


@jit
def visit(work, X, k, phase, cursor, many):
    """Visit `many` groups; return the number of the next one, or NOBODY."""
    space = space_in(work)
    groups = groups_at(space, metric_of(X), k)
    return _visit(space, groups, phase, cursor, many)


@jit
def groups_now(work, X, k, labels):
    """Copy the labels; return the number of groups, and the number of records that moved since the last call."""
    groups = groups_in(work, X, k)
    for i in range(labels.size):
        labels[i] = groups.label[i]
    changed = groups.counts[CHANGED]
    groups.counts[CHANGED] = 0
    return groups.counts[USED], changed
