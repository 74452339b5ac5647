# mypy: allow-untyped-defs, no-check-untyped-defs
"""Many columns in one compiled call: gather, sort, solve, label and count each while it is in the cache.

Columns that need more thought than this are left to `cpu.group`: values whose squares float64 may not hold, integers
whose sums it would round, costs so small that bits may be lost (see `_backends/safety`).
"""

from functools import cache
from typing import Any

import numpy as np
from numba import types

from mag._backends.cpu.labels import label, label_sorted, smallest_count
from mag._backends.problem import Problem
from mag._backends.safety import FLOAT64_EXACT, MODERATE, UNDERFLOW_COST
from mag._compiled.calls import address_of, call_at
from mag._compiled.jit import called, jit
from mag._compiled.memory import grid, part, part_of
from mag._compiled.sort import memory_for, parts, resolve, sort_words
from mag._compiled.starts import starts_of
from mag._lib.workspace import borrow
from mag.solvers import block
from mag.solvers.block import PAD

COLUMNS_PER_GATHER = 8  # columns gathered at once: a row of them is a cache line
VALUES_PER_CALL = 2**15  # values that are worth a call
MAX_GATHERED_VALUES = 2**22  # values that are gathered at most
LARGEST_UNSCALED, SMALLEST_UNSCALED = 2.0**MODERATE, 2.0 ** (-MODERATE - 1)  # of values that need no scaling
UNFIT = -2  # instead of the number of pending buckets

as_words = part_of(types.int64)


def supports(n: int, problem: Problem) -> bool:
    """Whether columns of n values can be grouped here."""
    solver = next(iter(problem.solvers.values()))
    return solver.lanes and solver.bounded and problem.plain and problem.k > 1 and n >= 2 * problem.k


def chunks(n: int, columns: np.ndarray, threads: int) -> list[np.ndarray]:
    """The columns in chunks for one call each: of bounded memory, and some for every thread."""
    width = max(
        1, min(max(COLUMNS_PER_GATHER, VALUES_PER_CALL // n), -(-columns.size // threads), MAX_GATHERED_VALUES // n)
    )
    return [columns[i : i + width] for i in range(0, columns.size, width)]


def group(
    X: np.ndarray, columns: np.ndarray, problem: Problem, labels: np.ndarray, n_groups: np.ndarray, least: np.ndarray
) -> np.ndarray | None:
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
    reach = min(4 * k, n)  # how far sums of squares of integers reach, see `_backends/safety`
    widest = FLOAT64_EXACT / (8 * reach) if cost.integer else np.inf
    memory = values, values.view(np.float64), work.view(np.uint64), work[:solving], sizes, starts, order, counts
    _group(_solver(cost.kernel, k), k, reach, widest, source, memory, columns, labels, n_groups, least, done)
    return columns[~done]


@cache
def _solver(kernel: Any, k: int) -> Any:
    """The address of the solver of this cost and k."""
    run, kernel, size = block.compiled_for(k, kernel)
    reals, sizes = np.empty(0), np.empty(0, block.size_type(k))
    return address_of(run, kernel, size, reals, reals, sizes, reals)


def _gather(X: np.ndarray, columns: np.ndarray, source: np.ndarray, fits: np.ndarray) -> bool:
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
    n, count = source.shape[1], len(columns)
    flat, columns, source = part(flat, 0), part(columns, 0), grid(source, n)
    nought = 0.0
    for i in range(n):
        for c in range(count):
            value = np.float64(flat[i * row + columns[c] * column])
            source[c, i] = value
            nought += value - value
    return nought == 0.0


@jit
def gather_integers(flat, row, column, columns, source, fits):
    """As `gather_reals`, distances from the smallest; fits[c] says whether float64 holds them."""
    n, count = source.shape[1], len(columns)
    flat, columns, source = part(flat, 0), part(columns, 0), grid(source, n)
    for c in range(count):
        first = columns[c] * column
        low = high = flat[first]
        for i in range(1, n):
            value = flat[first + i * row]
            low, high = min(low, value), max(high, value)
        fits[c] = np.uint64(high) - np.uint64(low) < np.uint64(FLOAT64_EXACT)
        for i in range(n):
            source[c, i] = np.float64(np.uint64(flat[first + i * row]) - np.uint64(low))


@jit
def _group(solver, k, reach, widest, source, memory, columns, labels, n_groups, least, done):
    padded, work, sizes = memory[1], memory[3], memory[4]
    for c in range(len(columns)):
        if done[c]:
            n_pending = prepare(source, c, reach, widest, memory)
            if n_pending > UNFIT:
                total = call_at(solver, k, padded, padded, sizes, work)
                done[c] = finish(columns[c], k, total, n_pending < 0, memory, labels, n_groups, least)
            else:
                done[c] = False


@jit
def prepare(source, c, reach, widest, memory):
    """Column c, sorted and padded; -1 if it was sorted already, UNFIT if it is left to others."""
    n = source.shape[1]
    padded_words, padded, records, order = memory[0], memory[1], memory[2], memory[6]
    before, x = part(padded, 0), part(padded, PAD)
    words, numbers = padded_words[PAD : PAD + n], part(source, c * n)
    n_pending = sort_words(numbers, as_words(source, c * n), n, -1, parts(records, words, order))
    if n_pending < 0:
        for i in range(n):
            x[i] = numbers[i]
    elif n_pending > 0:
        resolve(n_pending, -1, records, words, order)
    low, high = x[0], x[n - 1]
    for i in range(PAD):
        before[i] = low
        x[n + i] = high
    largest = max(-low, high)
    moderate = largest == 0.0 or SMALLEST_UNSCALED <= largest < LARGEST_UNSCALED
    return n_pending if moderate and (widest == np.inf or window(x, n, reach) ** 2 < widest) else UNFIT


@jit
def finish(column, k, total, was_sorted, memory, labels, n_groups, least):
    """Starts, labels and their count; False if the column is left to others."""
    padded, sizes, starts, order, counts = memory[1], memory[4], memory[5], memory[6], memory[7]
    n, row = len(order), labels[column]
    groups = starts[starts_of(sizes[: n + 1], k, True, starts) :]
    if total < UNDERFLOW_COST and not costless(part(padded, PAD), n, groups):
        return False
    if was_sorted:
        label_sorted(groups, 0, len(groups), row)
    else:
        label(groups, 0, len(groups), order, row)
    for g in range(len(groups)):
        counts[g] = 0
    n_groups[column], least[column] = len(groups), smallest_count(row, counts[: len(groups)])
    return True


@called
def window(x, n, reach):
    """The widest range of `reach` + 1 neighbors."""
    widest = 0.0
    for i in range(max(n - reach, 1)):
        widest = max(widest, x[min(i + reach, n - 1)] - x[i])
    return widest


@called
def costless(x, n, starts):
    """Whether all values of each group are equal."""
    for g in range(len(starts)):
        end = starts[g + 1] if g + 1 < len(starts) else n
        if x[starts[g]] != x[end - 1]:
            return False
    return True
