"""The two phases of ONA* (algorithms 16 and 17): dissolve groups of k records, pass records of larger ones on."""

import numpy as np

from mag._compiled.jit import called, jit
from mag._compiled.lanes import at, part, put
from mag._compiled.work import NO, NOBODY, ZERO
from mag.methods.mdav.centroids import CENTROID, cost_of
from mag.methods.mdav.star import small_star
from mag.methods.mdav.state import state_at
from mag.methods.ona.journal import CHANGED, USED, erase, form, groups_at, look, move, nearest, renumber, replace, write

MANY = np.int64(1 << 62)


@called
def gather(rows, d, members, count, out):
    """The rows of members, in the order of their numbers: both are sorted in place."""
    for p in range(1, count):
        i, q = at(members, p), p
        while q > 0 and at(members, q - 1) > i:
            put(members, q, at(members, q - 1))
            q -= 1
        put(members, q, i)
    for p in range(count):
        for j in range(d):
            put(out, p * d + j, at(rows, at(members, p) * d + j))


@called
def _split(work, r, w, groups, g):
    """Split a group of 2k or more records by MDAV*."""
    size, d, k = at(groups.size, g), groups.d, groups.k
    members, own = part(groups.member, g * 3 * k), part(work.wholes, w)
    for p in range(size):
        put(own, p, at(members, p))
    rows = part(work.reals, r)
    gather(groups.rows, d, own, size, rows)
    parts = small_star(work, r + size * d, w + size, rows, size, d, k, 1.0, NO)
    replace(groups, g, own, parts, size)


@called
def too_large(groups, g):
    """A group has got records: its new centroid is written unless it has to be split, which is told."""
    if at(groups.size, g) >= 2 * groups.k:
        return True
    write(groups, g)
    return False


@called
def is_first(targets, p):
    """Whether no earlier target is the same group."""
    earlier = 0
    for q in range(p):
        earlier += at(targets, q) == at(targets, p)
    return earlier == 0


@called
def _joint_cost(groups, members, targets, inside):
    """What it costs more if members[p] joins group targets[p]: each target gets them as a group of their own."""
    rows, d, k, total = groups.rows, groups.d, groups.k, 0.0
    for p in range(k):
        if is_first(targets, p):
            g, many = at(targets, p), 0
            for q in range(p, k):
                if at(targets, q) == g:
                    put(inside, many, at(members, q))
                    many += 1
            size, away = at(groups.size, g), 0.0
            for j in range(d):
                s = 0.0
                for q in range(many):
                    s += at(rows, at(inside, q) * d + j)
                away += (s / many - at(groups.sums, g * d + j) / size) ** 2
            total += cost_of(rows, d, at(inside, 0), part(inside, 1), many - 1) + many * size / (many + size) * away
    return total


@called
def try_dissolve(groups, g):
    """Algorithm 16: every member goes to its nearest other group if that costs less than keeping them together.

    True if they went.  Members and targets are left in `scratch`; the targets have yet to be settled.
    """
    k, d = groups.k, groups.d
    members, targets, inside = groups.scratch, part(groups.scratch, k), part(groups.scratch, 2 * k)
    for p in range(k):
        i = at(groups.member, g * 3 * k + p)
        target, _ = nearest(groups, i, g)
        if target == NOBODY:
            return False
        put(members, p, i)
        put(targets, p, target)
    keep = cost_of(groups.rows, d, at(members, 0), part(members, 1), k - 1)
    if not keep > _joint_cost(groups, members, targets, inside):
        return False
    for p in range(k):
        move(groups, at(members, p), g, at(targets, p))
    erase(groups, g)
    return True


@called
def _reassign(groups, g):
    """Algorithm 17: the member whose move gains most goes to its nearest other group, while one gains.

    Stops at a group that has to be split, and returns it; NOBODY at the end.
    """
    d, k, rows = groups.d, groups.k, groups.rows
    while at(groups.size, g) > k:
        best, gain, where, size = NOBODY, 0.0, NOBODY, at(groups.size, g)
        for p in range(size):
            i = at(groups.member, g * 3 * k + p)
            h, away = nearest(groups, i, g)
            if h == NOBODY:
                return NOBODY
            here = 0.0
            for j in range(d):
                here += (at(rows, i * d + j) - at(groups.sums, g * d + j) / size) ** 2
            there = at(groups.size, h)
            improvement = here * size / (size - 1) - away * there / (there + 1)
            if improvement > gain or (improvement == gain and best >= 0 and i < best):
                best, gain, where = i, improvement, h
        if best == NOBODY:
            return NOBODY
        move(groups, best, g, where)
        write(groups, g)
        if too_large(groups, where):
            return where
    return NOBODY


@called
def _visit(work, r, w, groups, phase, cursor, many):
    """Go on with phase 0 (dissolve) or 1 (reassign) at group `cursor`, for so many groups; NOBODY after the last one.

    Groups that a split appends are visited in the same phase.
    """
    for _ in range(many):
        cursor = renumber(groups, cursor)
        if cursor >= at(groups.numbers, USED):
            return NOBODY
        if at(groups.serial, cursor) >= 0:
            # up to k groups have to be split, in turn; one call of `_split` in the code, for the compiler's sake
            dissolved = phase == 0 and at(groups.size, cursor) == groups.k and try_dissolve(groups, cursor)
            p, targets = 0, part(groups.scratch, groups.k)
            while (dissolved and p < groups.k) or phase == 1:
                large = NOBODY
                if phase == 1:
                    large = _reassign(groups, cursor)
                    if large == NOBODY:
                        break
                elif is_first(targets, p) and too_large(groups, at(targets, p)):
                    large = at(targets, p)
                p += 1
                if large != NOBODY:
                    _split(work, r, w, groups, large)
        cursor += 1
    return cursor


@called
def _star_room(work, n, d, k):
    _, r, w = state_at(work, ZERO, ZERO, part(work.reals, 0), n, d, k, CENTROID)
    return r + n * d, w + n + n // k


@called
def _groups_room(work, n, d, k):
    _, r, w = groups_at(work, ZERO, ZERO, part(work.reals, 0), n, d, k)
    more = _star_room(work, 3 * k, d, k)
    return r + more[0], w + more[1]


# ---- from Python


@jit
def group_part(work, rows, k, rounds, labels, members):
    """ONA* on few records in one call; writes the labels of members, and says whether it could.

    It cannot where MDAV* makes a group of 2k or more records, which never happened to the thesis: `polish` can.
    """
    n, d = rows.shape
    parts, sizes = small_star(work, ZERO, ZERO, part(rows, 0), n, d, k, 1.0, NO), np.zeros(n // k, np.int64)
    found = np.empty(n, np.int64)
    for p in range(n):
        found[p] = at(parts, p)
        sizes[found[p]] += 1
        if sizes[found[p]] == 2 * k:
            return False
    groups, r, w = groups_at(work, ZERO, ZERO, part(rows, 0), n, d, k)
    form(groups, part(found, 0))
    for _ in range(rounds):
        put(groups.numbers, CHANGED, 0)
        for phase in range(2):
            _visit(work, r, w, groups, phase, ZERO, MANY)
        if at(groups.numbers, CHANGED) == 0:
            break
    for p in range(n):
        labels[members[p]] = at(groups.label, p)
    return found.size == n  # the array is alive until here


@jit
def room_for_part(work, n, d, k):
    """The memory of `group_part`."""
    star, groups = _star_room(work, n, d, k), _groups_room(work, n, d, k)
    return max(star[0], groups[0]), max(star[1], groups[1])


@jit
def room_for_groups(work, n, d, k):
    """The memory of groups that exchange records."""
    return _groups_room(work, n, d, k)


@jit
def form_groups(work, X, k, labels):
    """The groups of these labels."""
    groups, _, _ = groups_at(work, ZERO, ZERO, part(X, 0), X.shape[0], X.shape[1], k)
    form(groups, part(labels, 0))


@jit
def refresh(work, X, k, start, stop):
    """Bring the memories of these records up to date; several threads may do that at once."""
    groups, _, _ = groups_at(work, ZERO, ZERO, part(X, 0), X.shape[0], X.shape[1], k)
    for i in range(start, stop):
        look(groups, i)


@jit
def visit(work, X, k, phase, cursor, many):
    """Visit so many groups; the number of the next one, or NOBODY."""
    groups, r, w = groups_at(work, ZERO, ZERO, part(X, 0), X.shape[0], X.shape[1], k)
    return _visit(work, r, w, groups, phase, cursor, many)


@jit
def groups_now(work, X, k, labels):
    """Copy the labels; returns how many groups there are, and how many records moved since the last call."""
    groups, _, _ = groups_at(work, ZERO, ZERO, part(X, 0), X.shape[0], X.shape[1], k)
    for i in range(labels.size):
        labels[i] = at(groups.label, i)
    changed = at(groups.numbers, CHANGED)
    put(groups.numbers, CHANGED, 0)
    return at(groups.numbers, USED), changed
