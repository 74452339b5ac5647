"""The two phases of ONA* (algorithms 16 and 17): dissolve groups of k records, pass records of larger ones on."""

import numpy as np

from mag._jit import called, jit
from mag.methods._centres import cost_of
from mag.methods._groups import (
    CHANGED,
    USED,
    dissolve,
    groups_of,
    look,
    move,
    nearest,
    renumber,
    replace,
    write,
)
from mag.methods._star import small_star


@called
def _split(groups, g, k, code):
    """Split a group of 2k or more records by MDAV*; equal records in the order of the data."""
    size = groups.size[g]
    members = np.sort(groups.member[g, :size])
    groups.member[g, :size] = members
    parts = small_star(groups.rows[members], k, 1.0, False, 0, code)
    replace(groups, g, parts, parts.max() + 1)


@called
def joint_cost(groups, targets, members, count, own):
    """What it costs more if members[p] joins group targets[p]: each target gets them as a group of their own."""
    rows, total = groups.rows, 0.0
    d, inside = rows.shape[1], np.empty(count, np.int64)
    for p in range(count):
        g, first, many = targets[p], True, 0
        for q in range(count):
            if targets[q] == g:
                first &= q >= p
                inside[many] = members[q]
                many += 1
        if first:
            size, away = groups.size[g], 0.0
            for j in range(d):
                s = 0.0
                for q in range(many):
                    s += rows[inside[q], j]
                away += (s / many - groups.sums[g, j] / size) ** 2
            total += cost_of(rows, inside[0], inside[1:many], many - 1) + many * size / (many + size) * away
    return total


@called
def try_dissolve(groups, g, k, code):
    """Algorithm 16: every member goes to its nearest other group if that costs less than keeping them together."""
    members, targets = groups.member[g, :k].copy(), np.empty(k, np.int64)
    for p in range(k):
        targets[p], _ = nearest(groups, members[p], g)
        if targets[p] < 0:
            return
    if not cost_of(groups.rows, members[0], members[1:], k - 1) > joint_cost(groups, targets, members, k, g):
        return
    for p in range(k):
        move(groups, members[p], g, targets[p])
    dissolve(groups, g)
    for p in range(k):
        first = True
        for q in range(p):
            first &= targets[q] != targets[p]
        if first:
            if groups.size[targets[p]] >= 2 * k:
                _split(groups, targets[p], k, code)
            else:
                write(groups, targets[p])


@called
def _reassign(groups, g, k, code):
    """Algorithm 17: the member whose move gains most goes to its nearest other group, while one gains."""
    while groups.size[g] > k:
        best, gain, where, size = -1, 0.0, -1, groups.size[g]
        for p in range(size):
            i = groups.member[g, p]
            h, away = nearest(groups, i, g)
            if h < 0:
                return
            here = 0.0
            for j in range(groups.rows.shape[1]):
                here += (groups.rows[i, j] - groups.sums[g, j] / size) ** 2
            improvement = here * size / (size - 1) - away * groups.size[h] / (groups.size[h] + 1)
            if improvement > gain or (improvement == gain and best >= 0 and i < best):
                best, gain, where = i, improvement, h
        if best < 0:
            return
        move(groups, best, g, where)
        write(groups, g)
        if groups.size[where] >= 2 * k:
            _split(groups, where, k, code)
        else:
            write(groups, where)


@jit
def visit(groups, k, phase, cursor, many, code):
    """Go on with phase 0 (dissolve) or 1 (reassign) at group `cursor`, for so many groups; -1 when all were visited.

    Groups that a split appends are visited in the same phase.
    """
    for _ in range(many):
        cursor = renumber(groups, cursor, k)
        if cursor >= groups.numbers[USED]:
            return -1
        if groups.serial[cursor] >= 0:
            if phase == 0 and groups.size[cursor] == k:
                try_dissolve(groups, cursor, k, code)
            elif phase == 1 and groups.size[cursor] > k:
                _reassign(groups, cursor, k, code)
        cursor += 1
    return cursor


@jit
def refresh(groups, start, stop):
    """Bring the memories of these records up to date: may run on several threads."""
    for i in range(start, stop):
        look(groups, i)


@jit
def make_groups(rows, labels, k):
    """`groups_of` from Python."""
    return groups_of(rows, labels, k)


@jit
def split_large(rows, labels, k, code):
    """Split groups of 2k or more records by MDAV+, which never makes such groups."""
    used = labels.max() + 1
    size = np.zeros(used, np.int64)
    for i in range(labels.size):
        size[labels[i]] += 1
    for g in range(size.size):
        if size[g] >= 2 * k:
            members = np.flatnonzero(labels == g)
            parts = small_star(rows[members], k, 0.0, False, 0, code)
            for p in range(members.size):
                if parts[p] > 0:
                    labels[members[p]] = used + parts[p] - 1
            used += parts.max()


@jit
def small_ona(rows, k, rounds, code):
    """ONA* on few records, in one call."""
    labels = small_star(rows, k, 1.0, False, 0, code)
    split_large(rows, labels, k, code)
    groups = groups_of(rows, labels, k)
    for _ in range(rounds):
        groups.numbers[CHANGED] = 0
        for phase in range(2):
            cursor = 0
            while cursor >= 0:
                cursor = visit(groups, k, phase, cursor, labels.size, code)
        if groups.numbers[CHANGED] == 0:
            break
    return labels
