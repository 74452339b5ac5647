"""Group one column on the CPU: order, solve, label."""

import numpy as np

from mag._jit import called, jit
from mag._lanes import lanes_at, put, spread
from mag.backends._problem import prepared, unspannable
from mag.backends._sort import sort
from mag.solvers._limit import at_most
from mag.solvers._narrow import PAD
from mag.solvers.block import padded

LANES = 8  # labels written at once


def group(x, weights, problem, assume_sorted):
    """Order of the values (None if they are sorted), where groups start in it, and the label of every record."""
    column, order = (padded(x), None) if assume_sorted else sort(x, PAD)
    if weights is not None and order is not None:
        weights = weights[order]
    starts = solve(column, weights, problem)
    labels = np.empty(x.size, np.int32 if starts.size < 2**31 else np.int64)
    if order is None:
        label_sorted(starts, labels)
    else:
        label(starts, order, labels)
    return order, starts, labels


def solve(column, weights, problem):
    """Where the groups of sorted values start, in an optimal grouping; the column has PAD copies at both ends."""
    x = column[PAD:-PAD]
    n, least = x.size, problem.least
    if n < 2 * least:
        return np.zeros(1, np.int64)
    if problem.plain and least == 1:
        return np.arange(n)
    if problem.max_groups is not None:
        return at_most(
            problem.max_groups,
            n,
            lambda price: _optimum(column, weights, problem, problem.fixed + price)[0],
            lambda starts: problem.cost_of(x, weights, starts),
        )
    starts, total, scale = _optimum(column, weights, problem, problem.fixed)
    cuts = unspannable(x, weights, problem, starts, total, scale)
    if not cuts:
        return starts
    # The parts that no optimal group can span are solved by themselves, each at its own scale.
    edges = [0, *cuts, n]
    parts = [slice(begin, end) for begin, end in zip(edges[:-1], edges[1:], strict=True)]
    solved = (solve(padded(x[part]), None if weights is None else weights[part], problem) for part in parts)
    return np.concatenate([found + part.start for found, part in zip(solved, parts, strict=True)])


def _optimum(column, weights, problem, fixed):
    """Starts, their cost as the solver summed it, and the power of two that the values were divided by."""
    kernel, values, weights, scale = prepared(column, weights, problem)
    solver = problem.solver_for(kernel, values)
    n, k, module = values.size - 2 * PAD, problem.k, solver.module
    work = module.memory(kernel, n, k)
    if solver.lanes:
        sizes = module.sizes_for(n, k)
        total = module.solve(kernel, values, padded(weights) if weights.size else values, k, sizes, work)
        return starts_of(sizes[: n + 1], k, problem.plain), total, scale
    sizes = np.empty(n + 1, np.int32 if n < 2**31 else np.int64)
    values = values[PAD:-PAD]
    run = module.solve
    if not problem.cost.built_in:
        run, values = _uncached(run), problem.cost.prepare(values)
    if solver.bounded:
        total = run(kernel, values, weights, k, sizes, work)
    else:
        total = run(kernel, values, weights, k, problem.least, *problem.penalties(fixed, scale), sizes, work)
    return starts_of(sizes, k, problem.plain), total, scale


_compiled_for_users: dict = {}


def _uncached(function):
    """The same function, compiled without the disk cache, which could not know a user's cost again."""
    if function not in _compiled_for_users:
        _compiled_for_users[function] = called(function.py_func)
    return _compiled_for_users[function]


@jit
def starts_of(sizes, k, plain):
    """Follow the last groups back from the end; where the problem is plain, groups of 2k values or more are split."""
    n = len(sizes) - 1
    room = n // k + 1 if plain else n
    starts = np.empty(room, np.int64)
    g, j = room, n
    while j > 0:
        i = j - np.int64(sizes[j])
        while plain and j - i >= 2 * k:
            j -= k
            g -= 1
            starts[g] = j
        g -= 1
        starts[g] = i
        j = i
    return starts[g:].copy()


@jit
def label(starts, order, labels):
    """labels[order[l]] = the group of sorted value l."""
    for g in range(len(starts)):
        end = starts[g + 1] if g + 1 < len(starts) else len(order)
        for i in range(starts[g], end):
            labels[order[i]] = g


@jit
def label_sorted(starts, labels):
    """As `label`, for values that are sorted already; whole lanes are written, the next group overwrites the rest."""
    n = len(labels)
    for g in range(len(starts)):
        i, end = starts[g], starts[g + 1] if g + 1 < len(starts) else n
        while i < end and i + LANES <= n:
            put(labels, lanes_at(i, LANES), spread(g, LANES))
            i += LANES
        while i < end:
            labels[i] = g
            i += 1


@jit
def smallest_group(labels, n_groups):
    """The size of the smallest group, counted from the labels alone."""
    counts = np.zeros(n_groups, np.int32)
    for i in range(len(labels)):
        counts[labels[i]] += 1
    return counts.min()
