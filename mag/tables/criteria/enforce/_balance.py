# mypy: allow-untyped-defs, no-check-untyped-defs
"""Cuts of a part that satisfies a criterion into parts that do, where children of a node alone would not.

A child that fails is trimmed: it keeps as many records as satisfy the criterion.  The others are a pool, which takes
more records from the children until it satisfies the criterion as well.  A number is cut near its median; records near
the cut change sides until both sides satisfy the criterion.  Only counts of sensitive values are needed for that, in
exact integers: records are chosen when the best column is known.
"""

import numpy as np

from mag._compiled.jit import called, jit
from mag.methods.mondrian.cutting import gain_of, list_children, loss_of
from mag.methods.mondrian.halving import CLEARLY, sort_part
from mag.methods.mondrian.pairs import CLOSE, lack


@called
def _holds(rule, counts, size):
    """Whether a part with these counts satisfies the criterion."""
    return lack(rule, counts, size) == 0.0


@called
def _lacks(rule, counts, size, v):
    """How much a part lacks a value; less than 0 where it has more than it needs."""
    return size * rule.totals[v] - rule.n * counts[v] if rule.kind == CLOSE else 1 - counts[v]


@jit
def trim(rule, k, counts, size, kept):
    """The most records of a part that satisfy the criterion, by value; how many they are, 0 if fewer than k.

    The distance of a selection is the sum of what it lacks of each value, which only grows with its size.
    """
    if size >= k and _holds(rule, counts, size):
        kept[:] = counts
        return size
    kept[:] = 0
    if rule.kind != CLOSE:
        return 0
    low, high = k - 1, size
    while high - low > 1:
        middle = (low + high) // 2
        lacking = 0
        for v in range(counts.size):
            lacking += max(_lacks(rule, counts, middle, v), 0)
        if rule.q * lacking <= rule.p * middle * rule.n:
            low = middle
        else:
            high = middle
    size = low
    while size >= k:
        left = size
        for v in range(counts.size):
            kept[v] = min(counts[v], -(-size * rule.totals[v] // rule.n))
            left -= kept[v]
        while left != 0:  # too many where shares were rounded up
            best, most = -1, 0
            for v in range(counts.size):
                more = -_lacks(rule, kept, size, v) if left < 0 else counts[v] - kept[v]
                if (kept[v] > 0 if left < 0 else more > 0) and (best < 0 or more > most):
                    best, most = v, more
            if best < 0:
                break
            step = -1 if left < 0 else min(left, most)
            kept[best] += step
            left -= step
        if left == 0 and _holds(rule, kept, size):
            return size
        size -= max(1, size // 16)
    kept[:] = 0
    return 0


@called
def _give(rule, k, counts, size, v):
    """Whether a part that satisfies the criterion still does without a record of value v; it is taken if so."""
    if counts[v] == 0 or size <= k:
        return False
    counts[v] -= 1
    if _holds(rule, counts, size - 1):
        return True
    counts[v] += 1
    return False


@called
def _by_lack(rule, counts, size, values):
    """Values, those that a part lacks most first."""
    for at in range(counts.size):
        lack, q = _lacks(rule, counts, size, at), at
        while q > 0 and _lacks(rule, counts, size, values[q - 1]) < lack:
            values[q] = values[q - 1]
            q -= 1
        values[q] = at


@called
def _fill(rule, k, kept, sizes, pool, pooled, values):
    """Records of children go to the pool until it satisfies the criterion; how many it has, -1 if no child is left."""
    while pooled < k or not _holds(rule, pool, pooled):
        _by_lack(rule, pool, pooled, values)
        giver, value = -1, -1
        for at in range(values.size):
            v = values[at]
            if pooled >= k and _lacks(rule, pool, pooled, v) <= 0:
                break
            most = -np.inf
            for q in range(sizes.size):
                spare = -_lacks(rule, kept[q], sizes[q], v) / max(sizes[q], 1)
                if sizes[q] > 0 and spare > most and _give(rule, k, kept[q], sizes[q], v):
                    kept[q, v] += 1
                    giver, value, most = q, v, spare
            if giver >= 0:
                break
        if giver >= 0:
            kept[giver, value] -= 1
            sizes[giver] -= 1
            pool[value] += 1
            pooled += 1
            continue
        for q in range(sizes.size):
            if sizes[q] > 0 and (giver < 0 or sizes[q] < sizes[giver]):
                giver = q
        if giver < 0:
            return -1
        pooled += sizes[giver]
        sizes[giver] = 0
        for v in range(values.size):
            pool[v] += kept[giver, v]
            kept[giver, v] = 0
    return pooled


@called
def _plan_children(table, parts, rule, k, span, column, kept, sizes):
    """The records that every child keeps, by value, and the gain; 0 where nothing can be cut."""
    (start, stop), children = span, sizes.size
    ends, order, m = parts.ends, parts.order, rule.totals.size
    pool, values, counts, pooled, a = np.zeros(m, np.int64), np.empty(m, np.int64), np.zeros(m, np.int64), 0, start
    for q in range(children):
        b = ends[start + q]
        counts[:] = 0
        for p in range(a, b):
            counts[rule.codes[order[p]]] += 1
        sizes[q] = trim(rule, k, counts, b - a, kept[q])
        pooled += b - a - sizes[q]
        for v in range(m):
            pool[v] += counts[v] - kept[q, v]
        a = b
    if pooled == stop - start or (pooled > 0 and _fill(rule, k, kept, sizes, pool, pooled, values) < 0):
        return 0.0
    whole, gain, a = loss_of(table, order, start, stop, column), 0.0, start
    for q in range(children):
        b = ends[start + q]
        if sizes[q] > 0:
            gain += sizes[q] * (whole - loss_of(table, order, a, b, column))
        a = b
    return gain


@called
def _shift(rule, k, here, size, there, others, values):
    """Add a record to a part that fails, or remove one; return the change of its size, 0 if neither helps."""
    fails = others < k or not _holds(rule, there, others)
    _by_lack(rule, here, size, values)
    for at in range(values.size):
        v = values[at]
        if size >= k and _lacks(rule, here, size, v) <= 0:
            break
        if there[v] > 0 and (fails or _give(rule, k, there, others, v)):
            there[v] -= 1 if fails else 0
            here[v] += 1
            return 1
    for at in range(values.size - 1, -1, -1):
        v = values[at]
        if rule.kind != CLOSE or size <= k or _lacks(rule, here, size, v) >= 0:
            break
        there[v] += 1
        if fails or _holds(rule, there, others + 1):
            here[v] -= 1
            return -1
        there[v] -= 1
    return 0


@called
def _plan_sides(rule, parts, k, start, stop, low, high):
    """How many of the first records of each value are the lower side; whether both sides satisfy the criterion."""
    order, middle = parts.order, parts.ends[start]
    values = np.empty(rule.totals.size, np.int64)
    low[:] = 0
    high[:] = 0
    for p in range(start, stop):
        v = rule.codes[order[p]]
        if p < middle:
            low[v] += 1
        else:
            high[v] += 1
    size, others = middle - start, stop - middle
    for _ in range(stop - start):
        if size < k or not _holds(rule, low, size):
            step = _shift(rule, k, low, size, high, others, values)
            size, others = size + step, others - step
        elif others < k or not _holds(rule, high, others):
            step = _shift(rule, k, high, others, low, size, values)
            size, others = size - step, others + step
        else:
            return True
        if step == 0:
            return False
    return False


@called
def _divide_sides(parts, rule, start, stop, low):
    """The first records of each value, low[v] of them, come first."""
    order, spare, size, a = parts.order, parts.spare, 0, start
    for v in range(low.size):
        size += low[v]
    b = start + size
    parts.ends[start], parts.ends[start + 1] = b, stop
    for p in range(start, stop):
        i = order[p]
        v = rule.codes[i]
        if low[v] > 0:
            low[v] -= 1
            spare[a] = i
            a += 1
        else:
            spare[b] = i
            b += 1
    for p in range(start, stop):
        order[p] = spare[p]


@called
def _divide_children(parts, rule, start, stop, children, kept, sizes):
    """Put the kept records first, child by child, then the pool; return the number of parts."""
    order, spare, ends, a, at, pooled = parts.order, parts.spare, parts.ends, start, start, 0
    for q in range(children):  # `spare` is free again after that
        pooled += sizes[q]
        b = ends[start + q]
        for p in range(a, b):
            parts.values[0, p] = rule.far[order[p]]
        sort_part(parts, a, b)
        a = b
    a, rest, count = start, start + pooled, 0
    pooled = stop - rest
    for q in range(children):
        b = ends[start + q]
        for p in range(a, b):
            i = order[p]
            v = rule.codes[i]
            if kept[q, v] > 0:
                kept[q, v] -= 1
                spare[at] = i
                at += 1
            else:
                spare[rest] = i
                rest += 1
        if sizes[q] > 0:
            ends[start + count] = at
            count += 1
        a = b
    if pooled > 0:
        ends[start + count] = stop
        count += 1
    for p in range(start, stop):
        order[p] = spare[p]
    return count


@jit
def cut_part(table, parts, rule, k, start, stop):
    """Cut order[start:stop] in the column that loses least then; how many parts, 1 if it stays whole.

    ends[start:] are where they end.
    """
    m, tries = rule.totals.size, table.columns.size
    best, most, count = 0, 0.0, 1
    low, high = np.empty(m, np.int64), np.empty(m, np.int64)
    for number in range(tries + 1):  # the best column once more, at the end
        if number == tries and most == 0.0:
            break
        column = table.columns[number] if number < tries else best
        children = list_children(table, parts, start, stop, k, column)
        if children < 2:
            continue
        if column >= 0:
            if not _plan_sides(rule, parts, k, start, stop, low, high):
                continue
            _divide_sides(parts, rule, start, stop, low)
            count, gain = 2, gain_of(table, parts, start, stop, column, 2)
        else:
            kept, sizes = np.empty((children, m), np.int64), np.empty(children, np.int64)
            gain = _plan_children(table, parts, rule, k, (start, stop), column, kept, sizes)
            if number == tries:
                count = _divide_children(parts, rule, start, stop, children, kept, sizes)
        if gain > most * CLEARLY:
            best, most = column, gain
    return count if most > 0.0 else 1
