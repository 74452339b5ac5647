"""Many columns in one compiled call: gather, sort, solve, label and count each while it is in the cache.

Columns that need more thought than this are left to `cpu.group`: values whose squares float64 may not hold, integers
whose sums it would round, costs so small that bits may be lost (see `_problem`).
"""

import numpy as np
from numba.core import types

from mag._jit import jit
from mag._lanes import at, part, part_of, put
from mag.backends._labels import label, label_sorted, smallest_count, starts_of
from mag.backends._problem import EXACT, MODERATE, TINY
from mag.backends._sort import arrange, memory_for, parts, resolve
from mag.backends._workspace import borrow
from mag.solvers import block
from mag.solvers._narrow import PAD

WIDTH = 8  # columns gathered at once: a row of them is a cache line
SHORT = 2**15  # values that are worth a call
LARGE = 2**22  # values that are gathered at most
LARGEST, SMALLEST = 2.0**MODERATE, 2.0 ** (-MODERATE - 1)  # of values that need no scaling

as_words = part_of(types.int64)


def takes(n, problem):
    """Whether columns of n values can be grouped here."""
    solver = next(iter(problem.solvers.values()))
    return solver.lanes and problem.plain and problem.k > 1 and n >= 2 * problem.k


def chunks(n, columns, threads):
    """The columns in chunks for one call each: of bounded memory, and some for every thread."""
    width = max(1, min(max(WIDTH, SHORT // n), -(-columns.size // threads), LARGE // n))
    return [columns[i : i + width] for i in range(0, columns.size, width)]


def group(X, columns, problem, labels, n_groups, least):
    """Group some columns of X: fill in rows of `labels`, the numbers of groups, and the smallest sizes, counted.

    Returns the columns that are left to others, or None if values are not finite.
    """
    n, k, cost = X.shape[0], problem.k, problem.cost
    source = borrow("columns", columns.size * n, np.float64).reshape(columns.size, n)
    done = np.ones(columns.size, np.bool_)
    if not _gather(X, columns, source, done):
        return None
    values, sizes = borrow("values", n + 2 * PAD, np.int64), borrow("sizes", n + 1 + PAD, block.size_type(k))
    solving = block.memory(cost.kernel, n, k)
    work = borrow("work", max(memory_for(n), solving), np.float64)
    starts, counts = borrow("starts", n // k + 1, np.int64), borrow("counts", n // k + 1, np.int32)
    order = borrow("order", n, np.int32)
    reach = min(4 * k, n)  # how far sums of squares of integers reach, see `_problem`
    widest = EXACT / (8 * reach) if cost.integer else np.inf
    memory = values, values.view(np.float64), work.view(np.uint64), work[:solving], sizes, starts, order, counts
    _group(cost.kernel, block.known(k), k, reach, widest, source, memory, columns, labels, n_groups, least, done)
    return columns[~done]


def _gather(X, columns, source, fits):
    """The columns as float64, one after the other, integers as distances from the smallest; whether all are finite."""
    known = X.dtype.isnative and X.dtype.itemsize >= 4 and X.flags.aligned  # to numba, in few types
    if not (known and (X.flags.c_contiguous or X.flags.f_contiguous)):
        dtype = X.dtype.newbyteorder("=") if X.dtype.itemsize >= 4 else np.float64 if X.dtype.kind == "f" else np.int64
        X, columns = X[:, columns].astype(dtype, order="C"), np.arange(columns.size)
    n, m = X.shape
    flat, row, column = (X.reshape(-1), m, 1) if X.flags.c_contiguous else (X.T.reshape(-1), 1, n)
    flat.flags.writeable = False  # of this view: one type for numba, whoever owns the memory
    if X.dtype.kind == "f":
        return gather_reals(flat, row, column, columns, source)
    gather_integers(flat, row, column, columns, source, fits)
    return True


@jit
def gather_reals(flat, row, column, columns, source):
    """source[c, i] = flat[i·row + columns[c]·column]; whether all are finite."""
    n = source.shape[1]
    nought = 0.0
    for i in range(n):
        for c in range(len(columns)):
            value = np.float64(at(flat, i * row + columns[c] * column))
            put(source, c * n + i, value)
            nought += value - value
    return nought == 0.0


@jit
def gather_integers(flat, row, column, columns, source, fits):
    """As `gather_reals`, distances from the smallest; fits[c] says whether float64 holds them."""
    n = source.shape[1]
    for c in range(len(columns)):
        first = columns[c] * column
        low = high = at(flat, first)
        for i in range(1, n):
            value = at(flat, first + i * row)
            low, high = min(low, value), max(high, value)
        fits[c] = np.uint64(high) - np.uint64(low) < np.uint64(EXACT)
        for i in range(n):
            put(source, c * n + i, np.float64(np.uint64(at(flat, first + i * row)) - np.uint64(low)))


@jit
def _group(cost, size, k, reach, widest, source, memory, columns, labels, n_groups, least, done):
    n = source.shape[1]
    padded_words, padded, records, work, sizes, starts, order, counts = memory
    x, words = padded[PAD : PAD + n], padded_words[PAD : PAD + n]
    for c in range(len(columns)):
        if not done[c]:
            continue
        done[c] = False
        numbers = part(source, c * n)
        n_pending = arrange(numbers, as_words(source, c * n), n, -1, parts(records, words, order))
        if n_pending < 0:
            x[:] = source[c]
        elif n_pending > 0:
            resolve(n_pending, -1, records, words, order)
        largest = max(-x[0], x[n - 1])
        if (largest > 0.0 and not SMALLEST <= largest < LARGEST) or (
            widest < np.inf and window(x, reach) ** 2 >= widest
        ):
            continue
        padded[:PAD], padded[PAD + n : n + 2 * PAD] = x[0], x[n - 1]
        total = block.solve(cost, padded, padded, size, sizes, work)
        groups = starts[starts_of(sizes[: n + 1], k, True, starts) :]
        if total < TINY and not costless(x, groups):
            continue
        row = labels[columns[c]]
        if n_pending < 0:
            label_sorted(groups, 0, len(groups), row)
        else:
            label(groups, 0, len(groups), order, row)
        counts[: len(groups)] = 0
        n_groups[columns[c]] = len(groups)
        least[columns[c]] = smallest_count(row, counts[: len(groups)])
        done[c] = True


@jit
def window(x, reach):
    """The widest range of `reach` + 1 neighbours."""
    if reach >= len(x):
        return x[-1] - x[0]
    widest = 0.0
    for i in range(len(x) - reach):
        widest = max(widest, x[i + reach] - x[i])
    return widest


@jit
def costless(x, starts):
    """Whether all values of each group are equal."""
    for g in range(len(starts)):
        end = starts[g + 1] if g + 1 < len(starts) else len(x)
        if x[starts[g]] != x[end - 1]:
            return False
    return True
