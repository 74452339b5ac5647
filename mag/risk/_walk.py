# mypy: allow-untyped-defs, no-check-untyped-defs
"""The classes of every subset of the columns, and its minimal sample uniques, in one walk.

A subset is a number whose bits are columns.  The walk takes subsets in ascending order, so that all parts of a subset
come before it.  Its parent, the subset without its lowest bit, is the last one before it that has one column less: the
classes of the parent are still in memory, and one column splits them.  A class of a single entry is never split again:
the subsets that follow from it inherit what it counts for.

An entry is all that equals in the columns: records of one combination of values; with units, of one combination and one
unit.  Entries are in the order of their units, and splitting keeps that order, so that the units of a class are counted
where the unit changes.
"""

from collections import namedtuple

import numpy as np

from mag._compiled.jit import called, jit
from mag._compiled.memory import grid, part
from mag._compiled.work import integers, layout, space_in

Entries = namedtuple("Entries", "codes units counts records")
Found = namedtuple("Found", "masks figures minimal scores shares")
SubsetWalk = namedtuple("SubsetWalk", "rows ends pieces final value seen members sizes totals last place")
FIGURES = ("classes", "smallest", "uniques", "below_3", "below_5")  # of a subset; all but the first two count records


@layout
def walk_at(space, depths, n, values):
    """Classes of the subset and of those that it follows from, and a table of the values of a column."""
    return SubsetWalk(
        rows=integers(space, depths, n),  # entries, class by class; by the number of columns
        ends=integers(space, depths, n),  # of the classes
        pieces=integers(space, depths),  # how many classes of several entries there are
        final=integers(space, depths, len(FIGURES)),  # what classes of one entry count for
        value=integers(space, n),  # the value of the entry at each place
        seen=integers(space, values),  # the values in a class
        members=integers(space, values),  # entries
        sizes=integers(space, values),  # records, or units
        totals=integers(space, values),  # records
        last=integers(space, values),  # the unit that was counted last
        place=integers(space, values),  # of the next entry
    )


@called
def _is_minimal(mask, link, links, known):
    """Whether no part of the subset makes the entry unique."""
    while link >= 0:
        if known[link] & mask == known[link]:
            return False
        link = links[link]
    return True


@called
def _tally(figures, size, records):
    """Count a class among the figures of its subset."""
    figures[0] += 1
    figures[1] = min(figures[1], size)
    if size < 5:
        figures[4] += records
        if size < 3:
            figures[3] += records
            if size == 1:
                figures[2] += records


@called
def _count_values(walk, column, entries, rows, start, end):
    """The values that split a class, with what they count for."""
    units, counts, records = part(entries.units, 0), part(entries.counts, 0), part(entries.records, 0)
    values = 0
    for i in range(start, end):
        entry = rows[i]
        value = column[entry]
        walk.value[i] = value
        if walk.members[value] == 0:
            walk.seen[values] = value
            values += 1
            walk.sizes[value], walk.totals[value], walk.last[value] = 0, 0, -1
        walk.members[value] += 1
        walk.totals[value] += records[entry]
        if units[entry] != walk.last[value]:
            walk.sizes[value] += counts[entry]
            walk.last[value] = units[entry]
    return values


@called
def _open_classes(walk, figures, depth, values, filled):
    """Tally the classes that a class is split into; give a place to those of several entries."""
    alone = 0
    for i in range(values):
        value = walk.seen[i]
        _tally(figures, walk.sizes[value], walk.totals[value])
        alone += walk.sizes[value] == 1
        if walk.members[value] == 1:
            _tally(walk.final[depth], walk.sizes[value], walk.totals[value])
        else:
            walk.place[value] = filled
            filled += walk.members[value]
            walk.ends[depth, walk.pieces[depth]] = filled
            walk.pieces[depth] += 1
    return filled, alone


@called
def _describe(mask):
    """The lowest column of a subset, and how many columns it has."""
    low, size = 0, 0
    while not mask >> low & 1:
        low += 1
    while mask:
        mask &= mask - 1
        size += 1
    return low, size


@called
def _add_points(found, entry, mask, points):
    found.scores[entry] += points
    for j in range(found.shares.shape[1]):
        if mask >> j & 1:
            found.shares[entry, j] += points


@jit
def walk_subsets(entries, most_values, max_size, found, points, work):
    """Fill `found` for all subsets of up to `max_size` columns; `points` are the scores of minimal uniques by size."""
    m, n = entries.codes.shape
    codes = grid(entries.codes, n)
    walk = walk_at(space_in(work), max_size + 1, n, most_values)
    for value in range(most_values):
        walk.members[value] = 0
    for entry in range(n):
        walk.rows[0, entry] = entry
    walk.ends[0, 0], walk.pieces[0] = n, 1
    for figure in range(5):
        walk.final[0, figure] = entries.records.sum() if figure == 1 else 0
    head, links, known, stored = np.full(n, -1), np.empty(n, np.int64), np.empty(n, np.int64), 0
    mask, number = 1, 0
    while mask < 1 << m:
        low, depth = _describe(mask)
        leaf = low == 0 or depth == max_size
        figures, above, below = part(found.figures, 5 * number), walk.rows[depth - 1], walk.rows[depth]
        for figure in range(5):
            walk.final[depth, figure] = figures[figure] = walk.final[depth - 1, figure]
        start, filled, walk.pieces[depth] = 0, 0, 0
        for piece in range(walk.pieces[depth - 1]):
            end = walk.ends[depth - 1, piece]
            values = _count_values(walk, codes[low], entries, above, start, end)
            filled, alone = _open_classes(walk, figures, depth, values, filled)
            for i in range(start, end if alone else start):
                entry = above[i]
                if walk.sizes[walk.value[i]] == 1 and _is_minimal(mask, head[entry], links, known):
                    if stored == links.size:
                        links, known = np.append(links, links), np.append(known, known)
                    links[stored], known[stored], head[entry] = head[entry], mask, stored
                    stored += 1
                    found.minimal[number] += entries.records[entry]
                    _add_points(found, entry, mask, points[depth])
            for i in range(start, start if leaf else end):
                value = walk.value[i]
                if walk.members[value] > 1:
                    below[walk.place[value]] = above[i]
                    walk.place[value] += 1
            for i in range(values):
                walk.members[walk.seen[i]] = 0
            start = end
        found.masks[number] = mask
        number += 1
        mask += mask & -mask if depth == max_size else 1
