"""Row of the minimum of every column of a totally monotone matrix, O(rows + columns)  (Aggarwal et al. 1987).

The matrix is any named tuple whose class carries `later_wins(m, a, b, c)`, compiled: whether row b > a is at least as
good as row a in column c.  Entries that must not be chosen are settled there by comparison, never by a large number.
"""

import numpy as np
from numba.extending import overload

from mag._compiled.jit import INLINE, called, inlined

MAX_LEVELS = 64  # room for where each level's rows begin


def later_wins(m, a, b, c):
    """Whether row b is at least as good as the earlier row a in column c."""


@overload(later_wins, **INLINE)
def _later_wins(m, a, b, c):
    compiled = m.instance_class.later_wins
    return lambda m, a, b, c: compiled(m, a, b, c)


@inlined
def notebook(columns, dtype):
    """Scratch memory of `column_minima`: the starts of levels, then the rows that each level keeps."""
    return np.empty(MAX_LEVELS + 2 * columns + 2, dtype)


@called
def keep(m, row, rows, begin, end, count, stride):
    """REDUCE, one row: drop the rows that it makes useless, keep it if a column is left for it; the new end."""
    while end > begin and later_wins(m, np.int64(rows[end - 1]), row, stride * (end - begin) - 1):
        end -= 1
    if end - begin < count:
        rows[end] = row
        end += 1
    return end


@called
def column_minima(m, first_row, last_row, columns, best, rows):
    """best[c] = row of the minimum of column c = 0 .. columns-1, among rows first_row .. last_row."""
    # down: level t has the columns 2^t(u+1)-1, and keeps at most as many rows as it has columns
    begin = end = np.int64(MAX_LEVELS)
    one = np.int64(1)  # a literal would be compiled once more
    for row in range(first_row, last_row + 1):
        end = keep(m, row, rows, begin, end, columns, one)
    level = 0
    rows[0] = begin
    while columns >> level > 1:
        level += 1
        previous, begin = begin, end
        rows[level] = begin
        for q in range(previous, begin):
            end = keep(m, np.int64(rows[q]), rows, begin, end, columns >> level, 1 << level)
    best[(1 << level) - 1] = rows[begin]
    # up: the minimum of a column lies between those of its solved neighbors
    while level > 0:
        level -= 1
        end, begin = begin, np.int64(rows[level])
        count = columns >> level
        q = begin
        for u in range(0, count, 2):
            c = ((u + 1) << level) - 1
            last = np.int64(best[c + (1 << level)]) if u + 1 < count else np.int64(rows[end - 1])
            row = np.int64(rows[q])
            while rows[q] != last:
                q += 1
                rival = np.int64(rows[q])
                if later_wins(m, row, rival, c):
                    row = rival
            best[c] = row
