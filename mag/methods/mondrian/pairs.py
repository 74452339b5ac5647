# mypy: allow-untyped-defs, no-check-untyped-defs
"""Moves between two groups that look at a criterion: records change places or groups, or the groups join.

A move has to lower the sum of the loss and of the price of what the groups lack.  The lack of two groups together never
grows, so that groups which satisfy the criterion still do.  A summary of some records is what their loss follows from:
the least and the largest value of every number, or its sum and sum of squares, and a level of every tree.
"""

from collections import namedtuple

import numpy as np

from mag._compiled.jit import called, inlined, jit

CLEAR_GAIN = 1e-9  # share of the loss that rounding cannot gain
MAX_PAIR_SIZE = 256  # records of two groups that are compared
CLOSE, DIVERSE = 0, 1  # kinds of rules

# The sensitive `codes` of records and their `totals` in a table of `n` records.  CLOSE: the distance from the table is
# at most p / q.  DIVERSE: at least p different codes.  `far`: how far records are from the others, for cuts.
Rule = namedtuple("Rule", "codes totals n kind p q far")
# What moves are judged by: a table of `mondrian.cutting`; whether the loss is that of `squares`, of numbers alone; the
# rule, k, and the price of a record that groups lack.
Terms = namedtuple("Terms", "table squares rule k price")

# Summaries of a group: row p of all records but p, then the whole group, then two rows of memory.  `low` and `high` of
# numbers, `level` of trees; `first`, a record of the row, -1 if it has none; the `loss` of the row.
Views = namedtuple("Views", "low high level first loss")
# The records of each group, `size` of them; how often each value occurs among them.
TradingGroups = namedtuple("TradingGroups", "members size counts")


@called
def _new_views(terms, n):
    numbers, trees = terms.table.values.shape[1], terms.table.codes.shape[1]
    return Views(
        np.zeros((n + 3, numbers)),
        np.zeros((n + 3, numbers)),
        np.zeros((n + 3, trees), np.int64),
        np.full(n + 3, -1),
        np.zeros(n + 3),
    )


@called
def _set(terms, views, row, i):
    """The summary of record i."""
    views.first[row] = i
    for c in range(views.low.shape[1]):
        v = terms.table.values[i, c]
        views.low[row, c], views.high[row, c] = v, v * v if terms.squares else v
    for c in range(views.level.shape[1]):
        views.level[row, c] = 0


@called
def _join(terms, views, i, other, j, o):
    """Row o of the first becomes the summary of its row i and row j of the other."""
    table = terms.table
    a, b = views.first[i], other.first[j]
    views.first[o] = a if a >= 0 else b
    for c in range(views.low.shape[1]):
        low, high, more, most = views.low[i, c], views.high[i, c], other.low[j, c], other.high[j, c]
        if a < 0 or b < 0:
            views.low[o, c], views.high[o, c] = (more, most) if a < 0 else (low, high)
        elif terms.squares:
            views.low[o, c], views.high[o, c] = low + more, high + most
        else:
            views.low[o, c], views.high[o, c] = min(low, more), max(high, most)
    for c in range(views.level.shape[1]):
        level = max(views.level[i, c] if a >= 0 else 0, other.level[j, c] if b >= 0 else 0)
        if a >= 0 and b >= 0:
            x, y = table.codes[a, c], table.codes[b, c]
            while table.nodes[x, level] != table.nodes[y, level]:
                level += 1
        views.level[o, c] = level


@called
def _loss(terms, views, row, size):
    """The loss of a row: of all of its `size` records if by squares, otherwise of each."""
    table, total = terms.table, 0.0
    for c in range(views.low.shape[1]):
        low, high = views.low[row, c], views.high[row, c]
        total += high - low * low / size if terms.squares else (high - low) * table.unit[c]
    for c in range(views.level.shape[1]):
        total += table.loss[table.nodes[table.codes[views.first[row], c], views.level[row, c]]]
    return total


@inlined
def _loss_with(terms, views, row, i, size):
    """The same of a row and record i, together `size` records."""
    table, squares, total = terms.table, terms.squares, 0.0
    for c in range(views.low.shape[1]):
        low, high, v = views.low[row, c], views.high[row, c], table.values[i, c]
        total += high + v * v - (low + v) ** 2 / size if squares else (max(high, v) - min(low, v)) * table.unit[c]
    for c in range(views.level.shape[1]):
        level, x, y = views.level[row, c], table.codes[views.first[row], c], table.codes[i, c]
        while table.nodes[x, level] != table.nodes[y, level]:
            level += 1
        total += table.loss[table.nodes[x, level]]
    return total


@called
def _look(terms, records, size, views):
    """Write the summaries of a group; return its loss."""
    tail, single = size + 1, size + 2
    views.first[0] = views.first[tail] = -1
    for p in range(size):  # row p: the records before p
        _set(terms, views, single, records[p])
        _join(terms, views, p, views, single, p + 1)
    for p in range(size - 1, -1, -1):  # and those after it
        _join(terms, views, p, views, tail, p)
        _set(terms, views, single, records[p])
        _join(terms, views, tail, views, single, tail)
    for row in range(size + 1):
        records = size if row == size else size - 1
        views.loss[row] = _loss(terms, views, row, records) if records > 0 else 0.0
    return views.loss[size] * (1 if terms.squares else size)


@called
def lack(rule, counts, size):
    """How many records, or values, a group lacks of the criterion; exactly 0 if and only if it holds."""
    total = 0
    for v in range(counts.size):
        if rule.kind == CLOSE:
            total += abs(rule.n * counts[v] - size * rule.totals[v])
        elif counts[v] > 0:
            total += 1
    if rule.kind == CLOSE:
        return max(rule.q * total - 2 * rule.p * size * rule.n, 0) / (2.0 * rule.q * rule.n)
    return float(max(rule.p - total, 0))


@called
def _lack_with(rule, groups, one, two, v, w, size, count):
    """What two groups lack after a record of value v left the first one for a record of value w; -1 for no record."""
    here, there, total = groups.counts[one], groups.counts[two], 0.0
    for step in (1, -1):
        if v >= 0:
            here[v] -= step
            there[v] += step
        if w >= 0:
            here[w] += step
            there[w] -= step
        if step == 1:
            total = lack(rule, here, size) + lack(rule, there, count)
    return total


@called
def _find_move(terms, groups, one, two, before, lacking, views, others):
    """The move of two groups that gains most: records p and q, -1 for none; and the gain."""
    size, count, k, rule, price = groups.size[one], groups.size[two], terms.k, terms.rule, terms.price
    best, its_best, most = -1, -1, before * CLEAR_GAIN
    for p in range(-1, size):
        for q in range(-1, count):
            goes, comes = p >= 0, q >= 0
            then, others_then = size - goes + comes, count - comes + goes
            if then < k or others_then < k or goes + comes == 0:
                continue
            left, right = p if goes else size, q if comes else count
            share, others_share = (1, 1) if terms.squares else (then, others_then)
            gain = before + price * lacking
            rest, others_rest = share * views.loss[left], others_share * others.loss[right]
            if gain - rest - others_rest <= most:  # a record that comes adds to that
                continue
            if comes:
                rest = share * _loss_with(terms, views, left, groups.members[two, q], then)
                if gain - rest - others_rest <= most:
                    continue
            if goes:
                others_rest = others_share * _loss_with(terms, others, right, groups.members[one, p], others_then)
                if gain - rest - others_rest <= most:
                    continue
            v = rule.codes[groups.members[one, p]] if goes else -1
            w = rule.codes[groups.members[two, q]] if comes else -1
            lacks = lacking if v == w else _lack_with(rule, groups, one, two, v, w, then, others_then)
            gain -= rest + others_rest + price * lacks
            if lacks <= lacking and gain > most:
                best, its_best, most = p, q, gain
    return best, its_best, most


@called
def _take_move(rule, groups, one, two, p, q):
    """Record p of a group goes to the other one, whose record q comes; -1 for no record."""
    members, size, counts = groups.members, groups.size, groups.counts
    a, b = members[one, max(p, 0)], members[two, max(q, 0)]
    if p >= 0:
        size[one] -= 1
        members[one, p] = members[one, size[one]]
    if q >= 0:
        size[two] -= 1
        members[two, q] = members[two, size[two]]
        members[one, size[one]] = b
        size[one] += 1
        counts[two, rule.codes[b]] -= 1
        counts[one, rule.codes[b]] += 1
    if p >= 0:
        members[two, size[two]] = a
        size[two] += 1
        counts[one, rule.codes[a]] -= 1
        counts[two, rule.codes[a]] += 1


@called
def _join_groups(groups, one, two):
    """All records of the second group go to the first."""
    size = groups.size[one]
    for q in range(groups.size[two]):
        groups.members[one, size + q] = groups.members[two, q]
    groups.size[one] += groups.size[two]
    groups.size[two] = 0
    for v in range(groups.counts.shape[1]):
        groups.counts[one, v] += groups.counts[two, v]
        groups.counts[two, v] = 0


@called
def _improve_pair(terms, groups, one, two, views, others, both):
    """Move records while that gains; join the groups if that gains most."""
    size, counts, rule = groups.size, groups.counts, terms.rule
    for _ in range(size[one] + size[two]):
        lacking = lack(rule, counts[one], size[one]) + lack(rule, counts[two], size[two])
        before = _look(terms, groups.members[one], size[one], views)
        before += _look(terms, groups.members[two], size[two], others)
        if before == 0.0 and lacking == 0.0:
            return
        p, q, most = _find_move(terms, groups, one, two, before, lacking, views, others)
        if lacking > 0.0:
            total, memory = size[one] + size[two], size[one] + 1
            for v in range(both.size):
                both[v] = counts[one, v] + counts[two, v]
            _join(terms, views, size[one], others, size[two], memory)
            gain = before - _loss(terms, views, memory, total) * (1 if terms.squares else total)
            if gain + terms.price * (lacking - lack(rule, both, total)) > most:
                _join_groups(groups, one, two)
                return
        if p < 0 and q < 0:
            return
        _take_move(rule, groups, one, two, p, q)


@jit
def improve_region(terms, rows, labels):
    """Improve the groups of these records, which are sorted by label, two at a time; labels of the records change."""
    n, number, m, rule = rows.size, 0, terms.rule.totals.size, terms.rule
    for p in range(n):
        number += p == 0 or labels[rows[p]] != labels[rows[p - 1]]
    names = np.empty(number, np.int64)
    groups = TradingGroups(np.empty((number, n), np.int64), np.zeros(number, np.int64), np.zeros((number, m), np.int64))
    g = -1
    for p in range(n):
        g += p == 0 or labels[rows[p]] != labels[rows[p - 1]]
        names[g] = labels[rows[p]]
        groups.members[g, groups.size[g]] = rows[p]
        groups.size[g] += 1
        groups.counts[g, rule.codes[rows[p]]] += 1
    most = min(n, MAX_PAIR_SIZE)
    views, others, both = _new_views(terms, most), _new_views(terms, most), np.empty(m, np.int64)
    for one in range(number):
        for two in range(one + 1, number):
            size, count = groups.size[one], groups.size[two]
            if min(size, count) > 0 and size + count <= most:
                _improve_pair(terms, groups, one, two, views, others, both)
    for g in range(number):
        for p in range(groups.size[g]):
            labels[groups.members[g, p]] = names[g]
