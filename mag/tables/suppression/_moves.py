# mypy: allow-untyped-defs, no-check-untyped-defs
"""Records that change their pattern: into a class that exists, or with others into a new one, where that is cheaper.

A class is a pattern and the values that it leaves.  It has no records, or those of at least k units; where k counts
records, each is a unit.  A record without a pattern is `UNPLACED`; it still pays the price of the pattern that it had.
"""

from collections import namedtuple

import numpy as np

from mag._compiled.jit import called, inlined, jit

UNPLACED = -1
MIN_SAVED = 1e-9  # smaller savings are rounding errors of prices
MAX_SCANNED = 2048  # records of a class among which members are searched

# k; prices of patterns, and their columns as bits; the class of pattern × kind, -1 where a kind misses cells of others;
# the kinds of every class, from `start` on; the records of every kind, from `first` on; the kind of every record, and
# its unit; and the records of every unit, from `first_of_unit` on
PatternClasses = namedtuple(
    "PatternClasses", "k price bits of_kind start kinds first records kind unit first_of_unit of_unit"
)
# of every record: its pattern, and its price; of every class: its units and records, and whether it was dissolved in
# this pass; `touched` are records that changed since the last decision, `before` their patterns until then, or
# NOT_TOUCHED
State = namedtuple("State", "pattern paid units size tried touched before")
NOT_TOUCHED = -2


@jit
def place_all(classes, state, order):
    """Place records that are unplaced, as far as others can join them."""
    members = np.empty(classes.k, np.int64)
    for r in order:
        if state.pattern[r] == UNPLACED:
            n_touched, _ = place(classes, state, r, np.inf, members, 0)
            accept(state, n_touched)


@jit
def absorb_all(classes, state, order):
    """Place the last records: each takes the class with it for which this costs least."""
    members = np.empty(classes.k, np.int64)
    for r in order:
        if state.pattern[r] == UNPLACED:
            n_touched, _ = place(classes, state, r, np.inf, members, 0)
            accept(state, n_touched)
        if state.pattern[r] == UNPLACED:
            absorb(classes, state, r)


@called
def absorb(classes, state, r):
    """Give a record and a class, whose pattern has fewer columns, one pattern."""
    best, taken, least = -1, -1, np.inf
    for s in range(classes.price.size):
        to = classes.of_kind[s, classes.kind[r]]
        if to < 0 or classes.price[s] >= least:
            continue
        scanned = 0
        for at in range(classes.start[to], classes.start[to + 1]):
            kind = classes.kinds[at]
            for other in classes.records[classes.first[kind] : classes.first[kind + 1]]:
                scanned += 1
                q = state.pattern[other]
                if q == UNPLACED or classes.bits[q] & ~classes.bits[s]:
                    continue
                own = class_of(classes, state, other)
                cost = classes.price[s] + state.size[own] * (classes.price[s] - classes.price[q])
                if cost < least:
                    best, taken, least = s, own, cost
            if scanned > MAX_SCANNED and best >= 0:
                break
    to = classes.of_kind[best, classes.kind[r]]
    for at in range(classes.start[to], classes.start[to + 1]):
        kind = classes.kinds[at]
        for other in classes.records[classes.first[kind] : classes.first[kind + 1]]:
            if state.pattern[other] != UNPLACED and class_of(classes, state, other) == taken:
                accept(state, move(classes, state, other, best, 0))
    accept(state, move(classes, state, r, best, 0))


@jit
def improve(classes, state, order):
    """One pass over all records that pay, and their classes; how much they save."""
    members, evicted = np.empty(classes.k, np.int64), np.empty(order.size, np.int64)
    saved = 0.0
    for r in order:
        if state.paid[r] > 0 and state.units[class_of(classes, state, r)] - is_last(classes, state, r) >= classes.k:
            n_touched, change = place(classes, state, r, -MIN_SAVED, members, 0)
            accept(state, n_touched)
            saved -= change
    state.tried[:] = False
    for r in order:
        own = class_of(classes, state, r)
        if state.paid[r] > 0 and not state.tried[own] and state.units[own] < 2 * classes.k:
            state.tried[own] = True
            saved += dissolve(classes, state, own, state.pattern[r], evicted, members)
    return saved


@called
def dissolve(classes, state, own, s, evicted, members):
    """Place all records of a class anew, if that is cheaper; how much they save."""
    size = 0
    for at in range(classes.start[own], classes.start[own + 1]):
        kind = classes.kinds[at]
        for r in classes.records[classes.first[kind] : classes.first[kind + 1]]:
            if state.pattern[r] == s:
                evicted[size] = r
                size += 1
    n_touched, change = 0, 0.0
    for r in evicted[:size]:
        n_touched = move(classes, state, r, UNPLACED, n_touched)
    for r in evicted[:size]:
        if state.pattern[r] == UNPLACED:
            n_touched, more = place(classes, state, r, np.inf, members, n_touched)
            change += more
            if state.pattern[r] == UNPLACED:
                change = np.inf
                break
    if change < -MIN_SAVED:
        accept(state, n_touched)
        return -change
    for r in state.touched[:n_touched]:
        before = state.before[r]
        state.before[r] = NOT_TOUCHED
        move(classes, state, r, before, 0)
        state.before[r] = NOT_TOUCHED
    return 0.0


@called
def place(classes, state, r, limit, members, n_touched):
    """Give a record, and others that it needs, the pattern that changes prices least, if by less than the limit."""
    best, least = -1, limit
    for s in range(classes.price.size):
        to = classes.of_kind[s, classes.kind[r]]
        change = classes.price[s] - state.paid[r]
        if change >= least:
            break
        if to < 0 or s == state.pattern[r]:
            continue
        if state.size[to] == 0:
            change += recruit(classes, state, to, s, r, members)
        if change < least:
            best, least = s, change
    if best < 0:
        return n_touched, 0.0
    to = classes.of_kind[best, classes.kind[r]]
    if state.size[to] == 0:
        recruit(classes, state, to, best, r, members)
        for other in members[: classes.k - 1]:
            n_touched = move(classes, state, other, best, n_touched)
    return move(classes, state, r, best, n_touched), least


@called
def recruit(classes, state, to, s, r, members):
    """Find k-1 other members of a class without records, of other units: those that pay most; the change of prices."""
    found, scanned, need, units = 0, 0, classes.k - 1, has_units(classes)
    for at in range(classes.start[to], classes.start[to + 1]):
        kind = classes.kinds[at]
        for other in classes.records[classes.first[kind] : classes.first[kind + 1]]:
            is_other = is_of_other_unit(classes, other, r, members[:found]) if units else other != r
            if is_other and is_free(classes, state, other, r, members[:found]):
                place_of = found
                found = min(found + 1, need)
                while place_of > 0 and state.paid[members[place_of - 1]] < state.paid[other]:
                    if place_of < need:
                        members[place_of] = members[place_of - 1]
                    place_of -= 1
                if place_of < need:
                    members[place_of] = other
            scanned += 1
        if scanned > MAX_SCANNED:
            break
    if found < need:
        return np.inf
    change = 0.0
    for other in members[:need]:
        change += classes.price[s] - state.paid[other]
    return change


@called
def is_free(classes, state, r, founder, members):
    """Whether the class of a record can lose it, besides the founder of a new class and its members so far."""
    if state.pattern[r] == UNPLACED:
        return True
    own = class_of(classes, state, r)
    spare = state.units[own] - classes.k
    if spare >= classes.k or not is_last(classes, state, r):
        return True
    spare -= is_lost(classes, state, founder, own)
    for other in members:
        spare -= is_lost(classes, state, other, own)
    return spare > 0


@called
def is_lost(classes, state, r, own):
    """1 where this class has a unit less without a record, otherwise 0."""
    in_class = state.pattern[r] != UNPLACED and class_of(classes, state, r) == own
    return is_last(classes, state, r) if in_class else np.int64(0)


@inlined
def is_last(classes, state, r):
    """1 where no other record of its unit is in the class of a record that is placed, otherwise 0."""
    return find_last(classes, state, r) if has_units(classes) else np.int64(1)


@called
def find_last(classes, state, r):
    """The same where units may have several records."""
    own, unit = class_of(classes, state, r), classes.unit[r]
    for at in range(classes.first_of_unit[unit], classes.first_of_unit[unit + 1]):
        other = classes.of_unit[at]
        if other != r and state.pattern[other] != UNPLACED and class_of(classes, state, other) == own:
            return np.int64(0)
    return np.int64(1)


@inlined
def is_of_other_unit(classes, r, founder, members):
    """Whether a record is of another unit than the founder of a new class and its members so far."""
    if classes.unit[r] == classes.unit[founder]:
        return False
    return not np.any(classes.unit[members] == classes.unit[r])


@inlined
def has_units(classes):
    """Whether a unit may have several records."""
    return classes.unit.size >= classes.first_of_unit.size


@called
def move(classes, state, r, s, n_touched):
    """Give a record a pattern; returns how many records are touched."""
    if state.before[r] == NOT_TOUCHED:
        state.before[r] = state.pattern[r]
        state.touched[n_touched] = r
        n_touched += 1
    if state.pattern[r] != UNPLACED:
        own = class_of(classes, state, r)
        state.units[own] -= is_last(classes, state, r)
        state.size[own] -= 1
    state.pattern[r] = s
    if s != UNPLACED:
        own = class_of(classes, state, r)
        state.units[own] += is_last(classes, state, r)
        state.size[own] += 1
        state.paid[r] = classes.price[s]
    return n_touched


@called
def accept(state, n_touched):
    """Keep all changes."""
    for r in state.touched[:n_touched]:
        state.before[r] = NOT_TOUCHED


@called
def class_of(classes, state, r):
    """The class of a record that is placed."""
    return classes.of_kind[state.pattern[r], classes.kind[r]]
